"""Random programs over small arrays, written for any namespace, with third-party code in the middle."""

from collections.abc import Callable
from typing import Any

import numpy as np

Namespace = Any
UNARY: tuple[Callable[[Namespace, Any], Any], ...] = (
    lambda xp, a: -a,
    lambda xp, a: xp.tanh(a),
    lambda xp, a: xp.sin(a),
    lambda xp, a: xp.exp(-a * a),
    lambda xp, a: a * 1.25 - 0.5,
    lambda xp, a: a / (1 + a * a),
    lambda xp, a: xp.sum(a, axis=-1, keepdims=True) + 0.1 * a,
    lambda xp, a: a[..., ::-1] if not hasattr(a, "grad_fn") else xp.flip(a, axis=-1),
    lambda xp, a: xp.permute_dims(a, (1, 0)),
    lambda xp, a: xp.matmul(a, xp.permute_dims(a, (1, 0))) / 3,
    lambda xp, a: xp.mean(a, axis=0, keepdims=True),
    lambda xp, a: xp.sqrt(1 + a * a),
    lambda xp, a: xp.where(a > 0, a, 0.3 * a),
    lambda xp, a: a[:1, :] * a,
)
BINARY: tuple[Callable[[Namespace, Any, Any], Any], ...] = (
    lambda xp, a, b: a + b,
    lambda xp, a, b: a - b,
    lambda xp, a, b: xp.tanh(a * b),
    lambda xp, a, b: a / (2 + b * b),
    lambda xp, a, b: xp.maximum(a, b),
)
MIDDLES = "copy", "taken", "hook", "none"
"""Third-party code in the middle: a copy, an extracted number, a hook that writes to its gradient, no code."""


class Program:
    """Straight-line code over two leaves, which any library can run.

    Parameters
    ----------
    rng : numpy.random.Generator
    middle : str
        One of `MIDDLES`.
    """

    def __init__(self, rng: np.random.Generator, middle: str) -> None:
        self.middle, self.factor = middle, float(rng.choice([0.0, 0.5, -2.0]))
        shape = tuple(int(n) for n in rng.integers(1, 4, 2))
        self.leaves = [rng.normal(size=shape), rng.normal(size=(1, shape[1]))]
        self.steps = [tuple(int(n) for n in rng.integers(0, 60, 3)) for _ in range(rng.integers(2, 12))]
        self.at = int(rng.integers(0, len(self.steps)))
        self.cotangent = rng.normal()

    def __repr__(self) -> str:
        return f"<Program {self.middle} at {self.at} by {self.factor} of {self.steps}>"

    def run(self, xp: Namespace, leaves: list[Any], middle: Callable[[Any, Any], Any]) -> Any:
        """Return the loss, a 0-d array; ``middle(a, b)`` returns a replacement for `a`."""
        values = list(leaves)
        for place, (number, i, j) in enumerate(self.steps):
            a, b = values[i % len(values)], values[-1 - j % len(values)]
            if place == self.at:
                a = middle(a, b)
            if number % 2 and all(n == m or 1 in (n, m) for n, m in zip(a.shape, b.shape, strict=True)):
                values.append(BINARY[number // 2 % len(BINARY)](xp, a, b))
            else:
                values.append(UNARY[number // 2 % len(UNARY)](xp, a))
        return xp.sum(values[-1]) * self.cotangent
