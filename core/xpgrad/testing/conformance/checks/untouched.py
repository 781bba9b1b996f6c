"""Family A, aliasing: what kernels and functions are given stays as it was."""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from xpgrad.graph.backward import grad
from xpgrad.graph.variable import Variable
from xpgrad.testing.case import Case
from xpgrad.testing.comparisons import assert_near
from xpgrad.testing.conformance.check import Check, check, checks_in
from xpgrad.testing.conformance.subject import Subject
from xpgrad.testing.scenario import Scenario, dtypes_of
from xpgrad.testing.table import variants_for
from xpgrad.types import Array, Namespace

UNARY = [
    "abs",
    "acos",
    "asin",
    "atan",
    "ceil",
    "cos",
    "cosh",
    "exp",
    "expm1",
    "floor",
    "isfinite",
    "isinf",
    "isnan",
    "log",
    "log10",
    "log1p",
    "log2",
    "logical_not",
    "negative",
    "positive",
    "reciprocal",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
]
BINARY = [
    "add",
    "atan2",
    "copysign",
    "divide",
    "equal",
    "floor_divide",
    "greater",
    "hypot",
    "less",
    "logaddexp",
    "maximum",
    "minimum",
    "multiply",
    "nextafter",
    "not_equal",
    "pow",
    "remainder",
    "subtract",
]
OPERATORS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "eq"]
Call = Callable[[Namespace, Array, Array], Any]
WHOLE: dict[str, Call] = {
    "sum": lambda xp, a, b: xp.sum(a, axis=0),
    "prod": lambda xp, a, b: xp.prod(a, axis=-1),
    "mean": lambda xp, a, b: xp.mean(a, axis=(0, 1)),
    "std": lambda xp, a, b: xp.std(a, axis=0),
    "var": lambda xp, a, b: xp.var(a),
    "max": lambda xp, a, b: xp.max(a, axis=-1),
    "min": lambda xp, a, b: xp.min(a),
    "argmax": lambda xp, a, b: xp.argmax(a, axis=0),
    "argmin": lambda xp, a, b: xp.argmin(a, axis=-1),
    "all": lambda xp, a, b: xp.all(a),
    "any": lambda xp, a, b: xp.any(a, axis=0),
    "count_nonzero": lambda xp, a, b: xp.count_nonzero(a),
    "cumulative_sum": lambda xp, a, b: xp.cumulative_sum(a, axis=-1),
    "cumulative_prod": lambda xp, a, b: xp.cumulative_prod(a, axis=0),
    "sort": lambda xp, a, b: xp.sort(a, axis=-1),
    "argsort": lambda xp, a, b: xp.argsort(a, axis=0),
    "diff": lambda xp, a, b: xp.diff(a, axis=0),
    "flip": lambda xp, a, b: xp.flip(a, axis=0),
    "roll": lambda xp, a, b: xp.roll(a, 1, axis=-1),
    "clip": lambda xp, a, b: xp.clip(a, 0.3, 0.6),
    "where": lambda xp, a, b: xp.where(a > b, a, b),
    "concat": lambda xp, a, b: xp.concat([a, b], axis=-1),
    "stack": lambda xp, a, b: xp.stack([a, b], axis=1),
    "tile": lambda xp, a, b: xp.tile(a, (2, 1)),
    "repeat": lambda xp, a, b: xp.repeat(a, 2, axis=0),
    "tril": lambda xp, a, b: xp.tril(a),
    "triu": lambda xp, a, b: xp.triu(a),
    "expand_dims": lambda xp, a, b: xp.expand_dims(a, axis=1),
    "moveaxis": lambda xp, a, b: xp.moveaxis(a, 0, 1),
    "astype": lambda xp, a, b: xp.astype(a, xp.float32),
    "matmul": lambda xp, a, b: xp.matmul(a, xp.matrix_transpose(b)),
    "tensordot": lambda xp, a, b: xp.tensordot(a, b, axes=2),
    "vecdot": lambda xp, a, b: xp.vecdot(a, b),
}
SQUARE: dict[str, Call] = {
    "matmul": lambda xp, a, b: xp.matmul(a, b),
    "linalg.det": lambda xp, a, b: xp.linalg.det(a),
    "linalg.slogdet": lambda xp, a, b: xp.linalg.slogdet(a),
    "linalg.inv": lambda xp, a, b: xp.linalg.inv(a),
    "linalg.solve": lambda xp, a, b: xp.linalg.solve(a, b),
    "linalg.qr": lambda xp, a, b: xp.linalg.qr(a, mode="reduced"),
    "linalg.svd": lambda xp, a, b: xp.linalg.svd(a, full_matrices=False),
    "linalg.cholesky": lambda xp, a, b: xp.linalg.cholesky(a),
    "linalg.eigh": lambda xp, a, b: xp.linalg.eigh(a),
    "linalg.matrix_power": lambda xp, a, b: xp.linalg.matrix_power(a, 3),
}


def assert_untouched(s: Subject, array: Any, before: Any, what: str) -> None:
    """Raise AssertionError if an array no longer holds, to the bit, what the host array `before` has."""
    now, before = s.host(array), np.asarray(before)
    assert now.shape == before.shape and now.dtype == before.dtype, (
        f"{what} was {before.dtype} {before.shape}, and is {now.dtype} {now.shape} now"
    )
    if now.tobytes() != before.tobytes():
        different = np.argwhere((now != before) | (np.signbit(now.real) != np.signbit(before.real)))
        at = tuple(int(i) for i in different[0]) if len(different) else ()
        raise AssertionError(f"{what} has been written to: at {at} there is {now[at]!s}, and was {before[at]!s}")


def layouts(s: Subject) -> Iterator[tuple[str, Array, Any]]:
    """Yield arrays in every layout that a kernel can meet, each with what it is, and with its values on the host."""
    xp, wide = s.kernels, s.wide
    for shape in ((3, 4), (2, 3, 5), (), (1,), (0, 3)):
        if s.has("empty_arrays") or 0 not in shape:
            host = s.values(shape, 0.1, 0.9, wide)
            yield f"a contiguous array of shape {shape}", s.array(host, wide), host
    host = s.values((3, 4), 0.1, 0.9, wide)
    yield "a transposed (3, 4)", xp.permute_dims(s.array(np.ascontiguousarray(host.T), wide), axes=(1, 0)), host
    host = s.values((3, 8), 0.1, 0.9, wide)
    yield "every second column of a (3, 8)", s.array(host, wide)[:, ::2], np.ascontiguousarray(host[:, ::2])
    host = s.values((4,), 0.1, 0.9, wide)
    spread = np.ascontiguousarray(np.broadcast_to(host, (3, 4)))
    yield "a row broadcast to (3, 4)", xp.broadcast_to(s.array(host, wide), shape=(3, 4)), spread


def _applies(case: Case, dtype: str, quick: bool) -> bool:
    return dtype == dtypes_of(case)[0]


@check("A02", scope="case", applies=_applies)
def cases(s: Subject) -> None:
    """Inputs, outputs and cotangents of every function stay as they are through two sweeps, which give the same."""
    assert s.case is not None
    variants = list(variants_for("aliasing", s.case, s.dtype))
    for variant in variants[:1] if s.quick else variants:
        scenario = Scenario(s.case, s.device, s.dtype, variant, seed=s.seed)
        arrays = scenario.arrays()
        xs = scenario.variables(arrays)
        ys = scenario.call(xs)
        wanted = [ys[i] for i in scenario.differentiable(ys)]
        hosts = scenario.cotangents(wanted)
        seeds = [scenario.placed(each) for each in hosts]
        held = [(f"output {i}", y, s.host(y)) for i, y in enumerate(ys)]
        inputs = [scenario.values[0]] * len(arrays) if variant.same else scenario.values
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


def _check_call(s: Subject, call: Callable[[], Any], name: str, *given: tuple[str, Array, Any]) -> None:
    with np.errstate(all="ignore"):
        call()
    for what, array, before in given:
        assert_untouched(s, array, before, f"{name}: its argument, {what},")


@check("A03")
def unary(s: Subject) -> None:
    """Elementwise functions of one array leave it alone, in every layout."""
    there = [getattr(s.kernels, name) for name in UNARY if s.has(name)]
    names = [name for name in UNARY if s.has(name)]
    for what, array, host in layouts(s):
        for name, function in zip(names, there, strict=True):
            floating = array if name != "logical_not" else array > 0.5
            _check_call(s, functools.partial(function, floating), name, (what, array, host))


@check("A04")
def binary(s: Subject) -> None:
    """Elementwise functions and operators of two operands leave both alone, also where both are one array."""
    functions = {name: getattr(s.kernels, name) for name in BINARY if s.has(name)}
    functions |= {f"__{name}__": functools.partial(_operate, f"__{name}__") for name in OPERATORS}
    host = s.values((3, 4), 0.1, 0.9, s.wide)
    other = s.array(host, s.wide)
    for what, array, before in layouts(s):
        fits = tuple(array.shape) in ((3, 4), (), (1,))
        for name, function in functions.items():
            pairs = [(array, array), *([(array, other), (other, array)] if fits else [])]
            for a, b in pairs:
                given = (what, array, before), ("a (3, 4) array", other, host)
                _check_call(s, functools.partial(function, a, b), name, *given)
        for name in OPERATORS:
            _check_call(
                s, functools.partial(_operate, f"__{name}__", array, 1.25), f"__{name}__", (what, array, before)
            )
            reflected = f"__r{name}__"
            if name not in ("lt", "eq"):
                _check_call(s, functools.partial(_operate, reflected, array, 1.25), reflected, (what, array, before))


def _operate(operator: str, a: Array, b: Any) -> Any:
    return getattr(a, operator)(b)


@check("A05")
def integers(s: Subject) -> None:
    """Functions of integers and booleans leave their operands alone."""
    xp = s.kernels
    a, b = np.array([[7, -3, 5], [2, 11, -6]]), np.array([[1, 2, 3], [2, 1, 2]])
    x1, x2 = s.array(a), s.array(b)
    flags, others = s.array(a > 3), s.array(b > 1)
    given = ("the first integers", x1, a), ("the second integers", x2, b)
    bools = ("the first booleans", flags, a > 3), ("the second booleans", others, b > 1)
    for name in [
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "bitwise_left_shift",
        "add",
        "multiply",
        "floor_divide",
        "remainder",
    ]:
        if s.has(name):
            _check_call(s, functools.partial(getattr(xp, name), x1, x2), name, *given)
    for name in ("bitwise_invert", "abs", "negative", "sum", "sign"):
        if s.has(name):
            _check_call(s, functools.partial(getattr(xp, name), x1), name, *given)
    for name in ("logical_and", "logical_or", "logical_xor"):
        if s.has(name):
            _check_call(s, functools.partial(getattr(xp, name), flags, others), name, *bools)
    _check_call(s, lambda: xp.where(flags, x1, x2), "where", *given, *bools)


@check("A06")
def whole_arrays(s: Subject) -> None:
    """Reductions, sorting, joining and moving leave their arguments alone, in every layout."""
    host = s.values((3, 4), 0.1, 0.9, s.wide)
    for what, array, before in layouts(s):
        if tuple(array.shape) == (3, 4):
            other = s.array(host, s.wide)
            given = (what, array, before), ("a (3, 4) array", other, host)
            for name, call in WHOLE.items():
                if s.has(name):
                    _check_call(s, functools.partial(call, s.backend.namespace, array, other), name, *given)


@check("A07")
def matrices(s: Subject) -> None:
    """Functions of square matrices leave them alone, whichever way they lie in memory."""
    spread = s.values((4, 4), -1.0, 1.0, s.wide)
    host = (np.matmul(spread, spread.T) + 3 * np.eye(4)).astype(s.wide)
    right = s.values((4, 4), dtype=s.wide)
    plain, b = s.array(host, s.wide), s.array(right, s.wide)
    turned = s.kernels.matrix_transpose(s.array(np.ascontiguousarray(host.T), s.wide))
    for what, a in (("a matrix", plain), ("a transposed matrix", turned)):
        for name, call in SQUARE.items():
            if s.has(name):
                given = (what, a, host), ("a second matrix", b, right)
                _check_call(s, functools.partial(call, s.backend.namespace, a, b), name, *given)


@check("A08")
def scattering(s: Subject) -> None:
    """scatter_add leaves values and places alone, and each call gives memory of its own."""
    places = np.array([2, 0, 2, 1])
    rows, all_of_it = s.values((4, 3), dtype=s.wide), s.values((5, 3), dtype=s.wide)
    parts: list[tuple[Any, Any, Any]] = [
        (1, rows[0], s.array(rows[0], s.wide)),
        (..., all_of_it, s.array(all_of_it, s.wide)),
    ]
    index = s.array(places)
    if s.has("index_arrays"):
        parts.append((index, rows, s.array(rows, s.wide)))
    spec = s.backend.spec(parts[1][2])
    expected, results = [], []
    for factor in (1, 2):
        total = np.zeros((5, 3))
        for where, values, _ in parts * factor:
            np.add.at(total, places if where is index else where, values)
        expected.append(total)
        results.append(s.kernels.scatter_add(spec, [(where, array) for where, _, array in parts * factor]))
    for i, (got, total) in enumerate(zip(results, expected, strict=True)):
        s.expect(got, total, f"the result of call {i + 1} of scatter_add, after call 2,", dtype=s.wide)
    for where, values, array in parts:
        assert_untouched(
            s, array, values, f"scatter_add: the values for {'an index array' if where is index else where!r}"
        )
    assert_untouched(s, index, places, "scatter_add: the index array")


@check("A09")
def accumulating(s: Subject) -> None:
    """accumulate(total, g) gives the sum and leaves g alone, whatever the layout of g."""
    for what, g, host in layouts(s):
        start, more = s.values(host.shape, dtype=s.wide), s.values(host.shape, dtype=s.wide)
        second = s.array(more, s.wide)
        once = s.kernels.accumulate(s.array(start, s.wide), g)
        s.expect(once, start.astype(float) + host, f"accumulate(total, g), g being {what},", dtype=s.wide)
        twice = s.kernels.accumulate(once, second)
        s.expect(twice, start.astype(float) + host + more, f"accumulate(accumulate(total, g), h), g being {what},")
        assert_untouched(s, g, host, f"accumulate(total, g): g, {what},")
        assert_untouched(s, second, more, f"accumulate(total, g): g, a contiguous array of shape {host.shape},")


@check("A22")
def second_calls(s: Subject) -> None:
    """A second call of a function leaves the result of the first alone."""
    one, two = s.values((4, 4), 0.1, 0.9, s.wide), s.values((4, 4), 0.1, 0.9, s.wide)
    hosts = [each + 3 * np.eye(4, dtype=each.dtype) for each in (one, two)]
    hosts = [np.asarray(each + each.T) for each in hosts]
    xp = s.backend.namespace
    calls: dict[str, Call] = {name: _unary(name) for name in UNARY if name != "logical_not"}
    calls |= {name: _binary(name) for name in BINARY} | WHOLE | SQUARE
    with np.errstate(all="ignore"):
        for name, call in calls.items():
            if s.has(name):
                a, b = (s.array(host, s.wide) for host in hosts)
                for first, second in ((a, b), (b, a)):
                    results = _parts(s, call(xp, first, second))
                    before = [s.host(each) for each in results]
                    _parts(s, call(xp, second, first))
                    for result, was in zip(results, before, strict=True):
                        assert_untouched(s, result, was, f"the result of {name}, shape (4, 4), after a second call,")


def _unary(name: str) -> Call:
    return lambda xp, a, b: getattr(xp, name)(a)


def _binary(name: str) -> Call:
    return lambda xp, a, b: getattr(xp, name)(a, b)


def _parts(s: Subject, result: Any) -> list[Array]:
    many = list(result) if isinstance(result, (tuple, list)) else [result]
    return [s.backend.restore(each) for each in many]


@check("A23", scope="dtype")
def dtypes(s: Subject) -> None:
    """Functions leave their arguments alone in every dtype."""
    xp, host = s.backend.namespace, s.values((3, 4), 0.1, 0.9)
    x, other = s.array(host), s.array(host)
    names = [
        "exp",
        "log",
        "sqrt",
        "sin",
        "cos",
        "tanh",
        "abs",
        "negative",
        "square",
        "reciprocal",
        "isfinite",
        "sum",
        "prod",
        "mean",
        "cumulative_sum",
    ]
    complex_too = ["conj", "real", "imag"] if s.dtype.startswith("complex") else ["floor", "sort", "max"]
    given = (f"{s.dtype} (3, 4)", x, host), (f"a second {s.dtype} (3, 4)", other, host)
    for name in [*names, *complex_too]:
        if s.has(name):
            options = {"axis": 0} if name == "cumulative_sum" else {}
            _check_call(s, functools.partial(getattr(xp, name), x, **options), name, *given)
    for name in ("add", "subtract", "multiply", "divide", "pow", "equal"):
        if s.has(name):
            _check_call(s, functools.partial(getattr(xp, name), x, other), name, *given)
    _check_call(s, lambda: xp.matmul(x, xp.matrix_transpose(other)), "matmul", *given)


CHECKS: tuple[Check, ...] = checks_in(globals())
