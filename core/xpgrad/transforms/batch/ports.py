"""Ports of a batch: lifting of values, and gradients in the other direction."""

from xpgrad.backend.plugins import plugins
from xpgrad.transforms.batch.batching import BatchRun
from xpgrad.transforms.enclosing.level import Outer, Port
from xpgrad.types import Array


def moved(array: Array, source: int, target: int) -> Array:
    """Return `array` with the axis `source` at `target`."""
    if source == target:
        return array
    backend = plugins.backend_of(array)
    axes = [i for i in range(len(array.shape)) if i != source]
    axes.insert(target, source)
    return backend.restore(backend.xp.permute_dims(array, axes=tuple(axes)))


def inside(level: BatchRun, array: Array, axis: int | None) -> Array:
    """Return an array of the level below with batch elements along the non-negative `axis`, or shared by all."""
    batching = level.over(array)
    made: Array = batching.kind(batching, moved(array, axis, 0) if axis else array, axis is not None)
    return made


def outside(inner: Array, axis: int | None) -> Array:
    """Return the values for the level below, with the batch elements along `axis`; None for a shared array."""
    values = inner.values if inner.batched or axis is None else inner.batching.front(inner)
    return moved(values, 0, axis) if axis else values


def member(level: BatchRun, axis: int) -> Port:
    """Return the port of values that differ between batch elements, along the non-negative outer `axis`."""
    return Port(lambda outer: inside(level, outer[0], axis), lambda inner: [outside(inner, axis)])


def leaving(level: BatchRun, axis: int | None) -> Port:
    """Return the port of an output."""
    return only(level) if axis is None else member(level, axis)


def shared(level: BatchRun) -> Port:
    """Return the port of an input that is shared by all batch elements: its gradient is the sum over them."""

    def inward(outer: Outer) -> Array:
        (array,) = outer
        return level.over(array).same(array)

    def outward(inner: Array) -> list[Array | None]:
        backend = inner.batching.base
        xp = backend.xp
        if inner.later is not None:
            return [backend.restore(inner.later.total())]
        if inner.batched:
            return [backend.restore(xp.sum(inner.values, axis=0, dtype=inner.dtype, keepdims=False))]
        return [backend.restore(xp.multiply(inner.values, level.size))]

    return Port(inward, outward)


def only(level: BatchRun) -> Port:
    """Return the port of an output that is shared by all batch elements, and leaves once."""

    def inward(outer: Outer) -> Array:
        (array,) = outer
        backend = plugins.backend_of(array)
        return level.over(array).same(backend.restore(backend.xp.divide(array, level.size)))

    def outward(inner: Array) -> list[Array | None]:
        if not inner.batched:
            return [inner.values]
        backend = inner.batching.base
        return [backend.restore(backend.xp.mean(inner.values, axis=0, keepdims=False))]

    return Port(inward, outward)
