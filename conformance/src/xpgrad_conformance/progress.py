"""The progress of a run: a bar in a terminal, otherwise a line for each finished family and each tenth.

The first failure of each check is printed immediately.
"""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from xpgrad_conformance.check import BY_LETTER
from xpgrad_conformance.outcome import STATES, Outcome
from xpgrad_conformance.plan import Item

TENTHS = 10
MIN_CHECKS = 1000
"""Plans of fewer checks have no lines for their tenths."""
MAX_SHOWN = 10
"""The most failures that are printed before the end."""


class Watcher(Protocol):
    """Observer of a run."""

    def begin(self, items: Sequence[Item]) -> None:
        """Take note of the plan."""
        ...

    def done(self, outcome: Outcome, planned: int) -> None:
        """Take note of an outcome."""
        ...


class Failures:
    """Prints the first failure of each check immediately; the groups at the end list all failures."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._checks: set[str] = set()

    def done(self, outcome: Outcome) -> None:
        """Print a failure, if it is the first of its check."""
        if outcome.state != "failed" or outcome.check in self._checks or len(self._checks) == MAX_SHOWN:
            return
        self._checks.add(outcome.check)
        reason = outcome.reason.splitlines()[0] if outcome.reason else ""
        self._console.print(f"failed: {outcome.id}: {reason}", style="red", soft_wrap=True)


class Bar:
    """A progress bar with the name of the current check and the number of failures."""

    def __init__(self, progress: Progress, task: TaskID, backend: str) -> None:
        self._progress, self._task, self._backend = progress, task, backend
        self._done = self._failed = 0
        self._failures = Failures(progress.console)

    def begin(self, items: Sequence[Item]) -> None:
        """Set the number of planned checks."""
        self._progress.update(self._task, total=len(items))

    def done(self, outcome: Outcome, planned: int) -> None:
        """Advance by one check; in the profile "soak", each round adds to the total."""
        self._failures.done(outcome)
        self._failed += outcome.state == "failed"
        text = f"{self._backend}: {outcome.check}" + (f", {self._failed:,} failed" if self._failed else "")
        rounds = self._done // planned + 1
        self._done += 1
        self._progress.update(self._task, advance=1, total=planned * rounds, description=text)


class Lines:
    """Lines of text for a log."""

    def __init__(self, console: Console, backend: str) -> None:
        self._console, self._backend, self._started = console, backend, time.monotonic()
        self._planned: Counter[str] = Counter()
        self._states: Counter[tuple[str, str]] = Counter()
        self._done = 0
        self._failures = Failures(console)

    def begin(self, items: Sequence[Item]) -> None:
        """Print how many checks are planned."""
        self._planned = Counter(item.check.family.letter for item in items)
        self._print(f"{self._backend}: {len(items):,} checks, families {' '.join(self._planned)}")

    def done(self, outcome: Outcome, planned: int) -> None:
        """Count an outcome, and print a line if it is the last one of its family or of a tenth of the plan."""
        self._failures.done(outcome)
        letter = outcome.check[0]
        self._states[letter, outcome.state] += 1
        counts = {state: self._states[letter, state] for state in STATES}
        if sum(counts.values()) % self._planned[letter] == 0:
            said = ", ".join(f"{count:,} {state}" for state, count in counts.items() if count)
            self._print(f"{letter} {BY_LETTER[letter].name}: {said}; {self._seconds}")
        tenths = TENTHS * self._done // planned
        self._done += 1
        if planned >= MIN_CHECKS and TENTHS * self._done // planned > tenths and self._done % planned:
            failed = sum(count for (_, state), count in self._states.items() if state == "failed")
            said = f"; {failed:,} failed" if failed else ""
            self._print(f"  {self._done:,} of {planned:,} checks{said}; {self._seconds}{self._left(planned)}")

    def _left(self, planned: int) -> str:
        """Return the estimated remaining time, from the speed so far."""
        seconds = (time.monotonic() - self._started) * (planned - self._done) / self._done
        return f", about {seconds:.0f} s left" if seconds > 0 else ""

    @property
    def _seconds(self) -> str:
        return f"{time.monotonic() - self._started:.0f} s"

    def _print(self, line: str) -> None:
        self._console.print(line, soft_wrap=True)


def bar(console: Console) -> Progress:
    """Return a progress bar that is erased when it is finished."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console, transient=True)


@contextmanager
def watching(console: Console, backend: str) -> Iterator[Watcher]:
    """Return a context manager of an observer that shows the progress of a run on a console."""
    if not console.is_terminal:
        yield Lines(console, backend)
        return
    with bar(console) as progress:
        yield Bar(progress, progress.add_task(backend, total=None), backend)
