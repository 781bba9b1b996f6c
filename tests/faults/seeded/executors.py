"""Faults in executors, which run the programs of compiled functions."""

import functools
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from tests.faults.fault import Fault, Plant, freedom
from tests.faults.testbed import Testbed

from xpgrad.plugin import Spec
from xpgrad.transforms.trace.program import Call, Program, Value
from xpgrad.types import Array

Results = tuple[Array, ...]
Run = Callable[..., Results]


def executor(make: Callable[[Program], Any]) -> Plant:
    """Return the plant of an executor: ``make(program)`` gives the function that runs a program."""
    return lambda bed: setattr(bed, "executor", make)


def compiling(title: str) -> Callable[[Callable[[Program], Any]], Fault]:
    """Return a decorator that makes a `Fault` of an executor, ``make(program)``."""
    return lambda make: Fault("", title, "J", executor(make))


def running(title: str, memory: Callable[[], Any] | None = None) -> Callable[[Run], Fault]:
    """Return a decorator that makes a `Fault` of ``wrong(run, *arrays)``, which runs a program; `run` is right.

    Its first argument is what it remembers, which ``memory()`` makes for each program, if given.
    """

    def decorate(wrong: Run) -> Fault:
        def make(program: Program) -> Run:
            return functools.partial(wrong, *([] if memory is None else [memory()]), program.function())

        return compiling(title)(make)

    return decorate


def each_result(title: str) -> Callable[[Callable[[Any], Any]], Fault]:
    """Return a decorator that makes a `Fault` of ``change(x)``, which gives the values of each result, NumPy arrays."""
    return lambda change: running(title)(lambda run, *arrays: tuple(like(y, change(y.inner)) for y in run(*arrays)))


def rewriting(title: str) -> Callable[[Callable[[Program], Program]], Fault]:
    """Return a decorator that makes a `Fault` of ``change(program)``, the program that runs."""
    return lambda change: compiling(title)(lambda program: change(keeping(program)).function())


def keeping(program: Program) -> Program:
    """Return the program without releases of memory, which are valid only for the calls in their order."""
    return program.replaced(calls=tuple(call.replaced(frees=(), out=None) for call in program.calls))


def like(array: Array, values: Any) -> Array:
    """Return NumPy's values as an array of the bed's library, on the device of another."""
    return type(array).library.array(values, array.device)


# What is returned


@compiling("results are arguments, captured arrays and views of each other")
def executor_returns_views(program: Program) -> Run:
    return program.replaced(private=len(program.outputs)).function()


@running("equal results are one array")
def executor_returns_one_for_equal(run: Run, *arrays: Array) -> Results:
    first: dict[Any, Array] = {}
    return tuple(first.setdefault((y.shape, y.inner.tobytes()), y) for y in run(*arrays))


@running("two results of one shape come in the other order")
def executor_swaps_results(run: Run, *arrays: Array) -> Results:
    results = run(*arrays)
    if len(results) < 2 or results[0].shape != results[1].shape or results[0].dtype != results[1].dtype:
        return results
    return (results[1], results[0], *results[2:])


@each_result("the last element after whole vectors is not computed")
def executor_forgets_the_tail(x: Any) -> Any:
    if x.size > 4096 and x.size % 8 and x.dtype.kind == "f":
        x.reshape(-1)[-1] = 0
    return x


@each_result("the first row of the second block is the last one of the first")
def executor_repeats_a_row(x: Any) -> Any:
    if x.ndim == 2 and len(x) > 128 and x.dtype.kind == "f":
        x[128] = x[127]
    return x


@running("a result without axes comes with one")
def executor_adds_an_axis(run: Run, *arrays: Array) -> Results:
    return tuple(like(y, y.inner.reshape(1)) if y.shape == arrays[0].shape == () else y for y in run(*arrays))


@each_result("an empty result is an error")
def executor_refuses_empty(x: Any) -> Any:
    if not x.size:
        raise ZeroDivisionError("no blocks")
    return x


@running("arguments are scratch memory")
def executor_writes_to_arguments(run: Run, *arrays: Array) -> Results:
    results = run(*arrays)
    for x in arrays:
        if x.size > 1 and x.inner.dtype.kind == "f":
            x.inner *= 2
    return results


executor_narrows = each_result("results are in float32")(lambda x: x.astype(np.float32) if x.dtype == np.float64 else x)
executor_takes_nan_for_zero = each_result("NaN becomes 0")(
    lambda x: np.where(np.isnan(x), x.dtype.type(0), x) if x.dtype.kind == "f" else x
)
executor_drops_signs_of_zeros = each_result("-0.0 becomes 0.0")(
    lambda x: np.asarray(x + 0) if x.dtype.kind == "f" else x
)


# State kept from run to run


@running("the first run's results are returned by each", list)
def executor_runs_once(kept: list[Any], run: Run, *arrays: Array) -> Results:
    if not kept:
        kept.append(run(*arrays))
    return tuple(like(y, y.inner.copy()) for y in kept[0])


@running("each run writes its results over those of the run before", list)
def executor_reuses_results(kept: list[Any], run: Run, *arrays: Array) -> Results:
    found = run(*arrays)
    if not kept:
        kept.append(found)
    for buffer, y in zip(kept[0], found, strict=True):
        buffer.inner[...] = y.inner
    return tuple(kept[0])


@running("an array that was seen before has the values that it had then", dict)
def executor_keeps_values(kept: dict[int, tuple[Array, Array]], run: Run, *arrays: Array) -> Results:
    return run(*(kept.setdefault(id(x), (like(x, x.inner.copy()), x))[0] for x in arrays))


@running("all inputs but the first are those of the first run", list)
def executor_keeps_arrays(kept: list[Array], run: Run, *arrays: Array) -> Results:
    if not kept:
        kept.extend(arrays)
    return run(*arrays[:1], *kept[1:])


@running("threads share the memory of a run", dict)
def executor_shares_scratch(scratch: dict[str, Any], run: Run, *arrays: Array) -> Results:
    scratch["arrays"] = arrays
    time.sleep(0.001)
    return run(*scratch["arrays"])


@running("only the thread that made it may run it", threading.get_ident)
def executor_is_of_one_thread(made: int, run: Run, *arrays: Array) -> Results:
    if threading.get_ident() != made:
        raise RuntimeError("made in another thread")
    return run(*arrays)


@running("arguments of one shape are one array")
def executor_confuses_arguments(run: Run, *arrays: Array) -> Results:
    places = {(x.shape, x.inner.dtype): x for x in arrays}
    return run(*(places[x.shape, x.inner.dtype] for x in arrays))


# Calls


@rewriting("two draws of random numbers are one")
def executor_merges_draws(program: Program) -> Program:
    first: dict[Spec, Value] = {}
    kept: list[Call] = []
    values: dict[Value, Any] = {}
    for old in program.calls:
        call = old.substituted(values)
        if call.draws and call.results:
            found = first.setdefault(call.results[0].spec, call.results[0])
            if found is not call.results[0]:
                values[call.results[0]] = found
                continue
        kept.append(call)
    return program.replaced(calls=tuple(kept), outputs=tuple(values.get(item, item) for item in program.outputs))


@rewriting("random numbers are drawn in another order")
def executor_reorders_draws(program: Program) -> Program:
    draws = [call for call in program.calls if call.draws]
    return program.replaced(calls=(*reversed(draws), *(call for call in program.calls if not call.draws)))


@rewriting("random numbers are drawn when the program is made")
def executor_draws_when_made(program: Program) -> Program:
    made = {call.results[0]: call.function() for call in program.calls if call.draws and call.results}
    calls = tuple(call.substituted(made) for call in program.calls if not call.draws)
    return program.replaced(calls=calls, outputs=tuple(made.get(item, item) for item in program.outputs))


executor_drops_writes = rewriting("calls without results are left out")(
    lambda program: program.replaced(calls=tuple(call for call in program.calls if not call.writes))
)
executor_writes_last = rewriting("writes come after all other calls")(
    lambda program: program.replaced(calls=tuple(sorted(program.calls, key=lambda call: bool(call.writes))))
)


# Errors


@running("a run that fails returns the results of the one before", list)
def executor_swallows_errors(last: list[Any], run: Run, *arrays: Array) -> Results:
    try:
        last[:] = [run(*arrays)]
    except Exception:
        if not last:
            raise
    return tuple(last[0])


@running("after an error, runs compute from old arguments", dict)
def executor_is_broken_by_errors(kept: dict[str, Any], run: Run, *arrays: Array) -> Results:
    try:
        found = run(*kept.get("broken", arrays))
    except Exception:
        kept["broken"] = kept.get("last", ())
        raise
    kept["last"] = arrays
    return found


@freedom("an executor declines all programs")
def executor_declines(bed: Testbed) -> None:
    bed.executor = lambda program: NotImplemented


@freedom("an executor fails for all programs")
def executor_raises(bed: Testbed) -> None:
    def make(program: Program) -> Any:
        raise OSError("no compiler")

    bed.executor = make


@freedom("an executor takes every other program")
def executor_takes_some(bed: Testbed) -> None:
    bed.executor = lambda program: NotImplemented if len(program.calls) % 2 else program.function()
