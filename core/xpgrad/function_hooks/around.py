"""What hooks that measure share: a start and an end of each computation, and computations within computations."""

from typing import Any

from xpgrad.graph.function_node import FunctionNode
from xpgrad.watch.function_hook import FunctionHook

Arrays = tuple[Any, ...]


def ended(running: list[tuple[int, Any]], computed: Any) -> Any:
    """Return what was noted at the start of a computation, or None; those within it that still run have raised.

    Notes are kept with ids: references would keep a graph alive.
    """
    while running:
        started_by, note = running.pop()
        if started_by == id(computed):
            return note
    return None


class Around(FunctionHook):
    """Base of hooks that do the same around each computation, forward and backward."""

    def _start(self, function: FunctionNode, which: str, arrays: Arrays) -> None:
        raise NotImplementedError

    def _stop(self, function: FunctionNode, arrays: Arrays) -> None:
        raise NotImplementedError

    def forward_preprocess(self, function: FunctionNode, in_data: Arrays) -> None:
        """Start."""
        self._start(function, "forward", in_data)

    def forward_postprocess(self, function: FunctionNode, in_data: Arrays) -> None:
        """Stop."""
        self._stop(function, in_data)

    def backward_preprocess(self, function: FunctionNode, in_data: Arrays, out_grad: Arrays) -> None:
        """Start."""
        self._start(function, "backward", in_data + out_grad)

    def backward_postprocess(self, function: FunctionNode, in_data: Arrays, out_grad: Arrays) -> None:
        """Stop."""
        self._stop(function, in_data + out_grad)
