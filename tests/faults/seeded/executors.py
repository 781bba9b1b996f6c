"""Faults in executors, which run the programs of compiled functions."""

import functools
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from tests.faults.fault import Fault, Freedom, Plant

from xpgrad.plugin import Spec
from xpgrad.transforms.trace.program import Call, Program, Value
from xpgrad.types import Array

Run = Callable[..., tuple[Array, ...]]


def executor(make: Callable[[Program, Run], Any]) -> Plant:
    """Let ``make(program, run)`` make the function that runs a program; `run` is right."""
    return lambda bed: setattr(bed, "executor", lambda program: make(program, program.function()))


def around(change: Callable[[Program, tuple[Array, ...], tuple[Array, ...]], Any]) -> Plant:
    """Let ``change(program, arrays, results)`` give the results of each run."""
    return executor(lambda program, run: lambda *arrays: change(program, arrays, run(*arrays)))


def changed(change: Callable[[Program], Program]) -> Plant:
    """Let another program run."""
    return executor(lambda program, run: change(keeping(program)).function())


def keeping(program: Program) -> Program:
    """Return the program without releases of memory, which are valid only for the calls in their order."""
    return program.replaced(calls=tuple(call.replaced(frees=(), out=None) for call in program.calls))


def like(array: Array, values: Any) -> Array:
    """Return NumPy's values as an array of the bed's library, on the device of another."""
    return type(array).library.array(values, array.device)


# What is returned


def uncopied(program: Program, run: Run) -> Run:
    """Return the values themselves: views, arguments, and arrays that the program holds."""
    inner = program.replaced(private=len(program.outputs)).function()
    return lambda *arrays: inner(*arrays)


def one_for_equal(program: Program, arrays: tuple[Array, ...], results: tuple[Array, ...]) -> tuple[Array, ...]:
    first: dict[Any, Array] = {}
    return tuple(first.setdefault((y.shape, y.inner.tobytes()), y) for y in results)


def swapped(program: Program, arrays: tuple[Array, ...], results: tuple[Array, ...]) -> tuple[Array, ...]:
    if len(results) < 2 or results[0].shape != results[1].shape or results[0].dtype != results[1].dtype:
        return results
    return (results[1], results[0], *results[2:])


def wrong_tail(program: Program, arrays: tuple[Array, ...], results: tuple[Array, ...]) -> tuple[Array, ...]:
    for y in results:
        if y.size > 4096 and y.size % 8 and y.inner.dtype.kind == "f":
            y.inner.reshape(-1)[-1] = 0
    return results


def wrong_rows(program: Program, arrays: tuple[Array, ...], results: tuple[Array, ...]) -> tuple[Array, ...]:
    for y in results:
        if y.ndim == 2 and y.shape[0] > 128 and y.inner.dtype.kind == "f":
            y.inner[128, :] = y.inner[127, :]
    return results


def with_axis(program: Program, arrays: tuple[Array, ...], results: tuple[Array, ...]) -> tuple[Array, ...]:
    return tuple(like(y, y.inner.reshape(1)) if not y.shape and arrays[0].shape == () else y for y in results)


def fails_if_empty(program: Program, arrays: tuple[Array, ...], results: tuple[Array, ...]) -> tuple[Array, ...]:
    if any(not y.size for y in results):
        raise ZeroDivisionError("no blocks")
    return results


def narrow(program: Program, arrays: tuple[Array, ...], results: tuple[Array, ...]) -> tuple[Array, ...]:
    return tuple(like(y, y.inner.astype(np.float32)) if y.inner.dtype == np.float64 else y for y in results)


def without_nan(program: Program, arrays: tuple[Array, ...], results: tuple[Array, ...]) -> tuple[Array, ...]:
    for y in results:
        if y.inner.dtype.kind == "f":
            y.inner[np.isnan(y.inner)] = 0
    return results


def positive_zero(program: Program, arrays: tuple[Array, ...], results: tuple[Array, ...]) -> tuple[Array, ...]:
    return tuple(like(y, np.asarray(y.inner + 0)) if y.inner.dtype.kind == "f" else y for y in results)


def writes_to_inputs(program: Program, arrays: tuple[Array, ...], results: tuple[Array, ...]) -> tuple[Array, ...]:
    for x in arrays:
        if x.size > 1 and x.inner.dtype.kind == "f":
            x.inner *= 2
    return results


# State kept from run to run


def cached_result(program: Program, run: Run) -> Run:
    kept: list[Any] = []

    def first(*arrays: Array) -> tuple[Array, ...]:
        if not kept:
            kept.append(run(*arrays))
        return tuple(like(y, y.inner.copy()) for y in kept[0])

    return first


def same_buffers(program: Program, run: Run) -> Run:
    kept: list[Any] = []

    def again(*arrays: Array) -> tuple[Array, ...]:
        found = run(*arrays)
        if not kept:
            kept.append(found)
        for buffer, y in zip(kept[0], found, strict=True):
            buffer.inner[...] = y.inner
        return tuple(kept[0])

    return again


def stale_values(program: Program, run: Run) -> Run:
    kept: dict[int, tuple[Array, Array]] = {}

    def stale(*arrays: Array) -> tuple[Array, ...]:
        return run(*(kept.setdefault(id(x), (like(x, x.inner.copy()), x))[0] for x in arrays))

    return stale


def first_constants(program: Program, run: Run) -> Run:
    kept: list[Array] = []

    def first(*arrays: Array) -> tuple[Array, ...]:
        if not kept:
            kept.extend(arrays)
        return run(*arrays[:1], *kept[1:])

    return first


def shared_scratch(program: Program, run: Run) -> Run:
    scratch: list[tuple[Array, ...]] = [()]

    def racing(*arrays: Array) -> tuple[Array, ...]:
        scratch[0] = arrays
        time.sleep(0.001)
        return run(*scratch[0])

    return racing


def one_thread(program: Program, run: Run) -> Run:
    made = threading.get_ident()

    def only(*arrays: Array) -> tuple[Array, ...]:
        if threading.get_ident() != made:
            raise RuntimeError("made in another thread")
        return run(*arrays)

    return only


def distinguished_by_identity(program: Program, run: Run) -> Run:
    def by_id(*arrays: Array) -> tuple[Array, ...]:
        places = {(x.shape, x.inner.dtype): x for x in arrays}
        return run(*(places[x.shape, x.inner.dtype] for x in arrays))

    return by_id


# Calls


def draws_once(program: Program) -> Program:
    """Give one array of random numbers to all calls that draw as many."""
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


def draws_in_another_order(program: Program) -> Program:
    draws = [call for call in program.calls if call.draws]
    return program.replaced(calls=(*reversed(draws), *(call for call in program.calls if not call.draws)))


def drawn_when_made(program: Program, run: Run) -> Run:
    program = keeping(program)
    made = {call.results[0]: call.function() for call in program.calls if call.draws and call.results}
    calls = tuple(call.substituted(made) for call in program.calls if not call.draws)
    return program.replaced(calls=calls, outputs=tuple(made.get(item, item) for item in program.outputs)).function()


def without_writes(program: Program) -> Program:
    return program.replaced(calls=tuple(call for call in program.calls if not call.writes))


def writes_last(program: Program) -> Program:
    return program.replaced(calls=tuple(sorted(program.calls, key=lambda call: bool(call.writes))))


# Errors


def swallows(program: Program, run: Run) -> Run:
    last: list[Any] = []

    def silent(*arrays: Array) -> tuple[Array, ...]:
        try:
            last[:] = [run(*arrays)]
        except Exception:
            if not last:
                raise
        return tuple(last[0])

    return silent


def broken_by_errors(program: Program, run: Run) -> Run:
    broken: list[Any] = []

    def fragile(*arrays: Array) -> tuple[Array, ...]:
        try:
            found = run(*(broken[0] if broken else arrays))
        except Exception:
            broken[:] = [kept]
            raise
        kept[:] = arrays
        return found

    kept: list[Array] = []
    return fragile


def declining(program: Program, run: Run) -> Any:
    return NotImplemented


def raising(program: Program, run: Run) -> Any:
    raise OSError("no compiler")


def alternating(program: Program, run: Run) -> Any:
    return NotImplemented if len(program.calls) % 2 else functools.partial(run)


FAULTS = tuple(
    Fault(f"executor-{id}", title, "J", plant)
    for id, title, plant in (
        ("returns-views", "results are arguments, captured arrays and views of each other", executor(uncopied)),
        ("returns-one-for-equal", "equal results are one array", around(one_for_equal)),
        ("swaps-results", "two results of one shape come in the other order", around(swapped)),
        ("forgets-the-tail", "the last element after whole vectors is not computed", around(wrong_tail)),
        ("repeats-a-row", "the first row of the second block is the last one of the first", around(wrong_rows)),
        ("adds-an-axis", "a result without axes comes with one", around(with_axis)),
        ("refuses-empty", "an empty result is an error", around(fails_if_empty)),
        ("narrows", "results are in float32", around(narrow)),
        ("takes-nan-for-zero", "NaN becomes 0", around(without_nan)),
        ("drops-signs-of-zeros", "-0.0 becomes 0.0", around(positive_zero)),
        ("writes-to-arguments", "arguments are scratch memory", around(writes_to_inputs)),
        ("runs-once", "the first run's results are returned by each", executor(cached_result)),
        ("reuses-results", "each run writes its results over those of the run before", executor(same_buffers)),
        ("keeps-values", "an array that was seen before has the values that it had then", executor(stale_values)),
        ("keeps-arrays", "all inputs but the first are those of the first run", executor(first_constants)),
        ("shares-scratch", "threads share the memory of a run", executor(shared_scratch)),
        ("is-of-one-thread", "only the thread that made it may run it", executor(one_thread)),
        ("confuses-arguments", "arguments of one shape are one array", executor(distinguished_by_identity)),
        ("merges-draws", "two draws of random numbers are one", changed(draws_once)),
        ("reorders-draws", "random numbers are drawn in another order", changed(draws_in_another_order)),
        ("draws-when-made", "random numbers are drawn when the program is made", executor(drawn_when_made)),
        ("drops-writes", "calls without results are left out", changed(without_writes)),
        ("writes-last", "writes come after all other calls", changed(writes_last)),
        ("swallows-errors", "a run that fails returns the results of the one before", executor(swallows)),
        ("is-broken-by-errors", "after an error, runs compute from old arguments", executor(broken_by_errors)),
    )
)
FREEDOMS = (
    Freedom("executor-declines", "an executor declines all programs", executor(declining)),
    Freedom("executor-raises", "an executor fails for all programs", executor(raising)),
    Freedom("executor-takes-some", "an executor takes every other program", executor(alternating)),
)
