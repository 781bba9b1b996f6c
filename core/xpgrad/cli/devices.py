"""`xpgrad devices`: lists the installed backends and their devices."""

import json
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from xpgrad.backend.plugins import plugins
from xpgrad.errors import XpgradError


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def devices(as_json: bool) -> None:
    """List backends, their devices, versions and states, and the reason if one is off."""
    try:
        rows = [_row(name) for name in sorted(plugins.names())]
    except XpgradError as error:  # an environment variable names a backend that is not installed
        raise click.UsageError(str(error)) from None
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    console = Console(highlight=False, markup=False)
    table = Table(box=None, pad_edge=False)
    for title in ("backend", "state", "library", "plugin", "loaded in", "devices"):
        table.add_column(title, no_wrap=title != "devices")
    for row in rows:
        seconds = "" if row["seconds"] is None else f"{row['seconds'] * 1e3:.0f} ms"
        table.add_row(row["backend"], row["state"], row["library"], row["plugin"], seconds, " ".join(row["devices"]))
    console.print(table)
    for row in rows:
        if row["reason"] is not None:
            console.print(row["reason"], soft_wrap=True)


def _row(name: str) -> dict[str, Any]:
    """Return the facts about one backend, after loading it."""
    entries = plugins.installed.backends[name]
    row: dict[str, Any] = {
        "backend": name,
        "state": "off",
        "devices": [],
        "library": None,
        "plugin": ", ".join(sorted({entry.origin for entry in entries})),
        "seconds": None,
        "reason": None,
    }
    try:
        backend = plugins.backend(name)
        row |= {"state": "on", "devices": [str(d) for d in backend.devices()], "library": backend.version}
    except XpgradError as error:
        row["reason"] = str(error)
    except Exception as error:  # a plugin's code can raise anything
        row["reason"] = f"{type(error).__name__}: {error}"
    record = plugins.records.get(entries[0].module)
    if record is not None:
        row["seconds"] = round(record.seconds, 4)
    return row
