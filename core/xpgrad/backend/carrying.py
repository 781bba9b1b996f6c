"""`CarriesGraphs`: a backend whose arrays can be part of a graph themselves."""

from typing import Any

from xpgrad.backend.backend import Backend
from xpgrad.types import Array


class CarriesGraphs(Backend):
    """A backend whose arrays can be part of a graph; Variables hold plain arrays that share their memory."""

    def held(self, array: Array) -> Array:
        """Return an array that shares the memory of `array` and is never in a graph, for a Variable to hold."""
        return array

    def shown(self, array: Array) -> Array:
        """Return the array that users get for a Variable's array: outside any graph, always the same object."""
        return array

    def variable_of(self, array: Array) -> Any:
        """Return the Variable of `array` in its graph, or None if it is in no graph."""
        return None

    def attach(self, array: Array, variable: Any) -> Any:
        """Make `variable` the Variable of `array` and return None, or return the one to which it is to be connected."""
        raise NotImplementedError(f"{self.name}: CarriesGraphs.attach is not implemented")

    def connected(self, variable: Any) -> Array:
        """Return a view of the array of `variable` that is part of its graph and has a separate gradient."""
        raise NotImplementedError(f"{self.name}: CarriesGraphs.connected is not implemented")
