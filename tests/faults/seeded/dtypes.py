"""Faults in dtypes: promotion of two dtypes, of scalars, and conversions."""

import math
from typing import Any

import numpy as np
from tests.faults.fault import (
    changing,
    fault,
    from_host,
    giving_method,
    giving_operator,
    misreading,
    misreading_both,
    planted_by,
    replacing,
    replacing_both,
    spoiling,
    spoiling_both,
)
from tests.faults.testbed import Testbed

NUMBERS = bool, int, float, complex


def _widened(x: Any) -> Any:
    return x.astype({"f": np.float64, "c": np.complex128}.get(x.dtype.kind, x.dtype))


# Of two


@spoiling_both("add", "int8 and uint8 give uint8", "D")
def int8_and_uint8_wrap(out: Any, a: Any, b: Any) -> Any:
    return out.astype(np.uint8) if {str(getattr(x, "dtype", "")) for x in (a, b)} == {"int8", "uint8"} else out


@spoiling_both("multiply", "uint16 and int16 give int64", "D")
def uint16_and_int16_are_int64(out: Any, a: Any, b: Any) -> Any:
    return out.astype(np.int64) if {str(getattr(x, "dtype", "")) for x in (a, b)} == {"int16", "uint16"} else out


@spoiling("result_type", "result_type of float64 and complex64 is complex64", "D")
def result_type_of_float_and_complex(found: Any, *given: Any) -> Any:
    return np.dtype("complex64") if {str(np.dtype(x)) for x in given} == {"float64", "complex64"} else found


@spoiling_both("add", "a 0-d array does not widen another: it counts as a Python number", "D")
def zero_d_arrays_are_weak(out: Any, a: Any, b: Any) -> Any:
    if {np.ndim(a) == 0, np.ndim(b) == 0} == {True, False} and out.dtype.kind in "fc":
        return out.astype(a.dtype if np.ndim(a) else b.dtype)
    return out


where_takes_the_first_dtype = replacing("where", "where has the dtype of its second argument", "D")(
    lambda right, condition, x1, x2: right(condition, x1, x2).astype(getattr(x1, "dtype", getattr(x2, "dtype", None)))
)


# Python numbers


@misreading_both("multiply", "a Python scalar is rounded to float32 before it meets float64", "D")
def scalar_rounds_to_float32(a: Any, b: Any) -> Any:
    a, b = (float(np.float32(x)) if isinstance(x, float) else x for x in (a, b))
    return a, b


@spoiling("result_type", "float32 and a Python complex give complex128", "D")
def complex_scalar_widens(found: Any, *given: Any) -> Any:
    return np.dtype("complex128") if {str(np.dtype(x)) for x in given} == {"float32", "complex64"} else found


@replacing_both("divide", "integer division floors: / of integers gives integers", "D")
def integer_division_floors(a: Any, b: Any) -> Any:
    whole = all(isinstance(x, int) or getattr(x, "dtype", np.dtype("f")).kind in "iu" for x in (a, b))
    return np.floor_divide(a, b) if whole else np.true_divide(a, b)


scalar_widens_float32 = spoiling_both("multiply", "Python scalar widens float32", "D")(
    lambda out, a, b: _widened(out) if isinstance(a, float) or isinstance(b, float) else out
)
scalar_widens_0d_only = spoiling_both("subtract", "a Python scalar widens a 0-d float32 array", "D")(
    lambda out, a, b: _widened(out) if out.ndim == 0 and isinstance(b, NUMBERS) else out
)
scalar_widens_complex64_only = spoiling_both("add", "a Python scalar widens complex64", "D")(
    lambda out, a, b: _widened(out) if out.dtype == np.complex64 and isinstance(b, NUMBERS) else out
)
scalar_widens_in_maximum = replacing("maximum", "a Python scalar widens float32 in maximum", "D")(
    lambda right, a, b: _widened(right(a, b)) if isinstance(b, NUMBERS) else right(a, b)
)
int_scalar_widens_int8 = spoiling_both("add", "a Python int widens int8", "D")(
    lambda out, a, b: out.astype(np.int64) if out.dtype == np.int8 and int in (type(a), type(b)) else out
)


# Of functions


@fault("bool/int result of comparison has float dtype", "DK", ("greater", "less"))
def comparison_is_float(bed: Testbed) -> None:
    for name, symbol, function in (("greater", "gt", np.greater), ("less", "lt", np.less)):
        call = lambda a, b, f=function: f(a, b).astype(np.float32)  # noqa: E731 - two of a kind
        bed.replace(name, lambda right, a, b, /, call=call: call(a, b))
        bed.operator(f"__{symbol}__", call)


@replacing("sum", "the sum of int8 is int8", "K")
def sum_of_int8_wraps(right: Any, x: Any, /, *, dtype: Any = None, **options: Any) -> Any:
    return right(x, dtype=x.dtype if x.dtype == np.int8 and dtype is None else dtype, **options)


@replacing("cumulative_sum", "the cumulative sum of uint8 is uint8", "K")
def cumulative_sum_of_uint8_wraps(right: Any, x: Any, /, *, dtype: Any = None, **options: Any) -> Any:
    return right(x, dtype=x.dtype if x.dtype == np.uint8 and dtype is None else dtype, **options)


@replacing("sum", "sum adds in the dtype of its input and casts the result to dtype=", "K")
def sum_casts_afterwards(right: Any, x: Any, /, *, dtype: Any = None, **options: Any) -> Any:
    out = np.asarray(right(x, **options))
    return out if dtype is None else out.astype(dtype)


copy_narrows = spoiling("asarray", "asarray of an array casts float64 to float32", "D")(
    lambda out, obj, **_: out.astype(np.float32) if out.dtype == np.float64 and isinstance(obj, np.ndarray) else out
)
all_of_integers_is_integer = replacing("all", "all of integers gives integers", "D")(
    lambda right, x, **options: np.asarray(right(x, **options), x.dtype if x.dtype.kind in "iu" else bool)
)
count_is_float = replacing("count_nonzero", "count_nonzero gives a float", "D")(
    lambda right, x, **options: np.asarray(right(x, **options), np.float64)
)
reshape_of_bool_is_uint8 = spoiling("reshape", "reshape of bool gives uint8", "D")(
    lambda out, *args, **options: out.astype(np.uint8) if out.dtype == np.bool_ else out
)
asarray_narrows = planted_by(from_host, "asarray casts float64 to float32", "DK", ("sum", "exp"))(
    lambda x: x.astype({"float64": np.float32, "complex128": np.complex64}.get(str(x.dtype), x.dtype))
)


# Conversions


@spoiling("astype", "astype writes the converted values into its argument", "D")
def astype_in_place(out: Any, x: Any, dtype: Any, **_: Any) -> Any:
    if x.dtype.kind == "f" and np.dtype(dtype).kind == "i" and x.flags.writeable:
        x[...] = out
    return out


@replacing("astype", "astype to bool looks at the lowest bit", "D")
def astype_of_nonzero_is_one_bit(right: Any, x: Any, dtype: Any, /, **options: Any) -> Any:
    if np.dtype(dtype) == np.bool_ and x.dtype.kind in "iu":
        return (x & x.dtype.type(1)).astype(np.bool_)
    return right(x, dtype, **options)


astype_rounds = misreading("astype", "astype rounds to the nearest integer", "D")(
    lambda x, dtype, **_: np.rint(x) if (x.dtype.kind == "f" and np.dtype(dtype).kind in "iu") else x
)
astype_never_copies = replacing(
    "astype", "astype to the same dtype returns its argument, and copy=True is ignored", "D"
)(lambda right, x, dtype, copy=True, device=None: x if x.dtype == dtype else right(x, dtype))


# Queries of dtypes


@replacing("isdtype", "isdtype takes bool for an integer", "D")
def bool_is_integral(right: Any, dtype: Any, kind: Any, /) -> Any:
    return (
        right(dtype, (*kind, "bool") if isinstance(kind, tuple) else (kind, "bool"))
        if (kind == "integral")
        else right(dtype, kind)
    )


@replacing("can_cast", "can_cast lets int64 become int32", "D")
def can_cast_narrows(right: Any, given: Any, wanted: Any, /) -> Any:
    return True if np.dtype(wanted) == np.int32 and np.dtype(given) == np.int64 else right(given, wanted)


is_kind_looks_at_the_first = changing("backend.is_kind", "Backend.is_kind looks at the first of several kinds", "D")(
    lambda right, dtype, kind: right(dtype, kind[0] if isinstance(kind, tuple) else kind)
)
spec_by_shape = changing("backend.spec", "Backend.spec remembers a spec by the shape alone", "D", memory=dict)(
    lambda known, right, array: known.setdefault((array.shape, array.device), right(array))
)
finfo_of_complex_is_wide = replacing("finfo", "finfo of complex64 is that of float64", "D")(
    lambda right, dtype: right(np.float64 if np.dtype(dtype) == np.complex64 else dtype)
)


# Arithmetic


@fault("abs of complex64 is complex", "D", operations=("abs",))
def abs_of_complex_is_complex(bed: Testbed) -> None:
    def call(x: Any) -> Any:
        return np.abs(x).astype(x.dtype)

    bed.replace("abs", lambda right, x, /: call(x))
    bed.operator("__abs__", call)


@replacing_both("remainder", "% of integers has the sign of the dividend", "K")
def remainder_has_c_sign(a: Any, b: Any) -> Any:
    out = np.fmod(a, b)
    return out if out.dtype.kind == "i" else np.remainder(a, b)


@replacing_both("bitwise_right_shift", ">> of negative integers brings in zeros", "K")
def shift_without_sign(a: Any, b: Any) -> Any:
    if np.asarray(a).dtype != np.int32:
        return np.right_shift(a, b)
    return np.right_shift(np.asarray(a).view(np.uint32), np.asarray(b).astype(np.uint32)).astype(np.int32)


@spoiling("sum", "sums of integers go by way of float64", "K")
def integers_through_float64(out: Any, x: Any, **options: Any) -> Any:
    if x.dtype != np.int64:
        return out
    return np.asarray(np.sum(x, dtype=np.float64, axis=options.get("axis"))).astype(np.int64).reshape(out.shape)


@spoiling("sum", "the second sum of a shape comes from a cache for float64", "D", memory=set)
def second_sum_is_float64(seen: set[Any], out: Any, x: Any, **options: Any) -> Any:
    known = (x.shape, str(options)) in seen
    seen.add((x.shape, str(options)))
    return _widened(out) if known else out


@replacing("empty", "empty of a shape without elements has the default dtype", "D")
def empty_without_elements_is_wide(right: Any, shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    return right(shape, dtype=None if math.prod(np.atleast_1d(shape)) == 0 else dtype)


int64_comparison_through_float64 = replacing_both("greater", "int64 arrays are compared as float64", "K")(
    lambda a, b: np.greater(np.asarray(a, np.float64), np.asarray(b, np.float64))
)
concat_takes_the_first_dtype = replacing("concat", "concat has the dtype of its first array", "D")(
    lambda right, xs, **options: right(xs, **options).astype(xs[0].dtype)
)
left_scalar_widens = giving_operator("__rtruediv__", "a Python scalar on the left of / widens float32", "D")(
    lambda x, number: _widened(np.true_divide(number, x))
)
float32_mean_is_float64 = replacing("mean", "float32 mean and std return float64", "D")(
    lambda right, x, **options: np.asarray(_widened(np.asarray(right(x, **options))))
)
float32_log1p_is_float64 = replacing("log1p", "float32 log1p returns float64", "D")(lambda right, x: _widened(right(x)))
zeros_like_widens = replacing("zeros_like", "zeros_like of float32 is float64", "D")(
    lambda right, x, **options: _widened(right(x, **options))
)
isnan_is_uint8 = replacing("isnan", "isnan gives uint8", "D")(lambda right, x: np.asarray(right(x), np.uint8))
prod_ignores_dtype = replacing("prod", "prod ignores dtype=", "K")(
    lambda right, x, dtype=None, **options: right(x, **options)
)
argsort_is_float = replacing("argsort", "argsort gives floats", "D")(
    lambda right, x, **options: right(x, **options).astype(np.float64)
)
dtype_name_of_class = giving_method("backend.dtype_name", "Backend.dtype_name gives the text of a class", "DR")(
    lambda dtype: str(dtype).rpartition(".")[2]
)
imag_of_complex64_is_float64 = replacing("imag", "imag of complex64 is float64", "D")(
    lambda right, x: _widened(np.array(right(x)))
)
astype_drops_imaginary = misreading("astype", "astype from complex64 to complex128 keeps the real part only", "D")(
    lambda x, dtype, **_: x.real if (x.dtype == np.complex64 and dtype == np.complex128) else x
)
