"""Broadcasting and its transpose: stretching an array, and summing over what was stretched."""

from xpgrad.graph.primitive import primitive
from xpgrad.types import AnyArray, Array, Namespace, Shape


@primitive(x=lambda xp, gy, x_spec: xp.sum_to(gy, shape=x_spec.shape))
def broadcast_to(xp: Namespace, x: AnyArray, /, shape: Shape) -> Array:
    """The array stretched to `shape`."""
    return xp.broadcast_to(x, shape)


@primitive(x=lambda xp, gy, x_spec: xp.broadcast_to(gy, shape=x_spec.shape))
def sum_to(xp: Namespace, x: AnyArray, /, shape: Shape) -> Array:
    """The array summed over the axes that broadcasting from `shape` added or stretched."""
    lead = x.ndim - len(shape)
    axes = tuple(range(lead)) + tuple(i + lead for i, n in enumerate(shape) if n == 1 and x.shape[i + lead] != 1)
    if not axes:
        return x
    total = xp.astype(xp.sum(x, axis=axes, keepdims=True, dtype=xp.backend.wide(x.dtype)), x.dtype, copy=False)
    return total if total.shape == shape else xp.reshape(total, shape)
