"""`Operands`: the symbols of the values that the calls of a group take."""

from collections.abc import Callable
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.plugin import Backend, programs_of
from xpgrad.transforms.trace.calls import CONTAINERS, Call, Value, values_in
from xpgrad.types import Shape
from xpgrad_fusion.space import Space, Unfusible
from xpgrad_fusion.statements import Statement
from xpgrad_fusion.symbols import Builder, Symbol


class Operands:
    """Inputs and results of the calls of a group, as symbols in one space.

    Attributes
    ----------
    symbols : dict from Value to Symbol
        The results, and the inputs at their levels.
    made : dict from Value to Call
        The results, with the calls that they are of.
    inputs : dict from Value to int
        The number of each input. A constant array gets a separate value.
    """

    def __init__(self, backend: Backend, accepts: Callable[[Statement], bool], shape: Shape) -> None:
        self.backend = backend
        self.symbols: dict[Value, Symbol] = {}
        self.made: dict[Value, Call] = {}
        self.inputs: dict[Value, int] = {}
        self.arguments: list[Any] = []
        self._by_element: set[Value] = set()
        self._constants: dict[int, Value] = {}
        self.builder = Builder(backend, Space(shape), accepts)

    def whole(self, value: Value) -> int:
        """Return the number of an input that is used by single elements."""
        if value in self.made:
            raise Unfusible("an element of a result of the group")
        if value in self.symbols and value not in self._by_element:
            raise Unfusible("an element of an array that is also used as a whole")
        self._by_element.add(value)
        return self._number(value, value)

    def operand(self, item: Any) -> Any:
        """Return the symbol of a value or constant array, and other arguments unchanged."""
        if isinstance(item, Value):
            found = self.symbols.get(item)
            return self._loaded(item, item) if found is None else found
        if isinstance(item, CONTAINERS):
            if values_in(item):
                raise Unfusible("arrays in a list")
            return item
        return self._constant(item)

    def _constant(self, item: Any) -> Any:
        if type(item) not in plugins.by_type:
            return item
        spec = self.backend.spec(item)
        known = self._constants.get(id(item))
        if known is None:
            if spec.shape == () and (number := programs_of(self.backend).number(item)) is not None:
                name = self.builder.name(spec.dtype)
                return Symbol(self.builder, self.builder.add("constant", (), name, "one", number), spec)
            known = self._constants[id(item)] = Value(spec, "constant")
        found = self.symbols.get(known)
        return self._loaded(known, item) if found is None else found

    def _loaded(self, value: Value, argument: Any) -> Symbol:
        if value in self._by_element:
            raise Unfusible("an array that is also used by single elements")
        number = self._number(value, argument)
        self.symbols[value] = symbol = self.builder.load(number, value.spec)
        return symbol

    def _number(self, value: Value, argument: Any) -> int:
        if value not in self.inputs:
            self.inputs[value] = len(self.inputs)
            self.arguments.append(argument)
        return self.inputs[value]
