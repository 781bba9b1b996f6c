"""Samples of one function that have the same shapes, in several dtypes and with other parameters."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

import numpy as np

from xpgrad_conformance.generated.sample import Argument, Sample
from xpgrad_conformance.subject import Subject

MAX_SAMPLES = 8
"""Samples of one shape."""
LENGTHS = 3
"""Lengths of the axes with which samples that can be shortened occur, so that each is new to the library."""

Each = tuple[Subject, Sample]
Group = list[Each]


def of_one_shape(samples: Sequence[Each], count: int) -> list[Group]:
    """Return at most `count` groups of samples; the samples of a group have the same shapes.

    At most two samples of a group have the same dtype and the same parameters. Axes are shortened where possible.
    Groups of many dtypes come first.
    """
    alike: dict[Any, Group] = {}
    for each in samples:
        alike.setdefault(tuple(map(_fixed, each[1].arguments)), []).append(each)
    found = sorted((group for group in map(_varied, alike.values()) if len(group) > 1), key=_variety, reverse=True)
    return [group for some in found[:count] for group in _of_lengths(some) if len(group) > 1][:count]


def _fixed(argument: Argument) -> Any:
    """Return the fixed properties of an argument's shape, and the names of its other axes."""
    shape = argument.host.shape
    return tuple(name or n for n, name in zip(shape, argument.axes or [""] * len(shape), strict=True))


def _varied(samples: Group) -> Group:
    """Return some of the samples, large samples from alternating dtypes, at most two with the same dtype and call."""
    samples = sorted(samples, key=lambda each: -sum(host.size for host in each[1].hosts))
    found: dict[tuple[str, str], Group] = {}
    for sub, sample in samples:
        found.setdefault((sub.dtype, sample.written), []).append((sub, sample))
    turns = [
        [each for number in range(2) for key, some in found.items() if key[0] == dtype for each in some[number:][:1]]
        for dtype in dict.fromkeys(key[0] for key in found)
    ]
    return [each for turn in zip_longest(*turns) for each in turn if each is not None][:MAX_SAMPLES]


def _of_lengths(group: Group) -> Iterator[Group]:
    """Yield the samples with their axes shortened to common lengths, several ones if they can be shortened at all."""
    lengths: dict[str, int] = {}
    for _, sample in group:
        for argument in sample.arguments:
            for name, n in zip(argument.axes, argument.host.shape, strict=False):
                if name:
                    lengths[name] = min(n, lengths.get(name, n))
    for less in range(LENGTHS if lengths else 1):
        if min(lengths.values(), default=1) <= less:
            return
        shorter = [(sub, _shortened(sample, lengths, less)) for sub, sample in group]
        yield [each for each in shorter if each[1].is_defined]


def _shortened(sample: Sample, lengths: dict[str, int], less: int) -> Sample:
    made = []
    for argument in sample.arguments:
        part = tuple(slice(lengths[name] - less) if name else slice(None) for name in argument.axes)
        host = argument.host[part].copy() if part else argument.host
        same = host.shape == argument.host.shape
        made.append(argument if same else replace(argument, host=np.asarray(host), text=""))
    return replace(sample, arguments=tuple(made))


def _variety(group: Group) -> tuple[int, int, int]:
    dtypes, calls = {sub.dtype for sub, _ in group}, {sample.written for _, sample in group}
    return len(dtypes), min(len(calls), 3), sum(host.size for host in group[0][1].hosts)
