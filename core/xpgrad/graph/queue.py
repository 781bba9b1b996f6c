"""The order of a sweep: functions of the highest rank first, equal ranks in the order of their discovery."""

import heapq
from typing import Any


class RankQueue:
    """Functions that wait for their turn.

    The sweep goes from outputs to inputs, so every function that it discovers has a lower rank than the function that
    is running. Therefore the functions of the highest rank are taken as one batch, which no discovery can change.

    Attributes
    ----------
    batch : list of FunctionBase
        The remaining functions of the highest rank, the next function last; always the same object.
    ranks : list of int
        A heap of the negated lower ranks; always the same object.
    """

    __slots__ = ("_waiting", "batch", "ranks")

    def __init__(self) -> None:
        self.batch: list[Any] = []
        self.ranks: list[int] = []
        self._waiting: dict[int, list[Any]] = {}  # by rank, in order of discovery

    def push(self, f: Any) -> None:
        """Let `f` wait."""
        waiting = self._waiting.get(f.rank)
        if waiting is None:
            self._waiting[f.rank] = [f]
            heapq.heappush(self.ranks, -f.rank)
        else:
            waiting.append(f)

    def pop(self) -> Any:
        """Return the next function, or None if none waits."""
        if not self.batch:
            if not self.ranks:
                return None
            self.batch.extend(reversed(self._waiting.pop(-heapq.heappop(self.ranks))))
        return self.batch.pop()

    def candidate(self, earlier: Any, f: Any) -> Any:
        """Add one or both of two functions that were just discovered; return the function that was not added, or None.

        The function of higher rank runs first; functions of equal rank keep their order.

        Parameters
        ----------
        earlier : FunctionBase
        f : FunctionBase or None
        """
        if f is None:
            return earlier
        if f.rank < earlier.rank:
            self.push(f)
            return earlier
        self.push(earlier)
        if f.rank > earlier.rank:
            return f
        self.push(f)
        return None

    def __repr__(self) -> str:
        ranks = sorted(self._waiting, reverse=True)
        return f"<RankQueue: {len(self.batch)} in the batch, waiting ranks {ranks}>"
