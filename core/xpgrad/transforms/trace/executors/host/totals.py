"""`Total`: a sum or other reduction of parts, the same in whatever order the parts come."""

import threading
from collections.abc import Callable

from xpgrad.types import Array


class Total:
    """Combines the results of parts pairwise, those of neighbours first.

    Parts may come from several threads in any order. Few of them are kept at a time if they come nearly in order.

    Parameters
    ----------
    count : int
        Number of parts.
    combine : callable
        Takes the results for some parts, and for those behind them.

    Attributes
    ----------
    result : array
        The reduction of all parts, once all have come.
    """

    def __init__(self, count: int, combine: Callable[[Array, Array], Array]) -> None:
        self._count, self._combine = count, combine
        self._waiting: dict[tuple[int, int], Array] = {}
        self._lock = threading.Lock()
        self.result: Array = None

    def add(self, number: int, part: Array) -> None:
        """Take the result of part `number`."""
        count = self._count
        while count > 1:
            if number ^ 1 < count:  # else it is the last one, without a neighbour
                with self._lock:
                    other = self._waiting.pop((count, number ^ 1), None)
                    if other is None:
                        self._waiting[count, number] = part
                        return
                part = self._combine(other, part) if number & 1 else self._combine(part, other)
            number, count = number // 2, -(-count // 2)
        self.result = part
