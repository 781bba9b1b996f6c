"""Declarations of capabilities: one to paste that agrees with the probes, and reasons that are given too often."""

import re
from collections.abc import Collection, Mapping, Sequence

from xpgrad.backend.capabilities import IMPLIED_BY
from xpgrad.plugin import Capabilities
from xpgrad_conformance.probes import Mismatch

MAX_EQUAL = 5
"""So many entries may have the same reason."""
TOGETHER = tuple(
    (re.compile(pattern), kind)
    for pattern, kind in (
        (r"(linalg|fft)(?:\..*)?", r"\1"),
        (r"unique_\w+", "unique"),
        (r"complex\d+|real|imag|conj", "complex"),
        (r"uint\d+", "uint"),
        (r"(?:\w+_)?index_\w+", "index"),
        (r"(dlpack|bitwise|cumulative|pickle)\w*", r"\1"),
        (r"(?:arg)?sort|searchsorted", "sort"),
        (r"\w+\[\*?([\w.]+).*", r"\1"),
    )
)
"""Patterns of facts that usually hold for one reason, and of checks of one case, with a word for each."""


def declaration(wrong: Sequence[Mismatch], given: Capabilities, devices: Sequence[str]) -> str:
    """Return Python code of capabilities that agree with the probes, with an empty string for each unknown reason.

    A fact that is implied by another missing fact, such as the functions of a missing extension, needs no entry.
    `Capabilities` refuses empty reasons.

    Parameters
    ----------
    wrong : sequence of Mismatch
        Where the present declaration is wrong.
    given : Capabilities
        The present declaration.
    devices : sequence of str
        All devices that were probed.
    """
    lacking: dict[str, list[Mismatch]] = {}
    for each in wrong:
        if each.declared:
            lacking.setdefault(each.fact, []).append(each)
    everywhere = {fact: found[0].error for fact, found in lacking.items() if len(found) == len(devices)}
    there = {each.fact for each in wrong if not each.declared}
    missing = _entries(given.missing, everywhere, there, given.missing)
    indices = dict.fromkeys([*given.missing_on, *(_index(each) for each in wrong)])
    missing_on: list[str] = []
    for index in indices:
        own = {each.fact: each.error for each in wrong if each.declared and _index(each) == index}
        own = {fact: error for fact, error in own.items() if fact not in everywhere}
        found = {each.fact for each in wrong if not each.declared and _index(each) == index}
        absent = (*given.missing, *everywhere)
        entries = _entries(given.missing_on.get(index, {}), own, found - given.missing.keys(), absent)
        missing_on += _mapping(f"{_quoted(index)}: {{", entries, "},")
    lines = [
        *_mapping("missing={", missing, "},"),
        *_mapping("missing_on={", missing_on, "},"),
        *_mapping("tolerances={", [f"{_quoted(name)}: {pair!r}," for name, pair in given.tolerances.items()], "},"),
        *_mapping("expected={", _entries(given.expected, {}, (), ()), "},"),
        *_mapping("wrong={", _entries(given.wrong, {}, (), ()), "},"),
    ]
    inside = _mapping("capabilities = Capabilities(", lines, ")") or ["capabilities = Capabilities()"]
    return "\n".join(["from xpgrad.plugin import Capabilities", "", *inside])


def _entries(
    known: Mapping[str, str], lacking: Mapping[str, str], found: Collection[str], absent: Collection[str]
) -> list[str]:
    """Return the lines of one mapping, with known reasons, or placeholders for unknown reasons."""
    lines = [f"{_quoted(fact)}: {_quoted(why)}," for fact, why in known.items() if fact not in found]
    for fact, error in lacking.items():
        above = {fact.partition(".")[0], *IMPLIED_BY.get(fact, ())} - {fact}
        if not above & {*lacking, *absent}:
            lines.append(f'{_quoted(fact)}: "",  # the probe: {error or "there is none"}')
    return lines + [f"# {fact} is declared missing, but the probe finds it" for fact in known if fact in found]


def _mapping(head: str, lines: Sequence[str], tail: str) -> list[str]:
    return [head, *(f"    {line}" for line in lines), tail] if lines else []


def _index(mismatch: Mismatch) -> str:
    return mismatch.device.partition(":")[2]


def _quoted(text: str) -> str:
    return '"' + repr("'" + text)[2:-1].replace('"', '\\"') + '"' if '"' not in text else repr(text)


def repeated(given: Capabilities) -> list[str]:
    """Return a message for each reason that more than `MAX_EQUAL` entries share; facts that go together count once."""
    facts: dict[str, dict[str, str]] = {}
    for reasons in (given.missing, *given.missing_on.values(), given.expected, given.wrong):
        for fact, why in reasons.items():
            facts.setdefault(" ".join(why.lower().split()), {})[_kind(fact)] = fact
    return [
        f"the reason {why!r} is given {len(names)} times, for {', '.join(sorted(names.values()))}; write what is true "
        "of each, or certify with --accept"
        for why, names in facts.items()
        if len(names) > MAX_EQUAL
    ]


def _kind(fact: str) -> str:
    """Return the kind of a fact; facts of one kind are usually missing for the same reason."""
    found = ((pattern.fullmatch(fact), kind) for pattern, kind in TOGETHER)
    return next((match.expand(kind) for match, kind in found if match), fact)
