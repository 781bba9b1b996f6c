"""Run all or some workloads in separate processes, print their tables and write a JSON file.

A full run also measures curves against size and depth, and writes the results into the documentation; a partial run
does so with `--write`.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import costs, depths, documents, sizes
from benchmarks.harness import Report
from benchmarks.peers import threads
from benchmarks.report import environment, table
from benchmarks.worker import MODULES

ROOT = Path(__file__).parent.parent
ON_TWO_CORES = tuple(f"P{i}" for i in range(1, 13))


def main() -> int:
    """Return exit status 1 if a contestant failed or disagreed; a missed limit is only reported."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(MODULES)}; default: all")
    parser.add_argument("--quick", action="store_true", help="a second per case instead of six; writes no documents")
    parser.add_argument("--plots", action="store_true", help="measure the curves; without names, only these")
    parser.add_argument("--cores", type=int, choices=(1, 2), help="only on so many cores; default: one, then two")
    parser.add_argument("--write", action="store_true", help="also write the documents after a partial run")
    parser.add_argument("--json", type=Path, default=documents.LATEST, metavar="FILE")
    arguments = parser.parse_args()
    names = [name.upper() for name in arguments.names] or ([] if arguments.plots else list(MODULES))
    if unknown := [name for name in names if name not in MODULES]:
        parser.error(f"unknown workload {', '.join(unknown)}; there are {', '.join(MODULES)}")

    start, everything = time.monotonic(), not (arguments.names or arguments.plots or arguments.cores)
    result: dict[str, Any] = {"workloads": {}, "two_cores": {}, "curves": {}}
    if not everything and arguments.json.exists():
        result |= json.loads(arguments.json.read_text(encoding="utf-8"))  # a part is measured anew
    result |= {"environment": environment(), "quick": arguments.quick}
    reports = []
    for cores, key in ((1, "workloads"), (2, "two_cores")):
        if arguments.cores in (None, cores) and (os.cpu_count() or 1) >= cores:
            for name in names if cores == 1 else (name for name in names if name in ON_TWO_CORES):
                reports.append(run(name, arguments.quick, cores))
                result[key][name] = reports[-1]
                print(table(name if cores == 1 else f"{name} on {cores} cores", reports[-1]), flush=True)
    if everything or arguments.plots:
        report = Report("curves")
        result["curves"] = curves(report, arguments.quick)
        reports.append(vars(report))
        print(table("CURVES", vars(report)), flush=True)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if arguments.write or (everything and not arguments.quick):
        print(*(f"wrote {path.relative_to(ROOT)}" for path in documents.write(result)), sep="\n")
    verdicts = [kept for report in reports for row in report["rows"] for kept in row["verdicts"].values()]
    minutes = (time.monotonic() - start) / 60
    print(f"\n{sum(verdicts)} of {len(verdicts)} limits kept in {minutes:.0f} minutes; written to {arguments.json}")
    return int(any(report["failed"] for report in reports))


def run(name: str, quick: bool, cores: int) -> dict[str, Any]:
    """Return the report of one workload from a new process, without rows if the process failed."""
    command = [sys.executable, "-m", "benchmarks.worker", name, "--cores", str(cores), *(["--quick"] if quick else [])]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=False, cwd=ROOT, env=os.environ | threads(cores)
    )
    if done.returncode == 0:
        report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return report
    return {"title": "", "rows": [], "notes": [f"worker FAILED with status {done.returncode}"], "failed": True}


def curves(report: Report, quick: bool) -> dict[str, Any]:
    """Return the points of all curves, from new processes on one thread, except for curves on two cores."""
    os.environ |= threads(1)
    found = {
        "sizes": sizes.curves(report, quick, 1),
        "sizes_on_two_cores": sizes.curves(report, quick, 2) if (os.cpu_count() or 1) > 1 else {},
        "depths": depths.curves(report, quick),
        "costs": costs.curves(report, quick),
    }
    report.notes = list(dict.fromkeys(report.notes))
    return found


if __name__ == "__main__":
    sys.exit(main())
