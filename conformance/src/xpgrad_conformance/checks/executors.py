"""Family J: programs of compiled functions, run by the executor of the backend, agree with the functions.

The executor belongs to the first plugin that accepts a program, or else to xpgrad.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import xpgrad.array_api as xp
import xpgrad.functions as F
from xpgrad import Variable, as_array, compile, random, using_device
from xpgrad.backend.levels import around
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import value_and_grad
from xpgrad.transforms.trees import flatten
from xpgrad.types import Array
from xpgrad_conformance.check import check
from xpgrad_conformance.checks.concurrent_calls import run_concurrently
from xpgrad_conformance.subject import Subject
from xpgrad_conformance.table.comparisons import assert_near, assert_place

THREADS, RUNS = 6, 5
RECORDED = 3
"""Calls until a program exists: caches filled in the first call change the second call."""


def flat(tree: Any) -> list[Any]:
    """Return the leaves of nested results, in order."""
    return flatten(tree)[0]


def eager(f: Callable[..., Any], *args: Array) -> list[Array]:
    """Return the arrays that a function gives without a program."""
    made: dict[int, Variable] = {id(x): Variable(x, requires_grad=False) for x in args}
    return [as_array(leaf) for leaf in flat(f(*(made[id(x)] for x in args)))]


def program_of(f: Callable[..., Any], *args: Array) -> Callable[..., list[Array]]:
    """Return a compiled function that has a program for such arguments, and returns a list of arrays.

    Inside a traced function it becomes part of the outer program, without a separate program.
    """
    compiled = compile(f)
    for _ in range(RECORDED):
        compiled(*args)

    def run(*args: Array) -> list[Array]:
        hits = compiled.cache_info().hits
        found = [as_array(leaf) for leaf in flat(compiled(*args))]
        assert around() is not None or compiled.cache_info().hits > hits, "the compiled function has no program"
        return found

    return run


def agree(s: Subject, got: list[Array], expected: list[Array], what: str, factor: float = 10.0) -> None:
    """Raise AssertionError unless arrays have place and dtype of the expected ones, and their values to rounding."""
    assert len(got) == len(expected), f"{what} gave {len(got)} arrays, without a program {len(expected)}"
    for i, (one, other) in enumerate(zip(got, expected, strict=True)):
        name = what if len(expected) == 1 else f"{what}, result {i}"
        assert_place(s.device, one, name)
        found, wanted = s.backend.dtype_name(one.dtype), s.backend.dtype_name(other.dtype)
        assert found == wanted, f"{name} has dtype {found}, without a program {wanted}"
        inexact = np.asarray(on_host(other)).dtype.kind in "fc"
        assert_near(on_host(one), on_host(other), s.rtol(factor=factor) if inexact else 0.0, name)


def agrees(s: Subject, what: str, f: Callable[..., Any], *calls: tuple[Array, ...]) -> None:
    """Raise AssertionError unless a program and the function return the same results in several calls."""
    run = program_of(f, *calls[0])
    for number, args in enumerate(calls):
        agree(s, run(*args), eager(f, *args), f"run {number + 1} of {what}")


def pairs(s: Subject, *shapes: tuple[int, ...]) -> list[tuple[Array, ...]]:
    """Return arguments of these shapes for two calls."""
    return [tuple(s.array(s.values(shape)) for shape in shapes) for _ in range(2)]


def _wave(x: Any, y: Any) -> Any:
    return xp.tanh(x * 1.5 + y) * xp.exp(-x * x) + xp.where(x > y, x / (y * y + 1.0), -y)


def _rows(x: Any, row: Any, column: Any) -> Any:
    e = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    centred = x - xp.mean(x, axis=-1, keepdims=True)
    spread = xp.mean(centred * centred, axis=-1, keepdims=True)
    return e / xp.sum(e, axis=-1, keepdims=True) * column, centred / xp.sqrt(spread + 1e-3) * row + x


def _sums(x: Any, row: Any, column: Any) -> Any:
    z = x * row + column
    return xp.sum(z, axis=0), xp.sum(z * x, axis=-1), xp.sum(row - x, axis=0, keepdims=True), xp.sum(z)


def _of_a_loss(function: Callable[..., Any]) -> Callable[..., Any]:
    return value_and_grad(lambda *xs: sum(xp.sum(y * y) for y in flat(function(*xs))))


@check("J02")
def rows_and_columns(s: Subject) -> None:
    """Rows, columns, sums along each axis, broadcasting, and transposed and sliced arguments are right."""
    shapes = [(1, 5), (5, 1), (17, 129), (300, 33)] + ([] if s.quick else [(1, 1), (33, 300), (3, 4097), (4097, 3)])
    for n, m in shapes:
        for name, f in (("rows", _rows), ("sums", _sums), ("gradients of rows", _of_a_loss(_rows))):
            agrees(s, f"a program of {name} of a {n} x {m} array", f, *pairs(s, (n, m), (m,), (n, 1)))
    calls = pairs(s, (12, 9), (9, 24))
    transposed = [(s.kernels.matrix_transpose(x), s.kernels.matrix_transpose(y)[::2, :]) for x, y in calls]
    agrees(s, "a program of transposed and sliced arguments", lambda x, y: (_wave(x, y[:9, :] * y[3:, :]), y + 1.0),
           *[(x, s.kernels.concat([y, y[:, :3]], axis=1)[:, :12]) for x, y in transposed])  # fmt: skip


@check("J03", needs=("empty_arrays",))
def empty_and_scalar_arrays(s: Subject) -> None:
    """Arrays without axes and without elements pass through programs, with their shapes and dtypes."""
    for shape in ((), (0,), (0, 3), (3, 0)):
        agrees(s, f"a program of arrays of shape {shape}", _wave, *pairs(s, shape, shape))
        agrees(s, f"sums of arrays of shape {shape}", lambda x, y: (xp.sum(x), x + xp.sum(y)), *pairs(s, shape, shape))
    agrees(s, "a program of an array and one without axes", _wave, *pairs(s, (65,), ()))


@check("J04")
def results_in_order(s: Subject) -> None:
    """Results come in the order and the containers of the function, each with the dtype that it has there."""

    def f(x: Any, i: Any) -> Any:
        return {"b": x + 1.0, "a": [x - 1.0, (x > 0.0, i * 2)]}, x * 2.0, xp.argmax(x), xp.sum(i)

    calls = [(x, s.array(np.arange(5) + k)) for k, (x,) in enumerate(pairs(s, (5,)))]
    agrees(s, "a program of several results", f, *calls)
    compiled = compile(f)
    for _ in range(RECORDED):
        compiled(*calls[0])
    tree, *others = compiled(*calls[0])
    assert list(tree) == ["b", "a"], f"the keys of a dictionary are {list(tree)}, expected ['b', 'a']"
    assert isinstance(tree["a"], list), f"a list came back as {type(tree['a']).__name__}"
    assert len(others) == 3, f"{len(others)} results follow, expected 3"


@check("J05")
def one_array_twice(s: Subject) -> None:
    """``f(x, x)`` and ``f(x, y)`` of one shape have different programs, and so do equal arguments."""
    (x, y), (v, w) = pairs(s, (65,), (65,))
    compiled = compile(_wave)
    for args in (*[(x, x)] * RECORDED, *[(x, y)] * RECORDED, (v, v), (v, w), (w, v), (x, s.backend.copy(x))):
        agree(s, [as_array(compiled(*args))], eager(_wave, *args), "f(x, x) or f(x, y)")


@check("J07", needs=("in_place_update",))
def new_memory(s: Subject) -> None:
    """Results share no memory with arguments, captured arrays, each other, or results of another run."""
    if around() is not None:
        return  # a part of a program may return arrays that the outer program copies
    captured = s.array(s.values((6, 6)))

    def f(x: Any, y: Any) -> Any:
        views = x, x, x[2:, :], xp.matrix_transpose(y), xp.reshape(y, (36,)), captured, y + captured, y[0, 0], -x
        z = x * y
        return *views, z, z, z[1:, :], xp.broadcast_to(x[0, :], (6, 6))

    calls = pairs(s, (6, 6), (6, 6))
    run, expected = program_of(f, *calls[0]), [eager(f, *args) for args in calls]
    wanted = [[on_host(y) for y in each] for each in expected]
    inputs = [captured, *calls[0], *calls[1]]
    held = [on_host(x) for x in inputs]
    for number in range(len(wanted[0])):
        found = [run(*args) for args in calls]
        found[0][number][...] = 99.0
        for x, old in zip(inputs, held, strict=True):
            assert np.array_equal(on_host(x), old), f"result {number} shares memory with an argument or captured array"
        for k, (got, each) in enumerate(zip(found, wanted, strict=True)):
            for i, (y, old) in enumerate(zip(got, each, strict=True)):
                if (k, i) != (0, number):
                    where = "the same run" if k == 0 else "another run"
                    assert np.allclose(on_host(y), old), f"results {number} and {i} of {where} share memory"


@check("J08")
def random_numbers(s: Subject) -> None:
    """A seed gives the same numbers with and without a program; each run and each call draws new numbers."""
    dtype = s.dtype_of(s.wide)

    def f(x: Any) -> Any:
        first, second = (random.normal(x.shape, dtype, x.device) for _ in range(2))
        return x + first, second, random.uniform(x.shape, dtype, x.device), F.dropout(x, 0.5)

    (x,), _ = pairs(s, (65,))
    if around() is not None:
        return  # a traced function may not seed
    state = random.get_state(s.device)
    try:
        for drawn in (f, value_and_grad(lambda x: xp.sum(F.dropout(x, 0.3) * random.normal(x.shape, dtype, x.device)))):
            run = program_of(drawn, x)
            random.seed(5, s.device)
            expected = [eager(drawn, x) for _ in range(2)]
            random.seed(5, s.device)
            for number in range(2):
                agree(s, run(x), expected[number], f"run {number + 1} of a program that draws random numbers")
    finally:
        random.set_state(state, s.device)


@check("J09")
def outside_arrays(s: Subject) -> None:
    """Arrays and Variables from outside are read in each run, with the values that they have then."""
    (old, new), (x, constant) = pairs(s, (65,), (65,))
    v, get = Variable(old, requires_grad=False), [constant].__getitem__

    def f(x: Any) -> Any:
        return xp.sin(x) * v + get(0), (x - get(0)) * 2.0

    run = program_of(f, x)
    agree(s, run(x), eager(f, x), "a program of arrays from outside")
    if around() is None:
        v.array = new
        agree(s, run(x), eager(f, x), "a program after a Variable from outside was assigned to")
        if s.has("in_place_update"):
            constant[...] = s.array(s.values((65,)))
            agree(s, run(x), eager(f, x), "a program after an array from outside was written to")


@check("J10", needs=("in_place_update", "index_assignment"))
def writes(s: Subject) -> None:
    """Writes to arrays and Variables happen once in a run, between the reads before and those after."""
    start, x = (s.array(s.values((5, 6))) for _ in range(2))
    if around() is not None:
        return  # writes are visible only when the traced function ends
    found = []
    for programs in (True, False):
        v = Variable(s.backend.copy(start), requires_grad=False)
        mean, variance = (s.array(np.full(6, k)) for k in (0.0, 1.0))

        def f(x: Any, v: Variable = v, mean: Array = mean, variance: Array = variance) -> Any:
            a = (x * 2.0).array
            before = Variable(a) + 1.0
            a[1:, :] = a[:-1, :] + 1.0
            v.array = v.array + a
            gamma, beta = x[0, :] * 0.0 + 1.0, x[0, :] * 0.0
            y = F.batch_normalization(x, gamma, beta, running_mean=mean, running_var=variance)
            return before, Variable(a) * 3.0, y

        run = program_of(f, x) if programs else functools.partial(eager, f)
        results: list[Array] = []
        for _ in range(2 if programs else 2 + RECORDED):
            results = run(x)
        found.append([*results, v.array, mean, variance])
    agree(s, found[0], found[1], "a compiled function that writes")


@check("J11", needs=("checked_index_arrays", "index_arrays"))
def errors(s: Subject) -> None:
    """An error in the middle of a run propagates, stores no state, and does not affect the next run."""
    if around() is not None:
        return
    v = Variable(s.array(np.zeros(2)), requires_grad=False)

    def f(x: Any, places: Any) -> Any:
        y = xp.exp(x)
        v.array = (v + 1.0).array
        return xp.take(y, places, axis=0) * 2.0, y

    (x,), (other,) = pairs(s, (5,))
    good, bad = s.array(np.asarray([0, 4])), s.array(np.asarray([0, 5]))
    run = program_of(f, x, good)
    expected = [eager(f, x, good), eager(f, other, good)]
    try:
        f(*map(Variable, (other, bad)))
        late = True  # the library defers computation until values are read
    except Exception:
        late = False
    v.array = s.array(np.zeros(2))
    for number in range(2):
        agree(s, run(x, good), expected[0], "a run before an error")
        s.raises(Exception, lambda: [on_host(y) for y in run(other, bad)], "an index out of range in a program")
        counts, runs = on_host(v).tolist(), 2 * number + 1.0
        assert late or counts == [runs] * 2, f"an assignment was made {counts[0]} times in {runs} runs"
        agree(s, run(other, good), expected[1], "the run after an error")


@check("J12", needs=("threads",))
def threads(s: Subject) -> None:
    """Several threads can run one program at a time, each with different arguments."""
    calls = [args for _ in range(THREADS // 2) for args in pairs(s, (4097,), (4097,))]
    f = _of_a_loss(_wave)
    expected = [eager(f, *args) for args in calls]
    found: list[list[list[Array]]] = [[] for _ in calls]

    def work(k: int) -> None:
        with using_device(s.device):
            found[k] += [run(*calls[k]) for _ in range(RUNS)]

    with using_device(s.device):  # programs are of the current device, and that is each thread's own
        run = program_of(f, *calls[0])
    run_concurrently([functools.partial(work, k) for k in range(len(calls))])
    for got, each in zip(found, expected, strict=True):
        for number, arrays in enumerate(got):
            agree(s, arrays, each, f"run {number + 1} in one of {len(calls)} threads")


@check("J14")
def special_values(s: Subject) -> None:
    """A program returns the same infinities, NaN and signed zeros as the function."""
    hosts = np.asarray([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-300 if s.wide == "float64" else 1e-30] * 9)

    def f(x: Any, y: Any) -> Any:
        z = x * y
        return z, x - x, x + y * 0.0, xp.where(x > y, z, -x), xp.exp(x) * y, xp.abs(x) * -1.0, xp.sqrt(x) - y

    for other in (hosts[::-1], np.roll(hosts, 1), np.ones_like(hosts)):
        args = s.array(hosts), s.array(other.copy())
        with np.errstate(all="ignore"):
            got, expected = program_of(f, *args)(*args), eager(f, *args)
        for i, (one, two) in enumerate(zip(map(on_host, got), map(on_host, expected), strict=True)):
            right = np.allclose(one, two, rtol=s.rtol(factor=10), atol=0, equal_nan=True)
            zeros = (two == 0) & ~np.isnan(one)
            signs = np.array_equal(np.signbit(one[zeros]), np.signbit(two[zeros]))
            assert right, f"result {i} of special values is {one[:9]}, without a program {two[:9]}"
            assert signs, f"zeros of result {i} have other signs than without a program"
