"""Run all or some workloads, each in a process of its own, print their tables and write a JSON file."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.peers import threads
from benchmarks.report import environment, table
from benchmarks.worker import MODULES

ROOT = Path(__file__).parent.parent


def main() -> int:
    """Exit status 1 if a contestant failed or disagreed; a missed limit alone is reported, not an error."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(MODULES)}; default: all")
    parser.add_argument("--quick", action="store_true", help="a second per case instead of six")
    parser.add_argument("--json", type=Path, default=ROOT / "benchmarks/results/latest.json", metavar="FILE")
    arguments = parser.parse_args()
    names = [name.upper() for name in arguments.names] or list(MODULES)
    if unknown := [name for name in names if name not in MODULES]:
        parser.error(f"unknown workload {', '.join(unknown)}; there are {', '.join(MODULES)}")

    result: dict[str, Any] = {"environment": environment(), "quick": arguments.quick, "workloads": {}}
    for name in names:
        report = result["workloads"][name] = run(name, arguments.quick)
        print(table(name, report), flush=True)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    reports = result["workloads"].values()
    verdicts = [kept for report in reports for row in report["rows"] for kept in row["verdicts"].values()]
    print(f"\n{sum(verdicts)} of {len(verdicts)} limits kept; written to {arguments.json}")
    return int(any(report["failed"] for report in reports))


def run(name: str, quick: bool) -> dict[str, Any]:
    """The report of one workload, from a fresh process; one without rows if that process failed."""
    command = [sys.executable, "-m", "benchmarks.worker", name, *(["--quick"] if quick else [])]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=False, cwd=ROOT, env=os.environ | threads(1)
    )
    if done.returncode == 0:
        report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return report
    return {"title": "", "rows": [], "notes": [f"worker FAILED with status {done.returncode}"], "failed": True}


if __name__ == "__main__":
    sys.exit(main())
