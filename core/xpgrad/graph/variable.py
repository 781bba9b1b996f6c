"""`Variable`: an array, its gradient, and its node in the graph."""

import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from xpgrad.backend.device import Device
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.errors import BackendMismatch, DeviceMismatch, DtypeError, ShapeError, UnknownArray
from xpgrad.graph import moving, text
from xpgrad.graph.node import VariableNode
from xpgrad.graph.slot import slot
from xpgrad.types import Array, Dtype, Index, Namespace, Shape

new = object.__new__


class Variable:
    """An array that remembers how it was computed.

    Parameters
    ----------
    data : array of a backend, or None
        None leaves the Variable uninitialised. Lists and scalars are refused: nothing is converted silently.
    name : str, optional
    grad : array, optional
        Initial gradient.
    requires_grad : bool
        Whether a sweep computes a gradient here. Integer and boolean arrays have none whatever it says.

    Raises
    ------
    TypeError
        `data` is not an array of an installed backend.

    Notes
    -----
    A Variable is an array of the Array API standard: operators and functions broadcast and promote by its rules, and
    comparisons give boolean Variables.
    """

    __slots__ = ("__weakref__", "_array", "_grad", "_node")

    __array_priority__ = 200
    __array_ufunc__: Any = None  # so that an array on the left leaves the operation to the Variable

    _array: Array
    _node: VariableNode
    _grad: Any  # None, an array, or the Variable that a recorded sweep made

    def __init__(
        self,
        data: Array | None = None,
        *,
        name: str | None = None,
        grad: Array | None = None,
        requires_grad: bool = True,
        **kwargs: Any,
    ) -> None:
        if "volatile" in kwargs:
            raise ValueError("Variable: volatile= was removed in Chainer 2; use xpgrad.no_backprop_mode()")
        if kwargs:
            raise TypeError(f"Variable: unexpected keyword argument {next(iter(kwargs))!r}")
        if type(requires_grad) is not bool:
            raise TypeError(f"Variable: requires_grad must be a bool, got {requires_grad!r}")
        spec = None if data is None else spec_of(data, "Variable")
        if grad is not None:
            spec_of(grad, "Variable: grad")
        self._array, self._grad = data, grad
        self._node = _leaf_node(self, spec, requires_grad)
        if name is not None:
            self._node.name = name

    # The array

    @property
    def array(self) -> Array:
        """The underlying array, disconnected from the graph; None while uninitialised.

        An array of another shape, dtype or device gives the Variable a fresh node.
        """
        return self._array

    @array.setter
    def array(self, array: Array | None) -> None:
        spec = None if array is None else spec_of(array, "Variable.array")
        node = self._node
        if spec is not node.spec:
            self._node = _leaf_node(self, spec, self.requires_grad)
            if node.extra is not None:
                extra = self._node.own_extra()
                extra.name, extra.hooks = node.extra.name, node.extra.hooks
        if node.extra is not None and node.extra.data is not None:
            self._node.data = array
        self._array = array

    data = array
    raw_array = array

    @property
    def node(self) -> VariableNode:
        """The node of the graph."""
        return self._node

    @property
    def shape(self) -> Shape:
        """Shape of the array."""
        return self._array.shape  # type: ignore[no-any-return]  # an unknown library's

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self._array.ndim  # type: ignore[no-any-return]  # an unknown library's

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._known_spec("size").size

    @property
    def dtype(self) -> Dtype:
        """Dtype of the array."""
        return self._array.dtype

    @property
    def device(self) -> Device:
        """The device on which the array lies; an uninitialised Variable is on the host."""
        if self._array is None:
            return plugins.role("cpu").default_device
        return plugins.backend_of(self._array).device_of(self._array)

    @property
    def xp(self) -> Namespace:
        """The array module of the device."""
        return self.device.xp

    @property
    def layout(self) -> None:
        """Memory layout, always None: arrays have their library's own."""
        return None

    @property
    def chx_array(self) -> Array:
        """A view of the array that is connected to the graph; only arrays that carry a graph have one."""
        raise ValueError(f"chx_array: expected a Variable over a chx array, got {self._title()}; call to_chx() first")

    @property
    def label(self) -> str:
        """Shape and dtype in a few words."""
        return self._node.label

    @property
    def name(self) -> str | None:
        """Name of the Variable, None unless given."""
        return self._node.name

    @name.setter
    def name(self, name: str | None) -> None:
        self._node.name = name

    def _known_spec(self, attribute: str) -> Spec:
        if self._array is None:
            raise AttributeError(f"Variable.{attribute}: the Variable is uninitialised")
        return self._node.spec

    def _title(self) -> str:
        return "an uninitialised Variable" if self._array is None else f"{self._node.spec!r} on {self.device}"

    # The graph

    @property
    def requires_grad(self) -> bool:
        """Whether `grad` will be set by a backward computation."""
        extra = self._node.extra
        return self._node.requires_grad or (extra is not None and extra.declared)

    @property
    def rank(self) -> int:
        """0 for a root, else one more than the rank of the function that made it."""
        return self._node.rank

    @property
    def creator(self) -> Any:
        """The function that made this Variable: a `Function` where it was old-style, else a `FunctionNode`."""
        return self._node.creator

    @creator.setter
    def creator(self, creator: Any) -> None:
        self._node.set_creator(creator)

    @property
    def creator_node(self) -> Any:
        """The `FunctionNode` that made this Variable; setting None cuts the graph here."""
        return self._node.creator_node

    @creator_node.setter
    def creator_node(self, creator_node: Any) -> None:
        self._node.set_creator_node(creator_node)

    def set_creator(self, gen_func: Any) -> None:
        """Make `gen_func`, a `Function` or `FunctionNode`, the creator."""
        self._node.set_creator(gen_func)

    def set_creator_node(self, fnode: Any) -> None:
        """Make `fnode` the creator."""
        self._node.set_creator_node(fnode)

    def unchain(self) -> None:
        """Delete the reference to the creator; what lies behind is not touched."""
        self._node.unchain()

    def unchain_backward(self) -> None:
        """Delete all references between nodes and functions from here back, for truncated backpropagation in time."""
        waiting = [self._node]
        while waiting:
            node = waiting.pop()
            function, node.creator_node = node.creator_node, None
            if function is not None and function.inputs is not None:
                waiting.extend(each for each in function.inputs if each is not None)
                function.unchain()

    def retain_data(self) -> None:
        """Let the node keep the array."""
        self._node.own_extra().data = self._array

    def register_hook(self, hook: Callable[["Variable"], Any]) -> Callable[[], None]:
        """Call `hook` with the gradient of this Variable, once in each sweep, when it is complete.

        Parameters
        ----------
        hook : callable
            Gets the gradient as a Variable. What it returns, a Variable or an array, replaces the gradient; None keeps it.

        Returns
        -------
        callable
            Removes the hook.
        """
        if not callable(hook):
            raise TypeError(f"register_hook: expected a function, got {type(hook).__name__}")
        hooks = self._node.own_extra().hooks
        key = max(hooks, default=-1) + 1
        hooks[key] = hook
        return lambda: hooks.pop(key, None) and None

    # The gradient

    @property
    def grad(self) -> Array | None:
        """Array of the gradient, or None."""
        grad = self._grad
        return grad._array if isinstance(grad, Variable) else grad

    @grad.setter
    def grad(self, grad: Array | None) -> None:
        if grad is not None:
            self._check_grad(grad)
        self._grad = grad

    @property
    def grad_var(self) -> "Variable | None":
        """The gradient as a Variable: recorded if the sweep was, and the same object at each read."""
        grad = self._grad
        if grad is not None and not isinstance(grad, Variable):
            grad = self._grad = Variable(grad)
        return grad

    @grad_var.setter
    def grad_var(self, grad: "Variable | None") -> None:
        if grad is not None:
            if not isinstance(grad, Variable):
                raise UnknownArray(f"Variable.grad_var: expected a Variable, got {type(grad).__name__}; arrays go to grad")
            self._check_grad(grad._array)
        self._grad = grad

    @property
    def _loss_scale(self) -> float | None:
        extra = self._node.extra
        return None if extra is None else extra.loss_scale

    def _check_grad(self, grad: Array) -> None:
        given = spec_of(grad, "Variable.grad")
        if self._array is None:
            return
        wanted = self._node.spec
        if given is wanted:
            return
        if given.backend is not wanted.backend:
            raise BackendMismatch(
                f"Variable.grad: the array is {wanted.backend.name}'s but the gradient {given.backend.name}'s; "
                f"move it with xpgrad.get_device('{self.device}').send(grad)"
            )
        if given.dtype != wanted.dtype:
            raise DtypeError(f"Variable.grad: expected dtype {wanted.dtype} as in the array, got {given.dtype}; cast it")
        if given.shape != wanted.shape:
            raise ShapeError(f"Variable.grad: expected shape {wanted.shape} as in the array, got {given.shape}")
        if given.device != wanted.device:
            raise DeviceMismatch(f"Variable.grad: the array is on {self.device}, the gradient is not; move it there first")

    def cleargrad(self) -> None:
        """Forget the gradient."""
        self._grad = None

    def zerograd(self) -> None:
        """Fill the gradient with zeros. Deprecated: `cleargrad` costs nothing."""
        warnings.warn("zerograd is deprecated; use cleargrad", DeprecationWarning, stacklevel=2)
        if self._array is not None:
            self._grad = self._node.spec.backend.xp.zeros_like(self._array)

    def addgrad(self, var: "Variable") -> None:
        """Add the gradient of `var` to this one's, also from another device; initialise this Variable if it is not."""
        moving.addgrad(self, var)

    def copydata(self, var: "Variable") -> None:
        """Copy the data of `var` into this Variable's array, also from another device.

        If only one of the two is initialised, the other is initialised from it; if none is, nothing happens.
        """
        moving.copydata(self, var)

    def backward(
        self,
        retain_grad: bool = False,
        enable_double_backprop: bool = False,
        loss_scale: float | None = None,
        retain_graph: bool = True,
    ) -> None:
        """Compute the gradients of this Variable with respect to everything that it was computed from.

        The start is `grad`; where there is none, ones if there is one element. Gradients of the roots are added to what
        they have. If anything raises, no gradient is touched.

        Parameters
        ----------
        retain_grad : bool
            Keep the gradients of the intermediate Variables too, this one's included.
        enable_double_backprop : bool
            Record the computation, so that the gradients can be differentiated again.
        loss_scale : float, optional
            Factor of the automatic start; it is noted on the roots.
        retain_graph : bool
            False lets each function drop what it kept as soon as its gradient is computed; the graph can then not be
            swept again.

        Raises
        ------
        GradientError
            There are many elements, or none, and no gradient to start from.
        """
        from xpgrad.graph.backward import backward_from  # the sweep builds Variables, so it comes after them

        backward_from(self, retain_grad, enable_double_backprop, loss_scale, retain_graph)

    # Devices

    def to_device(self, device: Any, /, *, stream: Any = None) -> "Variable":
        """Move data and gradient to `device`, as `get_device` takes it, and return this Variable."""
        return moving.to_device(self, device)

    def to_cpu(self) -> "Variable":
        """Move data and gradient to the host."""
        return moving.to_device(self, -1)

    def to_gpu(self, device: Any = None) -> "Variable":
        """Move data and gradient to a GPU, the current one unless `device` says which."""
        return moving.to_gpu(self, device)

    def to_chx(self) -> "Variable":
        """Let data and gradient become chx arrays on the same device, without a copy."""
        return moving.to_chx(self)

    def from_chx(self) -> "Variable":
        """Let data and gradient that are chx arrays become plain ones on the same device, without a copy."""
        return moving.from_chx(self)

    def to_intel64(self) -> "Variable":
        """Move data and gradient to the intel64 backend where one is installed and suits them, else to the host."""
        return moving.to_intel64(self)

    # Array behaviour that needs no function

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("len() of a 0-d Variable")
        return self.shape[0]

    def __iter__(self) -> Iterator["Variable"]:
        for i in range(len(self)):
            yield self[i]

    def __bool__(self) -> bool:
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        if self.ndim or not self._node.spec.backend.is_kind(self.dtype, "integral"):
            raise TypeError(f"only a 0-d integer Variable can be an index, got {self._node.spec!r}")
        return int(self.item())

    def item(self) -> Any:
        """Return the only element as a Python scalar."""
        if self._known_spec("item").size != 1:
            raise ValueError(f"item: expected one element, got shape {self.shape}")
        backend, array = self._node.spec.backend, self._array
        kinds = ("bool", bool), ("integral", int), ("real floating", float)
        kind = next((each for name, each in kinds if backend.is_kind(array.dtype, name)), complex)
        return kind(backend.namespace.reshape(array, ()))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if self.requires_grad and self._node.spec.differentiable:
            raise TypeError("a Variable that requires a gradient is not converted silently; use v.array")
        host = moving.on_host(self._array)
        return host if dtype is None else host.astype(dtype)

    def __array_namespace__(self, *, api_version: str | None = None) -> Namespace:
        """Return the differentiable namespace of this Variable's backend."""
        return slot.functions.namespace(self._node.spec.backend)

    __hash__ = object.__hash__

    # Copies and text

    def __copy__(self) -> "Variable":
        copied = new(type(self))
        copied._array, copied._grad = self._array, self._grad
        copied._node = _leaf_node(copied, self._node.spec, self.requires_grad)
        _copy_attributes(self, copied)
        return copied

    def __deepcopy__(self, memo: dict[int, Any]) -> "Variable":
        copied = self.__copy__()
        memo[id(self)] = copied
        grad = self.grad
        if self._array is not None:
            copied._array = self._node.spec.backend.copy(self._array)
        copied._grad = None if grad is None else plugins.backend_of(grad).copy(grad)
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        grad, device = self.grad, str(self.device)
        host = [None if each is None else moving.on_host(each) for each in (self._array, grad)]
        return _restore, (type(self), host[0], host[1], self.name, self.requires_grad, device, _attributes(self))

    def __repr__(self) -> str:
        return text.as_text(self, ", ", shape_of_empty=True)

    def __str__(self) -> str:
        return text.as_text(self, " ", shape_of_empty=False)

    def summary(self) -> str:
        """Return ``<variable NAME>``, or the address where there is no name."""
        return text.summary(self)

    def debug_print(self) -> str:
        """Return a few lines about place, shape, dtype and statistics of data and gradient."""
        return text.debug_print(self)

    # Declared here for type checkers and readers; `array_api.operators` binds them.
    if TYPE_CHECKING:
        __add__: Callable[["Variable", Any], "Variable"]


def spec_of(array: Array, operation: str) -> Spec:
    """Return the spec of `array`, or raise a TypeError that names `operation` and what came."""
    backend = plugins.by_type.get(type(array))
    if backend is None:
        if isinstance(array, Variable):
            raise UnknownArray(f"{operation}: expected an array, got a Variable; use its .array")
        try:
            backend = plugins.backend_of(array)
        except UnknownArray:
            kind = type(array)
            raise UnknownArray(
                f"{operation}: expected an array ({plugins.type_names()}), got {kind.__module__}.{kind.__qualname__}: "
                "nothing is converted silently"
            ) from None
    backend.check(array)
    return backend.spec(array)


def variable_over(node: VariableNode, array: Array) -> Variable:
    """Return a Variable over an existing node, with an array that the graph kept."""
    variable = new(Variable)
    variable._array, variable._node, variable._grad = array, node, None
    return variable


def constant_variable(array: Array) -> Variable:
    """Return a Variable that requires no gradient."""
    return Variable(array, requires_grad=False)


def as_variable(obj: Any) -> Variable:
    """Return `obj` if it is a Variable, else a Variable over the array `obj` that requires no gradient."""
    return obj if isinstance(obj, Variable) else constant_variable(obj)


def as_array(obj: Any) -> Array:
    """Return the array of a Variable, or `obj` itself."""
    return obj._array if isinstance(obj, Variable) else obj


def _leaf_node(variable: Variable, spec: Spec | None, requires_grad: bool) -> VariableNode:
    node = new(VariableNode)
    node.creator_node, node.rank, node.extra = None, 0, None
    node.spec, node.variable = spec, weakref.ref(variable)  # type: ignore[assignment]  # None while uninitialised
    node.requires_grad = requires_grad and (spec is None or spec.differentiable)
    if requires_grad and not node.requires_grad:
        node.own_extra().declared = True
    return node


def _attributes(x: Variable) -> dict[str, Any]:
    return dict(getattr(x, "__dict__", {}))


def _copy_attributes(source: Variable, target: Variable) -> None:
    if source.name is not None:
        target._node.name = source.name
    for name, value in _attributes(source).items():
        setattr(target, name, value)


def _restore(
    kind: type[Variable], host: Array, host_grad: Array, name: str | None, requires_grad: bool, device: str, attributes: dict[str, Any]
) -> Variable:
    variable = new(kind)
    array, grad = (None if each is None else moving.from_host(each, device) for each in (host, host_grad))
    variable._array, variable._grad = array, grad
    spec = None if array is None else spec_of(array, "Variable")
    variable._node = _leaf_node(variable, spec, requires_grad)
    if name is not None:
        variable._node.name = name
    for key, value in attributes.items():
        setattr(variable, key, value)
    return variable
