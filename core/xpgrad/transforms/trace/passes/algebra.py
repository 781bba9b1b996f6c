"""Calls that return one of their arguments, bit by bit, are left out: ``1 * x``, ``-(-x)``, a transpose's transpose."""

from collections.abc import Callable
from typing import Any

from xpgrad.transforms.trace.aliases import Aliases, is_fresh
from xpgrad.transforms.trace.calls import Call, Value, substituted
from xpgrad.transforms.trace.layouts import Layouts
from xpgrad.transforms.trace.lifetimes import VIEWS
from xpgrad.transforms.trace.program import Program

Rule = Callable[["Simplifier", Call], Any]
SAME_UNITS = frozenset(
    ("broadcast_to", "reshape", "permute_dims", "expand_dims", "squeeze", "astype", "x[]", "getitem", "sum.x")
)
"""Functions that make ones of ones."""


class Simplifier:
    """Finds for a call the argument that it would return.

    `units` are arrays of ones, and `operands` values that calls take; outputs may share memory with other arrays if
    `shares`, and it does not matter how later sums are rounded if `any_layout`.
    """

    def __init__(self, program: Program, any_layout: bool = False) -> None:
        backend, self.aliases = program.backend, Aliases(program)
        self.backend, self.any_layout = backend, any_layout
        self.immutable = backend is not None and backend.immutable
        self.operands = {value for call in program.calls for value in call.operands()}
        self.shares = bool(program.private)
        self.layouts = Layouts(backend)
        self.makers: dict[Value, Call] = {}
        self.units: set[Value] = set()

    def add(self, call: Call) -> None:
        """Take note of a call that stays."""
        if self.layouts.elementwise(call):
            self.layouts.add(call)
        for value in call.results:
            self.makers[value] = call
        x = call.args[0] if call.args and call.name in SAME_UNITS else None
        ones = call.name in ("ones", "ones_like") or (isinstance(x, Value) and x in self.units)
        ones = ones and call.pure and len(call.results) == 1
        if ones and not self.aliases.is_written(call.results[0]):
            self.units.add(call.results[0])

    def inner(self, call: Call) -> Call | None:
        """Return the call of the same function that made the first argument."""
        made = self.makers.get(call.args[0]) if call.args and isinstance(call.args[0], Value) else None
        return made if made is not None and made.args and made.name == call.name and made.pure else None

    def has_layout_of_copy(self, x: Value) -> bool:
        """Return whether a copy of `x` by an elementwise function has the same memory layout as `x`.

        With another layout, later sums would be rounded differently.
        """
        return self.immutable or self.any_layout or x.spec.size <= 1 or x in self.layouts.dense

    def is_unchanged(self, x: Value, other: Any) -> bool:
        """Return whether multiplying `x` by another operand gives a copy: by 1 or ones, except for complex numbers.

        Infinity times 0j is NaN.
        """
        if isinstance(other, Value):
            one = other in self.units
        elif type(other) is int or type(other) is float:
            one = bool(other == 1)
        else:
            one = other is not None and other is x.spec.constants.get(1)  # as the backend has prepared it
        return one and not x.spec.complex and self.has_layout_of_copy(x)


def same_spec(x: Any, y: Value) -> bool:
    """Return whether an argument is a value of the shape and dtype of a result."""
    return isinstance(x, Value) and x.spec.shape == y.spec.shape and bool(x.spec.dtype == y.spec.dtype)


def argument(call: Call, position: int, name: str) -> Any:
    """Return an argument that is given by position or by name; None if it is not given."""
    return call.args[position] if len(call.args) > position else call.kwargs.get(name)


def times_one(found: Simplifier, call: Call) -> Any:
    """``x * 1`` and ``1 * x``."""
    for x, other in (call.args, call.args[::-1]) if len(call.args) == 2 and not call.kwargs else ():
        if same_spec(x, call.results[0]) and found.is_unchanged(x, other):
            return x
    return None


def by_one(found: Simplifier, call: Call) -> Any:
    """``x / 1`` and ``x ** 1``."""
    x, other = argument(call, 0, "x1"), argument(call, 1, "exponent")
    alone = len(call.args) + len(call.kwargs) == 2 and same_spec(x, call.results[0])
    return x if alone and found.is_unchanged(x, other) else None


def twice(found: Simplifier, call: Call) -> Any:
    """``-(-x)``, and the transpose of a transpose."""
    inner = found.inner(call)
    if inner is None or call.kwargs or inner.kwargs or not same_spec(x := inner.args[0], call.results[0]):
        return None
    return x if call.name in VIEWS or found.has_layout_of_copy(x) else None


def unchanged_copy(found: Simplifier, call: Call) -> Any:
    """``+x``, and a cast of `x` to its own dtype: copies of arrays that are never written to."""
    x = argument(call, 0, "x")
    return x if same_spec(x, call.results[0]) and found.has_layout_of_copy(x) else None


def copy_of_new(found: Simplifier, call: Call) -> Any:
    """A copy of an array that another call has just created in new memory, if its layout does not matter."""
    x = argument(call, 0, "x")
    if not same_spec(x, call.results[0]) or len(call.args) != 1 or call.kwargs:
        return None
    maker = found.makers.get(x)
    if found.backend is None or getattr(call.function, "__self__", None) is not found.backend:
        return None
    if found.immutable:
        return x
    if found.shares or maker is None or not is_fresh(maker, found.backend):
        return None
    return x if call.results[0] not in found.operands or found.has_layout_of_copy(x) else None


def unchanged_view(found: Simplifier, call: Call) -> Any:
    """`x` if the shape is unchanged."""
    x = argument(call, 0, "x")
    kept = same_spec(x, call.results[0]) and not call.kwargs.get("copy") and len(call.args) <= 2
    return x if kept else None


def same_reshape(found: Simplifier, call: Call) -> Any:
    """`x` if the shape is unchanged; of two reshapes of a vector, or of an array without layout, the second."""
    x = unchanged_view(found, call)
    inner = found.inner(call)
    if x is not None or inner is None or len(inner.args) > 2 or inner.kwargs.get("copy"):
        return x
    first = argument(inner, 0, "x")
    if not isinstance(first, Value) or not (found.immutable or (first.spec.ndim <= 1 and first in found.layouts.dense)):
        return None
    if same_spec(first, call.results[0]):
        return first
    return call.replaced(args=(first, *call.args[1:]))


def axes_of(call: Call) -> tuple[int, ...] | None:
    """Return the axes of `permute_dims`, from 0, or None if they are not known."""
    axes = argument(call, 1, "axes")
    if not isinstance(axes, (tuple, list)) or not all(type(a) is int for a in axes):
        return None
    return tuple(a % len(axes) for a in axes)


def permuted(found: Simplifier, call: Call) -> Any:
    """`x` if its axes are in order; one permutation in place of two."""
    x, axes = argument(call, 0, "x"), axes_of(call)
    if axes is None or not isinstance(x, Value):
        return None
    if axes == tuple(range(len(axes))):
        return x
    inner = found.inner(call)
    if inner is None or (before := axes_of(inner)) is None:
        return None
    both = tuple(before[a] for a in axes)
    if both == tuple(range(len(both))):
        return inner.args[0]
    return call.replaced(args=(inner.args[0], both), kwargs={})


RULES: dict[str, Rule] = {
    "astype": unchanged_copy, "positive": unchanged_copy, "copy": copy_of_new,
    "broadcast_to": unchanged_view, "sum_to": unchanged_view, "reshape": same_reshape,
    "constant_power": by_one, "divide": by_one, "multiply": times_one,
    "matrix_transpose": twice, "negative": twice, "permute_dims": permuted,
}  # fmt: skip
"""What is known of the standard's functions, by name."""


def algebra(program: Program, any_layout: bool = False) -> Program:
    """Return the program without calls that return one of their arguments, and with `any_layout` a copy of them.

    Not ``x + 0``, which makes 0 of -0. An array that is written to, and arrays computed from it, remain.
    """
    found = Simplifier(program, any_layout)
    same: dict[Value, Any] = {}
    kept: list[Call] = []
    for old in program.calls:
        call = old.substituted(same)
        rule = RULES.get(call.name)
        if rule is not None and call.pure and call.single and len(call.results) == 1:
            result = rule(found, call)
            used = (*call.operands(), *(result.operands() if isinstance(result, Call) else (result,)))
            if result is not None and not any(map(found.aliases.is_written, (*call.results, *used))):
                if not isinstance(result, Call):
                    same[call.results[0]] = result
                    continue
                call = result
        found.add(call)
        kept.append(call)
    if not same and all(a is b for a, b in zip(kept, program.calls, strict=True)):
        return program
    return program.replaced(calls=tuple(kept), outputs=substituted(program.outputs, same))
