"""The report as text for the terminal, readable at eighty columns."""

import textwrap
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

STYLES = {"fine": "green", "ok": "green", "off": "dim", "advice": "yellow", "wrong": "bold red"}
INDENT = "  "
TIMES = {"imported": "import", "loaded": "load"}


def show(report: dict[str, Any], console: Console) -> None:
    """Print the whole report."""
    _machine(report, console)
    for facts in report["backends"]:
        _backend(facts, report["contract"], console)


def _machine(report: dict[str, Any], console: Console) -> None:
    machine = report["machine"]
    contract = f"plugin contract {report['contract']}"
    console.print(f"xpgrad {report['xpgrad']}, {contract}, Python {machine['python']}, {machine['platform']}")
    bounds = [f"{machine['usable']} of {machine['cores']} cores usable"]
    bounds += [f"{name}={value}" for name, value in machine["variables"].items()]
    _line(", ".join(bounds), console)
    for pool in machine["pools"]:
        _line(_pool(pool), console)
    for name, facts in machine.get("executors", {}).items():
        _line(f"{name}: {facts['line']}", console)
    _findings(machine["findings"], console)


def _pool(pool: dict[str, Any]) -> str:
    text = " ".join(filter(None, [f"{pool['kind']}:", pool["name"], pool["version"]]))
    if pool["threads"] is None:
        return f"{text}; pip install threadpoolctl to know its kernels and threads"
    kernels = f", kernels for {pool['kernels']}" if pool["kernels"] else ""
    return f"{text}{kernels}, {pool['threads']} thread{'s'[: pool['threads'] != 1]}"


def _backend(facts: dict[str, Any], contract: int, console: Console) -> None:
    console.print()
    console.print(Text.assemble((facts["backend"], "bold"), " ", (facts["verdict"], STYLES[facts["verdict"]])))
    said = [f"library {facts['library']}"] if "library" in facts else []
    said.append(f"plugin {facts['plugin']}")
    if "import_seconds" in facts:
        supported = facts.get("contract")
        said.append(f"contract {_range(supported)}, here {contract}" if supported else "contract not stated")
    _line(", ".join(said), console)
    times = [f"{word} in {_cost(facts, key)}" for word, key in TIMES.items() if f"{key}_seconds" in facts]
    if times:
        _line(", ".join(times), console)
    if facts["devices"]:
        console.print(Padding(_devices(facts["devices"]), (0, 0, 0, len(INDENT)), expand=False))
    for row in facts["devices"]:
        if text := _compared(row.get("foreign") or {}):
            _line(f"{row['device']}: {text}", console)
    for index, missing in _missing(facts.get("capabilities", {})):
        _line(f"lacks{index}: {missing}", console)
    _findings(facts["findings"], console)


def _range(supported: Any) -> str:
    return " to ".join(map(str, supported)) if isinstance(supported, list) else str(supported)


def _cost(facts: dict[str, Any], key: str) -> str:
    held = facts[f"{key}_bytes"]
    size = "" if held is None else f" ({held / 1e6:.0f} MB)"
    return f"{facts[f'{key}_seconds'] * 1e3:.0f} ms{size}"


def _devices(rows: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in ("device", "kernel", "gradient", "host and back"):
        table.add_column(title)
    table.add_column("ms", justify="right")
    for row in rows:
        marks = ["ok" if row[key] == "ok" else "wrong" for key in ("kernel", "gradient", "move")]
        cells = [Text(mark, STYLES[mark]) for mark in marks]
        table.add_row(row["device"], *cells, f"{row['seconds'] * 1e3:.0f}")
    return table


def _compared(foreign: dict[str, Any]) -> str:
    """Return how many kernels of plugins were compared, and why not the others; equal reasons share a part."""
    left: dict[str, str] = foreign.get("uncompared", {})
    count = foreign.get("compared", 0) + len(left)
    if not count:
        return ""
    names = {why: ", ".join(name for name in left if left[name] == why) for why in left.values()}
    but = f"; not compared: {'; '.join(f'{names[why]} ({why})' for why in names)}" if left else ""
    return f"{count - len(left)} of {count} kernel{'s'[: count != 1]} of plugins compared{but}"


def _missing(capabilities: dict[str, Any]) -> list[tuple[str, str]]:
    """Return features that a backend or a device declares as missing; equal reasons share a line."""
    groups = [("", capabilities.get("missing", {}))]
    groups += [(f" on {index}", facts) for index, facts in capabilities.get("missing_on", {}).items()]
    lines = []
    for title, facts in groups:
        for reason in dict.fromkeys(facts.values()):
            lines.append((title, f"{', '.join(fact for fact in facts if facts[fact] == reason)} ({reason})"))
    return lines


def _findings(found: list[dict[str, Any]], console: Console) -> None:
    for finding in found:
        level = finding["level"]
        text = Text(_filled(finding["text"], console, f"{level:<6} ", " " * 7))
        text.stylize(STYLES[level], len(INDENT), len(INDENT) + len(level))
        console.print(text, soft_wrap=True)
        console.print(_filled(finding["remedy"], console, " " * 7 + "-> ", " " * 10), soft_wrap=True)


def _line(text: str, console: Console) -> None:
    console.print(_filled(text, console, later="  "), soft_wrap=True)


def _filled(text: str, console: Console, first: str = "", later: str = "") -> str:
    return textwrap.fill(
        text, console.width, initial_indent=INDENT + first, subsequent_indent=INDENT + later, break_on_hyphens=False
    )
