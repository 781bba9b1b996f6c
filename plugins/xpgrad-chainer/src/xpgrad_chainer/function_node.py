"""`FunctionNode` as Chainer has it: an object of the class itself has attributes, and type checks quote expressions."""

from typing import Any

import xpgrad
from xpgrad import FunctionNode as Node
from xpgrad.errors import InvalidType
from xpgrad_chainer.utils.type_check import get_function_check_context, get_types


class AnyNode(type(Node)):  # type: ignore[misc]  # the type of a class is known only when it runs
    """The type of `FunctionNode`; every node of a graph is an instance of `FunctionNode`."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return super().__instancecheck__(instance) or (cls is FunctionNode and isinstance(instance, Node))

    def __subclasscheck__(cls, subclass: type) -> bool:
        return super().__subclasscheck__(subclass) or (cls is FunctionNode and issubclass(subclass, Node))


class FunctionNode(xpgrad.FunctionNode, metaclass=AnyNode):
    """A differentiable function; see `xpgrad.FunctionNode`."""

    def _check_types(self, arrays: tuple[Any, ...]) -> None:
        own = "check_type_forward" in vars(self) or type(self).check_type_forward is not Node.check_type_forward
        if not own or not xpgrad.config.type_check:
            return
        try:
            self.check_type_forward(get_types(arrays, "in_types", False, plain=True))
        except InvalidType as error:
            with get_function_check_context(self):
                self.check_type_forward(get_types(arrays, "in_types", False))
                raise error
