"""Run one workload in a separate process: `python -m benchmarks.worker P3 [--quick] [--cores 2]` prints its report."""

import argparse
import importlib
import json
from dataclasses import asdict
from typing import Any

from benchmarks.peers import pin

MODULES = {
    "P1": "chain",
    "P2": "chain",
    "P3": "mlp",
    "P4": "formula",
    "P5": "rows",
    "P6": "convnet",
    "P7": "rnn",
    "P8": "deep",
    "P9": "hvp",
    "P10": "gather",
    "P11": "accumulate",
    "P12": "attention",
    "P13": "imports",
    "P6263": "adds",
    "CHECKPOINT": "checkpoint",
    "CHX": "chx",
    "JACOBIAN": "matrices",
    "HESSIAN": "matrices",
    "EPOCH": "digits",
    "EXAMPLES": "examples",
    "JVP": "tangents",
    "SCAN": "scan",
    "COMPILE": "programs",
    "OPTIMIZERS": "optimizers",
    "TORCH": "fused",
}
"""Where each workload is defined: an entry of that module's WORKLOADS."""


def workload(name: str) -> Any:
    """Return a workload by its name."""
    return importlib.import_module(f"benchmarks.{MODULES[name]}").WORKLOADS[name]


def main() -> None:
    """Run the workload named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=MODULES)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--cores", type=int, default=1)
    arguments = parser.parse_args()
    pin(arguments.cores)  # before importing libraries that count the cores
    report = workload(arguments.name).run(arguments.name, arguments.quick, arguments.cores)
    print(json.dumps(asdict(report)))


if __name__ == "__main__":
    main()
