"""Family M, memory: memory does not grow with the number of repetitions, and the backend reports it correctly."""

import gc
from typing import Any

import numpy as np

from xpgrad import Variable, as_array
from xpgrad.plugin import Spec
from xpgrad.types import Array
from xpgrad_conformance.check import check
from xpgrad_conformance.checks.views import views_of
from xpgrad_conformance.checks.watching import SHAPE, Meter, metered, network, operands, reference_counting_alone
from xpgrad_conformance.subject import Subject

SLACK = 8000
"""Bytes by which memory may grow in one repetition, for caches of Python and libraries: half of the smallest array."""


PREPARED = 6000
"""Number of different Python scalars in a program; a cache with fewer entries is bounded."""


@check("M05", scope="backend")
def repetitions(s: Subject) -> None:
    """Forward and backward, repeated, leave no more memory in use than the first times."""
    x, w = operands(s)
    first, count = (5, 15) if s.quick else (20, 60)

    def repeat(times: int) -> None:
        for _ in range(times):
            network(s, x, w).backward()
            x.cleargrad()
            w.cleargrad()

    with metered(s) as meter:
        repeat(first)
        before = meter.now()
        repeat(count)
        grown = meter.now() - before
    assert grown <= SLACK * count, (
        f"{count} repetitions of a forward and backward computation left {grown} bytes in use, "
        f"{grown / count:.0f} each; expected none (an array in it has {4 * SHAPE[0] * SHAPE[1]} bytes or more)"
    )


@check("M06", scope="backend")
def transfers(s: Subject) -> None:
    """Moving, copying and printing leave no objects behind."""
    host = s.values(SHAPE)
    x = s.array(host)
    with metered(s) as meter:
        for _ in range(5):
            _move(s, x, host)
        before = meter.now()
        for _ in range(20):
            _move(s, x, host)
        grown = meter.now() - before
    assert grown <= 20 * SLACK, f"20 moves of an array to the host and back left {grown} bytes in use; expected none"


def _move(s: Subject, x: Array, host: Any) -> None:
    s.backend.to_host(x)
    s.backend.copy(x)
    s.array(host)
    repr(Variable(x))


@check("M09", scope="backend")
def prepared_numbers(s: Subject) -> None:
    """The cache of prepared Python numbers is bounded, also for NaNs, each of which is another."""
    array = s.array(s.values((3, 4)))
    spec = s.backend.spec(array)
    held = dict(spec.constants)
    try:
        for kind, make in (("distinct numbers", lambda i: 0.5 + i), ("NaNs", lambda i: float("nan"))):
            for i in range(PREPARED):
                s.backend.prepare(make(i), spec)
            size = len(spec.constants)
            assert size < PREPARED, f"after {PREPARED} {kind} the cache of prepared numbers has {size}; bound it"
    finally:
        spec.constants.clear()
        spec.constants.update(held)


@check("M10", scope="backend")
def specs(s: Subject) -> None:
    """The cache of specs is bounded."""
    dtype, handle, count = s.array(np.ones(1)).dtype, s.device.handle, 12_000

    def known() -> int:
        return sum(type(each) is Spec and each.backend is s.backend for each in gc.get_objects())

    before = known()  # other code may keep some
    for i in range(count):
        s.backend.spec_for((i + 1, 3), dtype, handle)
    there = known() - before
    assert there < count // 2, f"arrays of {count} shapes leave {there} specs more; expected a bounded cache"


@check("M13", needs=("memory_used",))
def counted(s: Subject) -> None:
    """memory_used goes up by an array's bytes when it is made, down when it dies, and free_memory changes no value."""
    with reference_counting_alone():
        meter, host = Meter(s), s.values((250, 300))
        kept = s.array(host)
        before = meter.now()
        array = s.array(host)
        grown = meter.now() - before
        assert host.nbytes <= grown <= 2 * host.nbytes + 4096, (
            f"memory_used went up by {grown} when an array of {host.nbytes} bytes was made; expected these bytes"
        )
        others = [device for device in s.backend.devices() if device != s.device]
        elsewhere = [s.backend.memory_used(device) for device in others]
        del array
        left = meter.now() - before
        assert left <= 4096, (
            f"memory_used is {left} higher than before an array of {host.nbytes} bytes was made and died"
        )
        now = [s.backend.memory_used(device) for device in others]
        assert now == elsewhere, f"an array on {s.device} died, and memory_used of {others} changed"
        s.backend.free_memory(s.device)
        s.expect(kept, host, "an array after free_memory")


@check("M14")
def freed(s: Subject) -> None:
    """free_memory releases no memory that is in use, such as the memory of a deleted array that still has a view."""
    host = s.values((3, 4))
    array = s.array(host)
    views = [(what, shown.copy(), view) for what, shown, view in views_of(s, host, array, s.device)]
    kept = s.xp.asarray(array, copy=True)
    del array
    s.backend.free_memory(s.device)
    for what, shown, view in views:
        s.expect(view, shown, f"{what} of a deleted array, after free_memory,")
    s.expect(as_array(kept), host, "a copy, after free_memory,")
