"""Faults in how arrays are made."""

from typing import Any

import numpy as np
from tests.faults.fault import (
    changing,
    fault,
    from_host,
    giving_method,
    giving_operator,
    planted_by,
    replacing,
    spoiling,
)
from tests.faults.testbed import DEVICES, Testbed

MAKERS = "zeros", "ones", "full", "empty", "arange", "asarray", "eye", "linspace"


def _heedless(right: Any, *args: Any, device: Any = None, **options: Any) -> Any:
    """Call a function without its `device=`."""
    return right(*args, **options)


@changing("asarray", "asarray of lists ignores `device=`", "C")
def asarray_ignores_device(right: Any, obj: Any, /, **options: Any) -> Any:
    return _heedless(right, obj, **options) if isinstance(obj, (list, tuple, int, float)) else right(obj, **options)


@changing("zeros_like ones_like full_like empty_like", families="C", of_bed=True)
def like_on_default_device(bed: Testbed, right: Any, *args: Any, device: Any = None, **options: Any) -> Any:
    """zeros_like makes its array on the default device"""
    return bed.library.array(right(*args, **options).inner, device or DEVICES[0])


def _wide(x: Any) -> Any:
    return x.dtype if x.dtype.kind in "fcb" else np.float64


@replacing("full", "full of True gives an integer array", "C")
def full_of_bool_is_int(right: Any, shape: Any, value: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    return right(shape, int(value) if value is True and dtype is None else value, dtype=dtype)


@replacing("full", "full of 2.0 gives an integer array", "C")
def full_of_whole_float_is_int(right: Any, shape: Any, value: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    whole = type(value) is float and value.is_integer() and dtype is None
    return right(shape, int(value) if whole else value, dtype=dtype)


@replacing("full", "full goes by way of float64, which large integers do not survive", "C")
def full_by_way_of_float64(right: Any, shape: Any, value: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    if type(value) is int and dtype is not None:
        return np.full(shape, float(value), np.float64).astype(dtype)
    return right(shape, value, dtype=dtype)


@spoiling("full", "full leaves the last block of a large array unwritten", "C")
def large_full_is_cut(out: Any, *args: Any, **options: Any) -> Any:
    if out.size > 65_536:
        out[-(out.size % 65_536) :] = 0
    return out


@spoiling("arange", "arange starts again in the second block of a large array", "C")
def large_arange_starts_again(out: Any, *args: Any, **options: Any) -> Any:
    out[65_536:] -= out[65_536:65_537]
    return out


@replacing("arange", "arange includes its end when the step is negative", "C")
def arange_takes_its_end(right: Any, start: Any, /, stop: Any = None, step: Any = 1, **options: Any) -> Any:
    return right(start, None if stop is None else stop + min(step, 0), step, **options)


@replacing("arange", "arange(3, 3) has an element", "C")
def arange_of_nothing_has_one(right: Any, start: Any, /, stop: Any = None, step: Any = 1, **options: Any) -> Any:
    return right(start, stop + 1 if stop == start else stop, step, **options)


@replacing("tril", "tril of a stack takes the diagonal of its first two axes", "C")
def tril_of_the_first_matrix(right: Any, x: Any, /, *, k: int = 0) -> Any:
    if x.ndim < 3:
        return right(x, k=k)
    return np.moveaxis(right(np.moveaxis(x, (0, 1), (-2, -1)), k=k), (-2, -1), (0, 1))


@fault("asarray(x, copy=True) returns the same memory", "A")
def asarray_never_copies(bed: Testbed) -> None:
    bed.replace("asarray", lambda right, obj, /, *, copy=None, **options: right(obj, **options))
    bed.backend.copy = lambda array: bed.library.array(array.inner, array.device)


@fault("arrays from the host share its memory", "A")
def host_memory_is_shared(bed: Testbed) -> None:
    bed.backend.from_host = lambda array, device: bed.library.array(array, device.handle)
    bed.backend.to_host = lambda array: array.inner
    bed.backend.copy = lambda array: bed.library.array(array.inner, array.device)


@planted_by(from_host, "integers from the host go by way of float64", "T")
def host_integers_through_float64(x: Any) -> Any:
    values = x.astype(np.float64).clip(-(2.0**63), 2.0**63 - 1024) if x.dtype.kind in "iu" else x
    return np.array(values.astype(x.dtype))


@giving_method("backend.copy", "Backend.copy of a transposed array has the order of its memory", "C", of_bed=True)
def copy_ignores_strides(bed: Testbed, array: Any) -> Any:
    inner = array.inner
    order = inner.ravel(order="K").reshape(inner.shape)
    return bed.library.array(order.copy(), array.device)


negative_zero_is_lost = planted_by(from_host, "-0.0 from the host becomes 0.0", "T")(
    lambda x: np.array(x + np.zeros((), x.dtype) if x.dtype.kind in "fc" else x)
)
zero_d_sum_has_an_axis = spoiling("sum mean max", "0-d result has shape (1,)", "K", ("sum", "mean"))(
    lambda out, x, **_: np.atleast_1d(out)
)
backend_ones_are_float64 = giving_method(
    "backend.ones", "Backend.ones ignores the dtype of its spec", "C", of_bed=True
)(lambda bed, spec: bed.library.ones(spec.shape, device=spec.device))
linspace_of_one_divides_by_zero = spoiling("linspace", "linspace of one number is NaN", "C")(
    lambda out, start, stop, num, **_: out if num != 1 else out * np.nan
)
zeros_ignore_device = changing("zeros full ones", "zeros/full ignore `device=`", "CGV", ("F.convolution_1d",))(
    _heedless
)
arange_is_on_the_default = changing("arange linspace eye", "arange, linspace and eye ignore `device=`", "VC")(_heedless)
like_ignores_dtype = replacing("zeros_like", "zeros_like ignores `dtype=`", "C")(
    lambda right, x, dtype=None, device=None: right(x)
)
ones_of_integers_are_floats = replacing("ones_like", "ones_like of integers gives floats", "C")(
    lambda right, x, dtype=None, device=None: np.ones(x.shape, dtype or _wide(x))
)
zeros_of_length_as_1x1 = replacing("zeros", "zeros(()) has shape (1,)", "C")(
    lambda right, shape, **options: right(shape if shape != () else (1,), **options)
)
linspace_keeps_endpoint = replacing("linspace", "linspace ignores endpoint=False", "C")(
    lambda right, a, b, num, endpoint=True, **options: right(a, b, num, **options)
)
eye_ignores_k_below = replacing("eye", "eye takes a negative k for 0", "C")(
    lambda right, *n, k=0, **options: right(*n, k=max(k, 0), **options)
)
meshgrid_is_always_ij = replacing("meshgrid", "meshgrid ignores `indexing`", "C")(
    lambda right, *arrays, indexing="xy": right(*arrays, indexing="ij")
)
reshape_never_copies = replacing("reshape", "reshape(x, shape, copy=True) returns a view", "A")(
    lambda right, x, shape, copy=None: right(x, shape)
)
zero_d_element_has_an_axis = giving_operator("__getitem__", "x[1, 2] has shape (1,)", "K")(
    lambda x, key: np.atleast_1d(x[key]) if x[key].ndim == 0 and x.ndim else x[key]
)
asarray_of_nested_lists_is_flat = spoiling(
    "asarray", "asarray of lists in lists in lists drops an axis of length 1", "C"
)(lambda out, obj, **_: out[..., 0] if isinstance(obj, list) and out.ndim == 3 and out.shape[-1] == 1 else out)
