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


def looking(pretend: bool) -> Iterator[tuple[str, Step]]:
    """Yield each library, and the step that prints the specifier of its device: an import may crash or never end."""
    for library in machine.HOST:
        command = [sys.executable, "-m", "benchmarks.gpu.machine", *(["--pretend"] if pretend else [])]
        yield library, Step(f"import of {library}", command, 120, {machine.CHOSEN: library})


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
        try:
            output = process.communicate(timeout=10)[0]
        except subprocess.TimeoutExpired as late:  # a process of another session holds the pipe
            output = (late.output or b"").decode(errors="replace")
        output, code = output + f"\nended after {seconds:.0f} s", 124
    return {"name": step.name, "code": code, "seconds": time.monotonic() - start, "output": output}


def main() -> int:
    """Run all steps for which there is time, and write the report after each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pretend", action="store_true", help="on the host, with limits three times as long")
    parser.add_argument("--minutes", type=float, default=20.0, help="after which no further step begins")
    parser.add_argument("--only", default="", help="only steps whose names contain this text")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "gpu")
    options = parser.parse_args()
    end, done, found = time.monotonic() + 60 * options.minutes, list[dict[str, Any]](), dict[str, str]()
    facts = machine.facts() | {"pretended": str(options.pretend)}

    def perform(step: Step) -> str:
        left = end - time.monotonic()
        if left < 5:
            return ""
        try:
            result = run(step, min(step.seconds * (3 if options.pretend else 1), left))
        except Exception as error:  # a command that cannot be started
            result = {"name": step.name, "code": 127, "seconds": 0.0, "output": f"{type(error).__name__}: {error}"}
        done.append(result)
        print(f"{step.name}: {'passed' if not result['code'] else 'FAILED'}, {result['seconds']:.0f} s", flush=True)
        report.write(options.out, facts | {"devices": " ".join(found.values())}, done)
        return "" if result["code"] else str(result["output"])

    for library, step in looking(options.pretend):
        if specifiers := [line for line in perform(step).splitlines() if line.startswith("@")]:
            found[library] = specifiers[-1]
    if not found:
        print("no GPU: expected CuPy, PyTorch or JAX with a card; --pretend tries the steps on the host")
        return 2
    os.environ[machine.CHOSEN] = " ".join(found)
    for step in steps(found, options.pretend):
        if options.only in step.name:
            perform(step)
    print(f"{len(report.failures(done))} failures; {options.out / 'report.md'}")
    return 1 if report.failures(done) else 0


if __name__ == "__main__":
    raise SystemExit(main())
