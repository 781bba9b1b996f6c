"""Names of `chainer.backends.cuda` and `chainer.backends.intel64` that have no effect here."""

from numbers import Integral, Number
from typing import Any

import numpy as np

from xpgrad import get_array_types
from xpgrad.backends import cuda, intel64

_size = cuda.WORKSPACE


def to_cpu(array: Any, stream: Any = None) -> Any:
    """Return an array, or nested lists and tuples of arrays, on the host; numbers become arrays of NumPy."""
    if isinstance(array, (list, tuple)):
        return type(array)(to_cpu(each, stream) for each in array)
    return np.asarray(array) if isinstance(array, (Number, np.generic)) else cuda.to_cpu(array, stream)


_to_cpu = to_cpu
"""In `chainer.backends._cpu`, which tests of Chainer import."""


def get_device(*args: Any) -> Any:
    """Return the device of the first number, GPU array or device of the GPU's library, or `DummyDevice`. Deprecated."""
    for arg in args:
        if isinstance(arg, Integral) and not isinstance(arg, bool):
            cuda.check_cuda_available()
            return cuda.get_device_from_id(int(arg))
        if hasattr(arg, "use"):
            return arg
        if isinstance(arg, get_array_types()) and (device := cuda.get_device_from_array(arg)) is not cuda.DummyDevice:
            return device
    return cuda.DummyDevice


def should_use_cudnn_tensor_core(dtype: object) -> bool:
    """Return whether functions should use cuDNN's tensor cores; they never call cuDNN."""
    return False


def set_max_workspace_size(size: int) -> None:
    """Store the workspace size of cuDNN in bytes; only `get_max_workspace_size` reads it."""
    global _size
    _size = size


def get_max_workspace_size() -> int:
    """Return the size passed to `set_max_workspace_size`, or Chainer's default."""
    return _size


class mdarray:  # noqa: N801  # the name of iDeep
    """Class of iDeep's arrays, of which there are none."""


def inputs_all_ready(inputs: Any, supported_ndim: tuple[int, ...] = (2, 4)) -> bool:
    """Return whether iDeep can compute with all arrays: False."""
    return False


def check_ideep_available() -> None:
    """Raise RuntimeError unless there is a backend for iDeep's arrays."""
    if not intel64.is_ideep_available():
        raise RuntimeError("iDeep is not available: no installed backend is called intel64")
