"""The one place where a result becomes a Variable with its node."""

import weakref
from typing import Any

from xpgrad.backend.spec import Spec
from xpgrad.graph.node import VariableNode
from xpgrad.graph.variable import Variable
from xpgrad.types import Array

new = object.__new__
ref = weakref.ref


def output(array: Array, spec: Spec, function: Any, rank: int) -> Variable:
    """Return a Variable over a result.

    Parameters
    ----------
    array : array
    spec : Spec
        That of `array`.
    function : FunctionNode or None
        What made it; if None, the Variable is a root that requires no gradient.
    rank : int
        That of the function, which gets it here.
    """
    # No default values: a function that has some is called more slowly.
    y = new(Variable)
    y._array = array
    y._grad = None
    node = y._node = new(VariableNode)
    node.variable = ref(y)
    node.spec = spec
    node.extra = None
    node.creator_node = function
    if function is None:
        node.rank = 0
        node.requires_grad = False
        return y
    function.rank = rank
    node.rank = rank + 1
    node.requires_grad = True
    return y
