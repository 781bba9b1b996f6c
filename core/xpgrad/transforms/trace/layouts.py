"""Memory layouts of arrays in a program, as far as they are known without running it."""

from typing import Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.programs import programs_of
from xpgrad.transforms.trace.calls import Call, Value

Layout = tuple[Any, ...]


class Layouts:
    """Symbols for the layouts of values. Two values of one shape and one symbol have the same strides.

    A sum adds elements in the order of memory, so another layout is another rounding. An elementwise function gives its
    result, in new memory, the order of axes of its operands, without gaps.
    """

    def __init__(self, backend: Backend | None) -> None:
        self.backend = backend
        self._found: dict[Value, Layout] = {}
        self._symbols: dict[Layout, Layout] = {}  # numbered: nested they would grow with the number of paths to a value
        self.dense: set[Value] = set()

    def elementwise(self, call: Call) -> bool:
        """Return whether a call is elementwise, with one result, and could write the result into given memory."""
        if self.backend is None or not call.single or len(call.results) != 1 or call.kwargs or not call.pure:
            return False
        return programs_of(self.backend).writer(call.function) is not None

    def of(self, item: Any) -> Layout:
        """Return the symbol of a value or constant."""
        return self._found.get(item, (item,)) if isinstance(item, Value) else (id(item),)

    def of_result(self, call: Call) -> Layout:
        """Return the symbol of the result of an elementwise call, from the operands that have several long axes."""
        wide = dict.fromkeys(self.of(item) for item in call.args if not is_thin(item))
        if len(wide) == 1:
            only = next(iter(wide))
            given = next(item for item in call.args if not is_thin(item))
            if isinstance(given, Value) and given in self.dense and given.spec.shape == call.results[0].spec.shape:
                return only
        return self._symbols.setdefault(tuple(wide), ("elementwise", len(self._symbols)))

    def add(self, call: Call) -> None:
        """Take note of an elementwise call."""
        value = call.results[0]
        self._found[value] = self.of_result(call)
        self.dense.add(value)


def is_thin(item: Any) -> bool:
    """Return whether an operand has at most one axis longer than 1, so its order of axes is arbitrary."""
    shape = item.spec.shape if isinstance(item, Value) else getattr(item, "shape", ())
    return sum(int(n != 1) for n in shape) <= 1
