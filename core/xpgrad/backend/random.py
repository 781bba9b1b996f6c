"""Random numbers as kernels: one stream for each thread and device, seeded, saved and restored.

Streams are generators of the host. The default kernels draw numbers on the host and move them; a backend's kernel that
draws on its device takes its seed from the stream, so that `seed`, `get_state` and `set_state` apply to it as well.
"""

import operator
import threading
from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any, NamedTuple

from xpgrad.backend.backend import Backend
from xpgrad.backend.current import get_device
from xpgrad.backend.device import Device
from xpgrad.backend.kernels import kernel
from xpgrad.backend.levels import around
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.backend.spellings import dtype_of
from xpgrad.backend.transfer import transfer
from xpgrad.errors import DtypeError
from xpgrad.types import Array, DeviceHandle, Dtype, Namespace, Shape, integers

__all__ = [
    "Snapshot", "draw", "get_state", "held_states", "is_replaying", "normal", "normal_like", "position",
    "random_normal", "random_uniform", "replaying", "restore", "seed", "set_state", "snapshot", "uniform",
    "uniform_like",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


class _Streams:
    """Streams by name of device, and the seed of streams that have not been started."""

    def __init__(self, initial: int | None = None) -> None:
        self.initial, self.by_device = initial, dict[str, Any]()


class _Thread(threading.local):
    def __init__(self) -> None:
        self.streams = _Streams()


class Snapshot(NamedTuple):
    """The seed of streams that have not been started, and the states of started streams by name of device."""

    initial: int | None
    states: dict[str, Any]


_thread = _Thread()
_replayed: ContextVar[_Streams | None] = ContextVar("xpgrad_replayed_streams", default=None)


def _streams() -> _Streams:
    """Return this thread's streams, or the streams of `replaying` while a computation is repeated."""
    replayed = _replayed.get()
    return _thread.streams if replayed is None else replayed


def _generator(device: Device) -> Any:
    streams, name = _streams(), _stream_of(device)
    found = streams.by_device.get(name)
    if found is None:
        found = streams.by_device[name] = plugins.host.generator(streams.initial)
    return found


def _stream_of(device: Device) -> str:
    """Return the name of a device's stream: the name of the library's device, also within transformations."""
    while device.backend.base is not None:
        device = device.backend.base.device_for(device.handle)
    return device.name


def _outside(what: str) -> None:
    level = around()
    if level is not None:
        level.note_outside(f"random.{what} was called", "call it outside of the transformed function")


def seed(value: int | None, device: Any = None) -> None:
    """Seed the streams of this thread with `value`: for all devices, or only for `device`.

    Parameters
    ----------
    value : int or None
        One seed gives the same numbers on all devices that use the default kernels. None gives a random seed.
    device : Device or specifier, optional
        By default, streams of devices and backends used later are seeded with `value` as well. Other threads have
        separate streams, which must be seeded there.
    """
    _outside("seed")
    value = None if value is None else operator.index(value)
    streams, started = _streams(), plugins.host.generator(value)
    if device is None:
        streams.initial, streams.by_device = value, {}
    else:
        streams.by_device[_stream_of(get_device(device))] = started


def get_state(device: Any = None) -> Any:
    """Return the state of this thread's stream for `device`, by default the current device.

    The state is an argument for `set_state`, and can be pickled.
    """
    _outside("get_state")
    return _generator(get_device(device)).bit_generator.state


def set_state(state: Any, device: Any = None) -> None:
    """Restore this thread's stream for `device`, by default the current one, to a `state` returned by `get_state`."""
    _outside("set_state")
    _generator(get_device(device)).bit_generator.state = state


def snapshot(devices: Iterable[Device]) -> Snapshot:
    """Return the states of all streams of this thread, including the streams of `devices`, for `replaying`."""
    level = around()
    if level is not None:
        level.note_snapshot()
    for device in devices:
        _generator(device)
    streams = _streams()
    if streams.initial is None:  # so that streams of other devices that are started later can be replayed
        streams.initial = int(plugins.host.generator(None).integers(2**63))
    return held_states()


def held_states() -> Snapshot:
    """Return the states of the streams of this thread that have been started, for `restore`."""
    streams = _streams()
    states = {name: generator.bit_generator.state for name, generator in streams.by_device.items()}
    return Snapshot(streams.initial, states)


def restore(held: Snapshot) -> None:
    """Set the streams of this thread back to `held`, which another process may have saved."""
    streams = _streams()
    streams.initial = held.initial
    for name in streams.by_device.keys() - held.states.keys():
        del streams.by_device[name]
    _set(streams, held)


def replaying(held: Snapshot) -> dict[ContextVar[Any], Any]:
    """Return, for `called_with`, streams that start from `held`; the streams of the thread are not changed."""
    streams = _Streams(held.initial)
    _set(streams, held)
    return {_replayed: streams}


def _set(streams: _Streams, held: Snapshot) -> None:
    for name, state in held.states.items():
        if name not in streams.by_device:
            streams.by_device[name] = plugins.host.generator(0)
        streams.by_device[name].bit_generator.state = state


def is_replaying() -> bool:
    """Return whether random numbers repeat an earlier computation."""
    return _replayed.get() is not None


def position(device: Device) -> str:
    """Return a text that is the same where this thread's stream for `device` gives the same numbers."""
    return repr(_generator(device).bit_generator.state)


def uniform(shape: Shape, dtype: Dtype | None = None, device: Any = None) -> Array:
    """Return an array of numbers from [0, 1) on `device`, by default in its default real dtype."""
    return _draw("random_uniform", shape, dtype, get_device(device))


def normal(shape: Shape, dtype: Dtype | None = None, device: Any = None) -> Array:
    """Return an array of normally distributed numbers with mean 0 and variance 1 on `device`.

    Real and imaginary parts of complex numbers are independent, with variance 1/2 each.
    """
    return _normal(shape, dtype, get_device(device))


def uniform_like(spec: Spec) -> Array:
    """Return numbers from [0, 1) with the shape, dtype and device of `spec`."""
    return _draw("random_uniform", spec.shape, spec.dtype, spec.backend.device_for(spec.device))


def normal_like(spec: Spec) -> Array:
    """Return standard normal numbers with the shape, dtype and device of `spec`."""
    return _normal(spec.shape, spec.dtype, spec.backend.device_for(spec.device))


def _normal(shape: Shape, dtype: Dtype | None, device: Device) -> Array:
    backend = device.backend
    dtype = dtype if dtype is None else dtype_of(dtype, backend, "random_normal")
    if dtype is None or not backend.is_kind(dtype, "complex floating"):
        return _draw("random_normal", shape, dtype, device)
    xp, real = backend.xp, backend.real(dtype)
    parts = [xp.astype(_draw("random_normal", shape, real, device), dtype) for _ in range(2)]
    total = xp.add(parts[0], xp.multiply(parts[1], 1j))
    return backend.restore(xp.multiply(total, 0.5**0.5))


def _draw(name: str, shape: Shape, dtype: Dtype | None, device: Device) -> Array:
    backend = device.backend
    if dtype is None:
        dtype = backend.namespace.asarray(0.0, device=device.handle).dtype
    elif not backend.is_kind(dtype := dtype_of(dtype, backend, name), "real floating"):
        raise DtypeError(f"{name}: expected a real floating-point dtype, got {dtype}; cast the numbers afterwards")
    return draw(name, integers(shape), dtype, device)


def draw(name: str, shape: Shape, dtype: Dtype, device: Device) -> Array:
    """Return numbers drawn by the kernel `name` from this thread's stream for `device`."""
    backend = device.backend
    generator = None if backend.base else _generator(device)  # a transformation draws from the stream of its base
    drawn = backend.xp.kernel(name)(shape=shape, dtype=dtype, device=device.handle, generator=generator)
    return backend.restore(drawn)


@kernel(arrays=0, parameters=("shape", "dtype", "device", "generator"))
def random_uniform(xp: Namespace, /, shape: Shape, dtype: Dtype, device: DeviceHandle, generator: Any) -> Array:
    """Return numbers from [0, 1): by default drawn on the host by `generator`, then moved."""
    values, spacing = generator.random(shape), float(xp.backend.finfo(dtype).eps) / 2
    if spacing > 2**-53:  # rounding to a narrower dtype could give 1
        values = plugins.host.namespace.floor(values / spacing) * spacing
    return _from_host(xp.backend, values, dtype, device)


@kernel(arrays=0, parameters=("shape", "dtype", "device", "generator"))
def random_normal(xp: Namespace, /, shape: Shape, dtype: Dtype, device: DeviceHandle, generator: Any) -> Array:
    """Return standard normal numbers: by default drawn on the host by `generator`, then moved."""
    return _from_host(xp.backend, generator.standard_normal(shape), dtype, device)


def _from_host(backend: Backend, values: Any, dtype: Dtype, device: DeviceHandle) -> Array:
    """Return the host's float64 numbers in another dtype on a device that may not support float64."""
    host = plugins.host
    nearest = getattr(host.namespace, backend.dtype_name(dtype), host.namespace.float32)
    moved = transfer(host.asarray(values, nearest), backend.device_for(device))
    return moved if moved.dtype == dtype else backend.namespace.astype(moved, dtype)
