"""Random numbers as kernels: one stream for each thread and device, seeded, saved and restored.

A stream is the host's. The kernels' defaults draw on the host and move; a kernel of a backend that draws on its device
takes its seed from the stream, so that `seed`, `get_state` and `set_state` hold for it too.
"""

import threading
from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any

from xpgrad.backend.device import Device, get_device
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.errors import DtypeError
from xpgrad.types import Array, Dtype, Shape


class _Streams(threading.local):
    def __init__(self) -> None:
        self.by_device: dict[str, Any] = {}


_streams = _Streams()
_replayed: ContextVar[dict[str, Any] | None] = ContextVar("xpgrad_replayed_streams", default=None)


def _by_device() -> dict[str, Any]:
    """Return this thread's streams by the name of the device; those of `replaying` while a computation is repeated."""
    replayed = _replayed.get()
    return _streams.by_device if replayed is None else replayed


def _generator(device: Device) -> Any:
    streams = _by_device()
    found = streams.get(device.name)
    if found is None:
        found = streams[device.name] = plugins.role("cpu").generator(None)
    return found


def seed(value: int, device: Any = None) -> None:
    """Start the stream of this thread on `device` (the current one by default) at `value`.

    One seed gives the same numbers on every device whose kernels are the defaults.
    """
    _by_device()[get_device(device).name] = plugins.role("cpu").generator(value)


def get_state(device: Any = None) -> Any:
    """Return the state of this thread's stream on `device`, to be given to `set_state`; it can be pickled."""
    return _generator(get_device(device)).bit_generator.state


def set_state(state: Any, device: Any = None) -> None:
    """Put this thread's stream on `device` back to `state`, as `get_state` returned it."""
    _generator(get_device(device)).bit_generator.state = state


def snapshot(devices: Iterable[Device]) -> dict[str, Any]:
    """Return the states of all streams that this thread has, those of `devices` among them, for `replaying`."""
    for device in devices:
        _generator(device)
    return {name: generator.bit_generator.state for name, generator in _by_device().items()}


def replaying(states: dict[str, Any]) -> dict[ContextVar[Any], Any]:
    """Return, for `called_with`, streams that start from `states`; those of the thread stay as they are."""
    streams = {}
    for name, state in states.items():
        streams[name] = plugins.role("cpu").generator(0)
        streams[name].bit_generator.state = state
    return {_replayed: streams}


def uniform(shape: Shape, dtype: Dtype | None = None, device: Any = None) -> Array:
    """Return an array of numbers from [0, 1) on `device`, in its default real dtype unless `dtype` says otherwise."""
    return _draw("random_uniform", shape, dtype, get_device(device))


def normal(shape: Shape, dtype: Dtype | None = None, device: Any = None) -> Array:
    """Return an array of normally distributed numbers, mean 0 and variance 1, on `device`."""
    return _draw("random_normal", shape, dtype, get_device(device))


def uniform_like(spec: Spec) -> Array:
    """Return numbers from [0, 1) with shape, dtype and device of `spec`."""
    return _draw("random_uniform", spec.shape, spec.dtype, spec.backend.device_for(spec.device))


def _draw(kernel: str, shape: Shape, dtype: Dtype | None, device: Device) -> Array:
    backend = device.backend
    if dtype is None:
        dtype = backend.namespace.asarray(0.0, device=device.handle).dtype
    elif not backend.is_kind(dtype, "real floating"):
        raise DtypeError(f"{kernel}: expected a real floating-point dtype, got {dtype}; cast the numbers afterwards")
    draw = backend.xp.kernel(kernel)
    drawn = draw(shape=tuple(shape), dtype=dtype, device=device.handle, generator=_generator(device))
    return backend.restore(drawn)
