"""The checks of functions on generated inputs: sizes around thresholds, values of every kind, every layout."""

from xpgrad_conformance.check import check
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.memory_layouts import with_random_layouts, with_rewritten_results
from xpgrad_conformance.generated.resized import resized
from xpgrad_conformance.generated.sample import Sample, first_error, kind_of
from xpgrad_conformance.generated.shrinking import program_of, shrunk
from xpgrad_conformance.generated.stacked import stacks
from xpgrad_conformance.subject import Subject

STACKS = 40, 2
"""Samples that are made again as stacks, in the full and the quick profile."""
RESIZED = 60, 3
"""Number of samples that are repeated with other lengths; the second for dtypes with few inputs in the quick
profile."""


@check("K50", scope="operation", every=True)
def generated_values(s: Subject) -> None:
    """Values are right for every size, kind of values and layout."""
    assert s.operation is not None
    draw = Draw(s, s.operation.name)
    few = s.quick or s.thin
    samples = draw.part_of(s.operation.samples(draw))
    stacked = stacks(draw, s.operation.name, samples, STACKS[few])
    crossed = resized(draw, stacked, 1 if draw.spare else RESIZED[few])
    found = first_error(s, with_rewritten_results(draw, with_random_layouts(draw, crossed)))
    if found is None:
        return
    sample, wrong = found

    def failing(each: Sample) -> bool:
        again = first_error(s, iter([each]))
        return again is not None and kind_of(again[1]) == kind_of(wrong)

    least = shrunk(sample, failing)
    again = first_error(s, iter([least]))
    wrong = wrong if again is None else again[1]
    raise AssertionError(f"{least.written}: {wrong}\n{program_of(least, s.device.name, wrong)}")
