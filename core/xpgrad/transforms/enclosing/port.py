"""`Port`: how values pass the border of a transformation, and their gradients in the other direction."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from xpgrad.graph.variable import Variable
from xpgrad.types import Array

Outer = Sequence[Array | None]


class Port(NamedTuple):
    """A pair of linear maps between arrays outside of a transformation and one array inside, adjoint to each other.

    An input is lifted by `inward`, and its gradient returned by `outward`. An output is returned by `outward`, and its
    cotangents are lifted by `inward`. So the port of an input is also the port of its gradient, which is an output of
    the sweep; and the port of an output is also the port of its cotangents, which are an input.

    Attributes
    ----------
    inward : callable
        From a sequence of outer raw arrays, with None for absent (but not all) arrays, to an inner raw array.
    outward : callable
        From an inner raw array to a list of as many outer arrays; None for absent arrays, which means zero.
    """

    inward: Callable[[Outer], Array]
    outward: Callable[[Array], list[Array | None]]


class EntryRoot(NamedTuple):
    """Variables outside of a transformation, and the root that replaces them within.

    Attributes
    ----------
    outside : sequence of Variable or None
    inside : Variable
    port : Port
    """

    outside: Sequence[Variable | None]
    inside: Variable
    port: Port
