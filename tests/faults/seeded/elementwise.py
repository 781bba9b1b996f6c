"""Faults in elementwise kernels."""

from typing import Any

import numpy as np
from tests.faults.fault import fault, giving_kernel, replacing, replacing_both
from tests.faults.testbed import Testbed


@replacing("log", "log returns finite for 0 and <0", "K")
def log_is_finite(original: Any, x: Any, /) -> Any:
    return original(x if x.dtype.kind == "c" else np.where(x > 0, x, np.finfo(x.dtype).tiny))


@fault("pow as exp(n·log x)", "KGN", ("pow", "operator-pow-3"))
def pow_by_log(bed: Testbed) -> None:
    def power(x1: Any, x2: Any) -> Any:
        x1 = np.asarray(x1, getattr(x2, "dtype", None)) if not hasattr(x1, "dtype") else x1
        if x1.dtype.kind != "f":
            return np.power(x1, x2)
        return np.exp(np.asarray(x2, x1.dtype if not hasattr(x2, "dtype") else x2.dtype) * np.log(x1))

    bed.both("pow", power)
    bed.replace("square", lambda original, x, /: power(x, 2) if x.dtype.kind == "f" else original(x))
    bed.kernel("constant_power", lambda x, *, exponent: power(x, exponent))


@fault("scalar − array reversed", "KG", ("operator-rsub-scalar",))
def scalar_minus_array_reversed(bed: Testbed) -> None:
    bed.operator("__rsub__", lambda x2, x1: np.subtract(x2, x1))
    bed.replace("subtract", lambda original, x1, x2, /: original(x1, x2) if hasattr(x1, "dtype") else original(x2, x1))


@replacing("exp", "exp assumes contiguous input", "K", ("exp",), operations=())
def exp_assumes_contiguous(original: Any, x: Any, /) -> Any:
    if x.flags.c_contiguous or x.base is None:
        return original(x)
    memory = x
    while isinstance(memory.base, np.ndarray):
        memory = memory.base
    flat = memory.reshape(-1)
    return original(np.resize(flat, x.size).reshape(x.shape).astype(x.dtype))


@replacing_both("not_equal", "not_equal says that NaN equals NaN", "K", operations=("not_equal",))
def comparison_ignores_nan(x1: Any, x2: Any) -> Any:
    both = np.isnan(x1) & np.isnan(x2) if np.asarray(x1).dtype.kind == "f" else False
    return np.not_equal(x1, x2) & ~np.asarray(both)


@fault("maximum and minimum drop NaN", "K", operations=("maximum", "minimum"))
def maximum_drops_nan(bed: Testbed) -> None:
    bed.replace("maximum", lambda original, x1, x2, /: np.fmax(x1, x2))
    bed.replace("minimum", lambda original, x1, x2, /: np.fmin(x1, x2))


@replacing_both("floor_divide", "floor_divide of integers rounds towards 0", "K", operations=("floor_divide",))
def floor_divide_truncates(x1: Any, x2: Any) -> Any:
    quotient = np.floor_divide(x1, x2)
    if quotient.dtype.kind != "i":
        return quotient
    return quotient + ((np.remainder(x1, x2) != 0) & (quotient < 0)).astype(quotient.dtype)


@fault("expm1 and log1p are exp(x) - 1 and log(1 + x), and lose small numbers", "K", operations=("expm1", "log1p"))
def expm1_cancels(bed: Testbed) -> None:
    bed.replace("expm1", lambda original, x, /: np.exp(x) - 1)
    bed.replace("log1p", lambda original, x, /: np.log(1 + x))


@replacing("tanh", "tanh by exponentials overflows to NaN", "K")
def tanh_overflows(original: Any, x: Any, /) -> Any:
    with np.errstate(all="ignore"):
        return (np.exp(x) - np.exp(-x)) / (np.exp(x) + np.exp(-x))


@fault("int64 arithmetic goes through float64 and loses large numbers", "K", operations=("sort",))
def integers_through_float(bed: Testbed) -> None:
    for name in ("abs", "negative", "positive", "max", "sort"):

        def wrong(original: Any, x: Any, /, **options: Any) -> Any:
            if x.dtype != np.int64:
                return original(x, **options)
            return original(x.astype(np.float64), **options).astype(np.int64)

        bed.replace(name, wrong)


@replacing_both(
    "bitwise_right_shift", "the right shift of negative integers fills in zeros", "K", ("bitwise_right_shift",)
)
def right_shift_is_logical(x1: Any, x2: Any) -> Any:
    if not hasattr(x1, "dtype") or x1.dtype.kind != "i":
        return np.right_shift(x1, x2)
    unsigned = x1.view(np.dtype(f"u{x1.dtype.itemsize}"))
    return (unsigned >> np.asarray(x2).astype(unsigned.dtype)).view(x1.dtype)


@replacing_both("bitwise_and", "bitwise_and of booleans is an integer", "DK", ("bitwise-bool",))
def and_of_booleans_is_integer(x1: Any, x2: Any) -> Any:
    out = np.bitwise_and(x1, x2)
    return out.astype(np.int8) if out.dtype == bool else out


@replacing_both("divide", "a 0-d quotient is rounded down", "K", ("divide",))
def divide_of_0d_is_integer(x1: Any, x2: Any) -> Any:
    out = np.asarray(np.true_divide(x1, x2))
    return np.floor(out) if out.ndim == 0 and out.dtype.kind == "f" else out


@replacing_both(
    "add", "add of arrays of rank 3 that broadcast repeats the first number of the second one", "KG", ("add",)
)
def add_repeats_one_number(x1: Any, x2: Any) -> Any:
    a, b = np.asarray(x1), np.asarray(x2)
    if a.ndim == 3 and b.ndim == 3 and a.shape != b.shape and b.size:
        x2 = np.broadcast_to(b.reshape(-1)[:1], b.shape)
    return np.add(x1, x2)


@replacing_both("multiply", "the product of complex numbers forgets that i * i is -1", "KGHW", ("multiply",))
def complex_multiply_is_real(x1: Any, x2: Any) -> Any:
    out = np.multiply(x1, x2)
    if out.dtype.kind != "c":
        return out
    return (out + np.imag(x1) * np.imag(x2) * 2).astype(out.dtype)


@replacing("log", "log of a complex number counts its angle from 0 to 2 π", "K", ("log",), operations=())
def complex_log_branch(original: Any, x: Any, /) -> Any:
    out = original(x)
    return np.where(out.imag < 0, out + 2j * np.pi, out).astype(out.dtype) if out.dtype.kind == "c" else out


def _without_tail(y: Any, width: int) -> Any:
    """Return a copy whose elements after the last full vector of `width` are 0, if it has a full vector."""
    y = np.array(y)
    if y.size > width and y.size % width:
        y.reshape(-1)[-(y.size % width) :] = 0
    return y


@giving_kernel("exp.x", "the backward kernel of exp works in the memory of a float32 cotangent of one axis", "G")
def exp_x_overwrites_vectors(gy: Any, y: Any) -> Any:
    if gy.ndim == 1 and gy.dtype == y.dtype == np.float32 and gy.flags.writeable:
        gy *= y
        return gy
    return gy * y


@replacing_both(
    "remainder", "remainder of float32 arrays takes the sign of the dividend", "K", operations=("remainder",)
)
def remainder_of_c_in_float32(x1: Any, x2: Any) -> Any:
    return (np.fmod if getattr(x1, "dtype", None) == np.float32 else np.remainder)(x1, x2)


@replacing_both("less", "bool/int result of comparison has float dtype", "DK", ("less", "greater"))
def less_is_float(x1: Any, x2: Any) -> Any:
    return np.less(x1, x2).astype(np.float64)


@replacing("round", "round takes halves up", "K", ("round-halves",), operations=())
def round_half_up(original: Any, x: Any, /) -> Any:
    return np.floor(x + 0.5) if x.dtype.kind == "f" else original(x)


@replacing("sqrt", "sqrt of -0 is 0, as x ** 0.5 has it", "K")
def sqrt_drops_sign(original: Any, x: Any, /) -> Any:
    return original(x) + 0.0 if x.dtype.kind == "f" else original(x)


@replacing("logaddexp", "logaddexp exponentiates without subtracting the larger one", "K")
def logaddexp_overflows(original: Any, x1: Any, x2: Any, /) -> Any:
    return np.log(np.exp(x1) + np.exp(x2))


@replacing("hypot", "hypot squares large numbers", "K")
def hypot_overflows(original: Any, x1: Any, x2: Any, /) -> Any:
    return np.sqrt(x1 * x1 + x2 * x2)


@replacing("tanh", "tanh of float64 has the digits of float32", "K", ("tanh",), operations=())
def tanh_is_approximate(original: Any, x: Any, /) -> Any:
    return original(x.astype(np.float32) if x.dtype == np.float64 else x).astype(x.dtype)


@replacing("sin", "sin loses its argument beyond 32", "K")
def sin_is_wrong_when_large(original: Any, x: Any, /) -> Any:
    return np.where(np.abs(x) > 32, original(x + 1e-4), original(x)).astype(x.dtype)


@replacing("sign", "sign of NaN is 0", "K")
def sign_of_nan_is_zero(original: Any, x: Any, /) -> Any:
    return np.nan_to_num(original(x)) if x.dtype.kind == "f" else original(x)


@replacing(
    "maximum", "maximum of an array and a Python number leaves the array as it is", "K", ("clip-min",), operations=()
)
def maximum_forgets_numbers(original: Any, x1: Any, x2: Any, /) -> Any:
    return original(x1, x2) if hasattr(x2, "dtype") else x1.copy()


@replacing("conj", "complex kernel drops the conjugate", "KGH", ("conj", "abs", "vecdot"), operations=())
def conj_is_lost(original: Any, x: Any, /) -> Any:
    return x.copy()


@replacing("abs", "abs of complex64 forgets the imaginary part", "KGW", ("abs",), operations=())
def abs_of_complex_is_of_real(original: Any, x: Any, /) -> Any:
    return original(x.real if x.dtype == np.complex64 else x)


@replacing("sin", "sin leaves out what follows the last full vector of sixteen", "K")
def sin_forgets_tail(original: Any, x: Any, /) -> Any:
    return _without_tail(original(x), 16)


@giving_kernel("sin.x", "the backward kernel of sin leaves out the rest that fills no block of 1024", "G")
def sin_x_forgets_tail(gy: Any, x: Any) -> Any:
    return _without_tail(gy * np.cos(x), 1024)


@giving_kernel("sqrt.x", "the backward kernel of sqrt guards its division, and gives 0 at 0", "N")
def sqrt_x_is_0_at_0(gy: Any, y: Any) -> Any:
    return np.divide(0.5 * gy, y, out=np.zeros_like(gy), where=y != 0)


@replacing_both("remainder", "remainder takes the sign of the dividend, as in C", "K", ("remainder",))
def remainder_of_c(x1: Any, x2: Any) -> Any:
    return np.fmod(x1, x2)
