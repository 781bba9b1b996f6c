"""Functions whose groups show possible errors of an executor, and checks of their results by `c`."""

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tests.backends.c_executor.table import Collector, compare_group, refuse
from tests.core.transforms.trace.random_programs import BACKEND

import xpgrad
import xpgrad.functions as F
from xpgrad import array_api as xp
from xpgrad.transforms import value_and_grad
from xpgrad.transforms.trace.program import Program
from xpgrad_c import generator, library
from xpgrad_c.executor import wait
from xpgrad_c.groups import CompiledGroups
from xpgrad_fusion import symbols

Function = Callable[..., Any]
RNG = np.random.default_rng(0)
THREADS = "1", "2", "3", "7"


def random_array(*shape: int, dtype: str = "float64") -> Any:
    """Return an array of normal numbers."""
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(dtype)


def with_nan(*shape: int) -> Any:
    """Return an array with NaN at the end of some rows, and at the beginning of other rows."""
    x = random_array(*shape)
    x[1, -1] = x[2, 0] = np.nan
    return x


def formula(x: Any) -> Any:
    """Reduce all of an elementwise expression."""
    return xp.sum(xp.tanh(x * 1.5 + 0.25) * xp.exp(-x * x) + F.sigmoid(x))


def rows(x: Any) -> Any:
    """Reduce rows, and use the results in these rows."""
    e = xp.exp(x - xp.max(x, axis=1, keepdims=True))
    return e / xp.sum(e, axis=1, keepdims=True), xp.sum(xp.var(x, axis=1))


def columns(x: Any) -> Any:
    """Reduce over the rows."""
    return xp.sum(x * x, axis=0), xp.exp(xp.mean(x, axis=0)), xp.max(x, axis=0)


def extremes(x: Any) -> Any:
    """Return largest and smallest numbers of rows and of all elements."""
    y = x * 2.0
    return xp.max(y, axis=1), xp.min(y, axis=1), xp.max(y), xp.min(y)


def zeros(x: Any) -> Any:
    """Return zeros, and sums and products of zeros."""
    y = -x
    return y, y * 2.0, xp.sum(y, axis=1), xp.sum(y), xp.abs(y)


def levels(x: Any, w: Any, v: Any) -> Any:
    """Combine a square matrix with a number for each row, and one for each column."""
    y = x * w + v
    return y, xp.sum(y * x, axis=1)


def twice(x: Any, y: Any) -> Any:
    """Return views of an argument, and new arrays."""
    z = x * y + x
    return z, xp.reshape(x, (-1,)), x, z * 1.0, xp.matrix_transpose(z)


SQUARE = random_array(13, 13)
PROBES: dict[str, tuple[Function, tuple[Any, ...]]] = {
    "formula": (value_and_grad(formula), (random_array(61),)),
    "long": (value_and_grad(formula), (random_array(1100),)),
    "rows": (rows, (random_array(23, 11),)),
    "columns": (columns, (random_array(19, 7),)),
    "extremes": (extremes, (with_nan(7, 9),)),
    "zeros": (zeros, (np.zeros((3, 5)),)),
    "negative zeros": (zeros, (-np.zeros((3, 5)),)),
    "levels": (levels, (SQUARE, random_array(13, 1), random_array(13))),
    "twice": (twice, (SQUARE, SQUARE)),
}


def cut_chunks(patch: Callable[[object, str, int], object]) -> None:
    """Let C compute small arrays in several chunks, which threads share; `patch` sets an attribute."""
    patch(generator, "CHUNK", 16)
    patch(generator, "KEPT", 1)
    patch(symbols, "SMALL", 1)
    patch(library, "SHARED_FROM", 1)


def program_of(name: str) -> tuple[Program, Sequence[Any]]:
    """Return the program of a probe, which detects equal arguments, and its arguments."""
    f, arrays = PROBES[name]
    return xpgrad.compile(f, executor="python").program(*arrays), list({id(x): x for x in arrays}.values())


def compiled(name: str) -> list[tuple[Any, list[Any], Function]]:
    """Return the groups of a probe, their arguments, and the functions of C."""
    program, arrays = program_of(name)
    collector = Collector()
    collector(program)(*arrays)
    groups = CompiledGroups(BACKEND)
    made = [groups(fused, refuse) for fused, _ in collector.groups]
    groups.start()
    assert wait(120)
    assert [group.state for group in made] == ["C"] * len(made)
    return [(fused, given, group.current) for (fused, given), group in zip(collector.groups, made, strict=True)]


def check_c(name: str) -> None:
    """Compare the groups of a probe by C with their calls, zeros with their signs."""
    found = compiled(name)
    assert found
    for fused, arrays, function in found:
        for _ in range(2):
            compare_group(fused, arrays, function)
        with np.errstate(all="ignore"):
            expected = fused(*arrays)
        for y, wanted in zip(function(*arrays), expected, strict=True):
            zero = wanted == 0
            assert np.array_equal(np.signbit(y[zero]), np.signbit(wanted[zero])), (name, y)


def bits_by_threads(run: Function, arrays: Sequence[Any]) -> set[tuple[bytes, ...]]:
    """Return the bits of a function's results for some numbers of threads."""
    before, found = os.environ.get("XPGRAD_NUM_THREADS"), set()
    try:
        for number in THREADS:
            os.environ["XPGRAD_NUM_THREADS"] = number
            with np.errstate(all="ignore"):
                found.add(tuple(np.asarray(y).tobytes() for y in run(*arrays)))
    finally:
        os.environ.pop("XPGRAD_NUM_THREADS")
        if before is not None:
            os.environ["XPGRAD_NUM_THREADS"] = before
    return found


def check_threads_c(name: str) -> None:
    """Compare results for some numbers of threads to the bit."""
    for _, arrays, function in compiled(name):
        assert len(bits_by_threads(function, arrays)) == 1, name
