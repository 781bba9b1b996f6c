"""`Numbers`: values that a call computes from Python floats among its arguments, before arrays are involved."""

import itertools
import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Expression = Any
"""The number of a leaf of the arguments, ``("number", x)``, ``("-", e)``, or ``(sign, e1, e2)``."""
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "**": operator.pow}
MAX_EXPRESSIONS = 32


class Numbers:
    """The expressions of floats among the `leaves` of the arguments that a call has computed, as far as it is followed.

    In `leaves` remain the floats that may be inputs of a program: they were used in arithmetic and with arrays only.
    """

    def __init__(self, leaves: Sequence[Any] = ()) -> None:
        self.leaves = frozenset(i for i, x in enumerate(leaves) if type(x) is float and math.isfinite(x))
        self.expressions: list[Expression] = sorted(self.leaves)
        self._found: dict[float, list[Expression]] = {}
        for i in self.expressions:
            self._found.setdefault(leaves[i], []).append(i)

    def __bool__(self) -> bool:
        return bool(self.leaves)

    def knows(self, x: Any) -> bool:
        """Return whether a value equals one of these numbers."""
        return type(x) is float and x in self._found

    def use(self, items: Iterable[Any]) -> None:
        """Note that the call depends on the values of some numbers: they are constants of the program."""
        if self.leaves and any(self.knows(x) or (type(x) is tuple and any(map(self.knows, x))) for x in items):
            self.leaves, self.expressions, self._found = frozenset(), [], {}

    def computed(self, sign: str, *operands: Any) -> float | None:
        """Return the result of an operator for known numbers, and note the expression; None if it gives no float."""
        try:
            if not all(map(math.isfinite, operands)):
                raise OverflowError("no finite number")  # which no source can contain
            value = -operands[0] if len(operands) == 1 else OPERATORS[sign](*operands)
        except (ArithmeticError, KeyError):
            value = None
        if type(value) is not float:
            self.use(operands)
            return None
        made = [self._found.get(x, [("number", x)]) if type(x) is float else [("number", x)] for x in operands]
        known = self._found.setdefault(value, [])
        for parts in itertools.product(*made):
            expression = (sign, *parts)
            if expression not in known:
                known.append(expression)
                self.expressions.append(expression)
        if len(self.expressions) > MAX_EXPRESSIONS:
            self.use(operands)
        return value


def value_of(e: Expression, leaves: Mapping[int, Any]) -> Any:
    """Return the value of an expression for given leaves."""
    if isinstance(e, int):
        return leaves[e]
    if e[0] == "number":
        return e[1]
    operands = [value_of(part, leaves) for part in e[1:]]
    return -operands[0] if len(operands) == 1 else OPERATORS[e[0]](*operands)


def source_of(e: Expression, places: Sequence[str]) -> str:
    """Return the Python source of an expression for given places of the leaves."""
    if isinstance(e, int):
        return places[e]
    if e[0] == "number":
        return f"({e[1]!r})"
    operands = [source_of(part, places) for part in e[1:]]
    return f"(-{operands[0]})" if len(operands) == 1 else f"({operands[0]} {e[0]} {operands[1]})"
