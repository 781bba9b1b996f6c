"""`SeriesLevel`: the transformation that computes truncated power series along with a function."""

from collections.abc import Sequence
from typing import Any, Never

from xpgrad.backend.backend import Backend
from xpgrad.backend.plugins import plugins
from xpgrad.transforms.dual.level import DualLevel
from xpgrad.transforms.dual.transposition import NotStepwise
from xpgrad.transforms.enclosing.port import Outer, Port
from xpgrad.transforms.series.backend import SeriesBackend, over
from xpgrad.types import Array


class SeriesLevel(DualLevel):
    """One run of a function on series.

    A cotangent c of a series y stands for the coefficient of ``t**order`` of c y. So the gradient by the coefficient of
    ``t**k`` is the coefficient of ``t**(order - k)`` of the gradient.

    Parameters
    ----------
    title : str
    order : int
    collapsed : bool
        As for `SeriesArithmetic`.
    """

    transformation = "series"

    def __init__(self, title: str, order: int, collapsed: bool = False) -> None:
        super().__init__(title)
        self.order, self.collapsed = order, collapsed

    def backend(self, base: Backend) -> SeriesBackend:
        """Return the backend of this level over `base`."""
        return over(base, self.depth, self.order)

    @property
    def tangents(self) -> Never:  # of the whole function, by nested `jvp`
        """Raise: a rule of the user's has a tangent, but no further coefficients."""
        raise NotStepwise(self)

    def captured_port(self) -> Port:
        """Return how Variables from outside enter: as constants."""
        return Port(lambda given: self.dual(given[0], None), lambda g: g.terms[-1:])

    def argument_port(self) -> Port:
        """Return how the coefficients of an argument enter as one array."""
        return Port(self._series, lambda g: g.terms[::-1])

    def output_port(self) -> Port:
        """Return how an array leaves as its coefficients."""
        return Port(lambda given: self._series(given[::-1]), lambda y: y.terms)

    def _series(self, given: Outer | Sequence[Any]) -> Array:
        primal, *tail = given
        if primal is None:
            like = next(t for t in tail if t is not None)
            primal = plugins.backend_of(like).xp.zeros_like(like)
        return self.dual(primal, None if all(t is None for t in tail) else tuple(tail))
