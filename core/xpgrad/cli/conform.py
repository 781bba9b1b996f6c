"""`xpgrad conform`: the conformance suite against a backend."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from xpgrad.backend.plugins import plugins
from xpgrad.cli.demo import Unusable
from xpgrad.errors import XpgradError

if TYPE_CHECKING:
    from xpgrad_conformance.outcome import Outcome
    from xpgrad_conformance.report import Report

MOST_FAILURES = 5


def _share(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, int] | None:
    """Return the numbers of a part of several, written as 3/16."""
    if value is None:
        return None
    number, slash, parts = value.partition("/")
    if not (slash and number.isdecimal() and parts.isdecimal()):
        raise click.BadParameter(f"expected a part such as 3/16, got {value!r}", context, parameter)
    return int(number), int(parts)


@click.command()
@click.argument("backend", metavar="NAME|DEVICE")
@click.option("--family", "families", multiple=True, help="Only this family, by letter or name; may be repeated.")
@click.option("--case", "cases", multiple=True, help="Only this case of the table; may be repeated.")
@click.option("--share", callback=_share, metavar="I/N", help="Only the I-th of N parts of the suite, of one length.")
@click.option("--profile", type=click.Choice(["quick", "full", "soak"]), default="full", show_default=True)
@click.option("--minutes", type=float, default=10, show_default=True, help="How long to soak.")
@click.option(
    "--report", type=click.Path(file_okay=False, path_type=Path), help="Write the report into this directory."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of everything random.")
@click.option("--jobs", type=click.IntRange(min=0), help="Processes; 0: this one. [default: one for each core]")
@click.option("--timeout", type=float, default=120, show_default=True, help="Seconds for one check.")
def conform(
    backend: str,
    families: tuple[str, ...],
    cases: tuple[str, ...],
    share: tuple[int, int] | None,
    profile: str,
    minutes: float,
    report: Path | None,
    seed: int,
    jobs: int | None,
    timeout: float,
) -> None:
    """Certify a backend.

    Exit codes: 0 certified (or nothing failed, in a part of the suite), 1 failures, 2 nothing ran or the backend cannot
    be used, 3 declared and probed capabilities disagree.
    """
    console = Console(highlight=False, markup=False)
    if jobs is None:
        jobs = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    _usable(backend)
    from xpgrad_conformance.documents import write
    from xpgrad_conformance.run import conform as run

    with _bar(console) as bar:
        task = bar.add_task(f"{backend}", total=None)
        failed = 0

        def progress(outcome: "Outcome", planned: int) -> None:
            nonlocal failed
            failed += outcome.state == "failed"
            text = f"{backend}: {outcome.check}" + (f", {failed} failed" if failed else "")
            bar.update(task, advance=1, total=planned, description=text)

        try:
            found = run(
                backend,
                families=families or None,
                cases=cases or None,
                share=share,
                profile=profile,
                minutes=minutes,
                seed=seed,
                jobs=jobs,
                timeout=timeout,
                progress=progress,
            )
        except ValueError as error:
            raise click.UsageError(str(error)) from None
        except ModuleNotFoundError as error:
            raise _without_scipy(error) from None
    _print(console, found)
    if report is not None:
        console.print(f"Report: {', '.join(map(str, write(found, report)))}", soft_wrap=True)
    raise SystemExit(found.exit_code)


def _usable(backend: str) -> None:
    """End with exit code 2, and the reason, if a backend cannot be loaded."""
    from xpgrad_conformance.run import devices_of

    try:
        devices_of(backend)
    except (XpgradError, TypeError) as error:
        there = "" if plugins.knows(backend) else f"; backends: {', '.join(sorted(plugins.names()))}"
        raise Unusable(f"{error}{there}; `xpgrad doctor {backend}` looks closer") from None


def _without_scipy(error: ModuleNotFoundError) -> Exception:
    """Return the error as one line, if it is the suite's own that SciPy is missing."""
    return Unusable(str(error)) if error.name == "scipy" else error


def _bar(console: Console) -> Progress:
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    return Progress(*columns, console=console, transient=True)


def _print(console: Console, report: "Report") -> None:
    from xpgrad_conformance.report import families_of, reproduction

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
    console.print(table)
    for name, (factor, reason) in report.capabilities.tolerances.items():
        console.print(f"tolerance of {name} widened {factor:g} times: {reason}", soft_wrap=True)
    for mismatch in report.mismatches:
        console.print(f"declaration: {mismatch}", style="red", soft_wrap=True)
    for outcome in report.failures[:MOST_FAILURES]:
        console.print(f"\n{outcome.id} failed: {outcome.reason}", style="red", soft_wrap=True)
        console.print(reproduction(outcome), soft_wrap=True)
    if len(report.failures) > MOST_FAILURES:
        console.print(f"\nand {len(report.failures) - MOST_FAILURES} more failures; --report DIR writes them all")
    total = report.counts()
    console.print(
        f"\n{total.passed} passed, {total.failed} failed, {total.expected} expected to fail, {total.skipped} skipped "
        f"of {total.planned} planned, {report.seconds:.0f} s"
    )
    good = report.exit_code == 0
    console.print(f"{report.backend}: {report.verdict}", style="green" if good else "red", soft_wrap=True)
