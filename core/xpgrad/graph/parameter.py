"""`Parameter`: a Variable that a model learns, which may be initialised later, when its shape is known."""

from collections.abc import Callable
from typing import Any

from xpgrad.backend.device import Device, get_device
from xpgrad.backend.plugins import plugins
from xpgrad.config import config
from xpgrad.graph import moving
from xpgrad.graph.variable import Variable
from xpgrad.types import Array, Dtype, Shape


class Parameter(Variable):
    """A Variable with an initialiser.

    Parameters
    ----------
    initializer : None, scalar, array or callable
        None fills with NaN, a scalar with itself; an array without `shape` is the data; a callable writes into the array
        that it is given, and may have a `dtype`.
    shape : tuple of int or int, optional
        Given: initialised at once. Otherwise the Parameter waits for `initialize`.
    name : str, optional
    """

    __slots__ = ("_grad_valid", "_initial_device", "_zero_grad", "initializer", "update_rule")

    def __init__(self, initializer: Any = None, shape: Any = None, name: str | None = None) -> None:
        data = initializer if shape is None and _is_array(initializer) else None
        super().__init__(data, name=name)
        self.initializer, self.update_rule = (None if data is not None else initializer), None
        self._initial_device: Device | None = None
        self._grad_valid, self._zero_grad = data is not None, False
        if shape is not None:
            self.initialize((shape,) if isinstance(shape, int) else tuple(shape))

    @property
    def is_initialized(self) -> bool:
        """Whether there is data."""
        return self._array is not None

    @property
    def dtype(self) -> Dtype:
        """Dtype of the array; before that of the initialiser, if it has one."""
        if self._array is not None:
            return self._array.dtype
        dtype = getattr(self.initializer, "dtype", None)
        if dtype is None:
            raise RuntimeError("Parameter.dtype: the Parameter is uninitialised, and its initialiser has no dtype")
        return dtype

    @property
    def device(self) -> Device:
        """The device of the array, or the one on which it will be initialised."""
        if self._array is None:
            return self._initial_device or plugins.role("cpu").default_device
        return super().device

    @property
    def grad(self) -> Array | None:
        """Array of the gradient, or None; an uninitialised Parameter has none until it is cleared."""
        if self._array is None and not self._grad_valid:
            raise RuntimeError("Parameter.grad: the Parameter is uninitialised; call cleargrad() or initialize(shape) first")
        return Variable.grad.__get__(self)  # type: ignore[no-any-return]  # a property of an unknown library's array

    @grad.setter
    def grad(self, grad: Array | None) -> None:
        Variable.grad.__set__(self, grad)
        self._grad_valid = True

    @property
    def grad_var(self) -> Variable | None:
        """The gradient as a Variable."""
        if self._array is None and not self._grad_valid:
            raise RuntimeError("Parameter.grad_var: the Parameter is uninitialised; call cleargrad() or initialize(shape) first")
        return Variable.grad_var.__get__(self)  # type: ignore[no-any-return]  # as above

    @grad_var.setter
    def grad_var(self, grad: Variable | None) -> None:
        Variable.grad_var.__set__(self, grad)
        self._grad_valid = True

    def cleargrad(self) -> None:
        """Forget the gradient; it then starts as None after `initialize`, too."""
        super().cleargrad()
        self._grad_valid, self._zero_grad = True, False

    def zerograd(self) -> None:
        """Fill the gradient with zeros, now or when the Parameter is initialised. Deprecated: use `cleargrad`."""
        super().zerograd()
        self._grad_valid = True
        self._zero_grad = self._array is None

    def initialize(self, shape: Shape) -> None:
        """Make the data by the initialiser, on the device that `to_device` said last, and fill the gradient with NaN.

        The gradient is None instead if `cleargrad` was called, and zeros if `zerograd` was.
        """
        device = self._initial_device or plugins.role("cpu").default_device
        xp, cleared = device.backend.xp, self._grad_valid
        array = _generate(self.initializer, tuple(shape), device)
        self.array = array
        if self._zero_grad:
            self._grad = xp.zeros_like(array)
        elif not cleared:
            self._grad = xp.full_like(array, float("nan"))
        self._grad_valid = True

    def update(self) -> None:
        """Let the update rule change the data, if there is one."""
        if self.update_rule is not None:
            self.update_rule.update(self)

    def to_device(self, device: Any, /, *, stream: Any = None) -> "Parameter":
        """Move data and gradient, or remember where to initialise; a Parameter may always move, it is a root."""
        target = get_device(device)
        self.unchain()
        if self._array is None:
            self._initial_device = target
        else:
            moving.to_device(self, target)
        return self

    def to_cpu(self) -> "Parameter":
        """Move to the host."""
        return self.to_device(-1)

    def __copy__(self) -> "Parameter":
        copied = super().__copy__()
        for name in Parameter.__slots__:
            setattr(copied, name, getattr(self, name))
        return copied  # type: ignore[return-value]  # of the same class as self

    def __reduce__(self) -> tuple[Any, ...]:
        grad = None if self._array is None and not self._grad_valid else self.grad
        host = [None if each is None else moving.on_host(each) for each in (self._array, grad)]
        state = {name: getattr(self, name) for name in Parameter.__slots__}
        return _restore, (type(self), host[0], host[1], self.name, str(self.device), state)


def _restore(kind: type[Parameter], host: Array, host_grad: Array, name: str | None, device: str, state: dict[str, Any]) -> Parameter:
    parameter = kind(name=name)
    if host is not None:
        parameter.array = moving.from_host(host, device)
    if host_grad is not None:
        parameter._grad = moving.from_host(host_grad, device)
    for key, value in state.items():
        setattr(parameter, key, value)
    return parameter


def _is_array(obj: Any) -> bool:
    return obj is not None and not callable(obj) and not plugins.is_scalar(obj)


def _generate(initializer: Any, shape: Shape, device: Device) -> Array:
    backend = device.backend
    xp = backend.xp
    dtype = getattr(initializer, "dtype", None) or getattr(xp, str(config.dtype))
    if initializer is None:
        return xp.full(shape, float("nan"), dtype=dtype, device=device.handle)
    if plugins.is_scalar(initializer):
        return xp.full(shape, initializer, dtype=getattr(xp, str(config.dtype)), device=device.handle)
    if not callable(initializer):
        source = plugins.backend_of(initializer)
        if tuple(initializer.shape) != shape:
            raise ValueError(f"Parameter: the initial array has shape {initializer.shape}, expected {shape}")
        moved = moving.from_host(initializer, device)
        return source.copy(initializer) if moved is initializer else moved
    return _filled(initializer, shape, dtype, device)


def _filled(initializer: Callable[[Array], Any], shape: Shape, dtype: Dtype, device: Device) -> Array:
    """Return an array that the callable has written into, as Chainer's initialisers do; it may also return one."""
    array = device.backend.xp.zeros(shape, dtype=dtype, device=device.handle)
    made = initializer(array)
    return array if made is None else made
