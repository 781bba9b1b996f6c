"""Flat float64 vectors of the host from the leaves of trees, and back."""

from collections.abc import Iterator, Sequence
from typing import Any

from xpgrad.backend.device import Device
from xpgrad.backend.holder import unwrap
from xpgrad.backend.levels import live, note_number
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.backend.transfer import transfer
from xpgrad.graph.methods.ending import taken
from xpgrad.graph.variable import Variable
from xpgrad.types import Array


def host_array(x: Any) -> Array:
    """Return a leaf, a Variable, array or number, as a new float64 array on the host.

    No gradient flows through it: within a transform, it is a number that is taken out of a Variable.
    """
    host = plugins.host
    if isinstance(x, Variable):
        if x._node.requires_grad:
            taken(x._node, warns=False)
        if live:
            note_number(x._array)
    array = unwrap(x)
    if plugins.is_scalar(array):
        return host.asarray([array], host.namespace.float64)
    copy = plugins.backend_of(array).to_host(array)
    return host.namespace.astype(copy, host.namespace.float64, copy=False)


def host_number(x: Any) -> float:
    """Return a leaf with one element as a Python number, converted by `host_array`."""
    return float(host_array(x).item())


def vector_of(leaves: Sequence[Any]) -> Array:
    """Return the elements of all leaves, each in C order, as one float64 vector on the host."""
    xp = plugins.host.namespace
    parts = [xp.reshape(host_array(x), (-1,)) for x in leaves]
    return xp.concat(parts) if parts else xp.zeros((0,), dtype=xp.float64)


def arrays_of(vector: Array, specs: Sequence[tuple[Spec, Device]]) -> Iterator[Array]:
    """Yield the consecutive elements of a vector on the host as arrays of these shapes and dtypes on these devices."""
    start = 0
    for spec, device in specs:
        yield placed(vector[start : start + spec.size], spec, device)
        start += spec.size


def placed(part: Array, spec: Spec, device: Device, shape: tuple[int, ...] | None = None) -> Array:
    """Return a float64 array on the host as an array on `device` with the dtype of `spec`, and its shape by default."""
    host = plugins.host
    part = host.namespace.reshape(part, spec.shape if shape is None else shape)
    backend = device.backend
    wanted = getattr(host.namespace, spec.backend.dtype_name(spec.dtype), host.namespace.float64)
    part = host.namespace.astype(part, wanted)  # before the move: the device may have no float64
    moved = transfer(part, device) if backend is not host else part
    if spec.backend is backend and moved.dtype != spec.dtype:
        moved = backend.restore(backend.xp.astype(moved, spec.dtype))
    return moved
