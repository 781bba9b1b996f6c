"""Running the child process with a time-out, and locating its crashes."""

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
GRACE = 3.0  # seconds for a process to write its stack, or to be reaped
FRAME = re.compile(r'^  File "(.+)", line (\d+) in ', re.MULTILINE)
MAX_STDERR = 100_000


def examine(name: str, timeout: float) -> dict[str, Any]:
    """Return the facts that a new process finds about the plugin of the backend `name`.

    Returns
    -------
    dict
        The facts that the process reported, `devices` a list; `ended` has how it ended, "finished", "time-out",
        "signal" or "exit", the `stage`, the `place` in third-party code if known, and the standard error.
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
    process = subprocess.Popen(  # noqa: S603 - this Python, and a module of xpgrad
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
            process.send_signal(signal.SIGABRT)  # faulthandler writes its stack
            with suppress(subprocess.TimeoutExpired):
                process.wait(GRACE)
    finally:
        _kill(process)
    try:
        out, _ = process.communicate(timeout=GRACE)
    except subprocess.TimeoutExpired as error:  # a process that it started left the group, and holds the pipe open
        out = error.stdout or b""
    return out, "time-out", process.returncode or 0


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill the process and its children."""
    with suppress(OSError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)  # it leads its group, which ends with its last process
        else:
            process.kill()


def _merged(out: bytes) -> dict[str, Any]:
    """Return the facts of all lines; a crash may have truncated the last line."""
    facts: dict[str, Any] = {"devices": []}
    for line in out.decode(errors="replace").splitlines():
        try:
            reported = json.loads(line)
        except ValueError:
            continue
        if "device" in reported:
            facts["devices"].append(reported["device"])
        else:
            facts |= reported
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
    """Return the innermost line of third-party code in the stack that faulthandler wrote."""
    _, found, stack = stderr.rpartition("Current thread ")
    if not found:
        return None
    own, _, _ = stack.partition("\nThread ")
    return innermost([(file, int(line)) for file, line in FRAME.findall(own)])
