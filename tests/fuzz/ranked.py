"""Random programs over small arrays of rank 0 to 3, written for any namespace, for batches and tangents."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import xpgrad.functions as F

Namespace = Any
MAX_SIZE = 40
"""Maximum number of elements of operands that create larger arrays."""
PLACES = [1, 0, 1]
"""Indices along an axis of two elements or more."""


class Step(NamedTuple):
    """One call of a program: ``function(xp, a, b, made)``, for an `a` whose rank is in a range.

    ``made(values)`` returns an array of the library that the program captures.
    """

    function: Callable[[Namespace, Any, Any, Callable[[Any], Any]], Any]
    low: int = 0
    high: int = 3
    grows: bool = False
    axis: int | tuple[int, ...] | None = None
    """An axis that has two elements or more."""


def _transposed(xp: Namespace, a: Any) -> Any:
    return xp.permute_dims(a, tuple(range(a.ndim))[::-1])


STEPS: tuple[Step, ...] = (
    Step(lambda xp, a, b, made: -a),
    Step(lambda xp, a, b, made: xp.tanh(a)),
    Step(lambda xp, a, b, made: xp.sin(a) * 2),
    Step(lambda xp, a, b, made: xp.exp(-a * a)),
    Step(lambda xp, a, b, made: a * 1.25 - 0.5),
    Step(lambda xp, a, b, made: a / (1 + a * a)),
    Step(lambda xp, a, b, made: xp.sqrt(1 + a * a)),
    Step(lambda xp, a, b, made: xp.where(a > 0, a, 0.3 * a)),
    Step(lambda xp, a, b, made: xp.log(1.5 + xp.abs(a))),
    Step(lambda xp, a, b, made: xp.astype(xp.astype(a > 0.1, a.dtype) * a, a.dtype)),
    Step(lambda xp, a, b, made: xp.sum(a)),
    Step(lambda xp, a, b, made: xp.reshape(a, (-1,))),
    Step(lambda xp, a, b, made: _transposed(xp, a)),
    Step(lambda xp, a, b, made: xp.expand_dims(a, axis=0), high=2),
    Step(lambda xp, a, b, made: a[None, ...], high=2),
    Step(lambda xp, a, b, made: a[..., None] * made([1.0, -0.5]), high=2, grows=True),
    Step(lambda xp, a, b, made: xp.broadcast_to(a, (2, *a.shape)), high=2, grows=True),
    Step(lambda xp, a, b, made: xp.stack([a, xp.cos(a)], axis=-1), high=2, grows=True),
    Step(lambda xp, a, b, made: xp.sum(a, axis=-1), 1),
    Step(lambda xp, a, b, made: xp.sum(a, axis=-1, keepdims=True) + 0.1 * a, 1),
    Step(lambda xp, a, b, made: xp.mean(a, axis=0), 1),
    Step(lambda xp, a, b, made: xp.max(xp.sin(a) + a * made(0.01), axis=-1), 1),
    Step(lambda xp, a, b, made: xp.var(a, axis=-1), 1),
    Step(lambda xp, a, b, made: xp.prod(xp.tanh(a), axis=0), 1),
    Step(lambda xp, a, b, made: xp.cumulative_sum(a, axis=0), 1),
    Step(lambda xp, a, b, made: xp.flip(a, axis=0), 1),
    Step(lambda xp, a, b, made: xp.roll(a, 1, axis=-1), 1),
    Step(lambda xp, a, b, made: a[0], 1),
    Step(lambda xp, a, b, made: a[..., -1], 1),
    Step(lambda xp, a, b, made: a[::-1] * a, 1),
    Step(lambda xp, a, b, made: xp.concat([a, 0.5 * a], axis=0)[: a.shape[0]], 1),
    Step(lambda xp, a, b, made: xp.concat([a, xp.tanh(a)], axis=-1), 1, grows=True),
    Step(lambda xp, a, b, made: xp.vecdot(xp.tanh(a), xp.sin(a)), 1),
    Step(lambda xp, a, b, made: a[made(PLACES)], 1, axis=0, grows=True),
    Step(lambda xp, a, b, made: xp.take(a, made(PLACES), axis=-1), 1, axis=-1, grows=True),
    Step(lambda xp, a, b, made: xp.take_along_axis(a, made(np.ones((1,) * a.ndim, int)), axis=-1), 1, 1, axis=-1),
    Step(lambda xp, a, b, made: xp.matrix_transpose(a), 2),
    Step(lambda xp, a, b, made: xp.matmul(xp.tanh(a), xp.matrix_transpose(a)) / 3, 2, grows=True),
    Step(lambda xp, a, b, made: xp.matmul(xp.tanh(a), a[..., 0, :][..., None])[..., 0], 2),
    Step(lambda xp, a, b, made: xp.matmul(a, xp.tanh(xp.sum(a, axis=tuple(range(a.ndim - 1))))), 2),
    Step(lambda xp, a, b, made: xp.matmul(xp.tanh(xp.sum(a, axis=-1)), a), 2, 2),
    Step(lambda xp, a, b, made: xp.tensordot(xp.tanh(a), a, axes=((0,), (0,))) / 2, 1, 2, grows=True),
    Step(lambda xp, a, b, made: xp.tril(a), 2),
    Step(lambda xp, a, b, made: a[:, 0], 2),
    Step(lambda xp, a, b, made: xp.mean(a, axis=(0, 1)), 2),
    Step(lambda xp, a, b, made: a[made(PLACES), :, 0], 3, axis=0),
    Step(lambda xp, a, b, made: a[:, made(PLACES)], 2, 2, axis=1, grows=True),
    Step(lambda xp, a, b, made: xp.moveaxis(a, 0, -1), 2),
)  # fmt: skip
"""Functions that every library supports."""
BINARY: tuple[Callable[[Namespace, Any, Any], Any], ...] = (
    lambda xp, a, b: a + b,
    lambda xp, a, b: a - 0.5 * b,
    lambda xp, a, b: xp.tanh(a * b),
    lambda xp, a, b: a / (2 + b * b),
    lambda xp, a, b: xp.maximum(a, b),
    lambda xp, a, b: xp.where(a > b, a * b, xp.sin(b)),
    lambda xp, a, b: xp.atan2(a, 1.5 + b * b),
)
"""Of arrays that broadcast."""


def _positive(xp: Namespace, a: Any, made: Callable[[Any], Any]) -> Any:
    t = xp.tanh(a)
    return xp.matmul(t, xp.matrix_transpose(t)) + made(np.eye(a.shape[-2]))


OURS: tuple[Step, ...] = (
    Step(lambda xp, a, b, made: F.softmax(a, axis=-1) + F.logsumexp(a, axis=-1)[..., None], 1),
    Step(lambda xp, a, b, made: F.elu(a) - F.softplus(a)),
    Step(lambda xp, a, b, made: xp.sort(a, axis=-1), 1),
    Step(lambda xp, a, b, made: xp.clip(a, -0.4, 0.9)),
    Step(lambda xp, a, b, made: xp.linalg.solve(_positive(xp, a, made), a), 2),
    Step(lambda xp, a, b, made: xp.linalg.cholesky(_positive(xp, a, made)), 2, grows=True),
    Step(lambda xp, a, b, made: xp.linalg.inv(_positive(xp, a, made)), 2, grows=True),
    Step(lambda xp, a, b, made: xp.linalg.det(_positive(xp, a, made)), 2),
    Step(lambda xp, a, b, made: xp.linalg.vector_norm(1 + a * a, axis=-1), 1),
    Step(lambda xp, a, b, made: a[made(PLACES), :, made(PLACES)], 3, axis=(0, -1), grows=True),
    Step(lambda xp, a, b, made: a[made(PLACES), ..., None, made(PLACES)], 3, axis=(0, -1), grows=True),
    Step(lambda xp, a, b, made: xp.repeat(a, 2, axis=0), 1, grows=True),
    Step(lambda xp, a, b, made: xp.fft.irfft(xp.fft.rfft(a) * 0.5, n=a.shape[-1]), 1),
)  # fmt: skip
"""Functions that only xpgrad supports."""


class Ranked:
    """Straight-line code over leaves of any rank, which any library can run.

    Parameters
    ----------
    rng : numpy.random.Generator
    shapes : sequence of shapes
        Of the leaves.
    steps : sequence of Step
    most : int
        Number of calls.
    """

    def __init__(
        self, rng: np.random.Generator, shapes: Sequence[tuple[int, ...]], steps: Sequence[Step] = STEPS, most: int = 8
    ) -> None:
        self.shapes, self.steps = tuple(shapes), steps
        self.calls = [tuple(int(n) for n in rng.integers(0, 10_000, 4)) for _ in range(rng.integers(1, most + 1))]
        self.captured = rng.normal(size=shapes[0])

    def __repr__(self) -> str:
        return f"<Ranked of {self.shapes}: {self.calls}>"

    def run(self, xp: Namespace, leaves: Sequence[Any], made: Callable[[Any], Any]) -> list[Any]:
        """Return the values of the last calls, the very last value first; ``made(values)`` returns captured arrays."""
        values = list(leaves)
        for number, i, j, kind in self.calls:
            a, b = values[i % len(values)], values[-1 - j % len(values)]
            if kind % 3 == 0 and fit(a, b):
                values.append(BINARY[number % len(BINARY)](xp, a, b))
                continue
            fitting = [step for step in self.steps if _applies(step, a)]
            values.append(fitting[number % len(fitting)].function(xp, a, b, made))
        return values[:-3:-1]

    def loss(self, xp: Namespace, leaves: Sequence[Any], made: Callable[[Any], Any]) -> Any:
        """Return one number that depends on the last values, as a 0-d array."""
        ys = self.run(xp, leaves, made)
        return sum((xp.sum(xp.sin(y * (i + 1))) for i, y in enumerate(ys[1:], 1)), start=xp.sum(ys[0] * ys[0] * 0.5))


def fit(a: Any, b: Any) -> bool:
    """Return whether arrays broadcast to an array that is not too large."""
    try:
        shape = np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        return False
    return len(shape) <= 3 and math.prod(shape) <= MAX_SIZE


def _applies(step: Step, a: Any) -> bool:
    if not step.low <= a.ndim <= step.high or (step.grows and math.prod(a.shape) > MAX_SIZE // 3):
        return False
    axes = step.axis if isinstance(step.axis, tuple) else () if step.axis is None else (step.axis,)
    return all(a.shape[axis] > 1 for axis in axes)
