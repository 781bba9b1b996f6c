"""Running the child process: with a time-out, and so that a crash says where it happened."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from typing import IO, Any

from xpgrad.cli.health.observed import innermost

MODULE = "xpgrad.cli.health.probe"
GRACE = 3.0  # seconds that a process gets to write down its stack, or to be reaped
FRAME = re.compile(r'^  File "(.+)", line (\d+) in ', re.MULTILINE)
MAX_STDERR = 100_000


def examine(name: str, timeout: float) -> dict[str, Any]:
    """Return what a new process finds out about the plugin of the backend `name`.

    Returns
    -------
    dict
        The facts that the process told, `devices` a list; `ended` says how it went: "finished", "time-out", "signal" or
        "exit", with the `stage`, the `place` in somebody's code where known, and what it wrote to standard error.
    """
    with tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        out, how, code = _run(name, timeout, errors)
        stderr = _tail(errors)
    facts = _merged(out)
    finished = facts.pop("finished", False)
    if how != "time-out" and not (finished and code == 0):
        how = "signal" if code < 0 else "exit"
    ended: dict[str, Any] = {"how": how, "code": code, "stage": facts.pop("stage", "starting")}
    if how != "finished":
        ended |= {"signal": _signal_name(code), "place": _stack_place(stderr), "stderr": stderr.strip()[-2000:]}
    return facts | {"ended": ended, "seconds": round(time.perf_counter() - started, 2)}


def _run(name: str, timeout: float, errors: IO[bytes]) -> tuple[bytes, str, int]:
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", MODULE, name],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=errors,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},
        start_new_session=os.name == "posix",
    )
    try:
        out, _ = process.communicate(timeout=timeout)
        return out, "finished", process.returncode
    except subprocess.TimeoutExpired:
        if os.name == "posix":
            process.send_signal(signal.SIGABRT)  # faulthandler writes down where it is
            with suppress(subprocess.TimeoutExpired):
                process.wait(GRACE)
    finally:
        _kill(process)
    try:
        out, _ = process.communicate(timeout=GRACE)
    except subprocess.TimeoutExpired as error:  # a process that it started has left the group, and holds the pipe
        out = error.stdout or b""
    return out, "time-out", process.returncode or 0


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """End the process and those that it started."""
    with suppress(OSError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)  # its group, which it leads; it is gone if nothing is left of it
        else:
            process.kill()


def _merged(out: bytes) -> dict[str, Any]:
    """Return the facts of all lines together; a crash may have cut the last one short."""
    facts: dict[str, Any] = {"devices": []}
    for line in out.decode(errors="replace").splitlines():
        try:
            told = json.loads(line)
        except ValueError:
            continue
        if "device" in told:
            facts["devices"].append(told["device"])
        else:
            facts |= told
    return facts


def _tail(errors: IO[bytes]) -> str:
    size = errors.seek(0, os.SEEK_END)
    errors.seek(max(0, size - MAX_STDERR))
    return errors.read().decode(errors="replace")


def _signal_name(code: int) -> str | None:
    try:
        return signal.Signals(-code).name
    except ValueError:
        return None


def _stack_place(stderr: str) -> dict[str, Any] | None:
    """Return the innermost line of somebody's code in the stack that faulthandler left."""
    _, found, stack = stderr.rpartition("Current thread ")
    if not found:
        return None
    own, _, _ = stack.partition("\nThread ")
    return innermost([(file, int(line)) for file, line in FRAME.findall(own)])
