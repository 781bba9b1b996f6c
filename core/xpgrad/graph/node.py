"""`VariableNode`: what the graph knows of a value. No array, no gradient: those belong to the Variable."""

import weakref
from typing import TYPE_CHECKING, Any

from xpgrad.backend.spec import Spec
from xpgrad.types import Array, Dtype, Shape

if TYPE_CHECKING:
    from xpgrad.backend.device import Device
    from xpgrad.graph.function_node import FunctionNode
    from xpgrad.graph.variable import Variable

new = object.__new__


class NodeExtra:
    """What few nodes have: a name, retained data, gradient hooks, a place among several outputs."""

    __slots__ = ("data", "declared", "hooks", "index", "loss_scale", "name")

    def __init__(self) -> None:
        self.name: str | None = None
        self.data: Array | None = None
        self.hooks: dict[int, Any] = {}
        self.index = 0
        self.loss_scale: float | None = None
        self.declared = False


class VariableNode:
    """Node of the graph for one Variable.

    It holds its creator strongly and its Variable weakly, so that a graph is freed by reference counting.

    Parameters
    ----------
    variable : Variable
    name : str or None

    Attributes
    ----------
    creator_node : FunctionNode or None
    rank : int
        0 for a root, else one more than its creator's.
    requires_grad : bool
        Whether a sweep computes a gradient here. Integer and boolean arrays have none.
    spec : Spec or None
        Shape, dtype and device; None while the Variable is uninitialised.
    """

    __slots__ = ("__weakref__", "creator_node", "extra", "rank", "requires_grad", "spec", "variable")

    creator_node: "FunctionNode | None"
    rank: int
    requires_grad: bool
    spec: Spec
    variable: "weakref.ref[Variable]"
    extra: NodeExtra | None

    def __init__(self, variable: "Variable", name: str | None = None, **kwargs: Any) -> None:
        if "grad" in kwargs:
            raise ValueError("VariableNode: gradients belong to the Variable; give grad= to it")
        if kwargs:
            raise TypeError(f"VariableNode: unexpected argument {next(iter(kwargs))!r}")
        old = variable._node
        self.creator_node, self.rank, self.extra = None, 0, None
        self.requires_grad, self.spec, self.variable = old.requires_grad, old.spec, weakref.ref(variable)
        if name is not None:
            self.name = name

    def own_extra(self) -> NodeExtra:
        """Return the node's extra part, made at the first use."""
        if self.extra is None:
            self.extra = NodeExtra()
        return self.extra

    @property
    def name(self) -> str | None:
        """Name of the Variable."""
        return None if self.extra is None else self.extra.name

    @name.setter
    def name(self, name: str | None) -> None:
        self.own_extra().name = name

    @property
    def creator(self) -> Any:
        """The function that made the value: the old-style `Function` where it was one, else the `FunctionNode`."""
        node = self.creator_node
        return None if node is None else node.implementation()

    @creator.setter
    def creator(self, creator: Any) -> None:
        self.set_creator(creator)

    def set_creator(self, creator: Any) -> None:
        """Make `creator`, a `FunctionNode`, a `Function` or None, the function that made this value."""
        node = getattr(creator, "node", None) if creator is not None else None
        self.set_creator_node(creator if node is None else node)

    def set_creator_node(self, creator_node: "FunctionNode | None") -> None:
        """Make `creator_node` the function that made this value; None cuts the graph here and keeps the rank."""
        self.creator_node = creator_node
        if creator_node is not None:
            self.rank = creator_node.rank + 1
            self.requires_grad = True

    def unchain(self) -> None:
        """Cut the graph here: the node becomes a root."""
        self.creator_node = None

    @property
    def shape(self) -> Shape:
        """Shape of the array."""
        return self.spec.shape

    @property
    def dtype(self) -> Dtype:
        """Dtype of the array."""
        return self.spec.dtype

    @property
    def device(self) -> "Device":
        """Device of the array."""
        return self.spec.backend.device_for(self.spec.device)

    @property
    def label(self) -> str:
        """Shape and dtype in a few words, for pictures."""
        dtype = self.spec.backend.dtype_name(self.spec.dtype)
        return f"{self.spec.shape}, {dtype}" if self.spec.shape else dtype

    @property
    def data(self) -> Array | None:
        """The array, if the node was told to retain it."""
        return None if self.extra is None else self.extra.data

    @data.setter
    def data(self, data: Array | None) -> None:
        from xpgrad.backend.plugins import plugins

        self.own_extra().data = data
        if data is not None:
            self.spec = plugins.backend_of(data).spec(data)

    def retain_data(self) -> None:
        """Keep the Variable's array on the node.

        Raises
        ------
        RuntimeError
            The Variable is gone.
        """
        variable = self.get_variable_or_none()
        if variable is None:
            raise RuntimeError("retain_data: the node's Variable has been deleted, so there is no array to retain")
        self.own_extra().data = variable._array

    @property
    def grad(self) -> Array | None:
        """Gradient array of the live Variable."""
        variable = self.get_variable_or_none()
        return None if variable is None else variable.grad

    @property
    def grad_var(self) -> "Variable | None":
        """Gradient Variable of the live Variable."""
        variable = self.get_variable_or_none()
        return None if variable is None else variable.grad_var

    def get_variable(self) -> "Variable":
        """Return the live Variable, else a fresh one over this node and what it retains."""
        variable = self.get_variable_or_none()
        if variable is None:
            from xpgrad.graph.variable import variable_over

            variable = variable_over(self, self.data)
            self.variable = weakref.ref(variable)
        return variable

    def get_variable_or_none(self) -> "Variable | None":
        """Return the live Variable, or None."""
        variable = self.variable()
        return variable if variable is not None and variable._node is self else None
