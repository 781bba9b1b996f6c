"""Creation of chx arrays: by default on the current device if it is a chx device, else on native:0."""

from typing import Any

import xpgrad
from xpgrad.types import Array, Dtype, Shape
from xpgrad_chx.array import ndarray
from xpgrad_chx.device import get_device
from xpgrad_chx.memory import Memory, over


def _made(name: str, args: tuple[Any, ...], dtype: Dtype | None, device: Any, **kwargs: Any) -> ndarray:
    place = get_device(device)
    data = place.function(name)(*args, dtype=dtype, device=place.handle, **kwargs)
    return over(ndarray, data, place)  # type: ignore[no-any-return]  # of this class


def asarray(obj: Any, /, dtype: Dtype | None = None, device: Any = None, *, copy: bool | None = None) -> ndarray:
    """Return an array over scalars, nested lists, a NumPy array (by default over its memory), or a chx array.

    Parameters
    ----------
    obj : scalar, nested list, array
    dtype : dtype, optional
    device : as `get_device` takes it, optional
        By default the device of a chx array, else the current device.
    copy : bool, optional
        True copies always, False never; by default only if necessary.

    Raises
    ------
    ValueError
        A copy is needed, and `copy` is False.
    """
    if isinstance(obj, xpgrad.Variable):
        raise xpgrad.UnknownArray("asarray: expected an array, got a Variable; use v.to_chx().chx_array")
    if not isinstance(obj, Memory):
        return _made("asarray", (obj,), dtype, device, copy=copy)
    place = obj.device if device is None else get_device(device)
    x: Any = obj
    same = place is obj.device and (dtype is None or dtype == obj.dtype)
    if copy is False and not same:
        raise ValueError(f"asarray: {obj.dtype} on {obj.device} cannot become {dtype} on {place} without a copy")
    y = x.to_device(place)
    y = y if dtype is None or dtype == y.dtype else y.astype(dtype)
    return y.copy() if copy and y is x else y  # type: ignore[no-any-return]  # of this class


def array(obj: Any, dtype: Dtype | None = None, copy: bool = True, device: Any = None) -> ndarray:
    """Return a new array, ChainerX's `asarray`: it copies by default."""
    return asarray(obj, dtype=dtype, device=device, copy=True if copy else None)


def from_dlpack(x: Array, /, *, device: Any = None, copy: bool | None = None) -> ndarray:
    """Return an array that shares the memory of another library's array, by default in host memory."""
    place = get_device(device)
    return over(ndarray, place.function("from_dlpack")(x, device=place.handle, copy=copy), place)  # type: ignore[no-any-return]  # an ndarray


def arange(
    start: float, /, stop: float | None = None, step: float = 1, *, dtype: Dtype | None = None, device: Any = None
) -> ndarray:
    """Return evenly spaced numbers of the half-open interval from `start` to `stop`."""
    return _made("arange", (start, stop, step), dtype, device)


def empty(shape: int | Shape, dtype: Dtype | None = None, device: Any = None) -> ndarray:
    """Return an array with uninitialised elements."""
    return _made("empty", (shape,), dtype, device)


def eye(
    n_rows: int, n_cols: int | None = None, /, k: int = 0, dtype: Dtype | None = None, device: Any = None
) -> ndarray:
    """Return a matrix with ones on diagonal `k`."""
    return _made("eye", (n_rows, n_cols), dtype, device, k=k)


def full(shape: int | Shape, fill_value: Any, dtype: Dtype | None = None, device: Any = None) -> ndarray:
    """Return an array of one value."""
    return _made("full", (shape, fill_value), dtype, device)


def linspace(
    start: Any, stop: Any, /, num: int = 50, *, dtype: Dtype | None = None, device: Any = None, endpoint: bool = True
) -> ndarray:
    """Return `num` evenly spaced numbers from `start` to `stop`."""
    return _made("linspace", (start, stop, num), dtype, device, endpoint=endpoint)


def ones(shape: int | Shape, dtype: Dtype | None = None, device: Any = None) -> ndarray:
    """Return an array filled with ones."""
    return _made("ones", (shape,), dtype, device)


def zeros(shape: int | Shape, dtype: Dtype | None = None, device: Any = None) -> ndarray:
    """Return an array of zeros."""
    return _made("zeros", (shape,), dtype, device)


def _of(x: Any, dtype: Dtype | None, device: Any) -> tuple[Any, Any]:
    return x.dtype if dtype is None else dtype, x.device if device is None else device


def empty_like(x: Any, /, *, dtype: Dtype | None = None, device: Any = None) -> ndarray:
    """Return an array like `x` with uninitialised elements."""
    return _made("empty", (x.shape,), *_of(x, dtype, device))


def full_like(x: Any, /, fill_value: Any, *, dtype: Dtype | None = None, device: Any = None) -> ndarray:
    """Return an array like `x` of one value."""
    return _made("full", (x.shape, fill_value), *_of(x, dtype, device))


def ones_like(x: Any, /, *, dtype: Dtype | None = None, device: Any = None) -> ndarray:
    """Return an array of ones like `x`."""
    return _made("ones", (x.shape,), *_of(x, dtype, device))


def zeros_like(x: Any, /, *, dtype: Dtype | None = None, device: Any = None) -> ndarray:
    """Return an array of zeros like `x`."""
    return _made("zeros", (x.shape,), *_of(x, dtype, device))


def astype(x: Any, dtype: Dtype, /, *, copy: bool = True, device: Any = None) -> ndarray:
    """Return `x` in another dtype, and on another device if one is given; differentiable."""
    y = x if device is None else x.to_device(device)
    return y if y is not x and y.dtype == dtype else y.astype(dtype, copy=copy)  # type: ignore[no-any-return]  # an ndarray
