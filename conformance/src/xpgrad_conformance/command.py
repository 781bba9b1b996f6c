"""The implementation of `xpgrad conform`: progress bar, table of results, failures, and report files."""

import os
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from xpgrad_conformance.documents import write
from xpgrad_conformance.outcome import Outcome
from xpgrad_conformance.report import Report, families_of, reproduction
from xpgrad_conformance.run import conform, devices_of

__all__ = ["bar", "cores", "devices_of", "run"]

MAX_FAILURES = 5


def run(backend: str, console: Console, report: Path | None, **options: Any) -> int:
    """Run the suite on a backend, print the result, write it to the folder `report`, and return the exit code.

    Parameters
    ----------
    backend : str
        An available backend or device.
    console : Console
    report : Path or None
    **options
        Those of `conform`.

    Raises
    ------
    ValueError
        An unknown profile, family, case or share.
    """
    with bar(console) as progress_bar:
        task = progress_bar.add_task(backend, total=None)
        failed = 0

        def progress(outcome: Outcome, planned: int) -> None:
            nonlocal failed
            failed += outcome.state == "failed"
            text = f"{backend}: {outcome.check}" + (f", {failed} failed" if failed else "")
            progress_bar.update(task, advance=1, total=planned, description=text)

        found = conform(backend, progress=progress, **options)
    _print(console, found)
    if report is not None:
        console.print(f"Report: {', '.join(map(str, write(found, report)))}", soft_wrap=True)
    return found.exit_code


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def bar(console: Console) -> Progress:
    """Return a progress bar that is erased when it is finished."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    return Progress(*columns, console=console, transient=True)


def _print(console: Console, report: Report) -> None:
    console.print(_table(report))
    for name, (factor, reason) in report.capabilities.tolerances.items():
        console.print(f"tolerance of {name} widened {factor:g} times: {reason}", soft_wrap=True)
    for mismatch in report.mismatches:
        console.print(f"declaration: {mismatch}", style="red", soft_wrap=True)
    for outcome in report.failures[:MAX_FAILURES]:
        console.print(f"\n{outcome.id} failed: {outcome.reason}", style="red", soft_wrap=True)
        console.print(reproduction(outcome), soft_wrap=True)
    if len(report.failures) > MAX_FAILURES:
        console.print(f"\nand {len(report.failures) - MAX_FAILURES} more failures; --report DIR writes them all")
    total = report.counts()
    console.print(
        f"\n{total.passed} passed, {total.failed} failed, {total.expected} expected to fail, {total.skipped} skipped "
        f"of {total.planned} planned, {report.seconds:.0f} s"
    )
    good = report.exit_code == 0
    console.print(f"{report.backend}: {report.verdict}", style="green" if good else "red", soft_wrap=True)


def _table(report: Report) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("family")
    table.add_column("device")
    for title in ("planned", "passed", "failed", "expected", "skipped"):
        table.add_column(title, justify="right")
    for family in families_of(report):
        for device in report.devices:
            if (family.letter, device) in report.table:
                counts = report.table[family.letter, device]
                style = "red" if counts.failed else None
                table.add_row(f"{family.letter} {family.name}", device, *map(str, counts), style=style)
    return table
