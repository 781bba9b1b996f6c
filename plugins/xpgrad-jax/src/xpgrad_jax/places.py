"""Devices of jax arrays: one device, several devices, or the handle of tracers."""

from typing import Any

import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from xpgrad.plugin import Backend, Device
from xpgrad.types import DeviceHandle


class Anywhere:
    """The handle of traced arrays, equal to every other: jax decides where the compiled function runs.

    Constants from outside may therefore be combined with arguments. The hash differs from the hash of every device, so
    caches keyed by handles keep separate entries for tracers.
    """

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash("a traced array")

    def __repr__(self) -> str:
        return "traced"


TRACED = Anywhere()


class TracedDevice(Device):
    """The device of traced arrays, which are never moved."""

    __slots__ = ()

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend, TRACED, f"@{backend.name}:traced")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.backend is self.backend

    def __hash__(self) -> int:
        return hash(self.name)


def handle_for(sharding: Any) -> DeviceHandle:
    """Return the device of a sharding; for several devices, the sharding with a copy on each device.

    Arrays on the same devices, however they are divided, are therefore on one device of xpgrad.
    """
    devices = devices_of(sharding)
    return devices[0] if len(devices) == 1 else copies_on(devices)


def devices_of(sharding: Any) -> list[Any]:
    """Return the devices of a sharding, devices of a mesh in its order."""
    if isinstance(sharding, NamedSharding) and sharding.mesh.devices is not None:
        return list(sharding.mesh.devices.flat)
    return sorted(sharding.device_set, key=lambda device: device.id)


def copies_on(devices: list[Any]) -> NamedSharding:
    """Return the sharding that has a copy on each of these devices."""
    return NamedSharding(Mesh(np.array(devices), ("devices",)), PartitionSpec())  # type: ignore[no-untyped-call]  # jax has no types there


def title(handle: DeviceHandle) -> str:
    """Return the part of a device's name after ``@jax:``: ``cpu:0``, or ``cpu:0+cpu:1``."""
    if isinstance(handle, NamedSharding):
        return "+".join(map(title, devices_of(handle)))
    return f"{handle.platform}:{handle.id}"


def placement(handle: DeviceHandle) -> Any:
    """Return jax's argument `device=`, None for a traced array."""
    return None if handle is TRACED else handle
