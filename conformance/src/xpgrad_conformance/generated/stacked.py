"""The same call on stacks of its arguments, with additional leading axes, for functions of vectors and matrices."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from xpgrad.types import Shape
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.sample import Argument, Sample

MAX_SIZE = 400
"""Maximum number of elements in all arguments of a stacked sample."""
RANKS = 2, 3, 4, 5, 6
"""Numbers of axes of stacks."""
LOOKED_AT = 40
"""Number of small samples that are stacked."""


def names_of(text: str) -> frozenset[str]:
    """Return names that are divided by spaces."""
    return frozenset(text.split())


TRIANGLES = frozenset(("tril", "triu", "matrix_transpose"))
MAY_BE_EMPTY = TRIANGLES | names_of("""
    all any count_nonzero sum prod mean var std max min argmax argmin cumulative_sum cumulative_prod sort flip roll
""")
"""Functions of empty stacks in every library."""
ALONG = frozenset((*MAY_BE_EMPTY - TRIANGLES, "linalg.vector_norm", "linalg.cross", "fft.fft", "fft.rfft"))
"""Functions along an axis, which accept further axes after it."""
STACKED = (
    MAY_BE_EMPTY
    | ALONG
    | names_of("""
    nonzero unique_all unique_counts unique_inverse unique_values isin where clip diff expand_dims concat stack unstack
    broadcast_arrays astype transfer full_like ones_like zeros_like real imag conj logical_and logical_not logical_or
    logical_xor bitwise_and bitwise_invert bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift floor_divide
    remainder vecdot fft.ifft fft.irfft fft.hfft fft.ihfft fft.fftn fft.ifftn fft.rfftn fft.irfftn fft.fftshift
    fft.ifftshift linalg.diagonal linalg.trace linalg.det linalg.inv linalg.slogdet linalg.solve linalg.cholesky
    linalg.eigh linalg.eigvalsh linalg.qr linalg.svd linalg.svdvals linalg.pinv linalg.matrix_norm linalg.matrix_power
    F.softmax F.log_softmax F.logsumexp F.relu F.elu F.sigmoid F.softplus
""")
)
"""All functions that take stacks."""
SCALED = names_of("""
    linalg.pinv linalg.svd linalg.svdvals linalg.eigh linalg.eigvalsh linalg.qr linalg.inv linalg.solve linalg.cholesky
    linalg.slogdet linalg.matrix_norm linalg.vector_norm fft.fft fft.ifft fft.rfft
""")
"""Functions of stacks whose elements may differ in magnitude without affecting each other."""
SCALES = (0, 150, -150), (0, 24, -24)
"""Powers of 2 by which they differ, in dtypes of double and of single precision."""
LAST = 2, 5, 7, 9, 17
"""Lengths of an axis that comes last."""
OF_HALVES = "fft.irfft", "fft.irfftn", "fft.hfft"
"""Functions of arrays in which some numbers must be real."""


def stacks(draw: Draw, name: str, samples: Iterator[Sample], count: int) -> Iterator[Sample]:
    """Yield the samples, and after them at most `count` of the small ones again, on stacks of their arguments."""
    small: list[Sample] = []
    for sample in samples:
        yield sample
        if name in STACKED and len(small) < LOOKED_AT and _fits(sample):
            small.append(sample)
    for i in draw.rng.permutation(len(small))[:count]:
        made = stacked(draw, small[i])
        if made.is_defined:
            yield made


def _fits(sample: Sample) -> bool:
    """Return whether a sample is small, and does not multiply all its numbers or add integers: a stack may overflow."""
    sizes = [host.size for host in sample.hosts]
    whole = sample.parameters.get("axis") is None
    if whole and (sample.name == "prod" or (sample.name == "sum" and sample.hosts[0].dtype.kind in "iu")):
        return False
    return bool(sizes) and min(sizes) > 0 and sum(sizes) <= MAX_SIZE


def stacked(draw: Draw, sample: Sample) -> Sample:
    """Return a sample in which arguments of highest rank get more axes, and axes are counted from the last axis.

    New axes come first; one may come last in functions along an axis. An element of a stack has the numbers of the
    argument in another order, unless the values must be kept. One stack in four is empty, if functions of that name and
    the backend allow it.
    """
    rank = max(host.ndim for host in sample.hosts)
    wider = [n for n in RANKS if n > rank]
    count = (draw.pick(wider) if wider else rank + 1) - rank
    last = draw.pick(LAST) if sample.name in ALONG and draw.rng.integers(2) else 0
    lead = _lengths(draw, count - (last > 0), _may_be_empty(draw, sample))
    kept = sample.name in OF_HALVES
    scaled = sample.name in SCALED and sample.hosts[0].dtype.kind in "fc" and bool(draw.rng.integers(2))
    arguments = tuple(
        _stack(draw, each, lead, last, kept, scaled) if each.host.ndim == rank else each for each in sample.arguments
    )
    given = {**_needed(sample.name, rank), **sample.parameters}
    parameters = {key: _from_the_last(key, value, rank, last) for key, value in given.items()}
    terms = 1 if given.get("axis") is not None else max(math.prod(lead), 1) * max(last, 1)  # of a sum over all axes
    return replace(sample, arguments=arguments, parameters=parameters, units=sample.units * terms)


def _lengths(draw: Draw, count: int, empty: bool) -> Shape:
    lead = [int(n) for n in draw.rng.permutation([2, 1, 3, 1, 2])[:count]]
    if lead and empty and draw.rng.integers(4) == 0:
        lead[int(draw.rng.integers(count))] = 0
    return tuple(lead)


def _may_be_empty(draw: Draw, sample: Sample) -> bool:
    return sample.name in MAY_BE_EMPTY and draw.has("empty_arrays") and sample.parameters.get("axis", 0) is not None


def _stack(draw: Draw, argument: Argument, lead: Shape, last: int, kept: bool, scaled: bool) -> Argument:
    flat, shape, names = argument.host.reshape(-1), argument.host.shape, argument.axes or [""] * argument.host.ndim
    rows = [flat if kept or argument.kept else np.roll(flat, i) for i in range(max(last, 1) * math.prod(lead))]
    if scaled:
        steps = SCALES[flat.dtype.name in ("float32", "complex64")]
        rows = [(row * 2.0 ** steps[i % len(steps)]).astype(flat.dtype) for i, row in enumerate(rows)]
    host = np.asarray(rows, flat.dtype).reshape(max(last, 1), *lead, *shape)
    host = np.moveaxis(host, 0, -1).copy() if last else host[0]
    axes = (*[""] * len(lead), *names, *[""] * (last > 0))
    layouts = draw.layouts(broadcast=False)
    return replace(argument, host=host, axes=axes, layout=draw.pick(layouts) if host.size else "contiguous", text="")


def _needed(name: str, rank: int) -> dict[str, Any]:
    """Return axes that calls on stacks must name: a cumulative function has no default then, a transform all axes."""
    if name.startswith("cumulative"):
        return {"axis": -1}
    return {"axes": tuple(range(-rank, 0))} if name.startswith("fft.") and name.endswith("fftn") else {}


def _from_the_last(key: str, value: Any, rank: int, last: int) -> Any:
    """Return axes of an array of this rank as negative numbers, before new last axes; other parameters unchanged."""
    if key not in ("axis", "axes") or value is None:
        return value
    if isinstance(value, tuple):
        return tuple(n - (rank if n >= 0 else 0) - (last > 0) for n in value)
    return value - (rank if value >= 0 else 0) - (last > 0)
