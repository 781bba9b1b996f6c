"""Copies: to another dtype, to another device, or into memory of its own."""

from typing import Any

from xpgrad.array_api.data_types import check_dtype
from xpgrad.backend.checks import check_cast
from xpgrad.backend.current import get_device
from xpgrad.backend.device import Device
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import transfer
from xpgrad.errors import DtypeError
from xpgrad.graph.definition import identity
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.primitive import elementwise, primitive
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray, Array, Dtype, Namespace


class Copy(FunctionNode):
    """A copy on another device.

    A class, because its input and its output belong to two backends; the gradient goes back to where the input is.
    """

    of_library = True

    def __init__(self, target: Device) -> None:
        self.target = target

    @property
    def label(self) -> str:
        """Name with the target."""
        return f"copy to {self.target}"

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return the array on the target device."""
        (x,) = inputs
        self.source = plugins.backend_of(x).device_of(x)
        moved = transfer(x, self.target)
        return (plugins.backend_of(x).copy(x) if moved is x else moved,)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Variable, ...]:
        """Return the gradient on the source device."""
        (gy,) = grad_outputs
        return (copy(gy, self.source),)


@primitive(x=identity)
def duplicate(xp: Namespace, x: AnyArray, /) -> Array:
    """A copy in memory of its own, on the same device."""
    return xp.asarray(x, copy=True)


def copy(x: AnyArray, /, device: Any = None) -> Variable:
    """Return a copy of `x`, on another device if one is given; its gradient returns to the device of `x`.

    Parameters
    ----------
    x : Variable or array
    device : as `get_device` takes it, or None
    """
    x = as_variable(x)
    target = None if device is None else get_device(device)
    if target is None or target == x.device:
        return duplicate(x)
    return Copy(target).apply((x,))[0]


_copied = copy  # where an argument has that name


@primitive(x=identity)
def _cast(xp: Namespace, x: AnyArray, /, dtype: Dtype) -> Array:
    """Cast to another dtype; the sweep casts the cotangent back."""
    return xp.astype(x, dtype)


def astype(x: AnyArray, dtype: Dtype, /, *, copy: bool = True, device: Any = None) -> Variable:
    """Return `x` in another dtype.

    Parameters
    ----------
    x : Variable or array
    dtype : dtype of the array's library
    copy : bool
        False returns `x` itself if it has the dtype already.
    device : as `get_device` takes it, or None

    Raises
    ------
    DtypeError
        `x` is complex and `dtype` real; `real` takes the real part.
    """
    x = as_variable(x)
    if device is not None:
        x = _copied(x, device)
    check_cast(x, dtype, "astype")
    if x.dtype == dtype:
        return duplicate(x) if copy else x
    try:
        return _cast(x, dtype=dtype)
    except DtypeError:
        check_dtype(x._node.spec.backend, "astype", dtype)
        raise


@elementwise(same_dtype=False, x=identity)
def real(xp: Namespace, x: AnyArray, /) -> Array:
    """Real part, elementwise."""
    return xp.real(x)


@elementwise(same_dtype=False, x=lambda xp, gy: -1j * gy)
def imag(xp: Namespace, x: AnyArray, /) -> Array:
    """Imaginary part, elementwise."""
    return xp.imag(x)


@elementwise(x=lambda xp, gy: xp.conj(gy))
def conj(xp: Namespace, x: AnyArray, /) -> Array:
    """Complex conjugate, elementwise."""
    return xp.conj(x)
