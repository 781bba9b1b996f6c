"""NumPy's reductions that leave NaN out, with its argument names, for Variables.

What `where=` leaves out becomes NaN first.
"""

from typing import Any

from xpgrad import array_api as xp
from xpgrad import ops
from xpgrad.graph.variable import as_variable
from xpgrad.interop import numpy_masks as masks
from xpgrad.interop.numpy_arguments import REFUSED, dtype_like, given, numpy_function


def _cast(a: Any, dtype: Any) -> Any:
    return a if dtype is None else xp.astype(a, dtype_like(a, dtype), copy=False)


def _total(name: str, function: Any, combine: Any) -> None:
    @numpy_function(name)
    def reduced(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = REFUSED, keepdims: Any = False, initial: Any = None,
        where: Any = True,
    ) -> Any:  # fmt: skip
        y = function(masks.without(_cast(a, dtype), where), axis=axis, keepdims=bool(given(keepdims)))
        return y if given(initial) is None else combine(y, initial)


_total("nansum", ops.nansum, xp.add)
_total("nanprod", ops.nanprod, xp.multiply)


def _extremum(name: str, function: Any, combine: Any) -> None:
    @numpy_function(name)
    def reduced(
        a: Any, axis: Any = None, out: Any = REFUSED, keepdims: Any = False, initial: Any = None, where: Any = True
    ) -> Any:
        y = function(masks.without(a, where), axis=axis, keepdims=bool(given(keepdims)))
        return y if given(initial) is None else combine(xp.where(xp.isnan(y), initial, y), initial)


_extremum("nanmax", ops.nanmax, xp.maximum)
_extremum("nanmin", ops.nanmin, xp.minimum)


@numpy_function("nanmean")
def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = REFUSED, keepdims: Any = False, *, where: Any = True
) -> Any:
    """Return the mean of what is not NaN."""
    return ops.nanmean(masks.without(_cast(a, dtype), where), axis=axis, keepdims=bool(given(keepdims)))


def _moment(name: str, finish: Any) -> None:
    @numpy_function(name)
    def reduced(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = REFUSED, ddof: Any = 0, keepdims: Any = False, *,
        where: Any = True, mean: Any = REFUSED, correction: Any = None,
    ) -> Any:  # fmt: skip
        free = ddof if given(correction) is None else correction
        x = masks.without(_cast(a, dtype), where)
        return finish(ops.nanvar(x, axis=axis, correction=free, keepdims=bool(given(keepdims))))


_moment("nanvar", as_variable)
_moment("nanstd", masks.root)


def _scan(name: str, function: Any) -> None:
    @numpy_function(name)
    def scanned(a: Any, axis: Any = None, dtype: Any = None, out: Any = REFUSED) -> Any:
        flat = xp.reshape(a, shape=(-1,)) if axis is None or not a.ndim else a
        return function(flat, axis=axis or 0, dtype=dtype_like(a, dtype))


_scan("nancumsum", ops.nancumsum)
_scan("nancumprod", ops.nancumprod)
