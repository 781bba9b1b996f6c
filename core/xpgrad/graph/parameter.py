"""`Parameter`: a Variable that a model learns, which may be initialised later, when its shape is known."""

from numbers import Complex, Real
from typing import Any

from xpgrad.backend.current import get_device
from xpgrad.backend.device import Device
from xpgrad.backend.levels import entered
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spellings import dtype_of
from xpgrad.backend.transfer import moved_if_unsuitable, transfer
from xpgrad.boundary import described
from xpgrad.errors import DtypeError, ShapeError
from xpgrad.graph.calls import variable_types
from xpgrad.graph.gradients import check_gradient, check_gradient_variable
from xpgrad.graph.variable import Variable, given_gradient, inside
from xpgrad.types import Array, Dtype, Shape, integers

STATE = ("_array", "_node", "_grad", "_grad_valid", "_zero_grad")
"""What a Variable or a Parameter holds; the rest is its user's."""


class Parameter(Variable):
    """A Variable with an initialiser.

    Parameters
    ----------
    initializer : None, scalar, array or callable
        None fills with NaN, a scalar with its value; an array without `shape` is the data; a callable writes into its
        argument, an array, and may have a `dtype`.
    shape : tuple of int or int, optional
        If given, the Parameter is initialised immediately, else by `initialize`.
    name : str, optional
    """

    __slots__ = ("_grad_valid", "_zero_grad", "initializer", "update_rule")

    def __init__(self, initializer: Any = None, shape: Any = None, name: str | None = None) -> None:
        if isinstance(initializer, type):
            name = initializer.__name__
            raise TypeError(f"Parameter: expected an initializer, got the class {name}; write {name}()")
        data = initializer if shape is None and _is_array(initializer) else None
        super().__init__(data, name=name)
        self.initializer = None if data is not None else initializer
        self.update_rule: Any = None
        self._grad_valid, self._zero_grad = data is not None, False
        if shape is not None:
            self.initialize(shape)

    @property
    def is_initialized(self) -> bool:
        """Whether there is data."""
        return self._array is not None

    @property
    def dtype(self) -> Dtype:
        """Dtype of the array; before initialisation the dtype of the initialiser."""
        if self._array is not None:
            return self._array.dtype
        dtype = None if plugins.is_scalar(self.initializer) else getattr(self.initializer, "dtype", None)
        if dtype is None:
            raise RuntimeError("Parameter.dtype: the Parameter is uninitialised, and its initialiser has no dtype")
        return dtype_of(dtype, self._node.intended_device().backend, "Parameter")

    @property
    def grad(self) -> Array | None:
        """Array of the gradient, or None; an uninitialised Parameter has none until it is cleared."""
        self._check_gradient("grad")
        return super().grad

    @grad.setter
    def grad(self, grad: Array | None) -> None:
        x = inside(self)
        if grad is not None:
            grad = entered(grad)
            check_gradient(grad, x._node.spec)
            grad = given_gradient(grad)
        x._grad, self._grad_valid = grad, True

    @property
    def grad_var(self) -> Variable | None:
        """The gradient as a Variable."""
        self._check_gradient("grad_var")
        return super().grad_var

    @grad_var.setter
    def grad_var(self, grad: Variable | None) -> None:
        x, grad = inside(self), None if grad is None else inside(grad)
        check_gradient_variable(grad, x._node.spec)
        x._grad, self._grad_valid = grad, True

    def _check_gradient(self, name: str) -> None:
        if self._array is None and not self._grad_valid:
            raise RuntimeError(
                f"Parameter.{name}: the Parameter is uninitialised; call cleargrad() or initialize(shape) first"
            )

    def cleargrad(self) -> None:
        """Clear the gradient; after `initialize` it is also None."""
        super().cleargrad()
        self._grad_valid, self._zero_grad = True, False

    def zerograd(self) -> None:
        """Fill the gradient with zeros, now or when the Parameter is initialised. Deprecated: use `cleargrad`."""
        super().zerograd()
        self._grad_valid = True
        self._zero_grad = self._array is None

    def initialize(self, shape: Shape | int) -> None:
        """Create the data with the initialiser, on the device of the last `to_device`, and fill the gradient with NaN.

        The gradient is None instead after `cleargrad`, and zeros after `zerograd`.
        """
        device, shape = self._node.intended_device(), integers(shape)
        array = moved_if_unsuitable(_generate(self.initializer, shape, device), device)
        backend = plugins.backend_of(array)
        xp, valid = backend.xp, True
        if self._zero_grad:
            grad = xp.zeros_like(array)
        elif self._grad_valid:
            grad = None
        else:
            valid = not backend.spec(array).differentiable
            grad = None if valid else xp.full_like(array, float("nan"))  # integers have no gradient, and no NaN
        x = inside(self)
        self.array = array
        x._grad, self._grad_valid, self._zero_grad = grad, valid, False

    def _gradient_arrived(self) -> None:
        if self._array is None:  # else it may have been added to the NaN of `initialize`
            self._grad_valid = True

    def update(self) -> None:
        """Update the data by the update rule, if any."""
        if self.update_rule is not None:
            self.update_rule.update(self)

    def to_device(self, device: Any, /, *, stream: Any = None) -> "Parameter":
        """Move data and gradient, or remember where to initialise; a Parameter may always move, it is a root."""
        target = get_device(device)
        creator, self._node.creator_node = self._node.creator_node, None
        try:
            super().to_device(target)
        except BaseException:
            self._node.creator_node = creator
            raise
        self._node.own_extra().device = target
        return self

    def to_chx(self) -> "Parameter":
        """Make data and gradient chx arrays over the same memory, or remember to initialise there."""
        native: Any = plugins.backend_of_prefix("native")
        target = native.device_over(self.device)
        super().to_chx()
        self._node.own_extra().device = target
        return self

    def from_chx(self) -> "Parameter":
        """Make chx data and gradient plain arrays over the same memory, or remember to initialise there."""
        target = getattr(self.device, "fallback_device", self.device)
        super().from_chx()
        self._node.own_extra().device = target
        return self


def _is_array(obj: Any) -> bool:
    return obj is not None and not callable(obj) and not plugins.is_scalar(obj)


def _generate(initializer: Any, shape: Shape, device: Device) -> Array:
    """Return an initialised array of shape `shape` on `device`."""
    backend = device.backend
    xp = backend.xp
    if _is_array(initializer):
        if not hasattr(initializer, "shape"):
            kind = type(initializer).__name__
            raise TypeError(f"Parameter: initializer: expected None, a scalar, an array or a callable, got {kind}")
        if tuple(initializer.shape) not in (shape, ()):
            raise ShapeError(f"Parameter: the initial array has shape {tuple(initializer.shape)}, expected {shape}")
        stretched = plugins.backend_of(initializer).namespace.broadcast_to(initializer, shape)
        return backend.copy(transfer(stretched, device))
    own = None if plugins.is_scalar(initializer) else getattr(initializer, "dtype", None)
    dtype = dtype_of(own, backend, "Parameter")
    if isinstance(initializer, Complex) and not isinstance(initializer, Real):
        raise DtypeError(f"Parameter: expected a real number for {dtype}, got {initializer}; give a complex array")
    if not callable(initializer):
        return xp.full(shape, float("nan") if initializer is None else initializer, dtype=dtype, device=device.handle)
    # Chainer's initialisers write into their argument; for immutable arrays they return a new array.
    array = xp.zeros(shape, dtype=dtype, device=device.handle)
    made = backend.follow(initializer)(array)
    if made is not None and getattr(made, "shape", None) != shape:
        raise ShapeError(f"Parameter: the initializer returned {described(made)}, expected shape {shape}")
    return array if made is None else made


variable_types.add(Parameter)
