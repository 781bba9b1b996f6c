"""The implementation of `xpgrad conform`: progress, table of results, groups of failures, and report files."""

import os
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from xpgrad_conformance.documents import counted, summary, write
from xpgrad_conformance.groups import Group
from xpgrad_conformance.progress import bar, watching
from xpgrad_conformance.report import Counts, Report, families_of, reproduction
from xpgrad_conformance.run import conform, devices_of

__all__ = ["bar", "cores", "devices_of", "run"]

MAX_GROUPS = 5
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
    console.print(_table(report))
    for name, (factor, reason) in report.capabilities.tolerances.items():
        console.print(f"tolerance of {name} widened {factor:g} times: {reason}", soft_wrap=True)
    for note in report.notes:
        console.print(note, soft_wrap=True)
    _print_declaration(console, report, declare)
    _print_groups(console, report, files)
    total = report.counts()
    console.print(
        f"\n{total.passed} passed, {total.failed} failed, {total.expected} expected to fail, {total.skipped} skipped "
        f"of {total.planned + sum(report.left.values())} planned, {report.seconds:.0f} s",
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


def _table(report: Report) -> Table:
    """Return the counts by family; devices with the same result share a line."""
    shown = {"planned", "passed", "failed"}
    shown |= {title for title in ("expected", "skipped") if any(getattr(c, title) for c in report.table.values())}
    titles = [title for title in Counts._fields if title in shown]
    table = Table(box=None, pad_edge=False)
    table.add_column("family")
    table.add_column("device", no_wrap=True)
    for title in titles:
        table.add_column(title, justify="right", no_wrap=True)
    if report.left:
        table.add_column("not run", justify="right", no_wrap=True)
    for family in families_of(report):
        alike: dict[object, list[str]] = {}
        for device in report.devices:
            counts = report.table.get((family.letter, device))
            if counts is not None:
                alike.setdefault(counts if counts.failed else None, []).append(device)
        for bad, where in alike.items():
            found = [sum(getattr(report.table[family.letter, d], title) for d in where) for title in titles]
            left = [sum(report.left.get((family.letter, d), 0) for d in where)] if report.left else []
            place = where[0] if len(where) == 1 else f"{len(where)} devices"
            style = "red" if bad else None
            table.add_row(f"{family.letter} {family.name}", place, *map(str, (*found, *left)), style=style)
    return table
