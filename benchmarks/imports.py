"""P13: cost of an import in addition to NumPy's import, in separate processes."""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.harness import Report, Row, Workload, judge

IMPORTS = {
    "t": "import torch",
    "autograd": "import autograd.numpy",
    "jax": "import jax.numpy",
    "xpgrad": "import xpgrad",
}
FIRST = "x = xpgrad.Variable(numpy.ones(3)); y = xpgrad.array_api.sum(x * x); y.backward()"
GRADIENTS = {
    "t": "import torch; x = torch.ones(3, requires_grad=True); y = torch.sum(x * x); y.backward()",
    "autograd": "import autograd, autograd.numpy as np; autograd.grad(lambda x: np.sum(x * x))(numpy.ones(3))",
    "jax": "import jax, jax.numpy as jnp; jax.grad(lambda x: jnp.sum(x * x))(numpy.ones(3))",
    "xpgrad": f"import xpgrad; {FIRST}",
}
INSTALLED = 100


class Case(NamedTuple):
    """Statements by contestant, on how many more distributions are installed, and the limits in ms and MB."""

    statements: Mapping[str, str]
    distributions: int
    limits: Mapping[str, tuple[str, ...]]


CASES = {
    "import": Case(IMPORTS, 0, {"time": ("40",), "memory": ("8",)}),
    "import and first gradient": Case(GRADIENTS, 0, {"time": ("45",), "memory": ()}),
    f"the same, {INSTALLED} distributions": Case(
        {"xpgrad": GRADIENTS["xpgrad"]}, INSTALLED, {"time": ("45",), "memory": ()}
    ),
}
PROGRAM = """
import json, os, resource, sys, time, numpy
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6
code = compile(sys.argv[1], "<statement>", "exec")
memory, start = resident(), time.process_time()
exec(code)
print(json.dumps([(time.process_time() - start) * 1e3, resident() - memory]))
"""


def measure(report: Report, quick: bool) -> None:
    """Add CPU time and growth of resident memory for each statement, taken in turns."""
    missing: set[str] = set()
    for root, name in {"torch": "t", "autograd": "autograd", "jax": "jax", "xpgrad": "xpgrad"}.items():
        if importlib.util.find_spec(root) is None:
            report.notes.append(f"{name} skipped: No module named {root!r}")
            report.failed |= root == "xpgrad"
            missing.add(name)
    samples: dict[tuple[str, str], list[list[float]]] = {
        (case, name): [] for case, about in CASES.items() for name in about.statements if name not in missing
    }
    with tempfile.TemporaryDirectory() as folder:
        install(Path(folder), INSTALLED)
        for _ in range(4 if quick else 12):  # the first round warms the file cache and writes missing bytecode
            for (case, name), taken in samples.items():
                about = CASES[case]
                done = _run(about.statements[name], folder if about.distributions else "")
                if done.returncode == 0:
                    taken.append(json.loads(done.stdout))
                else:
                    lines = done.stderr.strip().splitlines() or ["no message"]
                    report.notes.append(f"{case}, {name} FAILED: {lines[-1]}")
                    report.failed = True
    for i, (quantity, unit) in enumerate((("time", "ms"), ("memory", "MB"))):
        for case, about in CASES.items():
            rows = []
            for name in about.statements:
                if values := [sample[i] for sample in samples.get((case, name), [])[1:]]:
                    rows.append(Row(f"{case}: {quantity}", name, unit, min(values), median(values)))
            judge(rows, {"xpgrad": about.limits[quantity]})
            report.rows += rows


def install(folder: Path, count: int) -> None:
    """Write the metadata of `count` installed distributions, each with a separate entry point."""
    for i in range(count):
        info = folder / f"distribution_{i}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: distribution-{i}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[console_scripts]\nprogram-{i} = distribution_{i}.cli:main\n")


def _run(statement: str, folder: str) -> "subprocess.CompletedProcess[str]":
    """Run a statement in a new interpreter, with `folder` on its path."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}  # installed code has bytecode
    path = os.pathsep.join(filter(None, [kept.get("PYTHONPATH"), folder]))
    command = [sys.executable, "-c", PROGRAM, statement]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=kept | {"PYTHONPATH": path})


WORKLOADS = {"P13": Workload("import, above NumPy's own", finish=measure)}
