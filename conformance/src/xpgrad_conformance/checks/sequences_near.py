"""Family S, sequences of calls that are nearly the same: in all elements but one, or refused for one reason."""

import contextlib
import itertools
from typing import Any

from xpgrad_conformance.check import check
from xpgrad_conformance.generated.perturbed import (
    differing,
    otherwise,
    perturbed_samples,
    squared,
    unfit,
    with_other_parameters,
)
from xpgrad_conformance.generated.sample import Sample
from xpgrad_conformance.generated.sequences import Pair, assert_right, bits, in_turn, pairs_of
from xpgrad_conformance.generated.writing import WRITES
from xpgrad_conformance.subject import Subject

MEDIUM = 600, 3000
"""Bounds of the number of elements of one sample more."""
SAMPLES = 8, 3, 2
"""Samples of a function: in the full profile in one dtype and in the remaining dtypes, and in the quick profile."""
REFUSED = 6, 3
"""Samples of a function with parameters, in the full and the quick profile."""
LARGEST = 4, 2
"""Samples with varied parameters in the full and the quick profile, including a sample with axes of equal length."""
PARAMETERS = 8, 4
"""Calls with other parameters on the same arrays, in the full and the quick profile."""
OTHERS = 3, 2
"""Calls with other parameters that are refused before each, likewise."""


@check("S06", scope="operation", applies=in_turn)
def nearly_the_same(s: Subject) -> None:
    """Calls are right after ones with arguments that differ in one place, in the same memory or in another."""
    assert s.operation is not None
    larger = pairs_of(s, s.operation, *MEDIUM, count=2)[-1:]
    for one in (*_of_each_rank(pairs_of(s, s.operation))[: SAMPLES[_kind(s)]], *(one for one, _ in larger)):
        found = list(perturbed_samples(one))
        if found:
            _in_other_memory(s, one, found)
            _in_the_same_memory(s, one, found)
    _with_other_parameters(s)


def _with_other_parameters(s: Subject) -> None:
    """Call a function with the same arrays and parameters that differ in one value, there and back."""
    assert s.operation is not None
    samples = [one for one, _ in pairs_of(s, s.operation)]
    several = samples[::-1]
    several.sort(key=lambda each: -len(each.parameters))  # large ones first of as many parameters
    large = [each for each in several if each.parameters][: LARGEST[s.quick]]
    for base in (*large, *map(squared, _with_parameters(samples)[:1])):
        found = list(itertools.islice(with_other_parameters(base, samples), PARAMETERS[s.quick]))
        arrays = base.arrays(s)
        for each in [*found, *found[::-1]]:
            assert_right(s, each, each.applied(s.xp, *arrays), "after calls with other parameters, of the same arrays")


def _kind(s: Subject) -> int:
    """Return which of `SAMPLES` counts."""
    assert s.operation is not None
    return 2 if s.quick else int(s.dtype != s.operation.quick[0])


def _of_each_rank(pairs: list[Pair]) -> list[Sample]:
    """Return samples whose first arguments differ in rank, large samples first, followed by further samples."""
    samples = [one for one, _ in reversed(pairs)]
    first = list({sample.hosts[0].ndim if sample.hosts else 0: sample for sample in reversed(samples)}.values())
    first.sort(key=lambda sample: abs(sample.hosts[0].ndim - 2) if sample.hosts else 9)
    return [*first, *(sample for sample in samples[:: 1 + len(samples) // SAMPLES[0]] if sample not in first)]


def _in_other_memory(s: Subject, one: Sample, found: list[tuple[str, Sample]]) -> None:
    """Alternate between a sample and its variations, each in memory that an earlier array may have used."""
    first = one.applied(s.xp, *one.arrays(s))
    assert_right(s, one, first, "at first")
    before = bits(first)
    for what, two in found:
        assert_right(s, two, two.applied(s.xp, *two.arrays(s)), f"after a call that differs in {what}")
        again = one.applied(s.xp, *one.arrays(s))
        if bits(again) != before:
            assert_right(s, one, again, f"called again, after a call that differs in {what}")


def _in_the_same_memory(s: Subject, one: Sample, found: list[tuple[str, Sample]]) -> None:
    """Call a sample, write each perturbation in place into its arrays, and call again."""
    if not s.has(*WRITES) or any(argument.layout == "broadcast" for argument in one.arguments):
        return
    arrays = one.arrays(s)
    own = one.arrays(s)
    for what, two in found:
        one.applied(s.xp, *arrays)
        if not _written(one, two, arrays, two.arrays(s)):
            return
        assert_right(s, two, two.applied(s.xp, *arrays), f"after {what} of its arguments was written to")
        _written(one, two, arrays, own)


def _written(one: Sample, two: Sample, arrays: list[Any], others: list[Any]) -> bool:
    """Write the elements of other arrays in which two samples differ; return whether the library allows it."""
    for i, given in enumerate(zip(one.arguments, two.arguments, strict=True)):
        for place in differing(*given):
            try:
                arrays[i][place] = others[i][place]
            except (TypeError, ValueError, RuntimeError):
                return False
    return True


@check("S07", scope="operation", applies=in_turn)
def after_refusals(s: Subject) -> None:
    """A call that is refused leaves its parameters, which would fit too, to none after it."""
    assert s.operation is not None
    samples = [one for one, _ in pairs_of(s, s.operation)]
    for sample in _with_parameters(samples)[: REFUSED[s.quick]]:
        one = squared(sample)
        arrays = one.arrays(s)
        before: Any = None
        for other in list(otherwise(one, samples))[: OTHERS[s.quick]]:
            for what, given in unfit(s, one):
                for xp in (s.xp, s.backend.namespace):
                    with contextlib.suppress(Exception):
                        other.applied(xp, *given)
                got = one.applied(s.xp, *arrays)
                if before is None or bits(got) != before:
                    assert_right(s, one, got, f"after a call with other parameters and arrays {what}")
                    before = bits(got)


def _with_parameters(samples: list[Sample]) -> list[Sample]:
    """Return samples with parameters: samples whose axes can all have the same length first, larger ranks first."""
    found = [sample for sample in samples if sample.parameters or sample.call is not None]
    return sorted(found, key=_fitness)


def _fitness(sample: Sample) -> Any:
    shapes = {host.shape for host in squared(sample).hosts}
    lengths = {n for shape in shapes for n in shape}
    rank = max((len(shape) for shape in shapes), default=0)
    return len(shapes) > 1, len(lengths) != 1 or lengths == {1}, rank < 2, len(sample.hosts) < 2
