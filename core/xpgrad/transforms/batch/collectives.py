"""`psum`, `pmean` and `axis_index`: functions of all elements of a batch, which `vmap` has given a name."""

from typing import Any

from xpgrad.backend.levels import around
from xpgrad.errors import BatchError
from xpgrad.graph.primitive import primitive
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.transforms.batch.batching import Batching
from xpgrad.transforms.batch.level import BatchLevel
from xpgrad.transforms.batch.rows.table import row
from xpgrad.types import AnyArray, Array, Namespace


@primitive(x=lambda xp, gy, level: xp.sum_of_members(gy, level=level))
def sum_of_members(xp: Namespace, x: AnyArray, /, level: Any) -> Array:
    """Sum of `x` over the elements of the batch `level`: this default multiplies, because `x` is shared."""
    return xp.multiply(x, level.size)


@row("sum_of_members")
def _sum_of_members(b: Batching, function: Any, x: Any, /, level: Any) -> Any:
    if b.level is level:
        return b.same(b.base.restore(b.xp.sum(x.values, axis=0, dtype=x.dtype, keepdims=False)))
    return b.made(function(x.values, level=level))


def psum(x: AnyArray, axis_name: str) -> Variable:
    """Return the sum of `x` over the elements of the batch named `axis_name`, shared by all batch elements.

    Parameters
    ----------
    x : Variable or array
    axis_name : str
        As it was given to `vmap`, within which this is called.

    Raises
    ------
    BatchError
        No active `vmap` has this name.
    """
    return sum_of_members(x, level=_named("psum", axis_name))


def pmean(x: AnyArray, axis_name: str) -> Variable:
    """Return the mean of `x` over the elements of the batch named `axis_name`; errors as in `psum`."""
    level = _named("pmean", axis_name)
    return sum_of_members(x, level=level) / level.size


def axis_index(axis_name: str) -> Variable:
    """Return the position of each element in the batch named `axis_name`, a 0-d integer; errors as in `psum`."""
    level = _named("axis_index", axis_name)
    device = None if level.lead is None else level.lead._node.device  # its attribute would lift to the batch
    assert device is not None  # `vmap` has set it
    places = device.backend.restore(device.backend.xp.arange(level.size, device=device.handle))
    return constant_variable(level.over(places).made(places))


def _named(function: str, axis_name: str) -> BatchLevel:
    """Return the innermost active batch with a name."""
    level, names = around(), []
    while level is not None:
        if isinstance(level, BatchLevel):
            if level.axis_name == axis_name:
                return level
            names.append(repr(level.axis_name))
        level = level.outer
    known = f"the active ones are {', '.join(names)}" if names else "none is active"
    raise BatchError(f"{function}: no vmap with axis_name={axis_name!r} is active; {known}")
