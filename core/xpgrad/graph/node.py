"""The nodes of the graph: `VariableNode` for values, and `FunctionBase` for functions.

Nodes hold no array and no gradient: those belong to the Variable.
"""

import weakref
from typing import TYPE_CHECKING, Any, ClassVar

from xpgrad.backend.device import Device
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.errors import GraphError
from xpgrad.graph import carried
from xpgrad.graph.exchange import lock
from xpgrad.graph.slot import slot
from xpgrad.types import Array, Dtype, Shape
from xpgrad.watch import inspection

if TYPE_CHECKING:
    from xpgrad.graph.variable import Variable


class FunctionBase:
    """One application of a function, as the graph and its sweeps know it; users derive from `FunctionNode`.

    Attributes
    ----------
    inputs : tuple of VariableNode or None
        None before the function is applied, and outside a graph.
    outputs : tuple of weak references to VariableNode, or None
    rank : int
        The highest of the inputs'.
    pullback : Pullback or None
        The rules of a primitive; None for functions with their own backward computation.
    stack : traceback.StackSummary or None
        Where the function was applied, in debug mode.
    """

    __slots__ = ()  # so that applications of primitives can do without a dictionary

    inputs: Any = None
    outputs: Any = None
    rank: int = 0
    stack: Any = None
    is_elementwise: ClassVar[bool] = False
    of_library: ClassVar[bool] = False  # its `backward` writes to no array, and reads the mode before recording
    unchained: bool = False  # only functions that do not refer to their outputs set it
    pullback: Any = None
    _origin: Any = None  # in debug mode: the function during whose rule it was applied
    _guards: Any = None  # in debug mode: copies of the retained arrays
    _hooks: Any = None

    @property
    def label(self) -> str:
        """Short text that names the function in messages and drawings."""
        return type(self).__name__

    @property
    def input_nodes(self) -> Any:
        """The inputs as sweeps take them: None for a constant."""
        return self.inputs

    @property
    def _impl_name(self) -> str:
        return type(self).__name__

    def implementation(self) -> Any:
        """Return the function as users see it: Chainer's `Function` if this node belongs to one, else the node."""
        return self

    def __repr__(self) -> str:
        inputs = getattr(self, "inputs", None)
        what = "not applied" if inputs is None else f"{', '.join(map(_label, inputs)) or 'no inputs'}; rank {self.rank}"
        return f"<{type(self).__name__} {title(self)!r}: {what}>"

    def kept_inputs(self) -> tuple[Any, ...]:
        """Return the array of each input, None for inputs that were not retained; used by hooks."""
        return ()

    def release(self) -> None:
        """Release the retained arrays."""

    def unchain(self) -> None:
        """Cut this function out of the graph: its outputs become roots, and it forgets its inputs."""
        for reference in self.outputs or ():
            node = reference()
            if node is not None and node.creator_node is self:
                node.unchain()
        self.inputs = self.outputs = None

    @property
    def local_function_hooks(self) -> dict[str, Any]:
        """The hooks that were added to this function, in order."""
        return self._hooks or {}

    def _own_hooks(self) -> dict[str, Any]:
        if self._hooks is None:
            with lock:
                if self._hooks is None:
                    self._hooks = {}
        return self._hooks  # type: ignore[no-any-return]  # class-level default None

    def add_hook(self, hook: Any, name: str | None = None) -> None:
        """Add a `FunctionHook` only to this function, under its name or `name`."""
        inspection.add_local_hook(self, hook, name)

    def delete_hook(self, name: str) -> None:
        """Remove the hook `name` from this function."""
        inspection.delete_local_hook(self, name)


class Implementation:
    """Base of functions that users see in place of their nodes: Chainer's `Function`."""

    @property
    def node(self) -> FunctionBase:
        """The node."""
        raise NotImplementedError


def _label(node: "VariableNode | None") -> str:
    return "a constant" if node is None else node.label


def title(function: FunctionBase) -> str:
    """Return the label of a function, or its class name if its `label` or its constructor fails."""
    try:
        return str(function.label)
    except Exception:
        return type(function).__name__


class NodeExtra:
    """The attributes that few nodes have: name, retained data, hooks, index among several outputs, moves."""

    __slots__ = (
        "constant", "data", "declared", "device", "hooks", "index", "loss_scale", "name", "passed", "predecessors",
        "successor", "variable",
    )  # fmt: skip

    def __init__(self) -> None:
        self.name: str | None = None
        self.data: Array | None = None
        self.hooks: dict[object, Any] = {}
        self.index = 0
        self.loss_scale: float | None = None
        self.declared = False
        self.passed = False  # a root that a transform passed to the user's function: copies are connected to it
        self.constant = False  # a gradient that depends on no Variable, from a recorded sweep: its derivatives are 0
        self.device: Device | None = None  # where a Variable without an array was sent, and will get its array
        self.successor: VariableNode | None = None  # the node that the Variable has since it moved to another device
        self.predecessors: list[weakref.ref[VariableNode]] = []  # earlier nodes that a graph still references
        self.variable: weakref.ref[Variable] | None = None  # replaces the node's first Variable


def leaf_node(variable: "Variable", spec: Spec | None, requires_grad: bool) -> "VariableNode":
    """Return a new root for `variable`."""
    node: VariableNode = InternalNode(variable)
    node.creator_node, node.rank, node.extra = None, 0, None
    node.spec = spec  # type: ignore[assignment]  # None while uninitialised
    node.requires_grad = requires_grad and (spec is None or spec.differentiable)
    if requires_grad and not node.requires_grad:
        node.own_extra().declared = True
    return node


class VariableNode(weakref.ref["Variable"]):
    """Node of the graph for one Variable.

    It holds its creator strongly and its Variable weakly, so that a graph is freed by reference counting. It is that
    weak reference itself, because each object that Python's garbage collector tracks costs a deep graph much time.
    Unlike other weak references, two nodes are equal only if they are the same.

    Parameters
    ----------
    variable : Variable
    name : str or None

    Attributes
    ----------
    creator_node : FunctionNode or None
    rank : int
        0 for a root, otherwise one more than the creator's rank.
    requires_grad : bool
        Whether a sweep computes a gradient here. Integer and boolean arrays have none.
    spec : Spec or None
        Shape, dtype and device; None while the Variable is uninitialised.
    """

    __slots__ = ("__weakref__", "creator_node", "extra", "rank", "requires_grad", "spec")

    creator_node: FunctionBase | None
    rank: int
    requires_grad: bool
    spec: Spec
    extra: NodeExtra | None

    __hash__ = object.__hash__
    __eq__ = object.__eq__
    __ne__ = object.__ne__
    if not TYPE_CHECKING:  # which does not know that objects have these; Python compares fast only if it finds all six
        __lt__, __le__, __gt__, __ge__ = object.__lt__, object.__le__, object.__gt__, object.__ge__

    def __init__(self, variable: "Variable", name: str | None = None, **kwargs: Any) -> None:
        if "grad" in kwargs:
            raise ValueError(
                "VariableNode: expected no grad=, because gradients belong to the Variable; pass grad= to Variable"
            )
        if kwargs:
            raise TypeError(f"VariableNode: unexpected argument {next(iter(kwargs))!r}")
        old = variable._node
        self.creator_node, self.rank, self.extra = None, 0, None
        self.requires_grad, self.spec = old.requires_grad, old.spec
        if name is not None:
            self.name = name

    def __reduce__(self) -> Any:
        raise GraphError("copy: a VariableNode is part of a graph; copy its Variable, or pickle v.array")

    @property
    def variable(self) -> "weakref.ref[Variable]":
        """The weak reference to the Variable: the node itself, unless another Variable has taken its place."""
        extra = self.extra
        return self if extra is None or extra.variable is None else extra.variable

    def refer_to(self, variable: "Variable") -> None:
        """Let `variable` take the place of the Variable for which the node was made."""
        self.own_extra().variable = weakref.ref(variable)

    def own_extra(self) -> NodeExtra:
        """Return the node's extra part, made at the first use."""
        extra = self.extra
        if extra is None:
            with lock:
                if self.extra is None:
                    self.extra = NodeExtra()
                extra = self.extra
        return extra

    @property
    def name(self) -> str | None:
        """Name of the Variable."""
        return None if self.extra is None else self.extra.name

    @name.setter
    def name(self, name: str | None) -> None:
        self.own_extra().name = name

    @property
    def creator(self) -> Any:
        """The function that made the value: Chainer's `Function` where it was one, else the `FunctionNode`."""
        node = self.live_creator()
        return None if node is None else node.implementation()

    @creator.setter
    def creator(self, creator: Any) -> None:
        self.set_creator(creator)

    def set_creator(self, creator: Any) -> None:
        """Make `creator`, a `FunctionNode`, a `Function` or None, the function that made this value."""
        self.set_creator_node(creator.node if isinstance(creator, Implementation) else creator)

    def set_creator_node(self, creator_node: FunctionBase | None) -> None:
        """Make `creator_node` the function that made this value; None cuts the graph here and keeps the rank."""
        if creator_node is not None and not isinstance(creator_node, FunctionBase):
            raise TypeError(f"set_creator_node: expected a FunctionNode or None, got {type(creator_node).__name__}")
        self.creator_node = creator_node
        if creator_node is not None:
            self.rank = creator_node.rank + 1
            self.requires_grad = self.spec is None or self.spec.differentiable

    def unchain(self) -> None:
        """Cut the graph here: the node becomes a root."""
        self.creator_node = None

    def live_creator(self) -> FunctionBase | None:
        """Return the creator; None, and the node becomes a root, if that was unchained and did not know this node."""
        creator = self.creator_node
        if creator is not None and creator.unchained:
            creator = self.creator_node = None
        return creator

    @property
    def shape(self) -> Shape | None:
        """Shape of the array; None while the Variable is uninitialised, like dtype and device."""
        return None if self.spec is None else self.spec.shape

    @property
    def dtype(self) -> Dtype:
        """Dtype of the array."""
        return None if self.spec is None else self.spec.dtype

    @property
    def device(self) -> Device | None:
        """Device of the array."""
        return None if self.spec is None else self.spec.backend.device_for(self.spec.device)

    def intended_device(self) -> Device:
        """Return the device to which the uninitialised Variable was last sent, by default the host."""
        if self.extra is not None and self.extra.device is not None:
            return self.extra.device
        return plugins.host.default_device

    @property
    def label(self) -> str:
        """Shape and dtype in a few words, for drawings."""
        if self.spec is None:
            return "uninitialised"
        dtype = self.spec.backend.dtype_name(self.spec.dtype)
        return f"{self.spec.shape}, {dtype}" if self.spec.shape else dtype

    def __repr__(self) -> str:
        creator = self.live_creator()
        made_by = "" if creator is None else f", rank {self.rank}, made by {title(creator)}"
        return f"<VariableNode{'' if self.name is None else f' {self.name}'}: {self.label}{made_by}>"

    @property
    def data(self) -> Array | None:
        """The array, if the node retains it."""
        return None if self.extra is None else carried.visible(self.extra.data)

    @data.setter
    def data(self, data: Array | None) -> None:
        self.own_extra().data = carried.operand(data)
        if data is not None:
            self.spec = plugins.backend_of(data).spec(data)

    def retain_data(self) -> None:
        """Keep the Variable's array on the node.

        Raises
        ------
        RuntimeError
            The Variable has been deleted.
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
        """Return the live Variable, otherwise a new Variable with this node and its retained array."""
        variable = self.get_variable_or_none()
        if variable is None:
            variable = slot.variable_over(self, None if self.extra is None else self.extra.data)
            self.refer_to(variable)
        return variable

    def get_variable_or_none(self) -> "Variable | None":
        """Return the live Variable, or None.

        This includes a Variable that moved to another device since the graph was created.
        """
        extra = self.extra
        variable = self() if extra is None or extra.variable is None else extra.variable()
        if variable is None or variable._node is self:
            return variable
        successor = None if extra is None else extra.successor
        return variable if successor is not None and variable._node is successor else None

    def lineage(self) -> "list[VariableNode]":
        """Return this node and the earlier nodes of its Variable on other devices that a graph still references."""
        earlier = [] if self.extra is None else [node for ref in self.extra.predecessors if (node := ref()) is not None]
        return [self, *earlier]

    def succeed(self, old: "VariableNode") -> None:
        """Take the place of `old`, whose Variable moved to another device; gradients of older graphs still find it."""
        for earlier in old.lineage():
            earlier.own_extra().successor = self
            self.own_extra().predecessors.append(weakref.ref(earlier))


class InternalNode(VariableNode):
    """The class of all nodes that xpgrad creates: its inherited constructor, written in C, takes half of the time.

    Its callers set the attributes. Roots and results share it, since Python reads attributes faster at a place that
    meets one class only.
    """

    __slots__ = ()

    if TYPE_CHECKING:

        def __init__(self, variable: Variable) -> None: ...

    else:
        __new__ = weakref.ref.__new__
        __init__ = weakref.ref.__init__


def _made(cls: type[VariableNode], variable: "Variable", name: str | None = None, **kwargs: Any) -> VariableNode:
    return weakref.ref.__new__(cls, variable)


if not TYPE_CHECKING:  # which wants methods set in the class
    VariableNode.__new__ = _made  # only now, as `FunctionNode.__new__`
