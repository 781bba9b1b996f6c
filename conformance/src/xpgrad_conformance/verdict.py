"""Remarks of a verdict on the level: numbers of skipped, widened and declared failures."""

from collections import Counter
from collections.abc import Iterator, Sequence

from xpgrad.plugin import Capabilities
from xpgrad_conformance.check import FAMILIES, CheckFamily
from xpgrad_conformance.levels import FACILITIES, check_of, fact_of
from xpgrad_conformance.outcome import Outcome, matches
from xpgrad_conformance.subject import NARROWER, RTOL

MAX_FACTS = 3
"""The most facts that are named for one family."""
BROAD = 10
"""A pattern of declared failures that covers more checks is named."""


def remarks(outcomes: Sequence[Outcome], capabilities: Capabilities) -> list[str]:
    """Return the exceptions to the level in short phrases: declared failures, wrong functions, tolerances, skips."""
    return [
        *_declared(outcomes, capabilities),
        *_widened(capabilities),
        *_narrow(capabilities),
        *_absent(outcomes),
        *_skipped(outcomes),
    ]


def covered(outcomes: Sequence[Outcome], capabilities: Capabilities) -> dict[str, int]:
    """Return the number of checks that each pattern of declared failures covers."""
    return {
        pattern: sum(each.state == "expected" and matches(each.id, pattern) for each in outcomes)
        for pattern in capabilities.expected
    }


def _declared(outcomes: Sequence[Outcome], capabilities: Capabilities) -> Iterator[str]:
    known = sum(each.state == "expected" for each in outcomes)
    if known:
        yield f"{known} {'failure that is' if known == 1 else 'failures that are'} declared"
    for pattern, number in covered(outcomes, capabilities).items():
        if number > BROAD:
            yield f"{number} of them by the pattern {pattern}"
    wrong = Counter(fact_of(each) for each in outcomes if each.wrong)
    if wrong:
        names = ", ".join(f"{name} ({number} checks skipped)" for name, number in wrong.items())
        yield f"declared to be there, but wrong: {names}"


def _widened(capabilities: Capabilities) -> Iterator[str]:
    for name, (factor, _) in capabilities.tolerances.items():
        relative = f", to {RTOL[name] * factor:.1g}" if name in RTOL else ""
        yield f"the tolerance of {name} widened {factor:g} times{relative}"


def _narrow(capabilities: Capabilities) -> Iterator[str]:
    facts = {fact for facts in (capabilities.missing, *capabilities.missing_on.values()) for fact in facts}
    for wide, narrow in NARROWER.items():
        if wide in facts:
            yield f"{narrow} in place of {wide}"


def _absent(outcomes: Sequence[Outcome]) -> Iterator[str]:
    found: dict[str, list[str]] = {}
    for each in outcomes:
        letter, fact = check_of(each).family.letter, fact_of(each)
        if fact in FACILITIES.get(letter, ()) and letter not in found.setdefault(fact, []):
            found[fact].append(letter)
    if found:
        yield "without " + ", ".join(f"{fact} ({', '.join(letters)})" for fact, letters in found.items())


def _skipped(outcomes: Sequence[Outcome]) -> Iterator[str]:
    for family in FAMILIES:
        own = [each for each in outcomes if check_of(each).family is family]
        skipped = [each for each in own if each.state == "skipped" and not each.wrong]
        if skipped:
            yield f"{len(skipped):,} of {len(own):,} {_of(family)} skipped: {_facts(skipped)}"


def _of(family: CheckFamily) -> str:
    return f"{family.name.replace(' ', '-')} checks"


def _facts(skipped: Sequence[Outcome]) -> str:
    found = Counter(fact_of(each) or "no declared reason" for each in skipped).most_common()
    more = len(found) - MAX_FACTS
    names = ", ".join(f"no {fact}" if fact != "no declared reason" else fact for fact, _ in found[:MAX_FACTS])
    return names + (f", and {more} more" if more > 0 else "")
