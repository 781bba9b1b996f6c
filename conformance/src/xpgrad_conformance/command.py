"""The implementation of `xpgrad conform`: progress, table of results, groups of failures, and report files."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from xpgrad_conformance.check import FAMILIES
from xpgrad_conformance.documents import counted, summary, write
from xpgrad_conformance.groups import Group
from xpgrad_conformance.progress import bar, watching
from xpgrad_conformance.report import Counts, Report, reproduction
from xpgrad_conformance.run import conform, devices_of

__all__ = ["bar", "cores", "devices_of", "run"]

MAX_GROUPS = 5
NARROW = 80
NONE = Counts(0, 0, 0, 0, 0)
MAX_MESSAGES = 3


def run(backend: str, console: Console, report: Path | None, *, declare: bool = False, **options: Any) -> int:
    """Run the suite on a backend, print the result, write it to the folder `report`, and return the exit code.

    Parameters
    ----------
    backend : str
        An available backend or device.
    console : Console
    report : Path or None
    declare : bool
        Print the declaration of capabilities even if it agrees with the probes.
    **options
        Those of `conform`.

    Raises
    ------
    ValueError
        An unknown profile, family, case or share; an unreadable report of an earlier run.
    """
    with watching(console, backend) as watcher:
        found = conform(backend, begin=watcher.begin, progress=watcher.done, **options)
    files = [] if report is None else write(found, report)
    _print(console, found, declare, files)
    return found.exit_code


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _print(console: Console, report: Report, declare: bool, files: list[Path]) -> None:
    console.print()
    console.print(_table(report, console.width))
    for name, (factor, reason) in report.capabilities.tolerances.items():
        console.print(f"tolerance of {name} widened {factor:g} times: {reason}", soft_wrap=True)
    for note in report.notes:
        console.print(note, soft_wrap=True)
    _print_declaration(console, report, declare)
    _print_groups(console, report, files)
    total = report.counts()
    console.print(
        f"\n{total.passed:,} passed, {total.failed:,} failed, {total.expected:,} expected to fail, {total.skipped:,} "
        f"skipped of {total.planned + sum(report.left.values()):,} planned, seed {report.seed}, {report.seconds:.0f} s",
        soft_wrap=True,
    )
    good = report.exit_code == 0
    console.print(f"{report.backend}: {report.verdict}", style="green" if good else "red", soft_wrap=True)
    if files:
        console.print(f"Report: {', '.join(map(str, files))}", soft_wrap=True)


def _print_declaration(console: Console, report: Report, declare: bool) -> None:
    for message in report.reasons:
        console.print(f"declaration: {message}", style="red", soft_wrap=True)
    if report.mismatches:
        facts = len({each.partition(" on ")[0] for each in report.mismatches})
        said = f"declaration: it disagrees with the probes on {counted(facts, 'fact')}. Paste this"
        said += ', and put a reason into each "":' if '"",' in report.declaration else ":"
        console.print(f"\n{said}\n", style="red", soft_wrap=True)
    elif declare:
        console.print("\ndeclaration: it agrees with the probes\n")
    if report.mismatches or declare:
        console.print(report.declaration, soft_wrap=True)


def _print_groups(console: Console, report: Report, files: list[Path]) -> None:
    groups = report.groups
    if not groups:
        return
    first = ", the one to repair first at the top" if len(groups) > 1 else ""
    failures = counted(len(report.failures), "failure")
    console.print(f"\n{failures} in {counted(len(groups), 'group')}{first}", soft_wrap=True)
    for number, group in enumerate(groups[:MAX_GROUPS], 1):
        _print_group(console, number, group)
    rest = groups[MAX_GROUPS:]
    if rest:
        console.print()
    for number, group in enumerate(rest[:MAX_GROUPS], MAX_GROUPS + 1):
        text = f"{number}. {summary(group)}" + ("" if group.function else f": {group.message}")
        console.print(text, style="red", no_wrap=True, overflow="ellipsis")
    if len(rest) > MAX_GROUPS:
        where = f"{files[1]} has them" if files else "--report DIR writes them"
        console.print(f"and {counted(len(rest) - MAX_GROUPS, 'more group')}; {where}", soft_wrap=True)


def _print_group(console: Console, number: int, group: Group) -> None:
    console.print(f"\n{number}. {summary(group)}", style="red")
    if group.function and group.others:
        messages = [group.message, *(text for text, _ in group.others)]
        for text in messages[:MAX_MESSAGES]:
            console.print(f"   - {text}", no_wrap=True, overflow="ellipsis")
        if len(messages) > MAX_MESSAGES:
            console.print(f"   - and {counted(len(messages) - MAX_MESSAGES, 'other message')}")
    console.print(reproduction(group.example), soft_wrap=True)


def _table(report: Report, width: int) -> Table:
    """Return the counts by family; devices with the same result share a line, and narrow tables have no total."""
    shown = {"planned", "passed", "failed"} if width >= NARROW else {"passed", "failed"}
    shown |= {title for title in ("expected", "skipped") if any(getattr(c, title) for c in report.table.values())}
    titles = [title for title in Counts._fields if title in shown]
    table = Table(box=None, pad_edge=False)
    table.add_column("family", min_width=12)
    table.add_column("device", no_wrap=True)
    for title in (*titles, *(["not run"] if report.left else [])):
        table.add_column(title, justify="right", no_wrap=True)
    for family in FAMILIES:
        for where, counts, left in _rows(report, family.letter):
            numbers = [getattr(counts, title) for title in titles] + ([left] if report.left else [])
            place = where[0] if len(where) == 1 else f"{len(where)} devices"
            style = "red" if counts.failed else None
            table.add_row(f"{family.letter} {family.name}", place, *map(str, numbers), style=style)
    return table


def _rows(report: Report, letter: str) -> Iterator[tuple[list[str], Counts, int]]:
    """Yield groups of devices with equal counts in a family, the counts, and the number of checks that did not run."""
    alike: dict[object, list[str]] = {}
    for device in report.devices:
        key = letter, device
        counts = report.table.get(key, NONE)
        if key in report.table or key in report.left:
            alike.setdefault(counts if counts.failed else None, []).append(device)
    for where in alike.values():
        found = [report.table.get((letter, device), NONE) for device in where]
        left = sum(report.left.get((letter, device), 0) for device in where)
        yield where, Counts(*map(sum, zip(*found, strict=True))), left
