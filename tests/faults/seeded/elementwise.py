"""Faults in elementwise kernels."""

from typing import Any

import numpy as np
from tests.faults.fault import (
    fault,
    giving_kernel,
    misreading,
    misreading_both,
    replacing,
    replacing_both,
    spoiling,
    spoiling_both,
)
from tests.faults.testbed import Testbed


@fault("pow as exp(n·log x)", "KGN", ("pow", "operator-pow-3"))
def pow_by_log(bed: Testbed) -> None:
    def power(x1: Any, x2: Any) -> Any:
        x1 = np.asarray(x1, getattr(x2, "dtype", None)) if not hasattr(x1, "dtype") else x1
        if x1.dtype.kind != "f":
            return np.power(x1, x2)
        return np.exp(np.asarray(x2, x1.dtype if not hasattr(x2, "dtype") else x2.dtype) * np.log(x1))

    bed.both("pow", power)
    bed.replace("square", lambda right, x, /: power(x, 2) if x.dtype.kind == "f" else right(x))
    bed.kernel("constant_power", lambda x, *, exponent: power(x, exponent))


@fault("scalar − array reversed", "KG", ("operator-rsub-scalar",), operations=("acos",))
def scalar_minus_array_reversed(bed: Testbed) -> None:
    bed.operator("__rsub__", lambda x2, x1: np.subtract(x2, x1))
    bed.replace("subtract", lambda right, x1, x2, /: right(x1, x2) if hasattr(x1, "dtype") else right(x2, x1))


@replacing("exp", "exp assumes contiguous input", "K", ("exp",))
def exp_assumes_contiguous(right: Any, x: Any, /) -> Any:
    if x.flags.c_contiguous or x.base is None:
        return right(x)
    memory = x
    while isinstance(memory.base, np.ndarray):
        memory = memory.base
    flat = memory.reshape(-1)
    return right(np.resize(flat, x.size).reshape(x.shape).astype(x.dtype))


@replacing_both("not_equal", "not_equal says that NaN equals NaN", "K")
def comparison_ignores_nan(x1: Any, x2: Any) -> Any:
    both = np.isnan(x1) & np.isnan(x2) if np.asarray(x1).dtype.kind == "f" else False
    return np.not_equal(x1, x2) & ~np.asarray(both)


@fault("maximum and minimum drop NaN", "K", operations=("maximum", "minimum"))
def maximum_drops_nan(bed: Testbed) -> None:
    bed.replace("maximum", lambda right, x1, x2, /: np.fmax(x1, x2))
    bed.replace("minimum", lambda right, x1, x2, /: np.fmin(x1, x2))


@spoiling_both("floor_divide", "floor_divide of integers rounds towards 0", "K")
def floor_divide_truncates(quotient: Any, x1: Any, x2: Any) -> Any:
    if quotient.dtype.kind != "i":
        return quotient
    return quotient + ((np.remainder(x1, x2) != 0) & (quotient < 0)).astype(quotient.dtype)


@fault("expm1 and log1p are exp(x) - 1 and log(1 + x), and lose small numbers", "K", operations=("expm1", "log1p"))
def expm1_cancels(bed: Testbed) -> None:
    bed.replace("expm1", lambda right, x, /: np.exp(x) - 1)
    bed.replace("log1p", lambda right, x, /: np.log(1 + x))


@replacing("abs negative positive max sort", families="K", operations=("sort",))
def integers_through_float(right: Any, x: Any, /, **options: Any) -> Any:
    """int64 arithmetic goes through float64 and loses large numbers"""
    if x.dtype != np.int64:
        return right(x, **options)
    return right(x.astype(np.float64), **options).astype(np.int64)


@misreading_both("add", families="K", cases=("add",))
def add_repeats_one_number(x1: Any, x2: Any) -> Any:
    """add of arrays of rank 3 that broadcast repeats the first number of the second one"""
    a, b = np.asarray(x1), np.asarray(x2)
    if a.ndim == 3 and b.ndim == 3 and a.shape != b.shape and b.size:
        x2 = np.broadcast_to(b.reshape(-1)[:1], b.shape)
    return x1, x2


def _without_tail(y: Any, width: int) -> Any:
    """Return a copy whose elements after the last full vector of `width` are 0, if it has a full vector."""
    y = np.array(y)
    if y.size > width and y.size % width:
        y.reshape(-1)[-(y.size % width) :] = 0
    return y


@giving_kernel("exp.x", families="G", operations=("exp",))
def exp_x_overwrites_vectors(gy: Any, y: Any) -> Any:
    """the backward kernel of exp works in the memory of a float32 cotangent of one axis"""
    if gy.ndim == 1 and gy.dtype == y.dtype == np.float32 and gy.flags.writeable:
        gy *= y
        return gy
    return gy * y


@replacing("maximum", families="K", cases=("clip-min",))
def maximum_forgets_numbers(right: Any, x1: Any, x2: Any, /) -> Any:
    """maximum of an array and a Python number leaves the array as it is"""
    return right(x1, x2) if hasattr(x2, "dtype") else x1.copy()


log_is_finite = replacing("log", "log returns finite for 0 and <0", "K")(
    lambda right, x: right(x if x.dtype.kind == "c" else np.where(x > 0, x, np.finfo(x.dtype).tiny))
)
tanh_overflows = replacing("tanh", "tanh by exponentials overflows to NaN", "K")(
    lambda right, x: (np.exp(x) - np.exp(-x)) / (np.exp(x) + np.exp(-x))
)
divide_of_0d_is_integer = spoiling_both("divide", "a 0-d quotient is rounded down", "K", ("divide",))(
    lambda out, *_: np.floor(out) if out.ndim == 0 and out.dtype.kind == "f" else out
)
round_half_up = replacing("round", "round takes halves up", "K", ("round-halves",))(
    lambda right, x: np.floor(x + 0.5) if x.dtype.kind == "f" else right(x)
)
sqrt_drops_sign = replacing("sqrt", "sqrt of -0 is 0, as x ** 0.5 has it", "K")(
    lambda right, x: right(x) + 0.0 if x.dtype.kind == "f" else right(x)
)
logaddexp_overflows = replacing("logaddexp", "logaddexp exponentiates without subtracting the larger one", "K")(
    lambda right, x1, x2: np.log(np.exp(x1) + np.exp(x2))
)
tanh_is_approximate = replacing("tanh", "tanh of float64 has the digits of float32", "K", ("tanh",))(
    lambda right, x: right(x.astype(np.float32) if x.dtype == np.float64 else x).astype(x.dtype)
)
sin_is_wrong_when_large = replacing("sin", "sin loses its argument beyond 32", "K")(
    lambda right, x: np.where(np.abs(x) > 32, right(x + 1e-4), right(x)).astype(x.dtype)
)
sign_of_nan_is_zero = replacing("sign", "sign of NaN is 0", "K")(
    lambda right, x: np.nan_to_num(right(x)) if x.dtype.kind == "f" else right(x)
)
conj_is_lost = replacing("conj", "complex kernel drops the conjugate", "KGH", ("conj", "abs", "vecdot"))(
    lambda right, x: x.copy()
)
sin_forgets_tail = replacing("sin", "sin leaves out what follows the last full vector of sixteen", "K")(
    lambda right, x: _without_tail(right(x), 16)
)
sqrt_x_is_0_at_0 = giving_kernel("sqrt.x", "the backward kernel of sqrt guards its division, and gives 0 at 0", "N")(
    lambda gy, y: np.divide(0.5 * gy, y, out=np.zeros_like(gy), where=y != 0)
)
and_of_booleans_is_integer = spoiling_both(
    "bitwise_and", "bitwise_and of booleans is an integer", "DK", ("bitwise-bool",)
)(lambda out, *_: out.astype(np.int8) if out.dtype == bool else out)
complex_multiply_is_real = spoiling_both(
    "multiply", "the product of complex numbers forgets that i * i is -1", "KGHW", cases=("multiply",)
)(lambda out, x1, x2: (out + np.imag(x1) * np.imag(x2) * 2).astype(out.dtype) if out.dtype.kind == "c" else out)
complex_log_branch = spoiling("log", "log of a complex number counts its angle from 0 to 2 π", "K", ("log",))(
    lambda out, *_: np.where(out.imag < 0, out + 2j * np.pi, out).astype(out.dtype) if out.dtype.kind == "c" else out
)
remainder_of_c_in_float32 = replacing_both(
    "remainder", "remainder of float32 arrays takes the sign of the dividend", "K"
)(lambda x1, x2: (np.fmod if getattr(x1, "dtype", None) == np.float32 else np.remainder)(x1, x2))
abs_of_complex_is_of_real = misreading("abs", "abs of complex64 forgets the imaginary part", "KW", ("abs",))(
    lambda x: x.real if x.dtype == np.complex64 else x
)
sin_x_forgets_tail = giving_kernel(
    "sin.x", "the backward kernel of sin leaves out the rest that fills no block of 1024", "G", operations=("sin",)
)(lambda gy, x: _without_tail(gy * np.cos(x), 1024))
