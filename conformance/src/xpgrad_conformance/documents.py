"""A report as files: `conformance.json`, a Markdown page, a badge."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from xpgrad_conformance.check import LEVELS
from xpgrad_conformance.groups import Group
from xpgrad_conformance.levels import ceiling, check_of, fails_as_declared
from xpgrad_conformance.outcome import Outcome
from xpgrad_conformance.report import SUITE_VERSION, Report, families_of, reproduction
from xpgrad_conformance.subject import RTOL
from xpgrad_conformance.verdict import covered

SCHEMA = 1
"""The version of the format of `conformance.json`; incompatible changes increase it."""
COLOURS = {None: "#b60205", 0: "#d4a72c", 1: "#a3b018", 2: "#4c9a2a", 3: "#2a7a2a"}
MAX_FAILURES = 20
MAX_CHECKS = 6


def write(report: Report, directory: Path) -> list[Path]:
    """Write a report into a directory, which is created if necessary; return the files."""
    directory.mkdir(parents=True, exist_ok=True)
    texts = {
        "conformance.json": json.dumps(as_json(report), indent=1) + "\n",
        "conformance.md": as_markdown(report),
        "badge.svg": badge(report),
    }
    for name, text in texts.items():
        (directory / name).write_text(text, encoding="utf-8")
    return [directory / name for name in texts]


def as_json(report: Report) -> dict[str, Any]:
    """Return a report as plain data: all counts, and for each check the items that did not pass, with their reasons."""
    lacks = report.capabilities
    return {
        "schema": SCHEMA,
        "suite": SUITE_VERSION,
        "backend": report.backend,
        "versions": report.versions,
        "devices": list(report.devices),
        "profile": report.profile,
        "seed": report.seed,
        "seconds": report.seconds,
        "level": report.level,
        "verdict": report.verdict,
        "exit_code": report.exit_code,
        "obstacles": list(report.ruling.obstacles),
        "capabilities": {
            **lacks.as_dict(),
            "tolerances": {name: list(given) for name, given in lacks.tolerances.items()},
        },
        "covered": covered(report.outcomes, lacks),
        "mismatches": list(report.mismatches),
        "reasons": list(report.reasons),
        "declaration": report.declaration,
        "notes": list(report.notes),
        "not_run": [{"family": letter, "device": device, "checks": n} for (letter, device), n in report.left.items()],
        "groups": [_group(group) for group in report.groups],
        "families": [
            {
                "family": family.letter,
                "name": family.name,
                "device": device,
                **report.table[family.letter, device]._asdict(),
            }
            for family in families_of(report)
            for device in report.devices
            if (family.letter, device) in report.table
        ],
        "checks": _checks(report),
    }


def _group(group: Group) -> dict[str, Any]:
    return {
        "function": group.function,
        "message": group.message,
        "others": dict(group.others),
        "failures": len(group.outcomes),
        "checks": list(group.checks),
        "level": group.level,
        "example": group.example.id,
        "reason": group.example.reason,
        "program": reproduction(group.example),
    }


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: "1 failure", "1,200 failures"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def summary(group: Group) -> str:
    """Return a group in one line: its function, if any, the number of its failures, and the checks that fail."""
    checks = ", ".join(group.checks[:MAX_CHECKS])
    more = len(group.checks) - MAX_CHECKS
    where = f"{checks} and {counted(more, 'other check')}" if more > 0 else checks
    return f"{f'{group.title}: ' if group.function else ''}{counted(len(group.outcomes), 'failure')}, of {where}"


def _checks(report: Report) -> list[dict[str, Any]]:
    grouped: dict[tuple[str, str], list[Outcome]] = {}
    for each in report.outcomes:
        grouped.setdefault((each.check, each.device), []).append(each)
    rows = []
    for (check, device), found in grouped.items():
        known = check_of(found[0])
        rows.append(
            {
                "check": check,
                "title": known.title,
                "level": known.level,
                "device": device,
                "passed": sum(each.state == "passed" for each in found),
                "others": _others(found),
                "seconds": round(sum(each.seconds for each in found), 3),
            }
        )
    return rows


def _others(found: Iterable[Outcome]) -> list[dict[str, Any]]:
    """Return the items that did not pass: each failure, and the remaining items grouped by reason."""
    rows: list[dict[str, Any]] = []
    together: dict[tuple[str, str, bool], list[str]] = {}
    for each in found:
        if each.state == "failed":
            rows.append({"state": "failed", "reason": each.reason, "seed": each.seed, "ids": [each.id]})
        elif each.state != "passed":
            together.setdefault((each.state, each.reason, each.declared), []).append(each.id)
    for (state, reason, declared), ids in together.items():
        row: dict[str, Any] = {"state": state, "reason": reason, "ids": ids}
        rows.append({**row, "declared": declared} if state == "skipped" else row)
    return rows


def as_markdown(report: Report) -> str:
    """Return a report as a page."""
    total = report.counts()
    lines = [
        f"# Conformance of {report.backend}",
        "",
        f"**{report.verdict[0].upper()}{report.verdict[1:]}.**",
        "",
        f"{total.passed} passed, {total.failed} failed, {total.expected} expected to fail, {total.skipped} skipped, of "
        f"{total.planned} planned; profile {report.profile}, seed {report.seed}, {report.seconds:.0f} s.",
        "",
        "; ".join(
            f"{what} {version}" if what not in ("plugin", "library") else version for what, version in _named(report)
        ),
        "",
        "| family | device | planned | passed | failed | expected | skipped |",
        "|---|---|---|---|---|---|---|",
    ]
    for family in families_of(report):
        for device in report.devices:
            if (family.letter, device) in report.table:
                counts = " | ".join(map(str, report.table[family.letter, device]))
                lines.append(f"| {family.letter} {family.name} | `{device}` | {counts} |")
    lines += _declared(report) + _failures(report)
    lines += ["", "Levels: " + "; ".join(f"{level} {what}" for level, what in LEVELS.items()) + ".", ""]
    return "\n".join(lines)


def _named(report: Report) -> list[tuple[str, str]]:
    return [("suite", SUITE_VERSION), *report.versions.items()]


def _declared(report: Report) -> list[str]:
    lacks, lines = report.capabilities, list[str]()
    missing = [(fact, "all devices", reason) for fact, reason in lacks.missing.items()]
    missing += [(f, f"`{index}`", reason) for index, facts in lacks.missing_on.items() for f, reason in facts.items()]
    if missing:
        lines += ["", "## What the library lacks", "", "| fact | where | reason |", "|---|---|---|"]
        lines += [f"| {fact} | {where} | {reason} |" for fact, where, reason in missing]
    if lacks.tolerances:
        lines += ["", "## Wider tolerances", ""]
        lines += ["| of | factor | relative tolerance of values | at most, for levels 0 and 1 | reason |"]
        lines += ["|---|---|---|---|---|"]
        for name, (factor, reason) in lacks.tolerances.items():
            relative = f"{RTOL[name] * factor:.1g}" if name in RTOL else ""
            most = f"{ceiling(name, 0):g} and {ceiling(name, 1):g} times"
            lines += [f"| {name} | {factor:g} | {relative} | {most} | {reason} |"]
    if lacks.wrong:
        lines += ["", "## What is there, but wrong", "", "| function | checks skipped | reason |", "|---|---|---|"]
        for name, reason in lacks.wrong.items():
            number = sum(each.wrong and each.reason == f"{name}: {reason}" for each in report.outcomes)
            lines += [f"| {name} | {number} | {reason} |"]
    if lacks.expected:
        lines += ["", "## Failures that are declared", "", "| checks | number | reason |", "|---|---|---|"]
        numbers = covered(report.outcomes, lacks)
        lines += [f"| `{pattern}` | {numbers[pattern]} | {reason} |" for pattern, reason in lacks.expected.items()]
    if report.mismatches or report.reasons:
        wrong = (*report.mismatches, *report.reasons)
        lines += ["", "## What is wrong with the declaration", "", *(f"- {each}" for each in wrong)]
    if report.mismatches:
        lines += ["", "One that agrees with the probes:", "", "```python", report.declaration, "```"]
    return lines


def _failures(report: Report) -> list[str]:
    groups = report.groups
    if not groups:
        return []
    said = f"{counted(len(report.failures), 'failure')} in {counted(len(groups), 'group')}"
    lines = ["", "## Failures", "", f"{said}, the one to repair first at the top.", ""]
    for number, group in enumerate(groups[:MAX_FAILURES], 1):
        lines += [f"### {number}. {summary(group)}", ""]
        messages = [group.message, *(text for text, _ in group.others)]
        lines += [*(f"- `{text}`" for text in messages[:MAX_CHECKS]), ""]
        lines += ["```python", reproduction(group.example), "```", ""]
    more = len(groups) - MAX_FAILURES
    return lines + ([f"and {counted(more, 'more group')} in conformance.json"] if more > 0 else [])


def _beside(report: Report) -> str:
    """Return the text to the right of the level on a badge: `` (2 declared, tolerance x4)``."""
    known = sum(map(fails_as_declared, report.outcomes))
    widest = max((factor for factor, _ in report.capabilities.tolerances.values()), default=1.0)
    found = ["thin"] * (report.profile == "thin") + [f"{known} declared"] * (known > 0)
    found += [f"tolerance x{widest:g}"] * (widest > 1)
    return f" ({', '.join(found)})" if found else ""


def badge(report: Report) -> str:
    """Return a badge with the level, or with "none"."""
    text = "not certified" if report.level is None else f"level {report.level}{_beside(report)}"
    left, right = 58, 12 + 7 * len(text)
    width = left + right
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" '
        f'aria-label="xpgrad: {text}"><title>xpgrad conformance of {report.backend}: {text}</title>\n'
        f'<rect width="{left}" height="20" fill="#444"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{COLOURS[report.level]}"/>\n'
        f'<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f'<text x="{left / 2:g}" y="14">xpgrad</text><text x="{left + right / 2:g}" y="14">{text}</text></g></svg>\n'
    )
