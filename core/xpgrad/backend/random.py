"""Random numbers as kernels: one stream for each thread and device, seeded, saved and restored."""

import contextvars
from typing import Any

from xpgrad.backend.device import Device, get_device
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.types import Array

_streams: contextvars.ContextVar[dict[str, Any] | None] = contextvars.ContextVar("xpgrad_random", default=None)


def _generator(device: Device) -> Any:
    streams = _streams.get()
    if streams is None:
        streams = {}
        _streams.set(streams)
    found = streams.get(device.name)
    if found is None:
        found = streams[device.name] = plugins.role("cpu").generator(None)
    return found


def seed(value: int, device: Any = None) -> None:
    """Start the stream of this thread on `device` (the current one by default) at `value`."""
    target = get_device(device)
    _generator(target)
    streams = _streams.get()
    assert streams is not None
    streams[target.name] = plugins.role("cpu").generator(value)


def get_state(device: Any = None) -> Any:
    """Return the state of this thread's stream on `device`, to be given to `set_state`."""
    return _generator(get_device(device)).bit_generator.state


def set_state(state: Any, device: Any = None) -> None:
    """Put this thread's stream on `device` back to `state`, as `get_state` returned it."""
    _generator(get_device(device)).bit_generator.state = state


def uniform(shape: tuple[int, ...], dtype: Any = None, device: Any = None) -> Array:
    """Return an array of numbers from [0, 1) on `device`, in its default real dtype unless `dtype` says otherwise."""
    return _draw("random_uniform", shape, dtype, get_device(device))


def normal(shape: tuple[int, ...], dtype: Any = None, device: Any = None) -> Array:
    """Return an array of normally distributed numbers, mean 0 and variance 1, on `device`."""
    return _draw("random_normal", shape, dtype, get_device(device))


def uniform_like(spec: Spec) -> Array:
    """Return numbers from [0, 1) with shape, dtype and device of `spec`."""
    return _draw("random_uniform", spec.shape, spec.dtype, spec.backend.device_for(spec.device))


def _draw(kernel: str, shape: tuple[int, ...], dtype: Any, device: Device) -> Array:
    backend = device.backend
    if dtype is None:
        dtype = backend.namespace.asarray(0.0, device=device.handle).dtype
    draw = backend.xp.kernel(kernel)
    return draw(shape=tuple(shape), dtype=dtype, device=device.handle, generator=_generator(device))


