"""Functions that are computed only where they apply."""

from collections.abc import Callable
from typing import Any

from xpgrad.array_api.indexing import setitem
from xpgrad.array_api.manipulation import broadcast_shapes, broadcast_to
from xpgrad.graph.variable import Variable, as_array, as_variable, constant_variable
from xpgrad.types import AnyArray, Operand


def apply_where(
    condition: AnyArray,
    args: Any,
    f1: Callable[..., Any],
    f2: Callable[..., Any] | None = None,
    /,
    *,
    fill_value: Operand | None = None,
) -> Variable:
    """Value of `f1` where `condition` is true, of `f2` or `fill_value` elsewhere, each computed only where it applies.

    So a branch that is infinite or NaN elsewhere leaves no trace in values and gradients, as it would with `where`.

    Parameters
    ----------
    condition : Variable or array of bool
    args : Variable, array or a tuple of them
        They broadcast with `condition`.
    f1, f2 : callable
        Elementwise functions of as many vectors as there are `args`.
    fill_value : scalar, optional
        Instead of `f2`.
    """
    if (f2 is None) == (fill_value is None):
        raise TypeError("apply_where: expected either a second function or a fill_value, got both or none")
    given = [as_variable(a) for a in (args if isinstance(args, tuple) else (args,))]
    shape = broadcast_shapes(tuple(condition.shape), *(a.shape for a in given))
    backend = given[0].node.spec.backend
    chosen = as_array(broadcast_to(as_variable(as_array(condition)), shape=shape))
    stretched = [a if a.shape == shape else broadcast_to(a, shape=shape) for a in given]
    y1 = as_variable(f1(*(a[chosen] for a in stretched)))
    others = backend.xp.logical_not(chosen)
    start = 0 if fill_value is None else fill_value
    blank = backend.namespace.full(shape, start, dtype=y1.dtype, device=given[0].node.spec.device)
    y = setitem(constant_variable(blank), y1, index=chosen)
    if f2 is not None:
        y = setitem(y, f2(*(a[others] for a in stretched)), index=others)
    return y
