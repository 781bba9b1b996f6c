"""PyTorch's elementwise functions, with its names of arguments, for Variables."""

import math
from typing import Any

import torch

from xpgrad import array_api as xp
from xpgrad import ops
from xpgrad.errors import DtypeError
from xpgrad_torch.functions.table import (
    SCALARS,
    TABLE,
    Function,
    expect_fitting,
    expect_same,
    floating,
    is_whole,
    promoted,
    torch_function,
    torch_functions,
    variable,
    with_ndim,
)

SAME = """ceil floor isfinite isinf isnan logical_not positive real signbit trunc square sign"""
FLOATING = """acos acosh asin asinh atan atanh cos cosh exp expm1 log log10 log1p log2 reciprocal sin sinh sqrt tan
tanh"""
BINARY = """bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift copysign hypot logaddexp
logical_and logical_or logical_xor maximum minimum nextafter"""
RENAMED = {
    "abs": ("absolute", "__abs__"), "acos": ("arccos",), "acosh": ("arccosh",), "asin": ("arcsin",),
    "asinh": ("arcsinh",), "atan": ("arctan",), "atanh": ("arctanh",), "trunc": ("fix",), "conj": ("conj_physical",),
}  # fmt: skip


def _of_one(name: str, function: Function, prepare: Function) -> None:
    @torch_function(name, *RENAMED.get(name, ()))
    def elementwise(input: Any) -> Any:
        return function(prepare(input))


for _name in SAME.split():
    _of_one(_name, getattr(xp, _name), variable)
for _name in FLOATING.split():
    _of_one(_name, getattr(xp, _name), floating)
_of_one("abs", xp.abs, variable)
_of_one("conj", xp.conj, variable)
_of_one("imag", xp.imag, variable)
_of_one("deg2rad", ops.deg2rad, floating)
_of_one("rad2deg", ops.rad2deg, floating)
_of_one("angle", ops.angle, floating)
_of_one("sinc", ops.sinc, floating)
_of_one("sgn", xp.sign, variable)
_of_one("rsqrt", lambda x: 1 / xp.sqrt(x), floating)
_of_one("neg", xp.negative, variable)
_of_one("frac", lambda x: x - xp.trunc(x), variable)
_of_one("bitwise_not", xp.bitwise_invert, variable)
TABLE["negative"] = TABLE["__neg__"] = TABLE["neg"]
TABLE["__abs__"], TABLE["__invert__"] = TABLE["abs"], TABLE["bitwise_not"]


def pair(input: Any, other: Any) -> tuple[Any, Any]:
    """Return two operands, one of which may be a scalar, as functions of the standard take them."""
    if isinstance(input, SCALARS):
        other = variable(other)
        return variable(input, other), other
    input = variable(input)
    return input, variable(other, input)


def _of_two(name: str, function: Function, *aliases: str) -> None:
    @torch_function(name, *aliases)
    def elementwise(input: Any, other: Any) -> Any:
        return function(*pair(input, other))


for _name in BINARY.split():
    _of_two(_name, getattr(xp, _name))
for _ours, _names in {
    "equal": ("eq", "__eq__"), "not_equal": ("ne", "not_equal", "__ne__"), "less": ("lt", "less", "__lt__"),
    "less_equal": ("le", "less_equal", "__le__"), "greater": ("gt", "greater", "__gt__"),
    "greater_equal": ("ge", "greater_equal", "__ge__"), "atan2": ("atan2", "arctan2"),
}.items():  # fmt: skip
    _of_two(_names[0], getattr(xp, _ours), *_names[1:])
for _name in ("and", "or", "xor"):
    TABLE[f"__{_name}__"] = TABLE[f"__r{_name}__"] = TABLE[f"bitwise_{_name}"]


@torch_function("add", "__add__", "__radd__")
def add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """Return ``input + alpha * other``."""
    x, y = _fitting("add", *scalars(input, other), alpha=alpha)
    return x + (y if alpha == 1 else alpha * y)


@torch_function("sub", "subtract", "__sub__")
def sub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """Return ``input - alpha * other``."""
    x, y = _fitting("sub", *scalars(input, other), alpha=alpha)
    return x - (y if alpha == 1 else alpha * y)


def _fitting(name: str, x: Any, y: Any, **factors: Any) -> tuple[Any, Any]:
    lead, other = (x, y) if hasattr(x, "dtype") else (y, x)
    expect_fitting(name, promoted(lead.dtype, other), **factors)
    return x, y


@torch_function("mul", "multiply", "__mul__", "__rmul__")
def mul(input: Any, other: Any) -> Any:
    """Return the product."""
    x, y = scalars(input, other)
    return x * y


@torch_function("div", "divide", "true_divide", "__truediv__", "__div__")
def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """Return the quotient, rounded with `rounding_mode`, which has no gradient."""
    x, y = scalars(input, other)
    if rounding_mode is None:
        return x / y
    if rounding_mode not in ("floor", "trunc"):
        raise ValueError(f"torch.div: expected rounding_mode 'floor', 'trunc' or None, got {rounding_mode!r}")
    return x // y if rounding_mode == "floor" else _truncated(*pair(input, other))


def _truncated(x: Any, y: Any) -> Any:
    if not (is_whole(x) and is_whole(y)):
        return xp.trunc(x / y)
    return x // y + ((x % y != 0) & ((x < 0) != (y < 0)))


@torch_function("floor_divide", "__floordiv__")
def floor_divide(input: Any, other: Any) -> Any:
    """Return the quotient rounded down; it has no gradient."""
    x, y = scalars(input, other)
    return x // y


@torch_function("remainder", "__mod__")
def remainder(input: Any, other: Any) -> Any:
    """Return the remainder with the sign of the divisor."""
    x, y = scalars(input, other)
    return x % y


@torch_function("fmod")
def fmod(input: Any, other: Any) -> Any:
    """Return the remainder with the sign of the dividend, which is exact."""
    return ops.fmod(*pair(input, other))


@torch_function("pow", "__pow__")
def pow_(input: Any, exponent: Any) -> Any:
    """Return the power."""
    x, y = scalars(input, exponent)
    return x**y


@torch_function("float_power")
def float_power(input: Any, exponent: Any) -> Any:
    """Return the power, computed in double precision."""
    x, y = pair(input, exponent)
    dtype = torch.complex128 if promoted(x.dtype, y).is_complex else torch.float64
    return x.astype(dtype) ** y.astype(dtype)


def scalars(input: Any, other: Any) -> tuple[Any, Any]:
    """Return two operands of an operator: scalars unchanged, arrays as Variables."""
    x, y = (each if isinstance(each, SCALARS) else variable(each) for each in (input, other))
    return x, y


def _ignoring_nan(name: str, function: Function) -> None:
    @torch_function(name)
    def ignoring(input: Any, other: Any) -> Any:
        x, y = pair(input, other)
        return xp.where(xp.isnan(x), y, xp.where(xp.isnan(y), x, function(x, y)))


_ignoring_nan("fmax", xp.maximum)
_ignoring_nan("fmin", xp.minimum)


@torch_function("clamp", "clip")
def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """Return the elements within bounds; at a bound, xpgrad gives half of PyTorch's gradient."""
    x = variable(input)
    if min is None and max is None:
        raise ValueError("torch.clamp: expected min or max, got neither")
    return xp.clip(x.astype(promoted(x.dtype, min, max), copy=False), min, max)


@torch_function("where")
def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """Return `input` where a condition is true, else `other`; without both, the indices where it is true."""
    condition = _mask(condition, "where: expected a boolean condition")
    if input is None and other is None:
        return xp.nonzero(condition)
    x, y = scalars(input, other)
    if not any(hasattr(each, "shape") for each in (x, y)):
        x = variable(torch.as_tensor(x, device=condition.device.handle))
    return xp.where(condition, x, y)


@torch_function("masked_fill")
def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """Return the elements, `value` where the mask is true."""
    x = variable(input)
    (fill,) = with_ndim("masked_fill", value=(variable(value, x), 0))
    return xp.where(_mask(mask, "masked_fill: expected a boolean mask"), fill.astype(x.dtype, copy=False), x)


def _mask(mask: Any, expected: str) -> Any:
    mask = variable(mask)
    if mask.dtype != torch.bool:
        raise DtypeError(f"torch.{expected}, got {mask.dtype}")
    return mask


@torch_function("lerp")
def lerp(input: Any, end: Any, weight: Any) -> Any:
    """Return ``input + weight * (end - input)``, computed from the nearer end."""
    x, y = variable(input), variable(end)
    w = variable(weight, x)
    return xp.where(abs(w) < 0.5, x + w * (y - x), y - (1 - w) * (y - x))


@torch_function("isclose")
def isclose(input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Return whether elements are nearly equal."""
    if rtol < 0 or atol < 0:
        raise ValueError(f"torch.isclose: expected rtol and atol from 0 on, got {rtol} and {atol}")
    return ops.isclose(*pair(input, other), rtol=rtol, atol=atol, equal_nan=equal_nan)


@torch_function("equal")
def equal(input: Any, other: Any) -> bool:
    """Return whether shapes and elements are equal."""
    x, y = pair(input, other)
    return x.shape == y.shape and bool(xp.all(x == y))


def _complex(real: Any, imag: Any) -> Any:
    expect_same("complex", "dtype", real=real, imag=imag)
    if not real.dtype.is_floating_point:
        raise DtypeError(f"torch.complex: expected real floating-point numbers, got {real.dtype}")
    return real + imag * 1j


ROWS: dict[str, Function] = {
    "rsub __rsub__": lambda input, other, *, alpha=1: sub(other, input, alpha=alpha),
    "__rtruediv__ __rdiv__": lambda input, other: div(other, input),
    "__rfloordiv__": lambda input, other: floor_divide(other, input),
    "__rmod__": lambda input, other: remainder(other, input),
    "__rpow__": lambda input, other: pow_(other, input),
    "round": lambda input, *, decimals=0: variable(input).round(decimals),
    "nan_to_num": lambda input, nan=0.0, posinf=None, neginf=None: ops.nan_to_num(
        variable(input), nan=nan or 0.0, posinf=posinf, neginf=neginf
    ),
    "complex": lambda real, imag: _complex(variable(real), variable(imag)),
    "polar": lambda abs, angle: _complex(
        variable(abs) * xp.cos(variable(angle)), variable(abs) * xp.sin(variable(angle))
    ),
    "logaddexp2": lambda input, other: ops.logaddexp2(*pair(input, other)),
    "isposinf": lambda input: variable(input) == math.inf,
    "isneginf": lambda input: variable(input) == -math.inf,
    "clamp_min": lambda input, min: clamp(input, min),
    "clamp_max": lambda input, max: clamp(input, None, max),
    "addcmul": lambda input, tensor1, tensor2, *, value=1: add(input, mul(tensor1, tensor2), alpha=value),
    "addcdiv": lambda input, tensor1, tensor2, *, value=1: add(input, div(tensor1, tensor2), alpha=value),
    "allclose": lambda input, other, rtol=1e-5, atol=1e-8, equal_nan=False: bool(
        xp.all(isclose(input, other, rtol, atol, equal_nan))
    ),
}
torch_functions(ROWS)
