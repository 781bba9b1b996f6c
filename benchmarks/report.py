"""Reports: a table for each workload, and all results as JSON."""

import datetime
import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from benchmarks.peers import DISTRIBUTIONS

HEADINGS = ("case", "contestant", "unit", "min", "median", "/h", "/t", "bound", "instructions", "pass")


def table(name: str, report: dict[str, Any]) -> str:
    """Return a plain-text table of one workload's report; rows of xpgrad end with its limits and "pass" or "MISS"."""
    lines = [HEADINGS, *(_cells(row) for row in report["rows"])]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADINGS))]
    text, previous = [f"\n{name}  {report['title']}"], None
    for case, *cells in lines:
        shown = "" if case == previous else case
        text.append("  ".join(_align(i, cell, widths[i]) for i, cell in enumerate((shown, *cells))).rstrip())
        previous = case
    return "\n".join([*text, *(f"  {note}" for note in report["notes"])])


def _align(column: int, cell: str, width: int) -> str:
    return cell.rjust(width) if 3 <= column < len(HEADINGS) - 1 else cell.ljust(width)


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    ratios = ("" if row[key] is None else f"{row[key]:.2f}" for key in ("per_h", "per_t"))
    others = row.get("ratios", {})  # ratios without a column are printed before their limit
    verdicts = ", ".join(
        (f"{others[limit]:.2f} of " if limit[-1] in "jp" else "") + f"{limit} {'pass' if kept else 'MISS'}"
        for limit, kept in row["verdicts"].items()
    )
    numbers = (f"{row[key]:.4g}" for key in ("minimum", "median"))
    bound = "" if row["bound"] is None else f"{row['bound']:.3g}"
    executed = "" if row["instructions"] is None else f"{row['instructions']:,}"
    return (row["case"], row["contestant"], row["unit"], *numbers, *ratios, bound, executed, verdicts)


def environment() -> dict[str, Any]:
    """Return versions, commit, processor and date, which are needed to compare two files."""
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "commit": _git("rev-parse", "HEAD"),
        "uncommitted": bool(_git("status", "--porcelain")),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processor": _processor(),
        "cpus": os.cpu_count(),
        "load": os.getloadavg()[0],
        "versions": {name: _version(name) for name in DISTRIBUTIONS.values()},
    }


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _git(*arguments: str) -> str | None:
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()
