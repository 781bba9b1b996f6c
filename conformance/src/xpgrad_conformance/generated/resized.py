"""Calls that cross samples: the parameters of one, the arguments of another, with other lengths and in other layouts.

Each axis takes elements of the old one, in an order of chance.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from xpgrad.plugin import CHAPTERS
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.perturbed import is_accepted
from xpgrad_conformance.generated.sample import Argument, Sample
from xpgrad_conformance.generated.stacked import names_of

MAX_SIZES = 4000, 4000, 40_000
"""Maximum number of elements of an argument: a random choice of these; in the quick profile the first."""
MAX_RESIZED = 20_000
"""The most elements of the arguments of a sample that is resized."""
LENGTHS = (*range(1, 10), 1, 2, 3), range(10, 70), (15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257)
"""Ranges of axis lengths: each range is equally likely, and so are the lengths in a range."""
LONG_AXES = 65_537, 70_001
"""Lengths of one axis among short ones: more rows than a grid has blocks, or than 16 bits can number."""
SHORT = 4
"""The most elements along axes that keep their lengths, in a sample of many rows."""
ROWS = 6, 1
"""Samples of many rows, in the full and the quick profile."""
ELEMENTWISE = frozenset(CHAPTERS["elementwise"]) - names_of("clip")
OF_ELEMENTS = ELEMENTWISE | {"unstack"}
"""Functions for which many rows are many elements, or many arrays."""
ALIGNED = ELEMENTWISE | names_of("""
    where clip all any count_nonzero sum mean max min argmax argmin cumulative_sum sort argsort flip roll nonzero
    unique_all unique_counts unique_inverse unique_values astype full_like ones_like zeros_like tril triu
    matrix_transpose expand_dims F.softmax F.log_softmax F.logsumexp F.relu F.elu F.sigmoid F.softplus
""")
"""Functions that take arguments of every shape, as far as these broadcast: axes need no names."""
SUMS = names_of("sum cumulative_sum")
EXCLUDED = names_of("prod cumulative_prod diff setitem getitem scatter_add tile pow")
"""Functions whose results would overflow or be empty, or whose parameters fit one length; and pow, which in NumPy has
other results where one exponent is used for all elements."""
BOUND = names_of("linalg.pinv linalg.matrix_rank")
"""Functions whose parameters fit their arguments' values."""


def resized(draw: Draw, samples: Iterator[Sample], count: int) -> Iterator[Sample]:
    """Yield the samples, and then at most `count` combinations of samples with other lengths and layouts."""
    found: list[Sample] = []
    for sample in samples:
        yield sample
        if _fits(sample):
            found.append(sample)
    for i, k in draw.rng.integers(len(found), size=(count if found else 0, 2)).tolist():
        made = _resized(draw, _crossed(found[i], found[k]), _lengths)
        if _usable(draw, made):
            yield made
    rows = [x for x in found if x.name not in OF_ELEMENTS and len(_old(x)) > 1 and _kept(x) <= SHORT]
    for i in draw.rng.permutation(len(rows))[: ROWS[draw.quick] if draw.long else 0].tolist():
        made = _resized(draw, rows[i], _many)
        if _usable(draw, made):
            yield made


def _crossed(sample: Sample, other: Sample) -> Sample:
    """Return a call as another sample's on the arguments of one, or the sample if these do not fit that call."""
    if not (sample.takes_parameters and other.takes_parameters):
        return sample
    if sample.written == other.written or sample.name in BOUND:
        return sample
    if (sample.units == 0) != (other.units == 0) or _kinds(sample) != _kinds(other):
        return sample
    if sample.units and sample.parameters.get("axis") != other.parameters.get("axis"):
        return sample  # a sum of more terms is less precise
    alike = (sample, other) if sample.parameters.keys() == other.parameters.keys() else (other,)
    inexact = max(alike, key=lambda each: each.units)
    made = replace(other, arguments=sample.arguments, units=inexact.units, scale=inexact.scale)
    return made if is_accepted(made) else sample


def _kinds(sample: Sample) -> list[tuple[Any, int]]:
    return [(host.dtype, host.ndim) for host in sample.hosts]


def _fits(sample: Sample) -> bool:
    sizes = [host.size for host in sample.hosts]
    if not sizes or min(sizes) == 0 or sum(sizes) > MAX_RESIZED or sample.name in EXCLUDED:
        return False
    return any(map(any, _axes(sample)))


def _usable(draw: Draw, sample: Sample) -> bool:
    """Return whether the reference has a result, and sums of more integers than before fit the backend's dtype."""
    if sample.name not in SUMS or sample.hosts[0].dtype.kind not in "iu":
        return sample.is_defined
    return bool(np.max(np.abs(sample.expected[0].astype(float)), initial=0.0) <= draw.largest_sum())


def _axes(sample: Sample) -> list[tuple[str, ...]]:
    """Return the names of the axes of each argument; an empty name denotes an axis that keeps its length."""
    if sample.name not in ALIGNED:
        return [tuple(x.axes) for x in sample.arguments]
    named: list[tuple[str, ...]] = []
    for x in sample.arguments:
        shape = () if x.kept else x.host.shape
        several = len(sample.arguments) > 1  # axes of length 1 may be broadcast
        named.append(tuple("" if several and n == 1 else str(len(shape) - k) for k, n in enumerate(shape)))
    return named


def _old(sample: Sample) -> dict[str, int]:
    """Return the lengths of axes by their names."""
    return {
        name: n
        for x, names in zip(sample.arguments, _axes(sample), strict=True)
        for name, n in zip(names, x.host.shape, strict=False)
        if name
    }


def _kept(sample: Sample) -> int:
    """Return how many elements there are along the axes that keep their lengths, in the largest argument."""
    old, kept = _old(sample), [1]
    for x, names in zip(sample.arguments, _axes(sample), strict=True):
        kept.append(int(x.host.size // math.prod(old[name] for name in names if name)))
    return max(kept)


def _resized(draw: Draw, sample: Sample, lengths: Callable[[Draw, Sample], dict[str, int]]) -> Sample:
    """Return a sample with other lengths; inexact functions do not get longer lengths along an axis."""
    axes, old = _axes(sample), _old(sample)
    new = lengths(draw, sample)
    if sample.units and sample.name not in ELEMENTWISE:
        new = {name: min(n, old[name]) for name, n in new.items()}
    taken = {name: draw.rng.integers(0, old[name], n) for name, n in new.items()}
    arguments = (_taken(draw, x, names, taken) for x, names in zip(sample.arguments, axes, strict=True))
    return replace(sample, arguments=tuple(arguments), smooth=False)


def _lengths(draw: Draw, sample: Sample) -> dict[str, int]:
    """Return lengths of axes whose product is small."""
    new = {name: int(draw.pick(draw.pick(LENGTHS))) for name in _old(sample)}
    most = (MAX_SIZES[0] if draw.quick else draw.pick(MAX_SIZES)) // _kept(sample)
    while max(new.values()) > 1 and math.prod(new.values()) > most:
        longest = max(new, key=lambda name: new[name])
        new[longest] = max(new[longest] // 3, 1)
    return new


def _many(draw: Draw, sample: Sample) -> dict[str, int]:
    """Return lengths with one long and one short axis: often the axis along which the function works is long."""
    names = draw.rng.permutation(list(_old(sample))).tolist()
    axis, first = sample.parameters.get("axis", -1), _axes(sample)[0]
    if isinstance(axis, int) and -len(first) <= axis < len(first) and draw.rng.integers(4):
        names.sort(key=lambda name: name == first[axis])
    long, *others = names
    return {long: draw.pick(LONG_AXES), **dict.fromkeys(others, 1), others[-1]: draw.pick((2, 3))}


def _taken(draw: Draw, argument: Argument, names: tuple[str, ...], taken: Mapping[str, Any]) -> Argument:
    """Return an argument of elements of each axis, at the same positions in all arguments that have the axis."""
    host = argument.host
    chosen = [(len(taken[name]), axis, name) for axis, name in enumerate(names) if name]
    for _, axis, name in sorted(chosen):  # short axes first, so that intermediate arrays stay small
        host = np.take(host, taken[name], axis)
    layouts = draw.layouts(broadcast=False)
    return replace(argument, host=np.ascontiguousarray(host), layout=draw.pick(layouts), text="")
