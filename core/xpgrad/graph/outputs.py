"""The one place where a result becomes a Variable with its node."""

import functools
from collections.abc import Callable
from typing import Any

from xpgrad.backend.spec import Spec
from xpgrad.graph.node import InternalNode
from xpgrad.graph.variable import Variable
from xpgrad.types import Array

blank: Callable[[], Variable] = functools.partial(object.__new__, Variable)  # its constructor takes more time


def output(array: Array, spec: Spec, function: Any, rank: int) -> Variable:
    """Return a Variable over a result.

    Parameters
    ----------
    array : array
    spec : Spec
        Spec of `array`.
    function : FunctionNode or None
        The function that made it; if None, the Variable is a root that requires no gradient.
    rank : int
        Rank of the function, which is also set on it.
    """
    # No default values: a function that has some is called more slowly.
    y = blank()
    y._array = array
    y._grad = None
    node = y._node = InternalNode(y)
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
