"""One workload in a process of its own: `python -m benchmarks.worker P3 [--quick]` prints its report as JSON."""

import argparse
import importlib
import json
from dataclasses import asdict

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
    "COMPILE": "programs",
}
"""Where each workload is defined: an entry of that module's WORKLOADS."""


def main() -> None:
    """Run the workload named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=MODULES)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    module = importlib.import_module(f"benchmarks.{MODULES[arguments.name]}")
    print(json.dumps(asdict(module.WORKLOADS[arguments.name].run(arguments.quick))))


if __name__ == "__main__":
    main()
