"""Family S, sequences: the same function called again and again, after other values, dtypes, errors and writes."""

import contextlib
import itertools
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from xpgrad import Variable, as_array
from xpgrad.plugin import CHAPTERS
from xpgrad.testing.arrays import on_host
from xpgrad_conformance.check import check
from xpgrad_conformance.checks.concurrent_calls import TIMEOUT, switching_often
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.operations import OPERATIONS
from xpgrad_conformance.generated.sample import Sample, as_list
from xpgrad_conformance.generated.sequences import (
    Pair,
    assert_all_right,
    assert_equal,
    assert_right,
    bits,
    gradients,
    in_dtype,
    in_turn,
    on_another_device,
    one_of_each,
    pairs_of,
    with_gradients,
    with_observed_reference,
)
from xpgrad_conformance.generated.writing import WRITES, overwrite
from xpgrad_conformance.oracle import named
from xpgrad_conformance.subject import Subject

CALLS = 1030
"""Consecutive calls: more than a thousand, and more than the entries of a 1,024-entry buffer; for half of the functions
in the quick profile."""
SECONDS = 2.0
"""Time after which consecutive calls of a slow library end; this is the only limit of the suite that depends on the
clock."""
FLOATING = "float32", "float64", "complex64", "complex128"
LARGER = 600, 5000
"""Bounds of the number of elements of a sample from which libraries keep something, such as a packed matrix."""
PAUSE = 1e-5
"""Seconds that a busy thread waits after some calls, because functions that release the lock can starve other
threads."""
REPORTING = "linalg", "linear algebra", "fft"
"""Chapters whose functions report errors by a status, which the quick profile tests."""
KEPT = 10
"""Results that are compared again after many calls."""


def _called(s: Subject, sample: Sample, when: str, arrays: Any = None) -> Any:
    """Return the results of a sample's call, which must be right."""
    got = sample.applied(s.xp, *(sample.arrays(s) if arrays is None else arrays))
    assert_right(s, sample, got, when)
    return got


def _thorough(s: Subject) -> bool:
    """Return whether this is the dtype of a function in which the full profile takes most samples and calls."""
    return not s.quick and s.operation is not None and s.dtype == s.operation.quick[0]


def _spread(pairs: list[Pair], count: int) -> list[Pair]:
    """Return some of the pairs: the smallest, the largest, and pairs of sizes between."""
    if len(pairs) <= count:
        return pairs
    return [pairs[i * (len(pairs) - 1) // (count - 1)] for i in range(count)]


@check("S01", scope="operation", applies=in_turn)
def histories(s: Subject) -> None:
    """Calls are right after any earlier calls: other values, shapes, dtypes, devices, errors, writes to arguments."""
    assert s.operation is not None
    pairs = [
        (with_observed_reference(s, one), with_observed_reference(s, two))
        for one, two in _spread(pairs_of(s, s.operation), 4 if s.quick else 12)
    ]
    _alternate(s, pairs)
    for one, two in _spread(pairs, 2 if s.quick else 6):
        for what, fail in _failing(s, two):
            with contextlib.suppress(Exception):
                fail()
            _called(s, one, f"after {what}")
    if s.has(*WRITES):
        for one, two in [*_spread(pairs, 3 if s.quick else 10), *pairs_of(s, s.operation, *LARGER, count=4)]:
            _write(s, one, two)
        for one, two in _spread(pairs, 2 if s.quick else 6):
            _write_result(s, one, two)


def _write_result(s: Subject, one: Sample, two: Sample) -> None:
    """Call with the result of a call, write other values to that result, and call again."""
    if len(one.arguments) != 1 or one.derived is not None:
        return
    (x,), (other,) = one.arrays(s), two.arrays(s)
    y = one.applied(s.xp, x)
    if isinstance(y, (tuple, list)):
        return
    result = as_array(y)
    given, host = one.arguments[0], on_host(result)
    if host.shape != given.host.shape or host.dtype != given.host.dtype or given.kept or s.backend.is_view(result):
        return
    with contextlib.suppress(Exception):  # it may reject its results or be wrong for them
        _called(s, replace(one, arguments=(replace(given, host=host, layout="contiguous"),)), "", [result])
    if overwrite(result, other):
        _called(s, two, "after its argument, which an earlier call returned, was written to", [result])


def _alternate(s: Subject, pairs: list[Pair]) -> None:
    """Alternate between values, shapes, dtypes and devices; results must not change."""
    assert s.operation is not None
    kept: list[tuple[Sample, Any, tuple[bytes, ...]]] = []
    for one, two in pairs:
        for sample, when in ((one, "at first"), (two, "after a call with other values"), (one, "called again")):
            got = _called(s, sample, when)
            if sample is one:
                kept.append((sample, got, bits(got)))
    for other in [in_dtype(s, dtype) for dtype in s.operation.quick if dtype != s.dtype]:
        if not other.has(other.dtype, *s.operation.facts):
            continue
        for sample, _ in _spread(pairs_of(other, s.operation), 2):
            _called(other, sample, f"after calls in {s.dtype}")
    there = on_another_device(s)
    if there is not None:
        for sample, _ in _spread(pairs_of(there, s.operation), 2):
            _called(there, sample, f"after calls on {s.device}")
    for one, _ in pairs:
        _called(s, one, "after calls in other dtypes" if there is None else f"after calls on {there.device}")
    for sample, got, before in kept:
        if bits(got) != before:
            assert_right(s, sample, got, "after later calls (an earlier result has changed)")


def _failing(s: Subject, sample: Sample) -> Iterator[tuple[str, Any]]:
    """Yield calls that fail in most libraries, each with a description."""
    arrays = sample.arrays(s)
    raw = sample.call is None
    if raw:
        function = named(s.backend.namespace, sample.name)
        yield "a call with a string", lambda: function("no array", **sample.parameters)
        for value in (0.0, float("nan")) if s.dtype in FLOATING else ():
            same = [s.array(np.full(host.shape, value), s.dtype) for host in sample.hosts if host.dtype.kind in "fc"]
            if len(same) == len(arrays):
                yield f"a call with arrays of {value}", lambda same=same: sample.applied(s.xp, *same)
    if "axis" in sample.parameters:
        given = {**sample.parameters, "axis": 99}
        yield "a call with axis=99", lambda: named(s.xp, sample.name)(*arrays, **given)
    if len(arrays) > 1 and raw:
        odd = [s.array(s.values((7, 5, 3), dtype=s.wide), s.wide)] * (len(arrays) - 1)
        yield ("a call with shapes that do not match", lambda: sample.applied(s.xp, arrays[0], *odd))


def _write(s: Subject, one: Sample, two: Sample) -> None:
    """Call, let a graph keep the arguments, write other values into them, and call again."""
    if any(argument.layout == "broadcast" for argument in one.arguments):
        return
    arrays, others = one.arrays(s), two.arrays(s)
    first = _called(s, one, "at first", arrays)
    before = bits(first)
    given = {id(s.backend.owner(x)[0]) for x in arrays}
    results = [as_array(each) for each in as_list(first)]
    shares = any(s.backend.is_view(y) or id(s.backend.owner(y)[0]) in given for y in results)
    graph = _with_graph(s, one, arrays)
    if not all(itertools.starmap(overwrite, zip(arrays, others, strict=True))):
        return
    _called(s, two, "after its arguments were written to", arrays)
    if not shares and bits(first) != before:
        assert_right(s, one, first, "after its arguments were written to (the result has changed)")
    del graph
    if not shares:
        arrays = one.arrays(s)
        unread = one.applied(s.xp, *arrays)
        if all(itertools.starmap(overwrite, zip(arrays, others, strict=True))) and bits(unread) != before:
            assert_right(s, one, unread, "whose arguments were written to before the result was looked at")


def _with_graph(s: Subject, sample: Sample, arrays: Any) -> Any:
    """Return outputs whose graph retains the arrays."""
    if s.dtype not in FLOATING:
        return None
    return sample.applied(s.xp, *(Variable(x) if on_host(x).dtype.kind in "fc" else x for x in arrays))


@check("S05")
def after_errors_of_others(s: Subject) -> None:
    """A failed call does not affect the functions of its chapter, which often share code."""
    for chapter, names in CHAPTERS.items():
        if s.quick and chapter not in REPORTING:
            continue
        made = one_of_each(s, [operation for operation in OPERATIONS if operation.name in names])
        for sub, failed in made:
            for _, fail in _failing(sub, failed):
                for other, one in made:
                    with contextlib.suppress(Exception):
                        fail()
                    _called(other, one, f"after a call of {failed.name} that failed")


@check("S02", scope="operation", applies=in_turn)
def a_thousand_calls(s: Subject) -> None:
    """The thousandth call is as right as the first, and does not change earlier results."""
    assert s.operation is not None
    many = Draw(s, s.operation.name).turn(3) if s.quick else s.dtype in s.operation.quick
    count = CALLS if many else CALLS // 4
    for one, two in pairs_of(s, s.operation)[: 3 if _thorough(s) else 1]:
        given = (one, one.arrays(s)), (two, two.arrays(s))
        kept = [(sample, _called(s, sample, "at first", arrays)) for sample, arrays in given]
        wanted, end = [bits(got) for _, got in kept], time.monotonic() + SECONDS
        for number in range(3, count):
            which = number % 3 != 1  # a ring buffer is never refilled with the same values: no ring has 3 ** n
            sample, arrays = given[which]
            got = sample.applied(s.xp, *arrays)
            if bits(got) != wanted[which]:
                assert_right(s, sample, got, f"call {number} in a row")
            if len(kept) < KEPT:
                kept.append((sample, got))
            if time.monotonic() > end:
                break
        for sample, got in kept:
            if bits(got) != wanted[sample is two]:
                assert_right(s, sample, got, "after many calls (an earlier result has changed)")


@check("S03", scope="operation", needs=("threads",), applies=in_turn)
def beside_a_thread(s: Subject) -> None:
    """Calls are right while another thread calls the same function with other values, shapes and dtypes."""
    assert s.operation is not None
    pairs = _spread(pairs_of(s, s.operation), 6 if _thorough(s) else 2)
    if not pairs:
        return
    calls = [(sample, sample.arrays(s)) for pair in pairs * 3 for sample in pair]
    with switching_often(), _busy(s, [two for _, two in pairs]):
        results = [sample.applied(s.xp, *arrays) for sample, arrays in calls]
    assert_all_right(s, [sample for sample, _ in calls], results, "while another thread calls it")


@contextlib.contextmanager
def _busy(s: Subject, samples: list[Sample]) -> Iterator[None]:
    """Let another thread call a function while the block runs."""
    arrays = [sample.arrays(s) for sample in samples]
    done, started = threading.Event(), threading.Event()

    def work() -> None:
        while not done.wait(PAUSE):
            for sample, given in [*zip(samples, arrays, strict=True)] * 8:
                with contextlib.suppress(Exception):
                    sample.applied(s.xp, *given)
            started.set()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        assert started.wait(TIMEOUT), f"another thread has not called {samples[0].name} after {TIMEOUT:.0f} s"
        yield
    finally:
        done.set()
        thread.join(TIMEOUT)


@check("S04", scope="operation", level=1, applies=with_gradients)
def gradients_in_sequence(s: Subject) -> None:
    """Gradients are the same in every sweep: after other sweeps, errors and writes, and the thousandth time."""
    assert s.operation is not None
    pairs = [pair for pair in pairs_of(s, s.operation) if pair[0].smooth and pair[1].smooth]
    for one, two in _spread(pairs, 2 if s.quick else 4):
        first, second = gradients(s, one), gradients(s, two)
        if not first:
            continue
        assert_equal(s, one, first, gradients(s, one), "after one with other values")
        assert_equal(s, one, first, gradients(s, one, two), "after a call with other values, between call and sweep")
        for what, fail in _failing(s, two):
            with contextlib.suppress(Exception):
                fail()
            assert_equal(s, two, second, gradients(s, two), f"after {what}")
    for one, two in pairs[:1]:
        first, second = gradients(s, one), gradients(s, two)
        end = time.monotonic() + SECONDS
        for number in range(3, CALLS // 2 if _thorough(s) else 40):
            assert_equal(s, one, first, gradients(s, one), f"sweep {2 * number - 1} in a row")
            assert_equal(s, two, second, gradients(s, two), f"sweep {2 * number} in a row")
            if time.monotonic() > end:
                break
