"""The values of one call that the graph retains: those required by the rules of inputs with a gradient."""

from typing import TYPE_CHECKING, Any

from xpgrad.backend.plugins import plugins
from xpgrad.graph.definition import Definition
from xpgrad.types import Array

if TYPE_CHECKING:
    from xpgrad.graph.application import Application


class Retention:
    """Values to retain when certain inputs need a gradient, resolved once.

    Attributes
    ----------
    first, second, result : bool
        Whether the first input, the second one, and the output are kept.
    rest : bool
        Whether anything else is: further inputs, specs of inputs that have no node, parameters.
    """

    __slots__ = ("_all_specs", "_inputs", "_parameters", "_specs", "first", "rest", "result", "second")

    def __init__(self, definition: Definition, needed: tuple[bool, ...]) -> None:
        kept, inputs = definition.kept(needed), () if definition.variadic else definition.inputs
        self.first, self.second = (x in kept for x in (*inputs[:2], None, None)[:2])
        self.result, self._all_specs = "y" in kept, "specs" in kept
        self._inputs = [(i, x) for i, x in enumerate(inputs) if i > 1 and x in kept]
        self._specs = [(i, f"{x}_spec") for i, x in enumerate(inputs) if f"{x}_spec" in kept]
        self._parameters = [name for name in definition.parameters if name in kept]
        self.rest = bool(self._inputs or self._specs or self._parameters or self._all_specs)

    def keep(
        self, f: "Application", arrays: list[Any], nodes: list[Any], out: Array, parameters: dict[str, Any],
        scalar: Any = None,
    ) -> None:  # fmt: skip
        """Store the retained values on the application `f`; without any, store the scalar operand for its label."""
        if self.first:
            f.first = arrays[0]
        if self.second:
            f.second = arrays[1]
        if self.result:
            f.result = out
        if not self.rest:
            if scalar is not None:
                f.rest = scalar
            return
        rest: dict[str, Any] = {name: parameters[name] for name in self._parameters}
        if self._all_specs and None not in nodes:
            rest["specs"] = tuple([node.spec for node in nodes])
        elif self._all_specs:
            pairs = zip(arrays, nodes, strict=True)
            rest["specs"] = tuple([plugins.backend_of(a).spec(a) if n is None else n.spec for a, n in pairs])
        else:
            for i, name in self._inputs:
                rest[name] = arrays[i]
            for i, name in self._specs:
                if nodes[i] is None:  # else the node has it
                    array = arrays[i]
                    rest[name] = plugins.by_type[type(array)].spec(array) if type(array) in plugins.by_type else None
        if rest or scalar is not None:
            f.rest = rest or scalar
