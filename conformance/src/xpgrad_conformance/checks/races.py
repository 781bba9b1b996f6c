"""Family P, races: threads that call one function at the same time, for the first time, and on large arrays."""

import functools
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from xpgrad.plugin import CHAPTERS
from xpgrad.testing.arrays import on_host
from xpgrad_conformance.check import check
from xpgrad_conformance.checks.concurrent_calls import (
    COUNT,
    ignoring_exceptions,
    run_concurrently,
    run_in_rounds,
    switching_often,
)
from xpgrad_conformance.checks.fused import replacements, wanted
from xpgrad_conformance.checks.table import is_generated
from xpgrad_conformance.generated.common_shapes import Group, of_one_shape
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.operation import Operation
from xpgrad_conformance.generated.operations import OPERATIONS
from xpgrad_conformance.generated.perturbed import unfit
from xpgrad_conformance.generated.programs.compared import program_error
from xpgrad_conformance.generated.programs.drawn import drawn
from xpgrad_conformance.generated.programs.shrunk import program_text
from xpgrad_conformance.generated.sample import Sample
from xpgrad_conformance.generated.sequences import (
    Pair,
    assert_all_right,
    assert_equal,
    assert_right,
    bits,
    evenly_spaced,
    gradients,
    in_dtype,
    in_turn,
    one_of_each,
    pairs_of,
    with_gradients,
    with_inexact_values,
    with_observed_reference,
)
from xpgrad_conformance.subject import Subject
from xpgrad_conformance.table.case import Case
from xpgrad_conformance.table.comparisons import assert_same_bits
from xpgrad_conformance.table.scenario import Scenario
from xpgrad_conformance.table.table import verify
from xpgrad_conformance.table.variants import PLAIN

SECONDS = 10.0
"""Time after which no other programs begin: libraries that compile each call run fewer."""
ROUNDS = 3, 2
"""Rounds in which threads alternate new shapes and invalid calls, in the full and the quick profile."""
MANY_THREADS = 3 * COUNT
"""Threads that call a function concurrently in another round; for a third of the functions in the quick profile."""
MIXED = 4
"""Shapes with which the full profile calls functions concurrently in several dtypes."""
LARGE = (3000, 40_000), (3000, 13_000)
"""Bounds of the number of elements of large samples, in the full and the quick profile: functions that let go of the
interpreter run at the same time. The quick profile calls half of the functions with these sizes, and differentiates a
quarter."""

MIXTURES = 60, 12
"""How often threads call all functions in an order of chance, in the full and the quick profile."""
EVERYWHERE = frozenset(("sum_to", "accumulate"))
"""Kernels that every gradient may call."""


def _is_alone(case: Case, dtype: str, quick: bool) -> bool:
    """Return whether no operation covers the function of a case; in the quick profile, one case of each function."""
    if quick and "-" in case.name:
        return False
    return dtype == "float32" and not is_generated(case)


@check("P50", scope="operation", needs=("threads",), applies=in_turn, early=True)
def first_uses(s: Subject) -> None:
    """Eight threads that call a function concurrently, for the first time with these shapes, get right results."""
    assert s.operation is not None
    pairs = pairs_of(s, s.operation)
    both = [sample for pair in pairs for sample in pair]
    first, several = s.dtype == s.operation.quick[0], s.dtype in s.operation.quick
    rounds = _of_one_shape(s) if s.quick or first else []
    chosen = [
        pairs[-1:] if not (s.quick and rounds) else [],
        pairs[: 0 if s.quick else 4 if first else 1],
        _large(s, s.operation) if Draw(s, s.operation.name).turn(2 if s.quick else 1) and several else [],
    ]
    rounds += [*_of_many_digits(s, pairs[-1:]), *(_by_turns(s, *pair) for some in chosen for pair in some)]
    if several:
        rounds += [*_of_many_shapes(s, both), *_in_either_order(s, both)]
        rounds += _beside_errors(s, [sample for sample, _ in pairs[:: -(-len(pairs) // (COUNT // 2))]] if pairs else [])
    rounds += [each for sample, _ in pairs[-1:] for each in _read_by_all(s, sample)]
    with switching_often():
        results = run_in_rounds([each.calls for each in rounds])
        crowd = Draw(s, s.operation.name).turn(3) if s.quick else first
        _after_others(s, pairs[-1:] if crowd or not s.quick else [])
        for one, two in pairs[-1:] if crowd else []:  # more threads than a library may have buffers for
            found = run_concurrently([_caller(s, sample) for sample in (one, two)] * (MANY_THREADS // 2))
            assert_all_right(s, [one, two] * (MANY_THREADS // 2), found, f"called by {MANY_THREADS} concurrent threads")
    for each, found in zip(rounds, results, strict=True):
        each.verify(found)


class Round(NamedTuple):
    """Calls that threads begin simultaneously, and a function that raises AssertionError for wrong results."""

    calls: list[Callable[[], Any]]
    verify: Callable[[list[Any]], None]


def _right(s: Subject, samples: Sequence[Sample], calls: list[Callable[[], Any]], when: str) -> Round:
    """Return the round of calls of samples."""
    return Round(calls, lambda found: assert_all_right(s, samples, found, when))


def _by_turns(s: Subject, one: Sample, other: Sample) -> Round:
    """Let threads alternate between two samples; calls of the first sample share arrays, like parameters of a model."""
    samples, shared = [one, other] * (COUNT // 2), _caller(s, one)

    def verify(found: list[Any]) -> None:
        assert_all_right(s, samples, found, "called by eight concurrent threads")
        for sample in (one, other):
            assert_right(s, sample, _caller(s, sample)(), "called after eight threads did at once")

    return Round([_caller(s, sample) if k % 2 else shared for k, sample in enumerate(samples)], verify)


def _of_many_digits(s: Subject, pairs: Sequence[Pair]) -> list[Round]:
    """Let threads call with numbers of many digits, which show less precision than later calls; not all take thirds."""
    rounds = []
    for pair in pairs:
        made = [with_inexact_values(sample) for sample in pair]
        if all(one is not other for one, other in zip(made, pair, strict=True)):
            calls = [ignoring_exceptions(_caller(s, sample)) for sample in made] * (COUNT // 2)
            rounds.append(Round(calls, functools.partial(_as_later, s, pair)))
    return rounds


def _after_others(s: Subject, pairs: Sequence[Pair]) -> None:
    """Let new threads call with numbers of many digits, after threads that have ended called in another dtype."""
    assert s.operation is not None
    for dtype in [each for each in s.operation.quick if each != s.dtype][:1]:
        other = in_dtype(s, dtype)
        before = pairs_of(other, s.operation)[-1:] if other.has(dtype, *s.operation.facts) else []
        for each in _of_many_digits(s, pairs if before else []):
            run_concurrently([_caller(other, before[0][0])] * COUNT)
            each.verify(run_concurrently(each.calls))


def _as_later(s: Subject, pair: Pair, found: list[Any]) -> None:
    """Raise AssertionError unless the results of threads equal the results of later single-threaded calls."""
    later = [with_observed_reference(s, sample) for sample in pair]
    if all(one is not other for one, other in zip(later, pair, strict=True)):
        assert_all_right(s, later * (COUNT // 2), found, "called by eight threads at once, and alone after that")


def _read_by_all(s: Subject, sample: Sample) -> list[Round]:
    """Let one thread call, and then all threads read the result, which may be computed when it is read first."""
    call, made = _caller(s, sample), []

    def make() -> None:
        made.append(call())

    def verify(found: list[Any]) -> None:
        assert_right(s, sample, made[0], "read by eight concurrent threads")
        assert all(each == found[0] for each in found), (
            f"{sample.written}: eight threads that read the result simultaneously find different values"
        )

    return [Round([make, *[_nothing] * (COUNT - 1)], _nothing), Round([lambda: bits(made[0])] * COUNT, verify)]


def _nothing(*_: Any) -> None:
    """Do nothing; used as a call, or to skip the verification of results."""


def _of_many_shapes(s: Subject, samples: Sequence[Sample]) -> list[Round]:
    """Let each thread call with another shape or parameter, then two threads each with the same arrays."""
    several = list({_call_of(sample): sample for sample in samples}.values())
    several = evenly_spaced(several, COUNT)
    if len(several) < 2:
        return []
    given = (several * COUNT)[:COUNT]
    callers = [_caller(s, each) for each in given]
    when = "called by eight threads at once, with other shapes and with the same arrays"
    orders = [*range(COUNT)], [k // 2 for k in range(COUNT)], [*range(1, COUNT), 0]
    chosen = orders[:2] if s.quick else orders
    return [_right(s, [given[k] for k in order], [callers[k] for k in order], when) for order in chosen]


def _call_of(sample: Sample) -> Any:
    return sample.written, tuple(host.shape for host in sample.hosts)


def _in_either_order(s: Subject, samples: Sequence[Sample]) -> list[Round]:
    """Let threads call with the same two arrays in either order, to detect deadlocks between locks of the arrays."""
    one = next(filter(_takes_either_order, samples), None)
    if one is None:
        return []
    other = replace(one, arguments=one.arguments[::-1])
    a, b = one.arrays(s)
    calls: list[Callable[[], Any]] = [lambda: one.applied(s.xp, a, b), lambda: other.applied(s.xp, b, a)]
    count = COUNT // 2
    return [_right(s, [one, other] * count, calls * count, "called by eight threads at once, in either order")]


def _takes_either_order(sample: Sample) -> bool:
    """Return whether a sample has two arrays of one shape; not integers, as some functions reject integer zeros."""
    given = {(x.host.shape, x.host.dtype, x.kept) for x in sample.arguments}
    if len(sample.arguments) != 2 or len(given) > 1 or sample.text:
        return False
    ((shape, dtype, kept),) = given
    return (
        bool(shape) and dtype.kind in "fc" and not kept and replace(sample, arguments=sample.arguments[::-1]).is_defined
    )


def _large(s: Subject, operation: Operation) -> list[Pair]:
    return pairs_of(s, operation, *LARGE[s.quick], count=2)


def _beside_errors(s: Subject, samples: Sequence[Sample]) -> list[Round]:
    """Let some threads call the function with invalid arguments, while others pass samples of several shapes."""
    refused = [given for sample in samples[-1:] for _, given in unfit(s, sample)][: COUNT // 2]
    if not samples or not refused:
        return []

    def refusal(given: list[Any], xp: Any) -> bool:
        try:
            samples[-1].applied(xp, *given)
        except Exception:
            return True
        return False

    xps = s.xp, s.backend.namespace
    errors = [functools.partial(refusal, given, xps[k % 2]) for k, given in enumerate((refused * COUNT)[: COUNT // 2])]
    alone: list[bool] = []
    given = [samples[k % len(samples)] for k in range(COUNT // 2)]
    callers = [_caller(s, each) for each in given]

    def verify(turn: int, results: list[Any]) -> None:
        when = "called while other threads' calls of the function are refused"
        assert_all_right(s, given[turn:] + given[:turn], results[1::2], when)
        gone = [k for k, (once, now) in enumerate(zip(alone, results[::2], strict=True)) if once and not now]
        assert not gone, (
            f"{samples[-1].written}: a call raises, but not while other threads call the function: "
            f"{[array if isinstance(array, str) else on_host(array) for array in errors[gone[0]].args[0]]}"
        )

    others = [_nothing] * (COUNT - 1)
    rounds = [Round([lambda: [call() for call in errors], *others], lambda found: alone.extend(found[0]))]
    for turn in range(ROUNDS[s.quick]):
        turned = callers[turn:] + callers[:turn]
        calls = [call for pair in zip(errors, turned, strict=True) for call in pair]
        rounds.append(Round(calls, functools.partial(verify, turn)))
    return rounds


def _of_one_shape(s: Subject) -> list[Round]:
    """Let eight threads call concurrently with arrays of the same shapes, with several dtypes and parameters."""
    assert s.operation is not None
    dtypes = [dtype for dtype in s.operation.quick if s.has(dtype, *s.operation.facts)]
    if s.quick:
        dtypes = evenly_spaced(sorted(dtypes, key=lambda dtype: dtype != s.dtype), 2)
    others = [in_dtype(s, dtype) for dtype in dtypes]
    made = [(sub, sample) for sub in others for pair in pairs_of(sub, s.operation) for sample in pair]

    def verify(group: Group, found: list[Any]) -> None:
        for sub, sample in group:
            own = [got for (_, each), got in zip((group * COUNT)[:COUNT], found, strict=True) if each is sample]
            when = "called by eight threads at once, with other dtypes or parameters, or after that"
            assert_all_right(sub, [sample] * (len(own) + 1), [*own, _caller(sub, sample)()], when)

    return [
        Round([_caller(*each) for each in (group * COUNT)[:COUNT]], functools.partial(verify, group))
        for group in of_one_shape(made, 2 if s.quick else MIXED)
    ]


@check("P54", scope="case", needs=("threads",), applies=_is_alone, early=True)
def first_uses_of_kernels(s: Subject) -> None:
    """Eight threads that call the backend's kernels concurrently, for the first time, get right results."""
    assert s.case is not None
    if not replacements(s, wanted(s.case) - EVERYWHERE):
        return
    scenario = Scenario(s.case, s.device, s.dtype, PLAIN, seed=s.seed, capabilities=s.capabilities)

    def call() -> list[Any]:
        return [on_host(y) for y in scenario.call(scenario.variables(arrays))]

    arrays = scenario.arrays()
    with switching_often():
        results = run_concurrently([call] * COUNT)
    verify("value", scenario)
    for i, found in enumerate(results):
        for got, expected in zip(found, call(), strict=True):
            assert_same_bits(
                got, expected, f"results of thread {i} of eight concurrent threads, and later results of one thread,"
            )


@check("P51", scope="operation", needs=("threads",), applies=with_gradients)
def gradients_at_once(s: Subject) -> None:
    """Eight threads that differentiate a function concurrently, with different values, get right results."""
    assert s.operation is not None
    pairs = [pair for pair in pairs_of(s, s.operation) if pair[0].smooth and pair[1].smooth]
    large = _large(s, s.operation)[-1:] if not s.quick or Draw(s, s.operation.name).turn(4) else []
    chosen = [*(pairs[-1:] if s.quick else pairs[-3:]), *(pair for pair in large if pair[0].smooth and pair[1].smooth)]
    both: list[list[Callable[[], Any]]] = [[functools.partial(gradients, s, each) for each in pair] for pair in chosen]
    rounds = [calls * (COUNT // 2) for calls in both]
    expected = [[call() for call in calls[:2]] for calls in rounds]
    with switching_often():
        results = run_in_rounds(rounds)
    for pair, right, found in zip(chosen, expected, results, strict=True):
        for i, each in enumerate(found):
            assert_equal(s, pair[i % 2], right[i % 2], each, "differentiated by eight concurrent threads")


@check("P52", scope="dtype", dtypes=("float64", "float32"), needs=("threads",), generated=True)
def programs_at_once(s: Subject) -> None:
    """Eight threads that run random programs and their derivatives concurrently get right results."""
    start = time.monotonic()
    for number in range(3 if s.quick else 20):
        if time.monotonic() - start > (SECONDS if s.quick else 6 * SECONDS):
            return
        seeds = [[zlib.crc32(s.dtype.encode()), s.seed, COUNT * number + i] for i in range(COUNT)]
        programs = [drawn(np.random.default_rng(seed), s.dtype, s.has) for seed in seeds]
        if any(program_error(s, program) is not None for program in programs):
            continue  # W50 says so
        with switching_often():
            wrong = run_concurrently([functools.partial(program_error, s, program) for program in programs])
        for program, error in zip(programs, wrong, strict=True):
            text = "" if error is None else program_text(s, program, error)
            assert error is None, f"a program, run by one of eight concurrent threads: {error}\n{text}"


@check("P58", needs=("threads",))
def different_functions(s: Subject) -> None:
    """Eight threads that call functions of one chapter, or of all, concurrently get right results without deadlock."""
    samples = one_of_each(s, OPERATIONS)
    for names in CHAPTERS.values():
        for rank, step in enumerate((1, 3) if s.quick else (1, 3, 5, 7), 1):
            given = [(sub, _of_more_axes(one, rank)) for sub, one in samples if one.name in names]
            made = [(one, _caller(sub, one)) for sub, one in given]
            orders = [[made[(i + step * k) % len(made)] for i in range(COUNT)] for k in range(len(made))]
            _in_orders(s, orders, "other functions of its chapter")
    made = [(one, _caller(sub, one)) for sub, one in samples]
    mixed = [k for _ in range(MIXTURES[s.quick]) for k in s.generator().permutation(len(made)).tolist()]
    orders = [[made[k] for k in mixed[i : i + COUNT]] for i in range(0, len(mixed) - COUNT + 1, COUNT)]
    _in_orders(s, orders, "other functions")


def _of_more_axes(sample: Sample, count: int) -> Sample:
    """Return a sample of an elementwise function with `count` additional axes of length 1; other samples unchanged."""
    if sample.name not in CHAPTERS["elementwise"] or any(x.host.ndim == 0 for x in sample.arguments):
        return sample
    more = [
        replace(x, host=x.host[(None,) * count], axes=("",) * count + tuple(x.axes), text="") for x in sample.arguments
    ]
    return replace(sample, arguments=tuple(more))


def _in_orders(s: Subject, orders: list[list[tuple[Sample, Callable[[], Any]]]], what: str) -> None:
    with switching_often():
        results = run_in_rounds([[call for _, call in order] for order in orders])
    samples = [sample for order in orders for sample, _ in order]
    assert_all_right(s, samples, [got for found in results for got in found], f"called while other threads call {what}")


def _caller(s: Subject, sample: Sample) -> Callable[[], Any]:
    arrays = sample.arrays(s)
    return lambda: sample.applied(s.xp, *arrays)
