"""Family P, arrays of several threads: created, written to, printed and exported concurrently."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from xpgrad import as_array, random, using_device
from xpgrad.testing.arrays import on_host
from xpgrad.types import Array
from xpgrad_conformance.check import check
from xpgrad_conformance.checks.concurrent_calls import (
    COUNT,
    in_another_thread,
    run_concurrently,
    run_in_rounds,
    switching_often,
)
from xpgrad_conformance.checks.exchange import readers
from xpgrad_conformance.subject import Subject
from xpgrad_conformance.table.comparisons import assert_same_bits

ROUNDS = 3
"""Rounds of the same calls."""


@check("P53", needs=("threads",))
def made_at_once(s: Subject) -> None:
    """Eight threads that create arrays concurrently, from lists, ranges or random numbers, get right results."""
    calls: list[Callable[[], list[Any]]] = [functools.partial(_made, s, seed) for seed in range(COUNT)]
    expected = [in_another_thread(call) for call in calls]
    with switching_often():
        for i, arrays in enumerate(run_concurrently(calls)):
            for k, (one, other) in enumerate(zip(arrays, expected[i], strict=True)):
                assert_same_bits(
                    one,
                    other,
                    f"array {k} that thread {i} of eight concurrent threads creates, and of a single thread,",
                )


@check("P55", needs=("threads", "in_place_update", "index_assignment"))
def written_at_once(s: Subject) -> None:
    """Eight threads that write to separate parts of one array concurrently do not change each other's parts.

    Libraries that only record writes are excluded: there the array has the state that the last thread recorded.
    """
    noted = s.array(np.zeros(3))
    _write(s, noted, 0, s.array(np.ones(())))
    if s.backend.is_pending(noted):
        return
    rows = [(i, ...) for i in range(COUNT)]
    columns = [(slice(i // 2 * 2, i // 2 * 2 + 2), slice(i % 2, None, 2)) for i in range(COUNT)]
    for n in (5, 3000) if s.quick else (2, 5, 300, 70_000):
        whole = s.values((COUNT, n))
        for keys in (rows, columns) * ROUNDS:
            x = s.array(np.zeros_like(whole))
            parts = [s.array(np.ascontiguousarray(whole[key])) for key in keys]
            with switching_often():
                run_concurrently([functools.partial(_write, s, x, *each) for each in zip(keys, parts, strict=True)])
            what = f"x of shape {whole.shape}, of which eight threads have written x[{keys[0]}], x[{keys[1]}], ...,"
            assert_same_bits(on_host(x), whole, what)
        _into_each_other(s, whole)
    if s.has("uint8"):
        for _ in range(ROUNDS):
            _elements(s)


def _into_each_other(s: Subject, host: Any) -> None:
    """Let threads write two equal arrays into each other, to detect deadlocks between locks of the arrays."""
    x, y = s.array(host), s.array(host)
    calls: list[Callable[[], Any]] = [functools.partial(_write, s, *each) for each in ((x, ..., y), (y, ..., x))]
    with switching_often():
        run_in_rounds([calls * (COUNT // 2)] * ROUNDS)
    for each in (x, y):
        assert_same_bits(on_host(each), host, "one of two equal arrays that eight threads have written into each other")


def _elements(s: Subject) -> None:
    """Write single bytes, next to bytes that other threads write."""
    x, wanted = s.array(np.zeros(5 * COUNT), "uint8"), np.arange(1, 5 * COUNT + 1)

    def write(i: int) -> None:
        with using_device(s.device):
            for k in range(i, len(wanted), COUNT):
                x[k] = int(wanted[k])

    with switching_often():
        run_concurrently([functools.partial(write, i) for i in range(COUNT)])
    assert_same_bits(on_host(x), wanted.astype("uint8"), "x of uint8, of which eight threads have written elements,")


@check("P56", needs=("threads",))
def shown_at_once(s: Subject) -> None:
    """Eight threads that print arrays concurrently each get the right text."""
    variables = [s.variable(s.values((2 + i, 3)) + 10.0 * i) for i in range(COUNT)]
    calls: list[Callable[[], Any]] = [functools.partial((repr, str)[i % 2], x) for i, x in enumerate(variables)]
    wanted = [in_another_thread(call) for call in calls]
    with switching_often():
        for found in run_in_rounds([calls] * ROUNDS):
            for i, (one, other) in enumerate(zip(found, wanted, strict=True)):
                assert one == other, (
                    f"the output of thread {i} of eight concurrent threads is {one!r}, and in a single thread {other!r}"
                )


@check("P57", needs=("threads", "dlpack_export"))
def exported_at_once(s: Subject) -> None:
    """Eight threads that export arrays by DLPack concurrently each export the right array."""
    hosts = [s.values((2 + i, 3)) for i in range(COUNT)]
    arrays = [s.array(host) for host in hosts]
    for name in [name for name, _ in readers(s, arrays[0])]:
        calls: list[Callable[[], Any]] = [functools.partial(_read, s, name, x) for x in arrays]
        with switching_often():
            for found in run_in_rounds([calls] * ROUNDS):
                for got, host in zip(found, hosts, strict=True):
                    assert_same_bits(got, host, f"the array that {name} read in one of eight concurrent threads,")


def _read(s: Subject, reader: str, x: Array) -> Any:
    return np.array(dict(readers(s, x))[reader](x))


def _write(s: Subject, x: Array, key: Any, part: Array) -> None:
    with using_device(s.device):
        x[key] = part


def _made(s: Subject, seed: int) -> list[Any]:
    """Return host copies of the arrays that one thread creates."""
    dtype, device = s.dtype_of(s.wide), s.device
    random.seed(seed, device)
    made = [draw((5, 7), dtype, device) for draw in (random.uniform, random.normal) * 3]
    made += [s.xp.asarray([0.5 * seed + k for k in range(n)], dtype=dtype, device=device) for n in (3, 40, 1500)]
    made += [s.xp.arange(seed, n + seed, dtype=dtype, device=device) for n in (3, 40)]
    made += [s.xp.full((n, 3), seed, dtype=dtype, device=device) for n in (3, 40)]
    made += [make((n, 3), dtype=dtype, device=device) for n in (3, 40, 700) for make in (s.xp.zeros, s.xp.ones)]
    if s.has("in_place_update", "index_assignment") and not s.backend.immutable:
        with using_device(device):
            for each in made:  # memory that no other thread uses
                as_array(each)[0, ...] = seed
    return list(map(on_host, made))
