"""Protocols for the functions and values of a graph that observers use; the graph is in a higher layer."""

from typing import Any, Protocol


class WatchedFunction(Protocol):
    """A function of the graph, a `FunctionNode`."""

    pullback: Any  # None for users' functions
    stack: Any
    _origin: Any  # the function during whose rule it was applied, in debug mode

    @property
    def label(self) -> str:
        """Short text that names the function."""
        ...

    @property
    def input_nodes(self) -> Any:
        """None, or a tuple of nodes, None for operands outside the graph."""
        ...

    @property
    def _hooks(self) -> dict[str, Any] | None: ...

    @property
    def _guards(self) -> Any: ...  # of the arrays that it kept

    def kept_inputs(self) -> tuple[Any, ...]:
        """Return one array for each input, None for inputs that were not kept."""
        ...

    def _own_hooks(self) -> dict[str, Any]: ...


class WatchedValue(Protocol):
    """A value of the graph, a `VariableNode`."""

    @property
    def name(self) -> str | None:
        """Name of the Variable."""
        ...

    @property
    def label(self) -> str:
        """Shape and dtype."""
        ...
