"""P13: what an import costs above NumPy's own, in processes of their own."""

import importlib.util
import json
import os
import subprocess
import sys
from statistics import median

from benchmarks.harness import Report, Row, Workload, judge

STATEMENTS = {
    "t": "import torch",
    "autograd": "import autograd.numpy",
    "jax": "import jax.numpy",
    "xpgrad": "import xpgrad",
    "xpgrad, first use": "import xpgrad; y = xpgrad.Variable(numpy.ones(2)) * 2.0; y.grad = y.array; y.backward()",
}
LIMITS = {"time": "40", "memory": "8"}
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
    samples: dict[str, list[list[float]]] = {}
    for name, statement in STATEMENTS.items():
        root = statement.split(";")[0].split()[1].split(".")[0]
        if importlib.util.find_spec(root) is None:
            report.notes.append(f"{name} skipped: No module named {root!r}")
            report.failed |= root == "xpgrad"
        else:
            samples[name] = []
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}  # installed code has bytecode
    for _ in range(4 if quick else 12):  # the first round warms the file cache and writes what bytecode is missing
        for name, taken in samples.items():
            command = [sys.executable, "-c", PROGRAM, STATEMENTS[name]]
            done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
            if done.returncode == 0:
                taken.append(json.loads(done.stdout))
            else:
                report.notes.append(f"{name} FAILED: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
                report.failed = True
    for i, (quantity, unit) in enumerate((("time", "ms"), ("memory", "MB"))):
        rows = []
        for name, taken in samples.items():
            if values := [sample[i] for sample in taken[1:]]:
                rows.append(Row(quantity, name, unit, min(values), median(values)))
        judge(rows, (LIMITS[quantity],))
        report.rows += rows


WORKLOADS = {"P13": Workload("import, above NumPy's own", finish=measure)}
