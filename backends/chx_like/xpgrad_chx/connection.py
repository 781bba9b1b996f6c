"""`Connection`: the part of an array in the graph."""

from typing import Any

import xpgrad
from xpgrad_chx.backprop import BackpropId

NOTHING: frozenset[BackpropId] = frozenset()


class Connection:
    """Graph state of an array.

    Attributes
    ----------
    variable : Variable
        Over the same memory. Its node is the array's node.
    required : set of BackpropId
        For which ids the array itself keeps a gradient.
    gradients : dict from BackpropId to Variable
        Gradients for ids other than the default id, whose gradient is stored in the Variable.
    shown : dict from BackpropId to tuple
        A gradient's Variable, and the array that represents it to users.
    attached : bool
        Whether a user has the Variable.
    """

    __slots__ = ("__weakref__", "attached", "gradients", "required", "shown", "variable")

    def __init__(self, variable: xpgrad.Variable) -> None:
        self.variable, self.attached = variable, False
        self.required: set[BackpropId] | frozenset[BackpropId] = NOTHING  # most keep no gradient
        self.gradients: dict[BackpropId, xpgrad.Variable] | None = None
        self.shown: dict[BackpropId, tuple[xpgrad.Variable, Any]] | None = None

    def __repr__(self) -> str:
        return f"<place in the graph: {self.variable.node!r}>"
