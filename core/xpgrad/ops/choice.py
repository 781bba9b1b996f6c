"""Elementwise functions that are computed only where a condition is true."""

from collections.abc import Callable
from typing import Any

from xpgrad.array_api.indexing import setitem
from xpgrad.array_api.manipulation import broadcast_shapes, broadcast_to
from xpgrad.graph.operands import as_variables
from xpgrad.graph.variable import Variable, as_array, as_variable, constant_variable
from xpgrad.types import AnyArray, Operand


def apply_where(
    condition: AnyArray, args: Any, f1: Callable[..., Any], f2: Callable[..., Any] | None = None, /, *,
    fill_value: Operand | None = None,
) -> Variable:  # fmt: skip
    """Value of `f1` where `condition` is true, otherwise of `f2` or `fill_value`, each computed only where it is used.

    So, unlike with `where`, infinities and NaN of the unused branch do not affect values and gradients.

    Parameters
    ----------
    condition : Variable or array of bool
    args : Variable, array or a tuple of them
        They broadcast with `condition`.
    f1, f2 : callable
        Elementwise functions of one vector for each of `args`.
    fill_value : scalar, optional
        Instead of `f2`.
    """
    if (f2 is None) == (fill_value is None):
        raise TypeError("apply_where: expected either a second function or a fill_value, got both or none")
    xs = as_variables("apply_where", *(args if isinstance(args, tuple) else (args,)))
    shape = broadcast_shapes(tuple(condition.shape), *(x.shape for x in xs))
    spec = xs[0].node.spec
    chosen = as_array(broadcast_to(as_variable(as_array(condition)), shape=shape))
    stretched = [x if x.shape == shape else broadcast_to(x, shape=shape) for x in xs]
    y1 = as_variable(f1(*(x[chosen] for x in stretched)))
    others = spec.backend.xp.logical_not(chosen)
    start = 0 if fill_value is None else fill_value
    filled = spec.backend.namespace.full(shape, start, dtype=y1.dtype, device=spec.device)
    y = setitem(constant_variable(filled), y1, index=chosen)
    return y if f2 is None else setitem(y, f2(*(x[others] for x in stretched)), index=others)
