"""Family A, aliasing: kernels and functions do not modify their arguments."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from xpgrad import Variable, grad
from xpgrad.types import Array
from xpgrad_conformance.check import check
from xpgrad_conformance.checks.layouts import assert_untouched, layouts
from xpgrad_conformance.subject import Subject
from xpgrad_conformance.table.case import Case
from xpgrad_conformance.table.comparisons import assert_near
from xpgrad_conformance.table.scenario import Scenario, dtypes_of
from xpgrad_conformance.table.table import variants_for

UNARY = """abs acos asin atan ceil cos cosh exp expm1 floor isfinite isinf isnan log log10 log1p log2 logical_not
negative positive reciprocal round sign signbit sin sinh sqrt square tan tanh trunc"""


BINARY = """add atan2 copysign divide equal floor_divide greater hypot less logaddexp maximum minimum multiply nextafter
not_equal pow remainder subtract"""


OPERATORS = """add sub mul truediv floordiv mod pow lt eq"""
INTEGER = """bitwise_and bitwise_or bitwise_xor bitwise_left_shift add multiply floor_divide remainder"""
COMPLEX = """exp log sqrt sin cos tanh abs negative square reciprocal isfinite sum prod mean cumulative_sum"""


def _applies(case: Case, dtype: str, quick: bool) -> bool:
    return dtype == dtypes_of(case)[0]


@check("A02", scope="case", applies=_applies, quick=False)
def cases(s: Subject) -> None:
    """Inputs, outputs and cotangents of every function do not change in two sweeps, which give equal gradients."""
    assert s.case is not None
    for variant in variants_for("aliasing", s.case, s.dtype):
        scenario = Scenario(s.case, s.device, s.dtype, variant, seed=s.seed, capabilities=s.capabilities)
        arrays = scenario.arrays()
        xs = scenario.variables(arrays)
        ys = scenario.call(xs)
        wanted = [ys[i] for i in scenario.differentiable(ys)]
        hosts = scenario.cotangents(wanted)
        seeds = [scenario.placed(each) for each in hosts]
        held = [(f"output {i}", y, s.host(y)) for i, y in enumerate(ys)]
        inputs = [scenario.inputs[0]] * len(arrays) if variant.same else scenario.inputs
        held += [(f"input {i}", *pair) for i, pair in enumerate(zip(arrays, inputs, strict=True))]
        held += [(f"cotangent {i}", *pair) for i, pair in enumerate(zip(seeds, hosts, strict=True))]
        swept = []
        for _ in range(2 if wanted else 0):
            found = grad(wanted, [xs[i] for i in scenario.floating], [Variable(g) for g in seeds])
            swept.append([None if g is None else s.host(g) for g in found])
        for what, array, before in held:
            assert_untouched(s, array, before, f"{scenario.title}: {what}")
        for i, (one, two) in enumerate(zip(*swept, strict=True) if swept else ()):
            if one is not None:
                rtol = 16 * float(np.finfo(one.dtype).eps)
                assert_near(two, one, rtol, f"{scenario.title}: gradient {i} of a second sweep through one graph")


def check_call(s: Subject, call: Callable[[], Any], name: str, *given: tuple[str, Array, Any]) -> None:
    """Make a call, and raise AssertionError if it modifies an argument; `given` has description, array and values."""
    with np.errstate(all="ignore"):
        call()
    for what, array, before in given:
        assert_untouched(s, array, before, f"{name}: its argument, {what},")


@check("A03")
def unary(s: Subject) -> None:
    """Elementwise functions of one array do not change it, in any layout."""
    there = [getattr(s.kernels, name) for name in UNARY.split() if s.has(name)]
    names = [name for name in UNARY.split() if s.has(name)]
    for what, array, host in layouts(s):
        for name, function in zip(names, there, strict=True):
            floating = array if name != "logical_not" else array > 0.5
            check_call(s, functools.partial(function, floating), name, (what, array, host))


@check("A04")
def binary(s: Subject) -> None:
    """Elementwise functions and operators of two operands change neither operand, also if both are one array."""
    functions = {name: getattr(s.kernels, name) for name in BINARY.split() if s.has(name)}
    functions |= {f"__{name}__": functools.partial(_operate, f"__{name}__") for name in OPERATORS.split()}
    host = s.values((3, 4), 0.1, 0.9)
    other = s.array(host)
    for what, array, before in layouts(s):
        fits = tuple(array.shape) in ((3, 4), (), (1,))
        for name, function in functions.items():
            pairs = [(array, array), *([(array, other), (other, array)] if fits else [])]
            for a, b in pairs:
                given = (what, array, before), ("a (3, 4) array", other, host)
                check_call(s, functools.partial(function, a, b), name, *given)
        for name in OPERATORS.split():
            check_call(s, functools.partial(_operate, f"__{name}__", array, 1.25), f"__{name}__", (what, array, before))
            reflected = f"__r{name}__"
            if name not in ("lt", "eq"):
                check_call(s, functools.partial(_operate, reflected, array, 1.25), reflected, (what, array, before))


def _operate(operator: str, a: Array, b: Any) -> Any:
    return getattr(a, operator)(b)


@check("A05")
def integers(s: Subject) -> None:
    """Functions of integers and booleans do not change their operands."""
    xp = s.kernels
    a, b = np.array([[7, -3, 5], [2, 11, -6]]), np.array([[1, 2, 3], [2, 1, 2]])
    x1, x2 = s.array(a), s.array(b)
    flags, others = s.array(a > 3), s.array(b > 1)
    given = ("the first integers", x1, a), ("the second integers", x2, b)
    bools = ("the first booleans", flags, a > 3), ("the second booleans", others, b > 1)
    for name in INTEGER.split():
        if s.has(name):
            check_call(s, functools.partial(getattr(xp, name), x1, x2), name, *given)
    for name in ("bitwise_invert", "abs", "negative", "sum", "sign"):
        if s.has(name):
            check_call(s, functools.partial(getattr(xp, name), x1), name, *given)
    for name in ("logical_and", "logical_or", "logical_xor"):
        if s.has(name):
            check_call(s, functools.partial(getattr(xp, name), flags, others), name, *bools)
    check_call(s, lambda: xp.where(flags, x1, x2), "where", *given, *bools)


@check("A23", scope="dtype")
def dtypes(s: Subject) -> None:
    """Functions do not change their arguments in any dtype."""
    xp, host = s.backend.namespace, s.values((3, 4), 0.1, 0.9)
    x, other = s.array(host), s.array(host)
    names = COMPLEX.split()
    complex_too = ["conj", "real", "imag"] if s.dtype.startswith("complex") else ["floor", "sort", "max"]
    given = (f"{s.dtype} (3, 4)", x, host), (f"a second {s.dtype} (3, 4)", other, host)
    for name in [*names, *complex_too]:
        if s.has(name):
            options = {"axis": 0} if name == "cumulative_sum" else {}
            check_call(s, functools.partial(getattr(xp, name), x, **options), name, *given)
    for name in ("add", "subtract", "multiply", "divide", "pow", "equal"):
        if s.has(name):
            check_call(s, functools.partial(getattr(xp, name), x, other), name, *given)
    check_call(s, lambda: xp.matmul(x, xp.matrix_transpose(other)), "matmul", *given)
