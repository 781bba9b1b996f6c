"""The same call with all its arguments in other layouts in memory: positions and tables have some, too."""

from collections.abc import Iterator
from dataclasses import replace

from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.sample import Sample

MOST = 20_000
"""The most elements of the arguments of a sample that is called again."""


def relaid(draw: Draw, samples: Iterator[Sample], count: int) -> Iterator[Sample]:
    """Yield the samples, and after them at most `count` of them again, each argument in a layout of chance."""
    found: list[Sample] = []
    for sample in samples:
        yield sample
        if sample.arguments and any(host.ndim for host in sample.hosts) and sum(x.size for x in sample.hosts) <= MOST:
            found.append(sample)
    layouts = [layout for layout in draw.layouts() if layout != "broadcast"]
    for i in draw.rng.permutation(len(found))[:count].tolist():
        yield replace(found[i], arguments=tuple(replace(x, layout=draw.pick(layouts)) for x in found[i].arguments))
