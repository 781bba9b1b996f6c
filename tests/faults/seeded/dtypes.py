"""Faults in dtypes: promotion of two dtypes, of scalars, and conversions."""

import math
from typing import Any

import numpy as np
from tests.faults.fault import fault, giving_method, giving_operator, replacing, replacing_both
from tests.faults.testbed import Testbed

NUMBERS = bool, int, float, complex


def _widened(x: Any) -> Any:
    return x.astype({"f": np.float64, "c": np.complex128}.get(x.dtype.kind, x.dtype))


# Of two


@replacing_both("add", "int8 and uint8 give uint8", "D")
def int8_and_uint8_wrap(a: Any, b: Any) -> Any:
    out = np.add(a, b)
    return out.astype(np.uint8) if {str(getattr(x, "dtype", "")) for x in (a, b)} == {"int8", "uint8"} else out


@replacing_both("multiply", "uint16 and int16 give int64", "D")
def uint16_and_int16_are_int64(a: Any, b: Any) -> Any:
    out = np.multiply(a, b)
    return out.astype(np.int64) if {str(getattr(x, "dtype", "")) for x in (a, b)} == {"int16", "uint16"} else out


@replacing("result_type", "result_type of float64 and complex64 is complex64", "D", operations=())
def result_type_of_float_and_complex(original: Any, *given: Any) -> Any:
    found = original(*given)
    return np.dtype("complex64") if {str(np.dtype(x)) for x in given} == {"float64", "complex64"} else found


@replacing("where", "where has the dtype of its second argument", "D", operations=())
def where_takes_the_first_dtype(original: Any, condition: Any, x1: Any, x2: Any, /) -> Any:
    return original(condition, x1, x2).astype(getattr(x1, "dtype", getattr(x2, "dtype", None)))


@replacing_both("add", "a 0-d array does not widen another: it counts as a Python number", "D")
def zero_d_arrays_are_weak(a: Any, b: Any) -> Any:
    out = np.add(a, b)
    if {np.ndim(a) == 0, np.ndim(b) == 0} == {True, False} and out.dtype.kind in "fc":
        return out.astype(a.dtype if np.ndim(a) else b.dtype)
    return out


# Python numbers


@replacing_both("multiply", "Python scalar widens float32", "D")
def scalar_widens_float32(a: Any, b: Any) -> Any:
    out = np.multiply(a, b)
    return _widened(out) if isinstance(a, float) or isinstance(b, float) else out


@replacing_both("subtract", "a Python scalar widens a 0-d float32 array", "D")
def scalar_widens_0d_only(a: Any, b: Any) -> Any:
    out = np.subtract(a, b)
    return _widened(out) if out.ndim == 0 and isinstance(b, NUMBERS) else out


@replacing_both("add", "a Python scalar widens complex64", "D")
def scalar_widens_complex64_only(a: Any, b: Any) -> Any:
    out = np.add(a, b)
    return _widened(out) if out.dtype == np.complex64 and isinstance(b, NUMBERS) else out


@replacing("maximum", "a Python scalar widens float32 in maximum", "D", operations=())
def scalar_widens_in_maximum(original: Any, a: Any, b: Any, /) -> Any:
    return _widened(original(a, b)) if isinstance(b, NUMBERS) else original(a, b)


@replacing_both("multiply", "a Python scalar is rounded to float32 before it meets float64", "D")
def scalar_rounds_to_float32(a: Any, b: Any) -> Any:
    a, b = (float(np.float32(x)) if isinstance(x, float) else x for x in (a, b))
    return np.multiply(a, b)


@replacing_both("add", "a Python int widens int8", "D")
def int_scalar_widens_int8(a: Any, b: Any) -> Any:
    out = np.add(a, b)
    return out.astype(np.int64) if out.dtype == np.int8 and int in (type(a), type(b)) else out


@replacing("result_type", "float32 and a Python complex give complex128", "D", operations=())
def complex_scalar_widens(original: Any, *given: Any) -> Any:
    found = original(*given)
    return np.dtype("complex128") if {str(np.dtype(x)) for x in given} == {"float32", "complex64"} else found


@replacing_both("divide", "integer division floors: / of integers gives integers", "D")
def integer_division_floors(a: Any, b: Any) -> Any:
    whole = all(isinstance(x, int) or getattr(x, "dtype", np.dtype("f")).kind in "iu" for x in (a, b))
    return np.floor_divide(a, b) if whole else np.true_divide(a, b)


# Of functions


@giving_method("backend.from_host", "asarray casts float64 to float32", "DK", ("sum", "exp"), of_bed=True)
def asarray_narrows(bed: Testbed, array: Any, device: Any) -> Any:
    narrow = {"float64": np.float32, "complex128": np.complex64}.get(str(array.dtype), array.dtype)
    return bed.library.array(array.astype(narrow), device.handle)


@replacing("asarray", "asarray of an array casts float64 to float32", "D", operations=())
def copy_narrows(original: Any, obj: Any, /, **options: Any) -> Any:
    out = original(obj, **options)
    return out.astype(np.float32) if out.dtype == np.float64 and isinstance(obj, np.ndarray) else out


@fault("bool/int result of comparison has float dtype", "DK", ("greater", "less"))
def comparison_is_float(bed: Testbed) -> None:
    for name, symbol, function in (("greater", "gt", np.greater), ("less", "lt", np.less)):
        call = lambda a, b, f=function: f(a, b).astype(np.float32)  # noqa: E731 - two of a kind
        bed.replace(name, lambda original, a, b, /, call=call: call(a, b))
        bed.operator(f"__{symbol}__", call)


@replacing("all", "all of integers gives integers", "D", operations=())
def all_of_integers_is_integer(original: Any, x: Any, /, **options: Any) -> Any:
    return np.asarray(original(x, **options), x.dtype if x.dtype.kind in "iu" else bool)


@replacing("sum", "the sum of int8 is int8", "K")
def sum_of_int8_wraps(original: Any, x: Any, /, *, dtype: Any = None, **options: Any) -> Any:
    return original(x, dtype=x.dtype if x.dtype == np.int8 and dtype is None else dtype, **options)


@replacing("cumulative_sum", "the cumulative sum of uint8 is uint8", "K")
def cumulative_sum_of_uint8_wraps(original: Any, x: Any, /, *, dtype: Any = None, **options: Any) -> Any:
    return original(x, dtype=x.dtype if x.dtype == np.uint8 and dtype is None else dtype, **options)


@replacing("sum", "sum adds in the dtype of its input and casts the result to dtype=", "K")
def sum_casts_afterwards(original: Any, x: Any, /, *, dtype: Any = None, **options: Any) -> Any:
    out = np.asarray(original(x, **options))
    return out if dtype is None else out.astype(dtype)


@replacing("count_nonzero", "count_nonzero gives a float", "D", operations=())
def count_is_float(original: Any, x: Any, /, **options: Any) -> Any:
    return np.asarray(original(x, **options), np.float64)


@replacing("count_nonzero", "count_nonzero counts in uint8", "K")
def count_wraps_at_256(original: Any, x: Any, /, **options: Any) -> Any:
    return np.asarray(np.asarray(original(x, **options)).astype(np.uint8) % 128, np.int64)


@replacing("reshape", "reshape of bool gives uint8", "D", operations=())
def reshape_of_bool_is_uint8(original: Any, x: Any, /, shape: Any, **options: Any) -> Any:
    out = original(x, shape, **options)
    return out.astype(np.uint8) if out.dtype == np.bool_ else out


# Conversions


@replacing("astype", "astype rounds to the nearest integer", "D", operations=())
def astype_rounds(original: Any, x: Any, dtype: Any, /, **options: Any) -> Any:
    cut = x.dtype.kind == "f" and np.dtype(dtype).kind in "iu"
    return original(np.rint(x) if cut else x, dtype, **options)


@replacing("astype", "astype to the same dtype returns its argument, and copy=True is ignored", "D", operations=())
def astype_never_copies(original: Any, x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    return x if x.dtype == dtype else original(x, dtype)


@replacing("astype", "astype writes the converted values into its argument", "D", operations=())
def astype_in_place(original: Any, x: Any, dtype: Any, /, **options: Any) -> Any:
    out = original(x, dtype, **options)
    if x.dtype.kind == "f" and np.dtype(dtype).kind == "i" and x.flags.writeable:
        x[...] = out
    return out


@replacing("astype", "astype to bool looks at the lowest bit", "D", operations=())
def astype_of_nonzero_is_one_bit(original: Any, x: Any, dtype: Any, /, **options: Any) -> Any:
    if np.dtype(dtype) == np.bool_ and x.dtype.kind in "iu":
        return (x & x.dtype.type(1)).astype(np.bool_)
    return original(x, dtype, **options)


# Queries of dtypes


@replacing("isdtype", "isdtype takes bool for an integer", "D", operations=())
def bool_is_integral(original: Any, dtype: Any, kind: Any, /) -> Any:
    return (
        original(dtype, (*kind, "bool") if isinstance(kind, tuple) else (kind, "bool"))
        if (kind == "integral")
        else original(dtype, kind)
    )


@fault("Backend.is_kind looks at the first of several kinds", "D")
def is_kind_looks_at_the_first(bed: Testbed) -> None:
    inner = bed.backend.is_kind
    bed.backend.is_kind = lambda dtype, kind: inner(dtype, kind[0] if isinstance(kind, tuple) else kind)


@replacing("finfo", "finfo of complex64 is that of float64", "D", operations=())
def finfo_of_complex_is_wide(original: Any, dtype: Any, /) -> Any:
    return original(np.float64 if np.dtype(dtype) == np.complex64 else dtype)


@replacing("can_cast", "can_cast lets int64 become int32", "D", operations=())
def can_cast_narrows(original: Any, given: Any, wanted: Any, /) -> Any:
    return True if np.dtype(wanted) == np.int32 and np.dtype(given) == np.int64 else original(given, wanted)


@fault("Backend.spec remembers a spec by the shape alone", "D")
def spec_by_shape(bed: Testbed) -> None:
    made, known = bed.backend.spec, dict[Any, Any]()
    bed.backend.spec = lambda array: known.setdefault((array.shape, array.device), made(array))


# Arithmetic


@fault("abs of complex64 is complex", "D")
def abs_of_complex_is_complex(bed: Testbed) -> None:
    def call(x: Any) -> Any:
        return np.abs(x).astype(x.dtype)

    bed.replace("abs", lambda original, x, /: call(x))
    bed.operator("__abs__", call)


@replacing_both("floor_divide", "// of integers cuts off towards zero", "K", operations=("floor_divide",))
def floor_divide_rounds_to_zero(a: Any, b: Any) -> Any:
    out = np.floor_divide(a, b)
    return out + ((out < 0) & (np.remainder(a, b) != 0)).astype(out.dtype) if out.dtype.kind == "i" else out


@replacing_both("remainder", "% of integers has the sign of the dividend", "K", operations=("remainder",))
def remainder_has_c_sign(a: Any, b: Any) -> Any:
    out = np.fmod(a, b)
    return out if out.dtype.kind == "i" else np.remainder(a, b)


@replacing_both(
    "bitwise_right_shift", ">> of negative integers brings in zeros", "K", operations=("bitwise_right_shift",)
)
def shift_without_sign(a: Any, b: Any) -> Any:
    if np.asarray(a).dtype != np.int32:
        return np.right_shift(a, b)
    return np.right_shift(np.asarray(a).view(np.uint32), np.asarray(b).astype(np.uint32)).astype(np.int32)


@replacing("sum", "sums of integers go by way of float64", "K")
def integers_through_float64(original: Any, x: Any, /, **options: Any) -> Any:
    out = np.asarray(original(x, **options))
    if x.dtype != np.int64:
        return out
    return np.asarray(np.sum(x, dtype=np.float64, axis=options.get("axis"))).astype(np.int64).reshape(out.shape)


@fault("int64 arrays are compared as float64", "K", operations=("greater",))
def int64_comparison_through_float64(bed: Testbed) -> None:
    def call(a: Any, b: Any) -> Any:
        return np.greater(np.asarray(a, np.float64), np.asarray(b, np.float64))

    bed.replace("greater", lambda original, a, b, /: call(a, b))
    bed.operator("__gt__", call)


@replacing("sum", "the second sum of a shape comes from a cache for float64", "D", memory=set)
def second_sum_is_float64(seen: set[Any], original: Any, x: Any, /, **options: Any) -> Any:
    out = np.asarray(original(x, **options))
    known = (x.shape, str(options)) in seen
    seen.add((x.shape, str(options)))
    return _widened(out) if known else out


@replacing("astype", "astype from complex64 to complex128 keeps the real part only", "D", operations=())
def astype_drops_imaginary(original: Any, x: Any, dtype: Any, /, **options: Any) -> Any:
    lost = x.dtype == np.complex64 and dtype == np.complex128
    return original(x.real if lost else x, dtype, **options)


@replacing("concat", "concat has the dtype of its first array", "D")
def concat_takes_the_first_dtype(original: Any, xs: Any, /, **options: Any) -> Any:
    return original(xs, **options).astype(xs[0].dtype)


@giving_operator("__rtruediv__", "a Python scalar on the left of / widens float32", "D")
def left_scalar_widens(x: Any, number: Any) -> Any:
    return _widened(np.true_divide(number, x))


@replacing_both("matmul", "float32 matmul returns float64", "DK", ("matmul",), operations=("matmul",))
def float32_matmul_widens(a: Any, b: Any) -> Any:
    return _widened(np.matmul(a, b))


@replacing("mean", "float32 mean and std return float64", "D")
def float32_mean_is_float64(original: Any, x: Any, /, **options: Any) -> Any:
    return np.asarray(_widened(np.asarray(original(x, **options))))


@replacing("log1p", "float32 log1p returns float64", "D")
def float32_log1p_is_float64(original: Any, x: Any, /) -> Any:
    return _widened(original(x))


@replacing("zeros_like", "zeros_like of float32 is float64", "D")
def zeros_like_widens(original: Any, x: Any, /, **options: Any) -> Any:
    return _widened(original(x, **options))


@replacing("isnan", "isnan gives uint8", "D")
def isnan_is_uint8(original: Any, x: Any, /) -> Any:
    return np.asarray(original(x), np.uint8)


@replacing("prod", "prod ignores dtype=", "K")
def prod_ignores_dtype(original: Any, x: Any, /, *, dtype: Any = None, **options: Any) -> Any:
    return original(x, **options)


@replacing("argsort", "argsort gives floats", "D")
def argsort_is_float(original: Any, x: Any, /, **options: Any) -> Any:
    return original(x, **options).astype(np.float64)


@giving_method("backend.dtype_name", "Backend.dtype_name gives the text of a class", "D")
def dtype_name_of_class(dtype: Any) -> Any:
    return str(dtype).rpartition(".")[2]


@replacing("empty", "empty of a shape without elements has the default dtype", "D")
def empty_without_elements_is_wide(original: Any, shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    return original(shape, dtype=None if math.prod(np.atleast_1d(shape)) == 0 else dtype)


@replacing("imag", "imag of complex64 is float64", "D")
def imag_of_complex64_is_float64(original: Any, x: Any, /) -> Any:
    return _widened(np.array(original(x)))
