"""The same calls with arguments in random memory layouts, and after writes to their results."""

from collections.abc import Iterator
from dataclasses import replace

from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.sample import Sample
from xpgrad_conformance.generated.writing import WRITES

MAX_SIZE = 20_000
"""The most elements of the arguments of a sample that is laid out otherwise."""
SHARE = 0.5, 0.25
"""The share of the samples of contiguous arrays that are, in the full and the quick profile."""
SMALL = 600
"""The most elements of the arguments of a sample that is called again after its results were written to."""
REWRITTEN = 0.25, 0.1
"""The share of samples whose results are overwritten."""


def with_random_layouts(draw: Draw, samples: Iterator[Sample]) -> Iterator[Sample]:
    """Yield the samples; give all arguments of some contiguous samples random memory layouts.

    In this way every layout is combined with all other properties of a function's samples: lengths, axes, values,
    parameters.
    """
    layouts, share = draw.layouts(broadcast=False), SHARE[draw.quick]
    for sample in samples:
        plain = all(x.layout == "contiguous" for x in sample.arguments) and any(host.ndim for host in sample.hosts)
        if plain and sum(host.size for host in sample.hosts) <= MAX_SIZE and draw.rng.random() < share:
            arguments = tuple(replace(x, layout=draw.pick(layouts)) for x in sample.arguments)
            sample = replace(sample, arguments=arguments)
        yield sample


def with_rewritten_results(draw: Draw, samples: Iterator[Sample]) -> Iterator[Sample]:
    """Yield the samples, a share of the small ones so that they are called again after their results were written to.

    A library may cache a result, such as the order of a sorted array, and return the same array to several callers:
    then a write of one caller shows in the results of the next.
    """
    share = REWRITTEN[draw.quick] if draw.has(*WRITES) else 0.0
    for sample in samples:
        small = sum(host.size for host in sample.hosts) <= SMALL
        yield replace(sample, rewritten=True) if small and draw.rng.random() < share else sample
