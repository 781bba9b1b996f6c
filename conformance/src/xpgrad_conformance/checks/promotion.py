"""Family D, first part: promotion by the standard's table. Python scalars are weak, and 0-d arrays are strong."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

from xpgrad_conformance.check import check
from xpgrad_conformance.subject import Subject

WIDE_UNSIGNED = "uint16", "uint32", "uint64"
Call = Callable[[Any, Any, Any], Any]
ARITHMETIC: dict[str, tuple[Call, Call]] = {
    "x1 + x2": (lambda xp, a, b: a + b, lambda np, a, b: a + b),
    "x1 - x2": (lambda xp, a, b: a - b, lambda np, a, b: a - b),
    "x1 * x2": (lambda xp, a, b: a * b, lambda np, a, b: a * b),
    "multiply(x1, x2)": (lambda xp, a, b: xp.multiply(a, b), lambda np, a, b: a * b),
    "where(x1 == x1, x1, x2)": (lambda xp, a, b: xp.where(a == a, a, b), lambda np, a, b: np.where(a == a, a, b)),
    "concat([x1, x2])": (lambda xp, a, b: xp.concat([a, b]), lambda np, a, b: np.concatenate([a, b])),
}
ORDERED: dict[str, tuple[Call, Call]] = {
    "maximum(x1, x2)": (lambda xp, a, b: xp.maximum(a, b), lambda np, a, b: np.maximum(a, b)),
    "minimum(x1, x2)": (lambda xp, a, b: xp.minimum(a, b), lambda np, a, b: np.minimum(a, b)),
}
"""Operations on two arrays, with the backend and with NumPy."""


def _operand(dtype: str, shape: tuple[int, ...] = (3,), first: float = 5) -> Any:
    values = first + np.asarray([2, 0, 9])
    host = (values * (1.0 if dtype[:3] in ("int", "uin") else 0.375)).astype(dtype)
    host = host + np.asarray(0.5j, dtype) if dtype.startswith("complex") else host
    return host if shape == (3,) else host[0].reshape(shape)


def _expect_pairs(s: Subject, pairs: Iterator[tuple[str, str]], shape: tuple[int, ...] = (3,)) -> None:
    for one, other in pairs:
        hosts = _operand(one), _operand(other, shape, 1)
        a, b = s.variable(hosts[0], one), s.variable(hosts[1], other)
        dtype = str(np.promote_types(one, other))
        ordered = {} if "complex" in one + other else ORDERED
        for what, (call, reference) in (ARITHMETIC | ordered).items():
            if shape == () and "concat" in what:
                continue
            wide = hosts[0].astype(dtype), hosts[1].astype(dtype)
            s.expect(call(s.xp, a, b), reference(np, *wide), f"{what} with x1 {one}, x2 {other}", dtype=dtype)
            expected = reference(np, *wide[::-1])
            s.expect(call(s.xp, b, a), expected, f"{what} with x1 {other}, x2 {one}", dtype=dtype)
        found = s.backend.dtype_name(s.kernels.result_type(s.dtype_of(one), s.dtype_of(other)))
        assert found == dtype, f"result_type({one}, {other}) is {found}, expected {dtype}"


def _together(s: Subject, one: str, other: str) -> bool:
    """Return whether the standard's table has an entry for two integer dtypes whose dtype the device supports."""
    dtype = np.promote_types(one, other)
    return dtype.kind in "iu" and s.has(str(dtype))


@check("D01")
def integers_promote(s: Subject) -> None:
    """Two integer arrays, signed or uint8, give the dtype of the standard's table."""
    names = [name for name in s.dtypes("i", "u") if name not in WIDE_UNSIGNED]
    _expect_pairs(s, (pair for pair in product(names, names) if _together(s, *pair)))


@check("D02", needs=WIDE_UNSIGNED)
def wide_unsigned_promote(s: Subject) -> None:
    """uint16, uint32 and uint64 arrays follow the standard's promotion table, with unsigned and signed arrays."""
    names = [name for name in s.dtypes("i", "u") if name not in WIDE_UNSIGNED]
    pairs = [*product(WIDE_UNSIGNED, WIDE_UNSIGNED), *product(WIDE_UNSIGNED, names)]
    _expect_pairs(s, (pair for pair in pairs if _together(s, *pair)))


@check("D03")
def floats_promote(s: Subject) -> None:
    """Two floating-point arrays, real or complex, give the wider dtype, complex if either dtype is complex."""
    names = s.dtypes("f", "c")
    _expect_pairs(s, (pair for pair in product(names, names) if s.has(str(np.promote_types(*pair)))))


@check("D04")
def zero_dimensional_are_not_weak(s: Subject) -> None:
    """A 0-d array promotes like any array: it widens a narrower array."""
    for kinds in (("f", "c"), ("i",)):
        names = s.dtypes(*kinds)
        _expect_pairs(s, (pair for pair in product(names, names) if s.has(str(np.promote_types(*pair)))), ())


FLOAT_SCALARS: dict[str, Callable[[Any, Any], Any]] = {
    "x + 2.5": lambda xp, x: x + 2.5,
    "2.5 + x": lambda xp, x: 2.5 + x,
    "x - 3": lambda xp, x: x - 3,
    "2.5 - x": lambda xp, x: 2.5 - x,
    "x * 0.1": lambda xp, x: x * 0.1,
    "3 * x": lambda xp, x: 3 * x,
    "x / 3": lambda xp, x: x / 3,
    "x / 0.7": lambda xp, x: x / 0.7,
    "2.5 / x": lambda xp, x: 2.5 / x,
    "x ** 2": lambda xp, x: x**2,
    "x ** 1.5": lambda xp, x: x**1.5,
    "1.5 ** x": lambda xp, x: 1.5**x,
    "add(x, 2.5)": lambda xp, x: xp.add(x, 2.5),
    "subtract(2.5, x)": lambda xp, x: xp.subtract(2.5, x),
    "multiply(0.1, x)": lambda xp, x: xp.multiply(0.1, x),
    "divide(1, x)": lambda xp, x: xp.divide(1, x),
    "pow(x, 3)": lambda xp, x: xp.pow(x, 3),
}
REAL_SCALARS: dict[str, Callable[[Any, Any], Any]] = {
    "x % 0.7": lambda xp, x: x % 0.7,
    "x // 0.3": lambda xp, x: x // 0.3,
    "maximum(x, 1.1)": lambda xp, x: xp.maximum(x, 1.1),
    "minimum(1.1, x)": lambda xp, x: xp.minimum(1.1, x),
    "hypot(x, 0.5)": lambda xp, x: xp.hypot(x, 0.5),
    "atan2(0.5, x)": lambda xp, x: xp.atan2(0.5, x),
    "logaddexp(x, 0.5)": lambda xp, x: xp.logaddexp(x, 0.5),
    "copysign(x, -1.0)": lambda xp, x: xp.copysign(x, -1.0),
}


class _NumPy:
    """NumPy's functions by the standard's names."""

    add, subtract, multiply, divide, pow = np.add, np.subtract, np.multiply, np.divide, np.power
    maximum, minimum, hypot, atan2, logaddexp, copysign = (
        np.maximum, np.minimum, np.hypot, np.arctan2, np.logaddexp, np.copysign,
    )  # fmt: skip


@check("D05", scope="dtype")
def scalars_are_weak(s: Subject) -> None:
    """A Python number never widens a floating-point array, on either side of any operator, nor in any function."""
    calls = FLOAT_SCALARS | ({} if s.dtype.startswith("complex") else REAL_SCALARS)
    for shape in ((2, 3), (), *([(0, 3)] if s.has("empty_arrays") else [])):
        values = s.values(shape, 0.3, 1.9)
        wide = values.astype("complex128" if s.dtype.startswith("complex") else "float64")
        x = s.variable(values)
        for what, call in calls.items():
            expected = np.asarray(call(_NumPy, wide))
            where = f"{what} for {s.dtype} of shape {shape}"
            s.expect(call(s.xp, x), expected, where, dtype=s.dtype)
            if "(" not in what:
                plain = s.backend.restore(call(s.kernels, x.array))
                s.expect(plain, expected, f"{where}, on the library's own array", dtype=s.dtype)
        for what, truth in (("x < 0.9", x < 0.9), ("1 >= x", x <= 1)) if not np.iscomplexobj(values) else ():
            expected = np.asarray(values < 0.9 if "<" in what else values <= 1)
            s.expect(truth, expected, f"{what} for {s.dtype}", dtype="bool")


@check("D06")
def integer_scalars_are_weak(s: Subject) -> None:
    """A Python int never widens an integer array, and a bool never widens a boolean array."""
    calls: dict[str, Callable[[Any], Any]] = {
        "x + 3": lambda x: x + 3,
        "20 - x": lambda x: 20 - x,
        "x * 2": lambda x: x * 2,
        "3 * x": lambda x: 3 * x,
        "x // 2": lambda x: x // 2,
        "x % 4": lambda x: x % 4,
        "x ** 2": lambda x: x**2,
        "x & 6": lambda x: x & 6,
        "9 | x": lambda x: 9 | x,
        "x ^ 5": lambda x: x ^ 5,
    }
    for dtype in s.dtypes("i", "u"):
        for host in (np.asarray([[5, 0, 7], [3, 9, 1]], dtype), np.asarray(7, dtype)):
            x = s.variable(host, dtype)
            for what, call in calls.items():
                what = f"{what} for {dtype} of shape {host.shape}"
                s.expect(call(x), np.asarray(call(host.astype("int64"))), what, dtype=dtype)
                plain = s.backend.restore(call(x.array))
                s.expect(plain, np.asarray(call(host.astype("int64"))), f"{what}, the library's own", dtype=dtype)
    host = np.asarray([True, False])
    truth = s.variable(host, "bool")
    s.expect(truth & True, host, "x & True for bool", dtype="bool")
    s.expect(False | truth, host, "False | x for bool", dtype="bool")


@check("D07")
def scalars_of_a_higher_kind(s: Subject) -> None:
    """An integer array and a Python float give the default float; a real one and a complex keep the width."""
    default = s.backend.dtype_name(s.backend.default_dtype("float"))
    whole: dict[str, Callable[[Any], Any]] = {
        "x + 0.5": lambda x: x + 0.5,
        "0.5 * x": lambda x: 0.5 * x,
        "x / 2.0": lambda x: x / 2.0,
        "7.0 / x": lambda x: 7.0 / x,
        "x - 0.25": lambda x: x - 0.25,
    }
    for dtype in s.dtypes("i", "u") if s.has(default) else ():
        host = np.asarray([[5, 2, 7], [3, 9, 1]], dtype)
        for what, call in whole.items():
            s.expect(call(s.variable(host, dtype)), call(host.astype("float64")), f"{what} for {dtype}", dtype=default)
    for real, both in (("float32", "complex64"), ("float64", "complex128")):
        if s.has(real, both):
            host = s.values((2, 3), dtype=real)
            x = s.variable(host, real)
            s.expect(x * (0.5 - 1j), host.astype(both) * (0.5 - 1j), f"x * (0.5-1j) for {real}", dtype=both)
            s.expect(2j + x, host.astype(both) + 2j, f"2j + x for {real}", dtype=both)
