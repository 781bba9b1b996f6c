"""Examine xpgrad on the GPUs of this machine, in at most twenty minutes: ``python -m benchmarks.gpu``.

Each step runs in a process of its own, with a time limit, so that no failure ends the others. The folder of the report
has report.json (everything), report.md (to read), failures.txt (every traceback) and output.txt (all that was printed).

    python -m benchmarks.gpu                 write into benchmarks/results/gpu
    python -m benchmarks.gpu --pretend       try every step on the host, with small sizes: the programs, not the GPU
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.gpu import machine, report
from benchmarks.gpu.timings import NAMES

ROOT = Path(__file__).parents[2]
EXAMPLES = "gaussian_process", "maximum_likelihood", "phase_retrieval", "pde_adjoint"
TESTS = "tests/backends/cupy", "tests/core/backend", "tests/core/backends"
"""Where the tests marked gpu are."""
ENVIRONMENT = {"JAX_ENABLE_X64": "1", "XLA_PYTHON_CLIENT_PREALLOCATE": "false", "PYTHONUNBUFFERED": "1"}


class Step(NamedTuple):
    """A command with its limit in seconds, and the environment that it needs."""

    name: str
    command: list[str]
    seconds: float
    environment: dict[str, str] = {}  # noqa: RUF012 - never changed


def steps(found: dict[str, str], pretend: bool) -> Iterator[Step]:
    """Yield what is run, the most revealing first."""
    python = sys.executable
    for specifier in found.values():
        yield Step(f"programs on {specifier}", [python, "-m", "benchmarks.gpu.programs", specifier], 90)
    tests = [python, "-m", "pytest", "-q", "-m", "gpu", "-p", "no:cacheprovider", "--tb=long", "-rfE", *TESTS]
    yield Step("tests marked gpu", tests, 240)
    for name in NAMES:
        command = [python, "-m", "benchmarks.gpu.timings", name, *(["--pretend"] if pretend else [])]
        yield Step(f"timings of {name}", command, 60)
    part = ["--family", "T"] if pretend else ["--time", "80s"]
    for specifier in found.values():
        command = [python, "-m", "xpgrad", "conform", specifier, "--profile", "quick", "--seed", "0", *part]
        yield Step(f"conform on {specifier}", command, 150)
    for specifier in list(found.values())[:1]:
        for example in EXAMPLES:
            command = [python, f"examples/{example}.py"]
            yield Step(f"{example} on {specifier}", command, 60, {"XPGRAD_DEVICE": specifier})


def run(step: Step, seconds: float) -> dict[str, Any]:
    """Run a step; return its name, exit code, seconds and output. A process that is late is ended with its children."""
    start = time.monotonic()
    environment = os.environ | ENVIRONMENT | step.environment
    process = subprocess.Popen(
        step.command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", start_new_session=True,
    )  # fmt: skip
    try:
        output, code = process.communicate(timeout=seconds)[0], process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, code = process.communicate()[0] + f"\nended after {seconds:.0f} s", 124
    return {"name": step.name, "code": code, "seconds": time.monotonic() - start, "output": output}


def main() -> int:
    """Run all steps for which there is time, and write the report after each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pretend", action="store_true", help="on the host, whose libraries take the place of a GPU's")
    parser.add_argument("--minutes", type=float, default=20.0, help="after which no further step begins")
    parser.add_argument("--only", default="", help="only steps whose names contain this text")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "gpu")
    options = parser.parse_args()
    found, end = machine.devices(options.pretend), time.monotonic() + 60 * options.minutes
    if not found:
        print("no GPU: expected CuPy, PyTorch or JAX with a card; --pretend tries the steps on the host")
        return 2
    facts = machine.facts() | {"devices": " ".join(found.values()), "pretended": str(options.pretend)}
    done: list[dict[str, Any]] = []
    for step in steps(found, options.pretend):
        left = end - time.monotonic()
        if options.only not in step.name or left < 5:
            continue
        try:
            result = run(step, min(step.seconds, left))
        except Exception as error:  # a command that cannot be started
            result = {"name": step.name, "code": 127, "seconds": 0.0, "output": f"{type(error).__name__}: {error}"}
        done.append(result)
        print(f"{step.name}: {'passed' if not result['code'] else 'FAILED'}, {result['seconds']:.0f} s", flush=True)
        report.write(options.out, facts, done)
    print(f"{len(report.failures(done))} failures; {options.out / 'report.md'}")
    return 1 if report.failures(done) else 0


if __name__ == "__main__":
    raise SystemExit(main())
