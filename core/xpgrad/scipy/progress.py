"""The progress of a solver as a live line of numbers, drawn by `rich`."""

import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

Shown = Union[bool, "Console"]
"""Whether progress is shown, or where."""
INTERVAL = 0.1
"""Seconds between two drawings, at least: one takes longer than a small problem's step."""


class Progress:
    """A live table of one line, within a ``with`` statement.

    Parameters
    ----------
    shown : bool or rich.console.Console
    title : str
    columns : sequence of str
    """

    def __init__(self, shown: Shown, title: str, columns: Sequence[str]) -> None:
        if not isinstance(shown, bool) and not hasattr(shown, "set_live"):
            raise TypeError(f"expected progress=True, False or a rich.console.Console, got {type(shown).__name__}")
        self.shown, self.title, self.columns = shown, title, columns
        self.count, self._next = 0, 0.0
        self._last: tuple[float | None, ...] = (None,) * len(columns)

    def __enter__(self) -> "Progress":
        if self.shown is not False:
            from rich.console import Console  # `rich` takes longer to import than many a problem to solve
            from rich.live import Live

            console = Console() if self.shown is True else self.shown
            self._live = Live(self._table(), console=console, auto_refresh=False)
            self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.shown is not False:
            self._live.update(self._table(), refresh=True)
            self._live.__exit__(kind, error, trace)

    def step(self, *values: float | None) -> None:
        """Count one more, and show the `values` of the columns after the first, which is the count."""
        self.count += 1
        if self.shown is not False:
            self._last = (self.count, *values)
            if time.monotonic() >= self._next:
                self._next = time.monotonic() + INTERVAL
                self._live.update(self._table(), refresh=True)

    def _table(self) -> "Table":
        from rich.table import Table

        table = Table(title=self.title, title_justify="left")
        for column in self.columns:
            table.add_column(column, justify="right", min_width=12)
        table.add_row(*("–" if value is None else f"{value:.6g}" for value in self._last))
        return table
