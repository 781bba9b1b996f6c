"""Pairs and triples of transformations over ten functions, compared with loops and reverse mode."""

import functools
import itertools
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from tests.core.transforms import mixtures
from tests.core.transforms.mixtures import KINDS, Library, Mixture, composed, ours

import xpgrad
from xpgrad import Device, Variable
from xpgrad.testing.arrays import on_host, placed

FUNCTIONS: tuple[Any, ...] = (
    lambda lib, x: lib.xp.tanh(x) * lib.xp.sin(x),
    lambda lib, x: x**3 - 2 * x,
    lambda lib, x: lib.xp.exp(-x * x) + lib.xp.sum(x, axis=-1, keepdims=True),
    lambda lib, x: lib.xp.matmul(x[..., :, None] * x[..., None, :], lib.xp.cos(x)[..., None])[..., 0],
    lambda lib, x: lib.xp.where(x > 0.1, x * x, -0.5 * x),
    lambda lib, x: lib.xp.sqrt(1 + x * x) / (1 + lib.xp.mean(x) ** 2),
    lambda lib, x: lib.xp.cumulative_sum(lib.xp.sin(x), axis=-1) * lib.made(0.7),
    lambda lib, x: lib.xp.take(x, lib.made([1, 0, 1]), axis=-1) * x[..., :1],
    lambda lib, x: lib.xp.log(lib.xp.sum(lib.xp.exp(x))),
    lambda lib, x: lib.xp.stack([lib.xp.flip(x, axis=-1) * lib.made([0.5, 1.0]), x * x], axis=0),
)
X = np.asarray([0.8, -0.6])
IDENTITIES = "compile", "checkpoint"
"""Transformations that change no numbers."""
TOLERANCE = 1e-8

Names = tuple[str, ...]


def names(count: int) -> Iterator[Names]:
    """Yield all sequences of so many transformations."""
    return itertools.product(KINDS, repeat=count)


def mixture_of(chosen: Names, number: int) -> Mixture:
    """Return transformations by their names, each of a form that depends on its place and a number."""
    return tuple(KINDS[name][(number + i) % len(KINDS[name])] for i, name in enumerate(chosen))


def number_of(chosen: Names) -> int:
    """Return a number for names, equal for names whose transformations give equal numbers."""
    return zlib.crc32(" ".join(name for name in chosen if name not in IDENTITIES).encode())


@functools.cache
def by_reverse_mode(mixture: Mixture, function: int) -> Any:
    """Return the numbers of loops and reverse mode, as a host array."""
    lib = mixtures.by_reverse_mode(xpgrad.get_device("@numpy"))
    return np.asarray(on_host(composed(lib, mixture, functools.partial(FUNCTIONS[function], lib))(Variable(X))))


def difference(chosen: Names, function: int, device: Device, number: int = 0) -> str | None:
    """Return the difference of a function, transformed by `chosen` from the last to the first, and the reference."""
    short = tuple(name for name in chosen if name not in IDENTITIES)
    forms = dict(zip([i for i, name in enumerate(chosen) if name in short], mixture_of(short, number), strict=True))
    mixture = tuple(forms.get(i, KINDS[name][0]) for i, name in enumerate(chosen))
    expected = by_reverse_mode(tuple(forms.values()), function)
    lib: Library = ours(device)
    got = np.asarray(on_host(composed(lib, mixture, functools.partial(FUNCTIONS[function], lib))(placed(X, device))))
    size = 1 + np.max(np.abs(expected), initial=0.0)
    if got.shape == expected.shape and np.allclose(got, expected, rtol=0, atol=TOLERANCE * size):
        return None
    which = f"{' of '.join(chosen)} of function {function}, form {number}"
    return f"{which}: {got.tolist()}, expected {expected.tolist()}"
