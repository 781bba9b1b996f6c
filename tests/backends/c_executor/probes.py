"""Functions whose groups show possible errors of an executor, and checks of their results by `c`."""

import functools
import itertools
import os
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tests.backends.c_executor.table import Collector, compare_group, refuse
from tests.backends.fusion.reference import fused_program
from tests.core.transforms.trace.random_programs import BACKEND, Maker, Runs, interpreted

import xpgrad
import xpgrad.functions as F
from xpgrad import array_api as xp
from xpgrad.transforms import value_and_grad
from xpgrad.transforms.trace.executors.python import python_executor
from xpgrad.transforms.trace.passes import apply_passes
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


def apart(results: Sequence[Any], inputs: Sequence[Any]) -> None:
    """Raise AssertionError if results share memory with each other, or with inputs."""
    for a, b in itertools.combinations([*results, *inputs], 2):
        assert not (any(a is y for y in results) and np.shares_memory(a, b)), "results share memory"


def check_random(seeds: range, change: Callable[[Program], Program] = fused_program) -> None:
    """Compare random programs in groups with their calls: results, writes, random numbers, and ownership of memory."""
    for seed in seeds:
        maker = Maker(random.Random(seed).randrange, 1 + seed % 3)
        program = maker.program(30)
        runs = Runs(maker, program)
        run = python_executor(change(apply_passes(program)))
        for order in (0, 1, 2):
            try:
                wanted = copies(runs, program, functools.partial(interpreted, program), order)
            except ValueError:  # a view that can be written to in one layout only
                continue
            for y, expected in zip(copies(runs, program, run, order), wanted, strict=True):
                near(y, expected)


def copies(runs: Runs, program: Program, function: Function, order: int) -> list[Any]:
    """Return copies of the results of a run, and of all writable arrays."""
    kept: list[Any] = []

    def called(*inputs: Any) -> Any:
        results = function(inputs) if isinstance(function, functools.partial) else function(*inputs)
        others = (*inputs, *runs.maker.captured)
        apart([y for y in results if not any(y is x for x in others)], others)
        kept.extend(np.array(array) for array in (*results, *others))
        return results

    runs.run(called, order)
    return kept


def near(found: Any, wanted: Any) -> None:
    """Raise AssertionError unless arrays of a random program, in which numbers grow and cancel, are nearly equal."""
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    with np.errstate(all="ignore"):
        size = np.max(np.abs(wanted), initial=0.0, where=np.isfinite(wanted))
    assert np.allclose(found, wanted, rtol=0, atol=1e-3 * size, equal_nan=True), (found, wanted)


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
