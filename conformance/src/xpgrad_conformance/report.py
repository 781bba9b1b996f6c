"""The report of a run: counts by family and device, the level, and programs that reproduce failures."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from xpgrad.plugin import Capabilities
from xpgrad_conformance.check import FAMILIES, LEVELS, CheckFamily
from xpgrad_conformance.groups import Group, grouped
from xpgrad_conformance.levels import Ruling, check_of, ruling
from xpgrad_conformance.outcome import STATES, Outcome
from xpgrad_conformance.verdict import remarks

SUITE_VERSION = "2.8"
CERTIFIED, FAILURES, NOTHING_RAN, MISDECLARED = range(4)
"""Exit codes."""
MAX_OBSTACLES = 3
"""The most reasons that a verdict gives for the level that is not reached."""


class Counts(NamedTuple):
    """Numbers of checks by outcome: planned = passed + failed + expected + skipped."""

    planned: int
    passed: int
    failed: int
    expected: int
    skipped: int


@dataclass(frozen=True)
class Report:
    """The results of a run.

    Attributes
    ----------
    backend : str
    versions : dict from what to version
    devices : tuple of str
    profile : str
    whole : bool
        Whether it ran all families on all devices of the backend.
    seed : int
    seconds : float
    capabilities : Capabilities
    mismatches : tuple of str
        Where declared and probed facts disagree.
    outcomes : tuple of Outcome
    declaration : str
        Python code of a declaration that agrees with the probes.
    reasons : tuple of str
        Reasons of the declaration that are given too often.
    left : mapping from (family's letter, device) to int
        Numbers of the checks that did not run, because the time of the run had passed.
    notes : tuple of str
        Further remarks on the run.
    """

    backend: str
    versions: dict[str, str]
    devices: tuple[str, ...]
    profile: str
    whole: bool
    seed: int
    seconds: float
    capabilities: Capabilities
    mismatches: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    declaration: str = ""
    reasons: tuple[str, ...] = ()
    left: Mapping[tuple[str, str], int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def failures(self) -> tuple[Outcome, ...]:
        """The outcomes that failed."""
        return tuple(each for each in self.outcomes if each.state == "failed")

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The failures grouped by cause, the group to repair first at the beginning."""
        return grouped(self.failures, self.devices)

    @cached_property
    def table(self) -> dict[tuple[str, str], Counts]:
        """The counts by the family's letter and the device."""
        states = Counter((check_of(each).family.letter, each.device, each.state) for each in self.outcomes)
        keys = {key[:2] for key in states}
        return {key: _counts({state: states[*key, state] for state in STATES}) for key in keys}

    def counts(self, letter: str | None = None) -> Counts:
        """Return the counts over all devices, for one family or for the whole suite."""
        chosen = [each.state for each in self.outcomes if letter in (None, check_of(each).family.letter)]
        return _counts(Counter(chosen))

    @cached_property
    def ruling(self) -> Ruling:
        """The level that the outcomes reach, and the obstacles to the next level; see `levels.ruling`.

        Only a run of everything certifies.
        """
        if self.profile == "quick" or not self.whole or self.left or self.mismatches or self.reasons:
            return Ruling(None, ())
        return ruling(self.outcomes, self.capabilities)

    @property
    def level(self) -> int | None:
        """The highest level that this run certifies; None for none."""
        return self.ruling.level

    @property
    def exit_code(self) -> int:
        """0 certified (for a part of the suite: no failures), 1 failures, 2 nothing ran, 3 misdeclared."""
        ran = self.counts()
        if ran.passed + ran.failed + ran.expected == 0:
            return NOTHING_RAN
        if self.mismatches or self.reasons:
            return MISDECLARED
        if self.failures:
            return FAILURES
        part = self.profile == "quick" or not self.whole or bool(self.left)
        return CERTIFIED if part or self.level is not None else FAILURES

    @property
    def verdict(self) -> str:
        """The result in one line: the level, the obstacle to the next level, and the exceptions."""
        if self.left:
            return self._stopped()
        few = ["on few inputs (profile thin)"] if self.profile == "thin" else []
        return "; ".join([self._result, *self._obstacles, *few, *remarks(self.outcomes, self.capabilities)])

    @property
    def _result(self) -> str:
        if self.level is not None:
            return f"certified at level {self.level}: {LEVELS[self.level]}"
        if self.exit_code == CERTIFIED:
            return "nothing failed; a level takes a run of the full profile on all devices"
        return {
            FAILURES: "not certified" if self.ruling.obstacles else "not certified: checks failed",
            NOTHING_RAN: "not certified: nothing ran",
            MISDECLARED: f"misdeclared, not certified: {self._misdeclared}",
        }[self.exit_code]

    @property
    def _misdeclared(self) -> str:
        """Errors of the declaration."""
        wrong = ["declared and probed capabilities disagree"] if self.mismatches else []
        return " and ".join(wrong + (["reasons are given too often"] if self.reasons else []))

    def _stopped(self) -> str:
        """The result of a run whose time had passed before its end."""
        total, missed = self.counts(), Counter[str]()
        for (letter, _), count in self.left.items():
            missed[letter] += count
        failed = f"{total.failed:,} failed" if total.failed else "nothing failed"
        named = ", ".join(f"{family.letter} {missed[family.letter]:,}" for family in FAMILIES if missed[family.letter])
        return (
            f"stopped after {self.seconds:.0f} s, without a level: {total.planned:,} of "
            f"{total.planned + missed.total():,} checks ran and {failed}; not run: {named}"
        )

    @property
    def _obstacles(self) -> list[str]:
        found = self.ruling.obstacles
        if not found:
            return []
        above = 0 if self.level is None else self.level + 1
        more = f", and {len(found) - MAX_OBSTACLES} more" if len(found) > MAX_OBSTACLES else ""
        return [f"level {above} is not given: {'; '.join(found[:MAX_OBSTACLES])}{more}"]


def _counts(states: "Counter[str] | dict[str, int]") -> Counts:
    passed, failed, expected, skipped = (states[state] for state in STATES)
    return Counts(passed + failed + expected + skipped, passed, failed, expected, skipped)


def families_of(report: Report) -> list[CheckFamily]:
    """Return the families with planned items, in their order."""
    return [family for family in FAMILIES if any(letter == family.letter for letter, _ in report.table)]


def reproduction(outcome: Outcome) -> str:
    """Return a program of at most eight lines that runs a failed check again."""
    options = ", thin=True" if outcome.thin else ", quick=True" if outcome.quick else ""
    reason = outcome.reason.splitlines()[0] if outcome.reason else ""
    return "\n".join(
        [
            f"# {check_of(outcome).title}",
            f"# {reason[:200]}",
            "from xpgrad_conformance import reproduce",
            "",
            f'reproduce("{outcome.id}", seed={outcome.seed}{options})',
        ]
    )
