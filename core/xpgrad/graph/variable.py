"""`Variable`: an array, its gradient, and its node in the graph.

Other methods of a Variable are declared in `methods.declared`, and bound by the modules that define them.
"""

import weakref
from collections.abc import Callable
from typing import Any, Never

from xpgrad.backend.checks import check_still, naming, same_place, spec_of
from xpgrad.backend.device import Device
from xpgrad.backend.holder import ArrayHolder
from xpgrad.backend.levels import entered, innermost, live, shown
from xpgrad.backend.naming import called
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.errors import AbsentAttribute, GradientError, UnknownArray
from xpgrad.graph import carried
from xpgrad.graph.assignments import journal
from xpgrad.graph.exchange import replace
from xpgrad.graph.gradients import check_gradient, check_gradient_variable
from xpgrad.graph.methods.convertible import Convertible
from xpgrad.graph.node import VariableNode, leaf_node
from xpgrad.graph.slot import slot
from xpgrad.types import AnyArray, Array, Dtype, Namespace, Shape

new = object.__new__


class Variable(ArrayHolder, Convertible):
    """An array that remembers how it was computed.

    Parameters
    ----------
    data : array of a backend, or None
        None leaves the Variable uninitialised. Lists and scalars raise an error: there is no silent conversion.
    name : str, optional
    grad : array, optional
        Initial gradient.
    requires_grad : bool
        Whether a sweep computes a gradient here. Integer and boolean arrays never have a gradient.

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
    __array_ufunc__: Any  # bound by `interop.numpy.protocol`, as is the next
    __array_function__: Any

    _array: Array
    _node: VariableNode
    _grad: Any  # None, an array, or the Variable that a recorded sweep made

    def __init__(
        self,
        data: AnyArray | None = None,
        *,
        name: str | None = None,
        grad: AnyArray | None = None,
        requires_grad: bool = True,
        **kwargs: Never,
    ) -> None:
        if "volatile" in kwargs:
            raise ValueError("Variable: volatile= was removed in Chainer 2; use xpgrad.no_backprop_mode()")
        if kwargs:
            raise TypeError(f"Variable: unexpected keyword argument {next(iter(kwargs))!r}")
        if type(requires_grad) is not bool:
            raise TypeError(f"Variable: requires_grad must be a bool, got {requires_grad!r}")
        if live:
            data, grad = (None if array is None else entered(array) for array in (data, grad))
        spec = None if data is None else spec_of(data, "Variable")
        if grad is not None:
            spec_of(grad, "Variable: grad")
        if type(data) in plugins.carriers:
            if carried.enter(self, data, grad, requires_grad):
                self._node.refer_to(self)
                if name is not None:
                    self._node.name = name
                return
            data = carried.held(data, "Variable")
            if grad is not None and not requires_grad:
                raise GradientError("Variable: expected no grad= with requires_grad=False; pass only one of the two")
        if type(grad) in plugins.carriers:
            grad = carried.held(grad, "Variable: grad")
        self._array, self._grad = data, None if grad is None else Variable(grad)
        self._node = leaf_node(self, spec, requires_grad)
        if live and data is None and (level := innermost()) is not None:
            level.made[id(self)] = weakref.ref(self)
        if name is not None:
            self._node.name = name

    # The array

    @property
    def array(self) -> Array:
        """The underlying array, disconnected from the graph; None while uninitialised.

        Setting an array of another shape, dtype or device gives the Variable a fresh node, a root, and no gradient.
        """
        if live:
            self = inside(self)
        array, node = self._array, self._node
        if live and array is not None:
            array = shown(array)
        if node.creator_node is not None:
            node.own_extra()  # its shape may be changed from now on; sweeps look at nodes that have this part
        return carried.shown(array) if type(array) in plugins.carriers else array

    @array.setter
    def array(self, array: Array | None) -> None:
        if live:
            self, array = inside(self), None if array is None else entered(array)
        spec = None if array is None else spec_of(array, "Variable.array")
        if (noted := journal.get()) is not None:
            noted.note(self)
        if type(array) in plugins.carriers:
            array = carried.held(array, "Variable.array")
        node = self._node
        if spec is not node.spec and not same_place(spec, node.spec):
            self._node, self._grad = leaf_node(self, spec, self.requires_grad), None
            if node.extra is not None:
                extra = self._node.own_extra()
                extra.name, extra.hooks, extra.device = node.extra.name, node.extra.hooks, node.extra.device
        if node.extra is not None and node.extra.data is not None:
            self._node.own_extra().data = array
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
        try:
            shape = self._node.spec.shape
            if self._array.shape == shape:  # the dtype is not checked: functions ask for shapes often
                return shape
        except AttributeError:
            pass
        return self._current("Variable.shape").shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._current("Variable.ndim").shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._current("Variable.size").size

    @property
    def dtype(self) -> Dtype:
        """Dtype of the array."""
        return self._current("Variable.dtype").dtype

    @property
    def device(self) -> Device:
        """The device on which the array lies; without an array the last that it was sent to, else the host."""
        if live:
            self = inside(self)
        if self._array is None:
            return self._node.intended_device()
        return plugins.backend_of(self._array).device_of(self._array)

    @property
    def xp(self) -> Namespace:
        """The array module of the device."""
        return self.device.xp

    @property
    def layout(self) -> None:
        """Memory layout, always None: arrays have the layout of their library."""
        return None

    @property
    def chx_array(self) -> Array:
        """A view of the array that is connected to the graph; only arrays that carry a graph have such a view."""
        if type(self._array) not in plugins.carriers:
            title = self._title()
            raise AbsentAttribute(f"chx_array: expected a Variable over a chx array, got {title}; call to_chx() first")
        return plugins.carriers[type(self._array)].connected(self)

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

    def _current(self, operation: str) -> Spec:
        """Return the node's spec, after checking that the array still has it."""
        spec, array = self._node.spec, self._array
        if spec is None:
            raise AttributeError(f"{operation}: the Variable is uninitialised; give it an array first")
        if array is not None and (array.shape != spec.shape or array.dtype is not spec.dtype):
            check_still(array, spec, operation)
        return spec

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
        """The function that made this Variable: Chainer's `Function` where it was one, else a `FunctionNode`."""
        return self._node.creator

    @creator.setter
    def creator(self, creator: Any) -> None:
        self._node.set_creator(creator)

    @property
    def creator_node(self) -> Any:
        """The `FunctionNode` that made this Variable; setting None cuts the graph here."""
        return self._node.live_creator()

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
        """Delete the reference to the creator; the graph before it is not changed."""
        if live:
            _check_cut(self)
        self._node.unchain()

    def unchain_backward(self) -> None:
        """Delete all references between nodes and functions from here back, for truncated backpropagation in time."""
        if live:
            _check_cut(self)
        waiting = [self._node]
        while waiting:
            node = waiting.pop()
            function, node.creator_node = node.live_creator(), None
            if function is not None and function.input_nodes is not None:
                waiting.extend(each for each in function.input_nodes if each is not None)
                function.unchain()

    def retain_data(self) -> None:
        """Let the node keep the array."""
        self._node.own_extra().data = self._array

    def register_hook(self, hook: Callable[["Variable"], Any]) -> Callable[[], None]:
        """Call `hook` with the gradient of this Variable, once in each sweep, when it is complete.

        Parameters
        ----------
        hook : callable
            Gets the gradient as a Variable. Its return value, a Variable or an array, replaces the gradient; None keeps
            the gradient, including writes of the hook to its array. No other gradient sees that; in a recorded sweep it
            is an error.

        Returns
        -------
        callable
            Removes the hook.
        """
        if not callable(hook):
            raise TypeError(f"register_hook: expected a function, got {type(hook).__name__}")
        hooks = self._node.own_extra().hooks
        key = object()
        hooks[key] = hook
        return lambda: hooks.pop(key, None) and None

    # The gradient

    @property
    def grad(self) -> Array | None:
        """Array of the gradient, or None; raises for arrays with their own graph if no gradient is required."""
        if live:
            self = inside(self)
        if type(self._array) in plugins.carriers:
            carried.check_required(self, "Variable.grad")
        grad = self._grad
        if grad is None:
            return None
        if self._array is not None:
            self._current("Variable.grad")
        array = grad._array if isinstance(grad, Variable) else grad
        return carried.shown(array) if type(array) in plugins.carriers else array

    @grad.setter
    def grad(self, grad: Array | None) -> None:
        if live:
            self, grad = inside(self), None if grad is None else entered(grad)
        if grad is not None:
            if type(self._array) in plugins.carriers:
                carried.check_required(self, "Variable.grad")
            check_gradient(grad, self._node.spec)
            grad = given_gradient(grad)
        self._grad = grad

    @property
    def grad_var(self) -> "Variable | None":
        """The gradient as a Variable: a root if it was set, recorded if the sweep was, else a constant.

        It is the same object at each read.
        """
        if live:
            self = inside(self)
        if type(self._array) in plugins.carriers:
            carried.check_required(self, "Variable.grad_var")
        grad = self._grad
        if grad is None or isinstance(grad, Variable):
            return grad
        found: Variable | None = replace(self, _as_gradient)
        return found

    @grad_var.setter
    def grad_var(self, grad: "Variable | None") -> None:
        if live:
            self, grad = inside(self), None if grad is None else inside(grad)
        if grad is not None and type(self._array) in plugins.carriers:
            carried.check_required(self, "Variable.grad_var")
        check_gradient_variable(grad, self._node.spec)
        self._grad = grad

    @property
    def _loss_scale(self) -> float | None:
        extra = self._node.extra
        return None if extra is None else extra.loss_scale

    def _gradient_arrived(self) -> None:
        """Called after a sweep has stored a gradient; for derived classes."""

    def cleargrad(self) -> None:
        """Forget the gradient."""
        if live:
            self = inside(self)
        self._grad = None

    __hash__ = object.__hash__


def inside(x: Variable) -> Variable:
    """Lift `x` to the innermost active transformation, if any; return `x` if it is already a Variable of that level."""
    level = innermost()
    if level is None or (x._array is not None and level.holds(x._array)):
        return x
    if (made := level.made.get(id(x))) is not None and made() is x:
        return x
    found: Variable = level.enter_variable(x)
    return found


def _check_cut(x: Variable) -> None:
    if (level := innermost()) is not None:
        level.check_cut(x)


def _as_gradient(grad: Any) -> Variable | None:
    return grad if grad is None or isinstance(grad, Variable) else Variable(grad, requires_grad=False)


def given_gradient(grad: Array) -> Variable:
    """Return a gradient that the user gives as a root, or as the Variable that it belongs to."""
    grad = carried.operand(grad)
    return grad if isinstance(grad, Variable) else Variable(grad)


def variable_over(node: VariableNode, array: Array | None) -> Variable:
    """Return a Variable over an existing node, with an array that the graph kept."""
    variable = new(Variable)
    variable._array, variable._node, variable._grad = array, node, None
    return variable


def over(node: VariableNode | None, array: Array) -> Any:
    """Return the Variable of `node` with `array`: the live Variable if it holds `array`; `array` without a node.

    In a transformation, an array from outside gets another Variable: a program would read the live one at each call.
    """
    if node is None or array is None:
        return array
    found = node() if node.extra is None else node.variable()
    if found is None or found._array is not array or found._node is not node:
        return variable_over(node, array)
    level = innermost() if live else None
    return found if level is None or level.holds(array) else variable_over(node, array)


def leaf_variable(array: Array | None, spec: Spec | None, requires_grad: bool) -> Variable:
    """Return a root over a valid array of `spec` at any level, without lifting it."""
    x: Variable = new(Variable)
    x._array, x._grad = array, None
    x._node = leaf_node(x, spec, requires_grad)
    return x


def constant_variable(array: Array) -> Variable:
    """Return a Variable that requires no gradient."""
    if live:
        array = entered(array)
    kind = type(array)
    backend = plugins.by_type.get(kind)
    if backend is None or kind in plugins.carriers:
        return Variable(array, requires_grad=False)
    backend.check(array)
    return leaf_variable(array, backend.spec(array), False)


def as_variable(obj: AnyArray) -> Variable:
    """Return `obj` if it is a Variable, else a Variable over the array `obj` that requires no gradient.

    A library's scalar, such as a sum of an array of NumPy, is a 0-d array.
    """
    if isinstance(obj, Variable):
        return inside(obj) if live else obj
    obj = plugins.array_of(obj)
    known = carried.variable_of(obj) if type(obj) in plugins.carriers else None
    try:
        return constant_variable(obj) if known is None else known
    except UnknownArray as error:
        raise naming(error, called("Variable")) from None


def as_array(obj: Any) -> Array:
    """Return the array of a Variable, lifted to the innermost active transformation, or `obj` itself."""
    return (inside(obj) if live else obj)._array if isinstance(obj, Variable) else obj


slot.variable_over = variable_over
for _method in (Variable.item, Variable.numpy, Variable.tolist):
    _method.__module__, _method.__qualname__ = __name__, f"Variable.{_method.__name__}"  # for errors and pickles
