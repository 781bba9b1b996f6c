"""`xpgrad devices`: lists the installed backends and their devices, by default without importing their libraries."""

import importlib.metadata
import importlib.util
import json
from collections.abc import Iterable
from typing import Any

import click
from rich.table import Table

from xpgrad.backend.plugins import plugins
from xpgrad.cli.console import plain_console
from xpgrad.errors import XpgradError

COLUMNS = "backend", "state", "library", "plugin", "devices"
KEPT = "backend", "state"
"""Columns whose text is never wrapped."""
WIDE = 100
"""The time of loading is shown in terminals of so many characters."""


@click.command(short_help="List the backends and their devices.")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--versions", is_flag=True, help="Import the libraries of all backends, for their versions and devices.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def devices(names: tuple[str, ...], versions: bool, as_json: bool) -> None:
    """List the backends NAME, by default all, with their devices and versions, and the reason if one is off.

    Only the backends NAME are loaded. The list of all backends is read from installed metadata, without importing any
    library; --versions imports them.
    """
    wanted = [name.removeprefix("@").partition(":")[0] for name in names]
    try:
        known = sorted(plugins.names())
        if unknown := sorted(set(wanted) - set(known)):
            raise click.UsageError(f"no backend {', '.join(unknown)} is installed; installed: {', '.join(known)}")
        rows = [_row(name, load=versions or name in wanted) for name in wanted or known]
    except XpgradError as error:  # an environment variable names a backend that is not installed
        raise click.UsageError(str(error)) from None
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    console = plain_console()
    console.print(_table(rows, console.width >= WIDE and any(row["seconds"] is not None for row in rows)))
    reasons = [row for row in rows if row["reason"] is not None]
    if reasons:
        console.print()
        console.print(_reasons(reasons))
    if any(row["state"] == "not loaded" for row in rows):
        console.print("\nNot loaded: `xpgrad devices NAME` loads one, --versions all of them.", soft_wrap=True)


def _table(rows: Iterable[dict[str, Any]], timed: bool) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in (*COLUMNS, *(["loaded in"] if timed else [])):
        table.add_column(title, no_wrap=title in KEPT, overflow="fold", min_width=len(title))
    for row in rows:
        cells = [row["backend"], row["state"], row["library"] or "", row["plugin"], " ".join(row["devices"])]
        seconds = "" if row["seconds"] is None else f"{row['seconds'] * 1e3:.0f} ms"
        table.add_row(*cells, *([seconds] if timed else []))
    return table


def _reasons(rows: Iterable[dict[str, Any]]) -> Table:
    """Return why backends are off, each name next to its reason."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for row in rows:
        table.add_row(f"{row['backend']}:", row["reason"].removeprefix(f"{row['backend']}: "))
    return table


def _row(name: str, *, load: bool) -> dict[str, Any]:
    """Return the facts about one backend, which is loaded if `load`, or is loaded already."""
    entries = plugins.installed.backends[name]
    row: dict[str, Any] = {
        "backend": name,
        "state": "not loaded",
        "devices": [],
        "library": None,
        "plugin": ", ".join(sorted({entry.origin for entry in entries})),
        "seconds": None,
        "reason": None,
    }
    record = plugins.records.get(entries[0].module)
    if load or record is not None:
        return row | _loaded(name)
    return row | _installed(name)


def _loaded(name: str) -> dict[str, Any]:
    """Return the facts about a backend after loading its plugin."""
    facts: dict[str, Any] = {"state": "off"}
    try:
        backend = plugins.backend(name)
        facts |= {"state": "on", "devices": [str(d) for d in backend.devices()], "library": backend.version}
    except XpgradError as error:
        facts["reason"] = str(error)
    except Exception as error:  # a plugin's code can raise anything
        facts["reason"] = f"{name}: {type(error).__name__}: {error}"
    record = plugins.records.get(plugins.installed.backends[name][0].module)
    if record is not None:
        facts["seconds"] = round(record.seconds, 4)
    return facts


def _installed(name: str) -> dict[str, Any]:
    """Return facts about a backend from entry points and distribution metadata, without importing it."""
    found = plugins.installed
    if name in found.disabled:
        return {"state": "off", "reason": f"{name}: {found.disabled[name]}"}
    own = {entry.module for entry in found.backends[name]}
    roots = [root for root, entries in found.modules.items() if own & {entry.module for entry in entries}]
    there = [root for root in roots if importlib.util.find_spec(root) is not None]
    if roots and not there:
        return {"state": "off", "reason": f"{name}: {' or '.join(sorted(roots))} is not installed"}
    prefixes = [each for each, entries in found.prefixes.items() if own & {entry.module for entry in entries}]
    return {"devices": [f"@{name}", *sorted(prefixes)], "library": _version(there)}


def _version(roots: Iterable[str]) -> str | None:
    """Return the version of the first distribution that provides a package in `roots`, or None."""
    for root in roots:
        try:
            return importlib.metadata.version(root)
        except importlib.metadata.PackageNotFoundError:  # a distribution of another name
            for name in importlib.metadata.packages_distributions().get(root, ()):
                return importlib.metadata.version(name)
    return None
