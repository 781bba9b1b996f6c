"""Truncated power series over the arrays of another backend: `SeriesArray` and `SeriesBackend`."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.device import Device
from xpgrad.config import called_with, config, plain_at
from xpgrad.graph.definition import Definition
from xpgrad.transforms.dual.array import DualArray
from xpgrad.transforms.dual.backend import DualBackend, joined
from xpgrad.transforms.dual.transposition import pushed_outputs
from xpgrad.transforms.enclosing.backend import TransformedBackend, backend_over
from xpgrad.transforms.series.rules import derived, space_of
from xpgrad.transforms.series.terms import SeriesArithmetic, Tail
from xpgrad.types import Array, Kernel

if TYPE_CHECKING:
    from xpgrad.transforms.series.jet import SeriesLevel


class SeriesArray(DualArray):
    """Base of the types of series in one number t; the coefficient of ``t**0`` is the primal.

    Attributes
    ----------
    primal : array
    tangent : tuple of (array or None), or None
        The coefficients of ``t**1`` to ``t**n``, each None for zero; None if all are.
    """

    __slots__ = ()

    noun = "an array in Taylor mode"
    level: "SeriesLevel"  # pyright: ignore[reportIncompatibleVariableOverride]  # set once, when it is made
    tangent: Tail

    @property
    def terms(self) -> list[Any]:
        """All coefficients; those after the primal are missing if they are zero."""
        backend: Any = self.backend
        return [self.primal, *(self.tangent or (None,) * backend.order)]

    def __repr__(self) -> str:
        if not self.level.live:
            return f"<series {self.backend.spec(self)!r} of a call that has ended>"
        return f"<series {self.terms!r}>"


class SeriesBackend(DualBackend):
    """Series with `order` coefficients after the arrays of `base`, which are the first.

    Attributes
    ----------
    lower : Backend
        That of series of one order less, which is `base` below order 1.
    """

    def __init__(self, base: Backend, depth: int, order: int) -> None:
        TransformedBackend.__init__(self, "series", base, depth, SeriesArray)
        self.scalar_types = base.scalar_types
        self._functions: dict[str, Callable[..., Any]] = {}
        self.order = order
        self.lower: Any = base if order == 1 else over(base, depth, order - 1)
        self.space, self.space_below = space_of(base), space_of(self.lower)
        self._arithmetics = {each: SeriesArithmetic(base, each) for each in (False, True)}

    def derived(self, definition: Definition, kernel: Kernel | None) -> Callable[..., Any]:
        """Return a primitive as a function of series."""
        return derived(self, definition, kernel)

    def arithmetic(self, level: Any) -> SeriesArithmetic:
        """Return the arithmetic of the coefficients at a level."""
        return self._arithmetics[level.collapsed]

    def is_summed(self, level: Any, y: Any) -> bool:
        """Return whether the last coefficient of a result is a sum over members: `y` is a batched first derivative."""
        return self.order == 1 and level.collapsed and getattr(y, "batched", False)

    # Series of one order less

    def cut(self, level: Any, primal: Any, tail: Tail) -> Any:
        """Return a series without its last coefficient."""
        if tail is None or self.order == 1:
            return primal
        return self.lower.kind(level, primal, _some(tail[:-1]))

    def raised(self, x: Any) -> Any:
        """Return an array of the base as a series of one order less, which is constant."""
        return self.lower.constant(x) if self.order > 1 and type(x) in self._base_types else x

    def slope(self, level: Any, primal: Any, tail: Tail) -> Any:
        """Return the derivative of a series, or None."""
        if tail is None or all(t is None for t in tail):
            return None
        if self.order == 1:
            return tail[0]
        of = self.arithmetic(level)
        first, *rest = (of.scaled(t, float(k)) for k, t in enumerate(tail, 1))
        if first is None:
            first = self.base.xp.zeros_like(primal)
        return self.lower.kind(level, first, _some(tuple(rest)))

    def first(self, low: Any) -> Array:
        """Return the primal of a series of one order less."""
        primal: Array = low.primal if self.order > 1 and type(low) is self.lower.kind else low
        return primal

    def tail_of(self, slope: Any) -> Tail:
        """Return the coefficients after the first, by the derivative of the series."""
        if slope is None:
            return None
        if self.order == 1:
            return (slope,)
        if type(slope) is not self.lower.kind:  # constant
            return (slope, *(None,) * (self.order - 1))
        of = self.arithmetic(slope.level)
        return tuple(of.scaled(t, 1 / k) for k, t in enumerate(slope.terms, 1))

    # What differs from dual arrays

    def mapped(self, name: str, array: Array, function: Callable[[Array], Array]) -> Array:
        """Return the results of a linear function of the base for all coefficients."""
        level, primal = joined(None, array), function(array.primal)
        tail: Tail = array.tangent
        counts = self.is_kind(primal.dtype, ("real floating", "complex floating"))
        return self.kind(level, primal, _each(function, tail) if counts and tail is not None else None)

    def sent(self, array: Array, device: Device) -> Array:
        """Decline: a series stays in its library."""
        return NotImplemented

    def _scattered(self, spec: Any, parts: list[Any], /) -> Any:
        """Return zeros with values added at their indices, for each coefficient."""
        levels = list[Any]()
        plain, opened = self.opened(spec, levels), self.opened(parts, levels)
        tails = [value.tangent if type(value) is self.kind else None for _, value in parts]
        scatter = self.base.xp.scatter_add
        terms: list[Any] = []
        for k in range(self.order):
            moved = [
                (index, tail[k])
                for (index, _), tail in zip(opened, tails, strict=True)
                if tail is not None and tail[k] is not None
            ]
            terms.append(scatter(plain, moved) if moved else None)
        return self.kind(self.level(), scatter(plain, opened), _some(tuple(terms)))

    def function_outputs(self, function: Any, arrays: tuple[Array, ...]) -> tuple[Array, ...] | None:
        """Return the outputs of a function node: its tangents in the direction of the derivative of its inputs."""
        levels: list[Any] = []
        self.opened(arrays, levels)
        level = levels[-1]
        lows = [self.raised(self.cut(level, x.primal, x.tangent)) for x in arrays]
        slopes = [self.slope(level, x.primal, x.tangent) for x in arrays]
        outer = plain_at(level.outer if self.order == 1 else level)
        pairs = called_with(outer, pushed_outputs, function, self.lower, lows, slopes, level, config.debug)
        if pairs is None:
            return None
        if any(self.is_summed(level, y) for y, _ in pairs):
            pairs = self._summed(function, lows, slopes, level, outer)
        return tuple(self.kind(level, self.first(y), self.tail_of(t)) for y, t in pairs)

    def _summed(self, function: Any, lows: list[Any], slopes: list[Any], level: Any, outer: Any) -> list[Any]:
        """Return outputs with tangents that are sums over the members, by each input alone."""
        of, totals, pairs = self.arithmetic(level), dict[int, Any](), list[Any]()
        for i, slope in enumerate(slopes):
            if slope is not None:
                alone = [slope if j == i else None for j in range(len(slopes))]
                pairs = called_with(outer, pushed_outputs, function, self.lower, lows, alone, level, config.debug)
                for j, (_, t) in enumerate(pairs):
                    totals[j] = of.add(totals.get(j), of.summed(t))
        return [(y, totals[j]) for j, (y, _) in enumerate(pairs)]

    def has_nan(self, array: Array) -> bool:
        """Return whether any element of a coefficient is NaN."""
        return any(x is not None and self.base.has_nan(x) for x in array.terms)


def _some(tail: tuple[Any, ...]) -> Tail:
    return None if all(t is None for t in tail) else tail


def _each(function: Callable[[Array], Array], tail: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(None if t is None else function(t) for t in tail)


@functools.cache
def _maker(order: int) -> Callable[[Backend, int], SeriesBackend]:
    return lambda base, depth: SeriesBackend(base, depth, order)


def over(base: Backend, depth: int, order: int) -> SeriesBackend:
    """Return the backend of series of an order over the arrays of `base`, the same one each time."""
    return backend_over(_maker(order), base, depth)
