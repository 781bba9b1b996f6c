"""Chainer's `backends.cuda`: it imports, and answers, on machines without a GPU too.

Attributes
----------
available : bool
    Whether there is a GPU that can be used.
cudnn_enabled : bool
    False: no function calls cuDNN.
cupy : module
    The GPU's array library; without a GPU an empty stand-in, so that ``xp is cuda.cupy`` works.
ndarray : type
    Its array type; without a GPU a class without instances.
GpuDevice : type
    The class of GPUs, `xpgrad.backend.GpuDevice`.
Event, Stream : type
    CUDA's classes from that library; without a GPU classes that raise `BackendUnavailable`.
"""

import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from xpgrad import backend
from xpgrad.backend.current import get_device
from xpgrad.backend.device import Device
from xpgrad.backend.modules import get_array_module
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import copyto, transfer
from xpgrad.errors import BackendUnavailable
from xpgrad.types import Array, Namespace

__all__ = [
    "DummyDevice", "DummyDeviceType", "check_cuda_available", "clear_memo", "copy", "elementwise", "fuse",
    "get_array_module", "get_device_from_array", "get_device_from_id", "get_max_workspace_size", "memoize", "raw",
    "reduce", "should_use_cudnn", "to_cpu", "to_gpu",
]  # fmt: skip

LEVELS = "==always", ">=auto"
WORKSPACE = 8 * 1024 * 1024
_memos: list[dict[Any, Any]] = []


class DummyDeviceType:
    """The device of arrays that are on no GPU: a context manager without effect, equal to every other instance."""

    id = -1

    def __int__(self) -> int:
        return -1

    def __enter__(self) -> "DummyDeviceType":
        return self

    def __exit__(self, *_: object) -> None: ...

    def use(self) -> None:
        """Do nothing."""

    def synchronize(self) -> None:
        """Do nothing."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DummyDeviceType)

    def __hash__(self) -> int:
        return hash(DummyDeviceType)


DummyDevice = DummyDeviceType()
_no_cupy = SimpleNamespace()


class _NoArray:
    """The class `ndarray` without a GPU."""


class _Missing:
    def __init__(self, *_: Any, **__: Any) -> None:
        check_cuda_available()


if TYPE_CHECKING:
    from xpgrad.backend import GpuDevice as GpuDevice

    available: bool
    cudnn_enabled: bool
    cupy: Any
    ndarray: Any
    Event: Any
    Stream: Any
else:

    def __getattr__(name: str) -> Any:
        """Return a name that depends on the machine, resolved lazily so that importing this module loads no plugin."""
        if name in ("cudnn_enabled", "GpuDevice"):
            return name == "GpuDevice" and backend.GpuDevice
        if name not in ("available", "cupy", "ndarray", "Event", "Stream"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        try:
            library = _library()
        except BackendUnavailable:
            return {"available": False, "cupy": _no_cupy, "ndarray": _NoArray}.get(name, _Missing)
        if name in ("Event", "Stream"):
            return getattr(library.cuda, name)
        return {"available": True, "cupy": library, "ndarray": plugins.backend_of_prefix("gpu").array_types[0]}[name]


def __dir__() -> list[str]:
    return __all__


def _library() -> Namespace:
    """Return the module of the GPU's array library."""
    return plugins.backend_of_prefix("gpu").default_device.xp


def check_cuda_available() -> None:
    """Raise an error unless a GPU is usable.

    Raises
    ------
    BackendUnavailable
        It is a RuntimeError, and names the missing component.
    """
    plugins.backend_of_prefix("gpu").default_device  # noqa: B018 - asking finds out


def get_device_from_id(device_id: int | None) -> Any:
    """Return the GPU library's device of this number, and `DummyDevice` for None and negative numbers."""
    if device_id is None or device_id < 0:
        return DummyDevice
    return _own(get_device(int(device_id)))


def get_device_from_array(*arrays: Array) -> Any:
    """Return the GPU library's device of the first array on a GPU, or `DummyDevice`, without an error."""
    for array in arrays:
        device = Device.from_array(array)
        if device is not None and _is_gpu(device):
            return _own(device)
    return DummyDevice


def _is_gpu(device: Device) -> bool:
    try:
        return device.backend is plugins.backend_of_prefix("gpu")
    except BackendUnavailable:
        return False


def _own(device: Device) -> Any:
    return getattr(device, "device", device.handle)


def to_cpu(array: Any, stream: Any = None) -> Any:
    """Return `array`, or nested lists and tuples of arrays, on the host."""
    return get_device(-1).send(array)


def to_gpu(array: Any, device: int | None = None, stream: Any = None) -> Any:
    """Return `array`, or nested lists and tuples of arrays, on a GPU: by default the current GPU."""
    if device is None:
        current, gpu = get_device(None), plugins.backend_of_prefix("gpu")
        return (current if current.backend is gpu else gpu.default_device).send(array)
    return get_device(device).send(array)


def copy(array: Array, out: Array | None = None, out_device: Any = None, stream: Any = None) -> Array:
    """Return a copy of a GPU's array: in `out`, on the device `out_device`, or on the same device."""
    check_cuda_available()
    if out is not None:
        copyto(out, array)
        return out
    moved = array if out_device is None else transfer(array, get_device(out_device))
    return plugins.backend_of(array).copy(array) if moved is array else moved


def memoize(for_each_device: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that lets a function run once for each set of arguments, which must be hashable.

    Parameters
    ----------
    for_each_device : bool
        Whether results are stored per current device.
    """

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        memo: dict[Any, Any] = {}
        _memos.append(memo)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            key = args, frozenset(kwargs.items()), get_device(None) if for_each_device else None
            if key not in memo:
                memo[key] = function(*args, **kwargs)
            return memo[key]

        return call

    return decorated


def clear_memo() -> None:
    """Clear the caches of all memoized functions."""
    for memo in _memos:
        memo.clear()


@memoize()
def elementwise(in_params: str, out_params: str, operation: str, name: str, **kwargs: Any) -> Any:
    """Return the GPU library's elementwise kernel of this source; one object for equal arguments."""
    return _library().ElementwiseKernel(in_params, out_params, operation, name, **kwargs)


@memoize()
def reduce(
    in_params: str, out_params: str, map_expr: str, reduce_expr: str, post_map_expr: str, identity: Any, name: str,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """Return the GPU library's reduction kernel of this source; one object for equal arguments."""
    parts = in_params, out_params, map_expr, reduce_expr, post_map_expr, identity, name
    return _library().ReductionKernel(*parts, **kwargs)


@memoize()
def raw(operation: str, name: str, **kwargs: Any) -> Any:
    """Return the GPU library's kernel of this CUDA source; one object for equal arguments."""
    return _library().RawKernel(operation, name, **kwargs)


def fuse(*args: Any, **kwargs: Any) -> Any:
    """Decorate a function of arrays to be fused into one kernel; without a GPU it is unchanged."""
    try:
        return _library().fuse(*args, **kwargs)
    except BackendUnavailable:
        return args[0] if args and callable(args[0]) else lambda function: function


def should_use_cudnn(level: str, lowest_version: int = 0) -> bool:
    """Return False: functions never call cuDNN.

    Parameters
    ----------
    level : "==always" or ">=auto"
    lowest_version : int
    """
    if level not in LEVELS:
        raise ValueError(f"should_use_cudnn: expected one of {', '.join(LEVELS)}, got {level!r}")
    return False


def get_max_workspace_size() -> int:
    """Return Chainer's default for the size of cuDNN's workspace in bytes; no function calls cuDNN."""
    return WORKSPACE
