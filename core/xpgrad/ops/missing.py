"""Missing values: NaN and infinities replaced, and statistics that ignore NaN."""

import math
from collections.abc import Callable

from xpgrad.array_api.creation import zeros_like
from xpgrad.array_api.data_types import astype, to_floating
from xpgrad.array_api.elementwise.logical import isinf, isnan, logical_not
from xpgrad.array_api.elementwise.magnitude import imag, real, squared_modulus
from xpgrad.array_api.manipulation import reshape
from xpgrad.array_api.searching import where
from xpgrad.array_api.shared.axes import Axis
from xpgrad.array_api.statistical import count_of, cumulative_prod, cumulative_sum, prod, sum_by_count
from xpgrad.array_api.statistical import max as max_
from xpgrad.array_api.statistical import min as min_
from xpgrad.array_api.statistical import sum as sum_
from xpgrad.array_api.utility import all as all_
from xpgrad.config import using_config
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray, Dtype


def nan_to_num(
    x: AnyArray, /, *, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Variable:
    """`x` with finite numbers instead of NaN and infinities, elementwise; replaced elements have the gradient 0.

    Parameters
    ----------
    x : Variable or array
        Real and imaginary parts of complex numbers are replaced separately.
    nan : float
    posinf, neginf : float, optional
        By default the largest and the smallest number of the dtype.
    """
    x = as_variable(x)
    spec = x.node.spec
    if not spec.differentiable:
        return x
    limits = spec.backend.finfo(spec.dtype)
    largest = float(limits.max) if posinf is None else posinf
    smallest = float(limits.min) if neginf is None else neginf
    if spec.complex:
        with using_config("debug", False):  # a part is NaN only until it is replaced
            parts = [_finite(part(x), nan, largest, smallest) for part in (real, imag)]
        return parts[0] + 1j * parts[1]
    return _finite(x, nan, largest, smallest)


def _finite(x: Variable, nan: float, largest: float, smallest: float) -> Variable:
    x = where(isnan(x), nan, x)
    infinite = isinf(x)
    return where(infinite & (x > 0), largest, where(infinite & (x < 0), smallest, x))


def _filled(x: AnyArray, value: float) -> Variable:
    """Return `x` with `value` instead of NaN; integers are unchanged."""
    x = as_variable(x)
    return where(isnan(x), value, x) if x.node.spec.differentiable else x


def _scanned(x: AnyArray, value: float) -> Variable:
    """Return `x` as from `_filled`, with one axis at least, as NumPy's scans of 0-d arrays."""
    x = _filled(x, value)
    return x if x.ndim else reshape(x, shape=(1,))


def nansum(x: AnyArray, /, *, axis: Axis = None, dtype: Dtype | None = None, keepdims: bool = False) -> Variable:
    """Sum over `axis` of the elements that are not NaN; 0 for all-NaN slices. Options are as for `sum`."""
    return sum_(_filled(x, 0.0), axis=axis, dtype=dtype, keepdims=keepdims)


def nanprod(x: AnyArray, /, *, axis: Axis = None, dtype: Dtype | None = None, keepdims: bool = False) -> Variable:
    """Product over `axis` of the elements that are not NaN; 1 for all-NaN slices. Options are as for `prod`."""
    return prod(_filled(x, 1.0), axis=axis, dtype=dtype, keepdims=keepdims)


def nancumsum(x: AnyArray, /, *, axis: int | None = None, dtype: Dtype | None = None) -> Variable:
    """Cumulative sums along `axis`, in which NaN counts as 0, with `dtype` as for `cumulative_sum`."""
    return cumulative_sum(_scanned(x, 0.0), axis=axis, dtype=dtype)


def nancumprod(x: AnyArray, /, *, axis: int | None = None, dtype: Dtype | None = None) -> Variable:
    """Cumulative products along `axis`, in which NaN counts as 1, with `dtype` as for `cumulative_prod`."""
    return cumulative_prod(_scanned(x, 1.0), axis=axis, dtype=dtype)


def nanmean(x: AnyArray, /, *, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Mean over `axis` of the elements that are not NaN; NaN for all-NaN slices. Options are as for `mean`."""
    x = to_floating(x)
    present = logical_not(isnan(x))
    count = count_of(present, x, axis=axis, keepdims=keepdims)
    return sum_by_count(where(present, x, zeros_like(x)), count, axis=axis, keepdims=keepdims)


def nanvar(x: AnyArray, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Variable:
    """Variance over `axis` of the elements that are not NaN, as in `var`; NaN if `correction` leaves none."""
    x = to_floating(x)
    present = logical_not(isnan(x))
    wide = astype(x, x.node.spec.wide, copy=False)
    mean = nanmean(wide, axis=axis, keepdims=True)
    squares = squared_modulus(where(present, wide, mean) - mean)
    freedom = count_of(present, squares, axis=axis, keepdims=keepdims) - correction
    y = sum_(squares, axis=axis, keepdims=keepdims) / where(freedom > 0, freedom, math.nan)
    return y if x.node.spec.complex else astype(y, x.dtype, copy=False)


def nanmax(x: AnyArray, /, *, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Maximum over `axis` of the elements that are not NaN, as in `max`; NaN for all-NaN slices."""
    return _extremum(max_, -math.inf, x, axis, keepdims)


def nanmin(x: AnyArray, /, *, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Minimum over `axis` of the elements that are not NaN, as in `min`; NaN for all-NaN slices."""
    return _extremum(min_, math.inf, x, axis, keepdims)


def _extremum(reduce: Callable[..., Variable], neutral: float, x: AnyArray, axis: Axis, keepdims: bool) -> Variable:
    missing = isnan(x)
    y = reduce(_filled(x, neutral), axis=axis, keepdims=keepdims)
    return y if not y.node.spec.differentiable else where(all_(missing, axis=axis, keepdims=keepdims), math.nan, y)
