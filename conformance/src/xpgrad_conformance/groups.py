"""Failures grouped by cause, the group to repair first at the beginning, each with its smallest example."""

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from xpgrad_conformance.cases import CASES
from xpgrad_conformance.checks import CHECKS
from xpgrad_conformance.messages import missing, named, normalized
from xpgrad_conformance.outcome import Outcome
from xpgrad_conformance.used import Key, case_of, functions_used, key_of

BY_ID = {check.id: check for check in CHECKS}
SIZES = {case.name: sum(math.prod(x.shape) for x in case.inputs) for case in CASES}
WEIGHT = 4
"""Factor by which a failure counts less with each level: failures at low levels often cause failures at higher
levels."""

SEVERAL = 3
"""Number of functions, not calling each other, whose common error counts as a separate cause."""
_ERROR = re.compile(r"\w+(?:Error|Exception): ")

Used = Mapping[Key, frozenset[str]]


@dataclass(frozen=True)
class Group:
    """Failures with one cause.

    Attributes
    ----------
    function : str
        The function of the library that is missing or wrong and that all failing checks call; empty if unknown.
    message : str
        The most frequent message, with numbers, shapes, dtypes, devices and ids replaced.
    outcomes : tuple of Outcome
    others : tuple of (message, int)
        The other messages, with the number of failures of each, the most frequent first.
    """

    function: str
    message: str
    outcomes: tuple[Outcome, ...]
    others: tuple[tuple[str, int], ...] = ()

    @property
    def example(self) -> Outcome:
        """The most readable failure: low level, small, float64, short message."""
        return min(self.outcomes, key=lambda each: (not self._own(each), *_difficulty(each)))

    @property
    def checks(self) -> tuple[str, ...]:
        """The ids of the checks that fail."""
        return tuple(dict.fromkeys(each.check for each in self.outcomes))

    @property
    def level(self) -> int:
        """The lowest level of these checks."""
        return min(BY_ID[name].level for name in self.checks)

    @property
    def title(self) -> str:
        """The cause in a few words."""
        lacking = self.function and missing(self.example.reason) == self.function
        return f"{self.function} is missing" if lacking else self.function or self.message

    @property
    def of_loading(self) -> bool:
        """Whether a check of the family "load" fails; its message often explains all other failures."""
        return any(name.startswith("L") for name in self.checks)

    @property
    def weight(self) -> float:
        """The sort key of groups: the number of failures, in which low levels count more."""
        return sum(math.pow(WEIGHT, -BY_ID[each.check].level) for each in self.outcomes)

    def _own(self, outcome: Outcome) -> bool:
        """Return whether a failure is of the function itself."""
        return self.function in ("", _own(outcome))


def grouped(failures: Sequence[Outcome], devices: Collection[str]) -> tuple[Group, ...]:
    """Return failures in groups with one cause each, the one to repair first at the beginning.

    A function of the library is a cause if it is missing, or if a check of only this function fails and calls no other
    such function. A failure is attributed to the cause that its check calls, or, of several causes, to the cause with
    the most failures. The other failures are grouped by their messages.
    """
    together: dict[tuple[str, str], list[Outcome]] = {}
    unclear = [each for each in failures if not missing(each.reason)]
    used = functions_used(sorted(unclear, key=_difficulty)) if unclear else {}
    calls = _suspects(unclear, used)
    common = _common(unclear, calls, devices)
    causes = _causes([each for each in unclear if normalized(each.reason, devices) not in common], used)
    for each in failures:
        message = normalized(each.reason, devices)
        cause = missing(each.reason) or ("" if message in common else _cause(each, causes, used))
        together.setdefault((cause, "" if cause else message), []).append(each)
    made = [_group(cause, found, devices) for (cause, _), found in together.items()]
    return tuple(sorted(made, key=lambda group: (not group.of_loading, -group.weight, group.title)))


def _group(cause: str, found: Sequence[Outcome], devices: Collection[str]) -> Group:
    messages = Counter(normalized(each.reason, devices) for each in found).most_common()
    return Group(cause, messages[0][0], tuple(found), tuple(messages[1:]))


def _own(outcome: Outcome) -> str:
    """Return the function that a check is of."""
    return case_of(outcome).partition("-")[0] or named(outcome.reason)


def _suspects(failures: Sequence[Outcome], used: Used) -> dict[str, frozenset[str]]:
    """Return the functions with a failing check of level 0, with the functions that all such checks call."""
    calls: dict[str, frozenset[str]] = {}
    for each in failures:
        name, found = _own(each), used.get(key_of(each), frozenset())
        if BY_ID[each.check].level == 0 and name in found:
            calls[name] = calls.get(name, found) & found
    return calls


def _roots(calls: Mapping[str, frozenset[str]]) -> list[str]:
    return [name for name, found in calls.items() if not (found & calls.keys()) - {name}]


def _common(failures: Sequence[Outcome], calls: Mapping[str, frozenset[str]], devices: Collection[str]) -> set[str]:
    """Return the messages of errors with which several functions fail that do not call each other."""
    roots, found = set(_roots(calls)), dict[str, set[str]]()
    for each in failures:
        if _own(each) in roots and _ERROR.match(each.reason):
            found.setdefault(normalized(each.reason, devices), set()).add(_own(each))
    return {message for message, names in found.items() if len(names) >= SEVERAL}


def _causes(failures: Sequence[Outcome], used: Used) -> list[str]:
    """Return the wrong functions that explain failures; the function that most failing checks call is first."""
    roots = _roots(_suspects(failures, used))
    keys = Counter(map(key_of, failures))
    covered = {name: sum(count for key, count in keys.items() if name in used.get(key, ())) for name in roots}
    return sorted(roots, key=lambda name: (-covered[name], name))


def _cause(outcome: Outcome, causes: Sequence[str], used: Used) -> str:
    found = used.get(key_of(outcome), frozenset[str]())
    return _own(outcome) if _own(outcome) in causes else next((name for name in causes if name in found), "")


def _difficulty(outcome: Outcome) -> tuple[float, ...]:
    case = case_of(outcome)
    lines = outcome.reason.count("\n")
    size = SIZES.get(case) or max((_size(shape) for shape in re.findall(r"\(([\d, ]+)\)", outcome.reason)), default=1)
    other = (
        not re.search(r"[\[,]float64,", outcome.id) and re.search(r"[\[,](?:float|complex)\d+,", outcome.id) is not None
    )
    return BY_ID[outcome.check].level, lines, size, other, len(outcome.reason), len(outcome.id)


def _size(shape: str) -> int:
    return math.prod(int(word) for word in shape.split(",") if word.strip())
