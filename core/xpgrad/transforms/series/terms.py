"""Arithmetic of truncated power series by their coefficients: arrays of the level below, floats, or None for zero."""

from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.backend.backend import Backend
from xpgrad.types import Array

Terms = Sequence[Any]
Tail = tuple[Any, ...] | None
Product = Callable[[Array, Array], Array]


class SeriesArithmetic:
    """Sums and products of coefficients, arrays of `base`.

    Parameters
    ----------
    base : Backend
    collapsed : bool
        Coefficients of ``t**1`` are those of all members of a batch, and those of ``t**2`` sums over the members: so a
        product of two batched coefficients is summed over them.
    """

    def __init__(self, base: Backend, collapsed: bool) -> None:
        self.base, self.xp, self.collapsed = base, base.xp, collapsed

    def add(self, a: Array | None, b: Array | None) -> Array | None:
        """Return the sum; an addend of None is zero."""
        if a is None or b is None:
            return b if a is None else a
        if type(a) is float:
            return a + b if type(b) is float else self.base.restore(self.xp.add(b, a))
        return self.base.restore(self.xp.add(a, b))

    def scaled(self, a: Array | None, factor: float) -> Array | None:
        """Return ``factor * a``."""
        if a is None or factor == 1:
            return a
        return a * factor if type(a) is float else self.base.restore(self.xp.multiply(a, factor))

    def times(self, a: Array | None, b: Array | None, product: Product | None = None) -> Array | None:
        """Return a product, that of the elements by default; None is zero."""
        if a is None or b is None:
            return None
        if type(a) is float or type(b) is float:
            return self.scaled(b, a) if type(a) is float else self.scaled(a, b)
        y = self.base.restore((product or self.xp.multiply)(a, b))
        if self.collapsed and getattr(a, "batched", False) and getattr(b, "batched", False):
            return self.summed(y)
        return y

    def summed(self, y: Array | None) -> Array | None:
        """Return the sum over the members of a batched coefficient; others are that already."""
        if y is None or not getattr(y, "batched", False):
            return y
        members: Any = y.batching
        total: Array = members.xp.sum(y.values, axis=0, dtype=y.dtype, keepdims=False)
        return members.same(members.base.restore(total))

    def convolved(self, a: Terms, b: Terms, k: int, product: Product | None = None, start: int = 0) -> Array | None:
        """Return the sum of the products of ``a[i]`` and ``b[k - i]`` from ``i = start`` on."""
        total: Array | None = None
        for i in range(start, k + 1):
            total = self.add(total, self.times(a[i], b[k - i], product))
        return total

    def less(self, a: Array | None, b: Array | None) -> Array | None:
        """Return the difference."""
        return a if b is None else self.add(a, self.scaled(b, -1.0))

    # Functions by recurrences of their coefficients, each in O(n^2) products

    def integrated(self, x: Terms, y: Array, slope: Callable[[list[Any], int], Array | None]) -> list[Any]:
        """Return the series of `y`, whose derivative is ``slope * x'``: `slope` gives coefficients by those of `y`."""
        ys, slopes, order = [y], list[Any](), len(x) - 1
        weighted = [None, *(self.scaled(each, float(j)) for j, each in enumerate(x[1:], 1))]
        for k in range(1, order + 1):
            slopes.append(slope(ys, k - 1))
            ys.append(self.scaled(self.convolved(weighted, slopes, k, start=1), 1 / k))
        return ys

    def quotient(self, a: Terms, b: Terms, y: Array) -> list[Any]:
        """Return the series of ``a / b``, whose first coefficient is `y`."""
        ys: list[Any] = [y]
        for k in range(1, len(a)):
            rest = self.less(a[k], self.convolved(b, ys, k, start=1) if any(x is not None for x in b[1:]) else None)
            ys.append(None if rest is None else self.base.restore(self.xp.divide(rest, b[0])))
        return ys

    def root(self, x: Terms, y: Array) -> list[Any]:
        """Return the series of the square root, whose first coefficient is `y`."""
        ys, twice = [y], self.scaled(y, 2.0)
        for k in range(1, len(x)):
            inner: Array | None = None
            for i in range(1, k):
                inner = self.add(inner, self.times(ys[i], ys[k - i]))
            rest = self.less(x[k], inner)
            ys.append(None if rest is None else self.base.restore(self.xp.divide(rest, twice)))
        return ys

    def power(self, x: Terms, exponent: int) -> list[Any]:
        """Return the series of a power with a positive integer, by squares."""
        found: list[Any] | None = None
        square = list(x)
        while True:
            if exponent % 2:
                found = square if found is None else self.product(found, square)
            exponent //= 2
            if not exponent:
                return found or square
            square = self.product(square, square)

    def product(self, a: Terms, b: Terms) -> list[Any]:
        """Return the series of a product."""
        return [self.convolved(a, b, k) for k in range(len(a))]


def _tanh(of: SeriesArithmetic, x: Terms, y: Array) -> list[Any]:
    first = of.base.restore(of.xp.tanh_slope(x[0], y))
    return of.integrated(x, y, lambda ys, k: of.scaled(of.convolved(ys, ys, k), -1.0) if k else first)


def _expit(of: SeriesArithmetic, x: Terms, y: Array) -> list[Any]:
    rest = of.base.restore(of.xp.subtract(1.0, y))
    return of.integrated(
        x, y, lambda ys, k: of.less(ys[k], of.convolved(ys, ys, k)) if k else of.base.restore(of.xp.multiply(y, rest))
    )


RECURRENCES: dict[str, Callable[[SeriesArithmetic, Terms, Array], list[Any]]] = {
    "exp": lambda of, x, y: of.integrated(x, y, lambda ys, k: ys[k]),
    "tanh": _tanh,
    "special.expit": _expit,
    "sqrt": lambda of, x, y: of.root(x, y),
    "square": lambda of, x, y: of.product(x, x),
}
"""Series of functions of one real array, by the kernels' names."""
CURVES: dict[str, Callable[[SeriesArithmetic, Array, Array], tuple[Any, Any]]] = {
    "exp": lambda of, x, y: (y, of.scaled(y, 0.5)),
    "tanh": lambda of, x, y: (t := of.xp.tanh_slope(x, y), of.scaled(of.times(t, y), -1.0)),
    "sin": lambda of, x, y: (of.xp.cos(x), of.scaled(y, -0.5)),
    "cos": lambda of, x, y: (of.scaled(of.xp.sin(x), -1.0), of.scaled(y, -0.5)),
}
"""First derivatives of such functions, and halves of the second."""
