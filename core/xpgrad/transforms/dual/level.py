"""`DualLevel`: the transformation that computes tangents along with a function."""

from collections.abc import Sequence
from typing import Any

from xpgrad.backend import random
from xpgrad.backend.backend import Backend
from xpgrad.backend.plugins import plugins
from xpgrad.errors import GradientError
from xpgrad.graph.methods.ending import UserLine, place_of
from xpgrad.graph.variable import Variable
from xpgrad.transforms.dual.array import DualArray
from xpgrad.transforms.dual.backend import DualBackend, over
from xpgrad.transforms.dual.parts import Parts
from xpgrad.transforms.enclosing.level import EnclosingLevel, Outer, Port, root
from xpgrad.types import Array


class DualLevel(EnclosingLevel):
    """One run of a function on dual arrays.

    Attributes
    ----------
    places : dict
        Lines where the function took numbers out of Variables with a tangent, by file and line.
    deriving : list of (str, Backend)
        The library's functions that are computed by functions of Variables now, with the backend of the arrays.
    repeatable : bool
        Whether the function may be called again, to be transposed as a whole; see `NotStepwise`.
    drawn : Snapshot or None
        The random streams before the first numbers were drawn, within and at levels around.
    """

    transformation = "dual"

    def __init__(self, title: str) -> None:
        super().__init__(title)
        self.places: dict[tuple[str, int], UserLine] = {}
        self.deriving: list[tuple[str, Backend]] = []
        self.repeatable = False
        self.drawn: random.Snapshot | None = None

    def backend(self, base: Backend) -> DualBackend:
        """Return the backend of this level over `base`."""
        return over(base, self.depth)

    def holds(self, array: Array) -> bool:
        """Return whether `array` is of this level."""
        return isinstance(array, DualArray) and array.level is self

    def constant(self, array: Array) -> DualArray:
        """Return an array of the level below without a tangent."""
        return self.dual(array, None)

    def dual(self, primal: Array, tangent: Array | None) -> DualArray:
        """Return an array of this level."""
        made: DualArray = self.backend(plugins.backend_of(primal)).kind(self, primal, tangent)
        return made

    @property
    def tangents(self) -> Parts:
        """The object that splits Variables into primals and tangents."""
        return Parts(self)

    def captured_port(self) -> Port:
        """Return the port of outer Variables, lifted without tangent, so that gradients are gradients of tangents."""
        return Port(lambda given: self.dual(_only(given), None), lambda g: [g.tangent])

    def argument_port(self) -> Port:
        """Return the port by which a primal and a tangent are lifted to one array.

        A cotangent c of a dual number y represents the derivative of the tangent of c y, so that the gradient by the
        primal is its tangent, and the gradient by the tangent its primal.
        """
        return Port(self._argument, lambda g: [g.tangent, g.primal])

    def output_port(self) -> Port:
        """Return the port by which the primal and the tangent of an array are returned."""
        return Port(self._cotangent, lambda y: [y.primal, y.tangent])

    def tangent_port(self) -> Port:
        """Return the port by which only the tangent of an array is returned."""
        return Port(lambda given: self.dual(given[0], None), lambda y: [y.tangent])

    def _argument(self, given: Outer) -> DualArray:
        primal, tangent = given
        if primal is None:
            assert tangent is not None  # at least one is given
            primal = plugins.backend_of(tangent).xp.zeros_like(tangent)
        return self.dual(primal, tangent)

    def _cotangent(self, given: Outer) -> DualArray:
        of_primal, of_tangent = given
        return self._argument((of_tangent, of_primal))

    def stored(self, array: Array, x: Variable) -> Array:
        """Return the primal: arrays kept outside have no tangent."""
        primal: Array = array.primal
        return primal

    def stored_gradient(self, g: Array, port: Port) -> Array | None:
        """Return the primal without the tangent."""
        primal: Array = g.primal
        return primal

    def check_cut(self, x: Variable) -> None:
        """Raise if `x` has a tangent, because earlier results have used that tangent already."""
        if not self.holds(x._array):
            return
        if x._array.tangent is not None:
            raise GradientError(
                f"{self.title}: unchain cannot cut the graph of {x._node.spec!r} in forward mode, which computes "
                "derivatives along with values; apply stop_gradient instead, or differentiate in reverse mode"
            )
        if self.outer is not None:
            self.outer.check_cut(root(x._array.primal, False))

    def note_draw(self) -> None:
        """Note that random numbers are drawn."""
        self.drawn = self.drawn or random.held_states()

    def note_number(self, array: Array) -> None:
        """Note that a number is taken out of a Variable over `array`."""
        if self.holds(array) and array.tangent is not None:
            place = place_of()
            if place is not None:
                self.places.setdefault(place.key, place)


def _only(given: Sequence[Any]) -> Any:
    (array,) = given
    return array
