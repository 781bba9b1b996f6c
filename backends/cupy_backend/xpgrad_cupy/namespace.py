"""CuPy as the Array API standard has it: array_api_compat's namespace, with creation on the requested device.

array_api_compat takes `device=` without using it, since CuPy creates on its current device.
"""

import functools
import importlib
import types
from typing import Any

import cupy

from xpgrad.types import Array, Kernel, Namespace

compat: Namespace = importlib.import_module("array_api_compat.cupy")  # no module of known names, for type checkers


def _placed(function: Kernel) -> Kernel:
    @functools.wraps(function)
    def create(*args: Any, device: Any = None, **kwargs: Any) -> Array:
        if device is None:
            return function(*args, **kwargs)
        with cupy.cuda.Device(int(device)):
            return function(*args, **kwargs)

    return create


def _placed_like(function: Kernel) -> Kernel:
    @functools.wraps(function)
    def create(x: Array, /, *args: Any, device: Any = None, **kwargs: Any) -> Array:
        with cupy.cuda.Device(int(x.device if device is None else device)):
            return function(x, *args, **kwargs)

    return create


arange = _placed(compat.arange)
empty = _placed(compat.empty)
eye = _placed(compat.eye)
full = _placed(compat.full)
linspace = _placed(compat.linspace)
ones = _placed(compat.ones)
zeros = _placed(compat.zeros)
empty_like = _placed_like(compat.empty_like)
full_like = _placed_like(compat.full_like)
ones_like = _placed_like(compat.ones_like)
zeros_like = _placed_like(compat.zeros_like)

fft = types.SimpleNamespace(**{name: getattr(compat.fft, name) for name in dir(compat.fft)})
fft.fftfreq, fft.rfftfreq = _placed(compat.fft.fftfreq), _placed(compat.fft.rfftfreq)


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: Any = None) -> Array:
    """Return `obj` as an array; a CuPy array stays on its GPU unless `device` names another."""
    if device is None and type(obj) is cupy.ndarray:
        device = obj.device
    return compat.asarray(obj, dtype=dtype, device=None if device is None else int(device), copy=copy)


def from_dlpack(x: Any, /, *, device: Any = None, copy: Any = None) -> Array:
    """Return another library's array in GPU memory, without a copy unless one is requested.

    Raises
    ------
    BufferError
        The array is on another device than `device`, or in host memory.
    """
    kind, number = x.__dlpack_device__()
    if kind not in (2, 13):
        raise BufferError("from_dlpack: expected an array in GPU memory; use to_device for one in host memory")
    if device is not None and int(device) != number:
        raise BufferError(f"from_dlpack: the array is on GPU {number}, not on {int(device)}; use to_device")
    with cupy.cuda.Device(number):
        made = cupy.from_dlpack(x)
        return made.copy() if copy else made


def __getattr__(name: str) -> Any:
    return getattr(compat, name)


def __dir__() -> list[str]:
    return dir(compat)
