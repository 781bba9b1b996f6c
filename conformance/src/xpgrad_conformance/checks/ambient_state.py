"""Families S and P, ambient state: rounding modes, small numbers, errors, defaults and devices that calls change."""

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from xpgrad import using_device
from xpgrad.testing.arrays import on_host
from xpgrad_conformance.check import check
from xpgrad_conformance.checks.concurrent_calls import COUNT, ignoring_exceptions, run_in_rounds, switching_often
from xpgrad_conformance.generated.operation import Operation
from xpgrad_conformance.generated.perturbed import unfit
from xpgrad_conformance.generated.sample import Sample
from xpgrad_conformance.generated.sequences import evenly_spaced, in_turn, pairs_of
from xpgrad_conformance.subject import Subject

AWAY = 9999
"""A position out of range for all arrays in this file."""
NUMBERS = 0.5, 1.5, 2.5, -0.5, -2.5, 0.1, 1e-3, 3.7, -7.3, 1e5, 0.0
"""Halves, which rounding modes treat differently, and other numbers."""
FUNCTIONS = "round", "floor", "trunc", "exp", "sin", "sqrt", "reciprocal", "cumulative_sum", "sort", "argsort"
CALLS = COUNT // 2, COUNT // 4
"""Calls of a function, and the number of concurrent threads, in the full and the quick profile."""

Looks = dict[str, Callable[[], Any]]


def _in_one_dtype(operation: Operation, dtype: str, quick: bool) -> bool:
    return in_turn(operation, dtype, True)


@check("S08", scope="operation", applies=_in_one_dtype)
def modes(s: Subject) -> None:
    """Valid and rejected calls of a function change no mode, default or device for other functions."""
    looks = _looks(s)
    before = _seen(s, looks)
    for sample in _chosen(s, CALLS[False]):
        for call in [_called(s, sample), *_refusals(s, sample)]:
            with contextlib.suppress(Exception):
                call()
        _compare(before, _seen(s, looks), f"after calls of {sample.written}, including invalid calls,")


@check("P59", scope="operation", needs=("threads",), applies=_in_one_dtype)
def modes_at_once(s: Subject) -> None:
    """While threads call a function, the modes, defaults and devices of other threads do not change."""
    looks = _looks(s)
    before = _seen(s, looks)
    samples = _chosen(s, CALLS[s.quick])
    calls = [_called(s, sample) for sample in samples]
    refusals = [call for sample in samples[-1:] for call in _refusals(s, sample)]
    rounds = []
    for given in (calls, refusals):
        several = (given * CALLS[s.quick])[: CALLS[s.quick]]
        rounds += (
            [[each for call in several for each in (ignoring_exceptions(call), lambda: _seen(s, looks))]]
            if given
            else []
        )
    with switching_often():
        for results in run_in_rounds(rounds):
            for found in results[1::2]:
                _compare(before, found, f"while other threads call {samples[-1].written}")


def _chosen(s: Subject, most: int) -> list[Sample]:
    """Return large samples of the function under test, with different parameters if possible."""
    assert s.operation is not None
    samples = [one for one, _ in pairs_of(s, s.operation)]
    different = list({sample.written: sample for sample in samples}.values())
    return [*evenly_spaced(different, most), *samples[::-1]][:most]


def _called(s: Subject, sample: Sample) -> Callable[[], Any]:
    return functools.partial(sample.applied, s.xp, *sample.arrays(s))


def _refusals(s: Subject, sample: Sample) -> Iterator[Callable[[], Any]]:
    for _, given in unfit(s, sample):
        yield functools.partial(sample.applied, s.backend.namespace, *given)


def _looks(s: Subject) -> Looks:
    """Return calls whose results depend on modes, by description."""
    xp, there = s.backend.namespace, s.has
    with using_device(s.device):
        x, y = (s.variable(np.asarray(NUMBERS[:: 1 - 2 * k]), s.wide) for k in range(2))
        tiny = s.variable(np.full(5, np.finfo(s.wide).smallest_normal), s.wide)
        square = s.variable(s.values((3, 3), dtype=s.wide), s.wide)
    found: Looks = {
        f"{name} of {NUMBERS}": functools.partial(getattr(s.xp, name), x) for name in FUNCTIONS if there(name)
    }
    found |= {
        f"x / y of {NUMBERS} and their reverse": lambda: x / y,
        "x / 3": lambda: x / 3.0,
        "x * 0.1 + y": lambda: x * 0.1 + y,
        "x @ x of (3, 3)": lambda: square @ square,
        "sum of x": lambda: s.xp.sum(x),
        "the dtype of asarray(0.5)": lambda: s.backend.dtype_name(xp.asarray(0.5).dtype),
        "the dtype of zeros(3)": lambda: s.backend.dtype_name(xp.zeros(3).dtype),
        "the dtype of asarray(3)": lambda: s.backend.dtype_name(xp.asarray(3).dtype),
        "the text of x": lambda: repr(x),
    }
    if there("subnormal_numbers"):
        found["half the smallest normal number"] = lambda: tiny * 0.5
    if there("checked_index_arrays"):
        found[f"x[{AWAY}]"] = lambda: _refused(lambda: x[AWAY])
    return found


def _refused(call: Callable[[], Any]) -> str:
    try:
        on_host(call())
    except Exception as error:
        return type(error).__name__
    return "no error"


def _seen(s: Subject, looks: Looks) -> dict[str, Any]:
    """Return the results of calls, as text or as host arrays; an exception is a result as well."""
    with using_device(s.device):
        return {what: _shown(look) for what, look in looks.items()}


def _shown(look: Callable[[], Any]) -> Any:
    with np.errstate(all="ignore"):
        try:
            found = look()
            return found if isinstance(found, str) else on_host(found)
        except Exception as error:
            return f"{type(error).__name__}: {error}"


def _compare(before: dict[str, Any], after: dict[str, Any], when: str) -> None:
    for what, one in before.items():
        other = after[what]
        same = type(one) is type(other) and (one == other if isinstance(one, str) else one.tobytes() == other.tobytes())
        assert same, f"{what} {when} is {other}, and before {one}"
