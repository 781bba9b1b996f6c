"""Family K, elementwise and reducing functions: special values, integers, accuracy, every choice of axes."""

import itertools
from typing import Any

import numpy as np

from xpgrad.testing.arrays import on_host
from xpgrad_conformance.check import check
from xpgrad_conformance.oracle import agrees, host, same, same_numbers
from xpgrad_conformance.subject import Subject

inf, nan = np.inf, np.nan
USUAL = 0.0, -0.0, 1.0, -1.0, 0.37, -0.37, inf, -inf, nan
UNARY: dict[str, tuple[float, ...]] = {
    "abs": USUAL,
    "acos": (1.0, 1.7, -1.7, nan),
    "acosh": (1.0, 0.3, -2.0, inf, nan),
    "asin": (0.0, -0.0, 1.7, -1.7, nan),
    "asinh": USUAL,
    "atan": USUAL,
    "atanh": (0.0, -0.0, 1.0, -1.0, 1.7, -1.7, nan),
    "ceil": (0.0, -0.0, 1.3, -1.3, inf, -inf, nan),
    "cos": USUAL,
    "cosh": USUAL,
    "exp": (*USUAL, 1000.0, -1000.0),
    "expm1": (*USUAL, 1000.0, -1000.0),
    "floor": (0.0, -0.0, 1.3, -1.3, inf, -inf, nan),
    "isfinite": USUAL,
    "isinf": USUAL,
    "isnan": USUAL,
    "log": USUAL,
    "log10": USUAL,
    "log1p": (0.0, -0.0, -1.0, -1.7, inf, -inf, nan),
    "log2": USUAL,
    "negative": USUAL,
    "reciprocal": (1.0, 0.0, -0.0, inf, -inf, nan),
    "round": (0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 2.3, inf, -inf, nan),
    "sign": (1.3, -1.3, inf, -inf, nan),
    "signbit": (0.0, -0.0, 1.3, -1.3, inf, -inf),
    "sin": USUAL,
    "sinh": USUAL,
    "sqrt": USUAL,
    "square": USUAL,
    "tan": USUAL,
    "tanh": (*USUAL, 1000.0, -1000.0),
    "trunc": (0.0, -0.0, 1.3, -1.3, inf, -inf, nan),
}
SIGNS = {
    "atan", "asin", "asinh", "atanh", "expm1", "floor", "log1p", "negative", "sin", "sinh", "sqrt", "tan", "tanh",
    "trunc", "add", "multiply", "divide",
}  # fmt: skip
"""Functions for which the standard specifies the sign of zeros."""
BINARY: dict[str, tuple[tuple[float, float], ...]] = {
    "add": ((inf, -inf), (inf, 1.0), (nan, 1.0), (1.0, nan), (-0.0, -0.0), (0.0, -0.0)),
    "atan2": ((0.0, -0.0), (-0.0, -0.0), (1.3, 0.0), (-1.3, -inf), (inf, inf), (-inf, 1.3), (nan, 1.0)),
    "copysign": ((1.3, -0.0), (-1.3, 0.0), (inf, -1.0)),
    "divide": ((1.3, 0.0), (1.3, -0.0), (-1.3, 0.0), (0.0, 0.0), (inf, inf), (1.3, -inf), (nan, 0.0)),
    "equal": ((nan, nan), (0.0, -0.0), (inf, inf), (inf, -inf)),
    "floor_divide": ((-7.0, 2.0), (7.0, -2.0), (-1.0, 3.0), (-6.0, -4.0)),
    "greater": ((nan, 1.0), (1.0, nan), (inf, 1.0), (0.0, -0.0)),
    "greater_equal": ((nan, nan), (inf, inf), (0.0, -0.0)),
    "hypot": ((0.0, -0.0), (inf, 1.3), (nan, 1.3), (1.3, -inf)),
    "less": ((nan, 1.0), (1.0, nan), (-inf, 1.0), (-0.0, 0.0)),
    "less_equal": ((nan, nan), (inf, inf), (0.0, -0.0)),
    "logaddexp": ((1000.0, 1001.0), (-1000.0, -1000.5), (-inf, 1.3), (inf, 1.3), (nan, 1.3)),
    "maximum": ((nan, 1.3), (1.3, nan), (inf, 1.3), (-inf, 1.3)),
    "minimum": ((nan, 1.3), (1.3, nan), (inf, 1.3), (-inf, 1.3)),
    "multiply": ((0.0, inf), (-1.3, inf), (nan, 0.0), (-0.0, 1.3), (0.0, -1.3)),
    "not_equal": ((nan, nan), (0.0, -0.0), (inf, inf)),
    "pow": (
        (1.0, nan), (nan, 0.0), (0.0, 0.0), (0.0, -1.0), (-8.0, 0.3), (-2.0, 3.0), (-2.0, 2.0), (-2.0, -1.0),
        (inf, -1.0), (0.5, inf), (2.0, -inf), (0.0, 2.0), (inf, 0.5),
    ),
    "remainder": ((1.3, 0.0), (-7.0, 3.0), (7.0, -3.0), (-7.0, -3.0), (5.5, -2.0), (-0.75, 2.0), (nan, 1.0)),
    "subtract": ((inf, inf), (inf, 1.0), (nan, 1.0), (1.3, inf)),
}  # fmt: skip
ACCURATE: dict[str, tuple[float, ...]] = {
    "acosh": (1.5, 40.0, 1e6),
    "asinh": (1e-7, -1e-7, 3.0, -1e6, 1e6),
    "atanh": (1e-7, -0.9, 0.9),
    "cosh": (1e-3, 20.0, -40.0),
    "exp": (-60.0, -1e-5, 3.0, 60.0),
    "expm1": (1e-7, -1e-7, 1e-3, -5.0, 30.0),
    "log": (1e-30, 1e-5, 0.7, 3.0, 1e30),
    "log1p": (1e-7, -1e-7, 1e-3, 30.0, 1e20),
    "log2": (1e-20, 3.0, 1e20),
    "log10": (1e-20, 3.0, 1e20),
    "sinh": (1e-7, -1e-7, 1e-3, 20.0, -40.0),
    "sqrt": (1e-30, 1e-7, 2.0, 1e30),
    "sin": (1e-7, 0.3, -2.0, 100.0),
    "cos": (1e-3, 0.3, -2.0, 100.0),
    "tan": (1e-7, 0.3, -1.2),
    "tanh": (1e-7, -1e-3, 0.3, -0.9, 4.0, 30.0),
    "reciprocal": (1e-30, 3.0, -1e30),
    "atan": (1e-7, 0.3, -30.0, 1e6),
}
ELEMENT_RTOL = {"float64": 1e-12, "float32": 2e-5}


@check("K02", scope="dtype", dtypes=("float64", "float32"))
def special_values(s: Subject) -> None:
    """Infinities, NaN, signed zeros and values outside of the domain give what the standard says."""
    rtol = ELEMENT_RTOL[s.dtype] * s.widened(s.dtype)
    for name, points in UNARY.items():
        if s.has(name):
            x = np.asarray(points)
            _expect_special(s, name, (x,), [f"{name}({p})" for p in points], rtol)
    for name, pairs in BINARY.items():
        if s.has(name):
            x1, x2 = (np.asarray(each) for each in zip(*pairs, strict=True))
            _expect_special(s, name, (x1, x2), [f"{name}({a}, {b})" for a, b in pairs], rtol)


def _expect_special(s: Subject, name: str, hosts: tuple[Any, ...], titles: list[str], rtol: float) -> None:
    arrays = [s.array(each) for each in hosts]
    with np.errstate(all="ignore"):
        got = on_host(getattr(s.xp, name)(*arrays))
        expected = getattr(host, name)(*(on_host(each).astype(np.float64) for each in arrays))
    for title, one, other in zip(titles, got, expected, strict=True):
        same_numbers(one, other, rtol, title, signs=name in SIGNS)


@check("K03", scope="dtype", dtypes=("float64", "float32"))
def accurate_everywhere(s: Subject) -> None:
    """Elementary functions are accurate for small and for large arguments, each element by its own size."""
    rtol = ELEMENT_RTOL[s.dtype] * s.widened(s.dtype)
    for name, points in ACCURATE.items():
        if s.has(name):
            x = s.array(np.asarray(points))
            expected = getattr(host, name)(on_host(x).astype(np.float64))
            got = on_host(getattr(s.xp, name)(x))
            for point, one, other in zip(points, got, expected, strict=True):
                same_numbers(one, other, rtol, f"{name}({point})")
    if not s.has("hypot"):
        return
    large = 3e150 if s.dtype == "float64" else 3e30
    got = on_host(s.xp.hypot(s.array([large]), s.array([large / 3 * 4])))
    same_numbers(got, [large / 3 * 5], rtol, f"hypot({large}, {large / 3 * 4})")


@check("K04")
def special_reductions(s: Subject) -> None:
    """Reductions hand on NaN and infinities, and begin with their first element."""
    rows = {
        "a NaN": [[1.3, nan, -0.7], [0.2, 2.4, -3.1]],
        "infinities": [[1.3, inf, -0.7], [0.2, 2.4, -inf]],
        "both infinities": [[inf, 0.3, -inf], [0.2, 2.4, -3.1]],
        "negative numbers only": [[-1.3, -2.7, -0.7], [-0.2, -2.4, -3.1]],
        "large numbers only": [[1e5, 2e6, 3e7], [2e5, 1e6, 3e4]],
    }
    for name in ("max", "min", "sum", "prod", "mean", "var"):
        for what, values in rows.items():
            x = s.array(values, s.wide)
            for axis in (None, 0, 1):
                with np.errstate(all="ignore"):
                    expected = getattr(np, name)(on_host(x).astype(np.float64), axis=axis)
                    got = on_host(getattr(s.xp, name)(x, axis=axis))
                rtol = 100 * ELEMENT_RTOL[s.wide] * s.widened(s.wide)
                same_numbers(got, expected, rtol, f"{name} of {what}, axis={axis}")
    if s.has("cumulative_sum"):
        got = on_host(s.xp.cumulative_sum(s.array([0.3, nan, 1.0], s.wide)))
        assert list(np.isnan(got)) == [False, True, True], f"cumulative_sum of [0.3, nan, 1.0] is {got}"
    for name, expected in (("all", True), ("any", True)):
        got = on_host(getattr(s.xp, name)(s.array([nan, 1.0], s.wide)))
        assert bool(got) is expected, f"{name} of [nan, 1.0] is {got}, expected {expected}: NaN counts as True"


@check("K05")
def long_sums(s: Subject) -> None:
    """A float32 sum of a million equal signs does not lose digits to one long chain of additions."""
    count = 1_000_000
    values = (0.1 + 0.01 * s.values((1000,), -1.0, 1.0, "float32")).astype(np.float32)
    x = s.array(np.tile(values, count // 1000), "float32")
    exact = float(np.sum(values.astype(np.float64))) * (count // 1000)
    for name, expected in (("sum", exact), ("mean", exact / count)):
        got = float(on_host(getattr(s.xp, name)(x)))
        assert abs(got - expected) <= 1e-3 * s.widened("float32") * expected, (
            f"{name} of a million float32 numbers near 0.1 is {got!r}, expected {expected!r}"
        )


@check("K06")
def integers(s: Subject) -> None:
    """Integers: floor and remainder take the divisor's sign, shifts, bits, exact large numbers, sums that are wide."""
    a, b = np.asarray([[7, -7, 7, -7], [8, -1, 0, 100]]), np.asarray([[3, 3, -3, -3], [-8, 5, 7, -9]])
    kinds = [kind for kind in ("int8", "int16", "int32", "int64") if s.has(kind)]
    for kind in kinds:
        left, right = a.astype(kind), b.astype(kind)
        for name in ("add", "subtract", "multiply", "floor_divide", "remainder", "maximum", "minimum", "less", "equal"):
            if name != "multiply" or kind != "int8":
                _exact(s, name, kind, left, right)
        for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
            _exact(s, name, kind, left, right)
        for name in ("negative", "abs", "sign", "square", "bitwise_invert"):
            if name != "square" or kind != "int8":
                _exact(s, name, kind, left)
        shifts = np.asarray([[0, 1, 2, 3], [4, 5, 6, 1]], kind)
        _exact(s, "bitwise_left_shift", kind, np.ones((2, 4), kind), shifts)
        _exact(s, "bitwise_right_shift", kind, left, shifts)
    narrow = np.asarray([[100, 100, 100], [27, 99, -128]], np.int8)
    if s.has("int8"):
        for axis in (None, 1):
            got = on_host(s.xp.sum(s.array(narrow), axis=axis))
            same_numbers(got, narrow.sum(axis=axis, dtype=np.int64), 0.0, f"sum of int8, axis={axis}")
    if s.has("int64"):
        big = np.asarray([2**53 + 1, -(2**60) - 3, 2**62 + 5])
        for name in ("negative", "abs", "positive"):
            _exact(s, name, "int64 beyond 2**53", big)
        _exact(s, "add", "int64 beyond 2**53", big, np.asarray([2, 4, 6]))
        _exact(s, "max", "int64 beyond 2**53", big)
        _exact(s, "sum", "int64 beyond 2**53", big[:2])
        _exact(s, "sort", "int64 beyond 2**53", big)


def _exact(s: Subject, name: str, kind: str, *hosts: Any) -> None:
    expected = getattr(host, name)(*hosts)
    got = getattr(s.xp, name)(*(s.array(each) for each in hosts))
    s.expect(got, expected, f"{name} of {kind}", dtype="bool" if expected.dtype == bool else expected.dtype.name)


@check("K07")
def booleans(s: Subject) -> None:
    """Booleans: logic, comparison and choice give booleans; reductions and counts of them are exact."""
    a = np.asarray([[True, False, True], [False, False, True]])
    b = np.asarray([[True, True, False], [False, True, True]])
    for name in (
        "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor", "equal", "not_equal",
    ):  # fmt: skip
        same(s, name, a, b, dtype="bool")
    for name in ("logical_not", "bitwise_invert"):
        same(s, name, a, dtype="bool")
    for name in ("all", "any"):
        for axis, keepdims in itertools.product((None, 0, 1, -2, (0, 1)), (False, True)):
            for given in (a, b, np.ones((2, 3), bool), np.zeros((2, 3), bool)):
                same(s, name, given, dtype="bool", axis=axis, keepdims=keepdims)
    if s.has("empty_arrays"):
        for name, expected in (("all", True), ("any", False)):
            got = getattr(s.xp, name)(s.array(np.ones((0,), bool)))
            s.expect(got, np.asarray(expected), f"{name} of nothing", dtype="bool")
    if s.has("count_nonzero"):
        same(s, "count_nonzero", a, axis=1)
    agrees(s, "sum of booleans as int32", lambda xp, x: xp.sum(xp.astype(x, xp.int32), axis=0), lambda x: x.sum(0), b)


AXES: tuple[Any, ...] = (None, 0, 1, 2, -1, -2, -3, (0, 1), (2, 0), (-1, 1), (0, 1, 2), (1,))


@check("K08", scope="dtype", dtypes=("float64", "float32"))
def every_axis(s: Subject) -> None:
    """Reductions over each choice of axes, negative ones and tuples too, with and without keepdims."""
    x = s.values((2, 3, 5), 0.3, 1.7)
    for name in ("sum", "prod", "mean", "max", "min", "std", "var"):
        for axis, keepdims in itertools.product(AXES, (False, True)):
            same(s, name, x, axis=axis, keepdims=keepdims)
    for name in ("argmax", "argmin"):
        for axis, keepdims in itertools.product((None, 0, 1, -1), (False, True)):
            same(s, name, x, axis=axis, keepdims=keepdims)
    for correction in (0.0, 1.0, 2.0):
        same(s, "var", x, axis=1, correction=correction)
        same(s, "std", x, axis=-1, correction=correction)
    mean = 100.0 if s.dtype == "float32" else 1000.0
    far = s.values((3, 40), mean - 1.0, mean + 1.0)  # a difference of mean squares has lost its digits here
    for name in ("std", "var"):
        same(s, name, far, axis=1)


@check("K09")
def small_arrays(s: Subject) -> None:
    """Functions of 0-d, one-element and empty arrays have the right shape and value."""
    for shape in ((), (1,), (1, 1, 1), (3, 1)):
        x = s.values(shape, 0.3, 1.7, s.wide)
        for name in ("sum", "prod", "mean", "max", "min"):
            for keepdims in (False, True):
                same(s, name, x, dtype=s.wide, keepdims=keepdims)
        for name in ("exp", "negative", "sqrt", "tanh", "abs"):
            same(s, name, x, dtype=s.wide)
        same(s, "add", x, s.values(shape, dtype=s.wide), dtype=s.wide)
    if s.has("empty_arrays"):
        for shape, axis in (((0,), None), ((0, 3), 0), ((0, 3), 1), ((2, 0), 1), ((2, 0, 3), (0, 1)), ((2, 0, 3), 2)):
            x = s.values(shape, dtype=s.wide)
            for name in ("sum", "prod"):
                same(s, name, x, dtype=s.wide, axis=axis)
            same(s, "exp", x, dtype=s.wide)
            same(s, "multiply", x, x, dtype=s.wide)
