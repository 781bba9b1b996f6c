"""Random programs for property tests: straight-line code over a growing list of Variables."""

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from xpgrad import array_api as xp

UNARY: tuple[Callable[[Any], Any], ...] = (
    lambda a: -a,
    lambda a: +a,
    lambda a: xp.tanh(a),
    lambda a: xp.sin(a),
    lambda a: xp.exp(-a * a),
    lambda a: a * 1.25 - 0.5,
    lambda a: a / (1 + a * a),
    lambda a: xp.sum(a, axis=-1, keepdims=True) + 0.1 * a if a.ndim else a,
    lambda a: a[..., 1:] if a.ndim and a.shape[-1] > 1 else a,
    lambda a: xp.permute_dims(a, (1, 0)) if a.ndim == 2 and a.shape[0] == a.shape[1] else a,
)
BINARY: tuple[Callable[[Any, Any], Any], ...] = (
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: xp.tanh(a * b),
    lambda a, b: a / (2 + b * b),
    lambda a, b: xp.maximum(a, b),
)
Step = tuple[int, int, int]


def programs(most: int = 12) -> st.SearchStrategy[list[Step]]:
    """Programs: each step has the number of a function and the numbers of its operands, modulo the existing values."""
    return st.lists(st.tuples(*[st.integers(0, 59)] * 3), min_size=1, max_size=most)


def broadcast(a: Sequence[int], b: Sequence[int]) -> bool:
    """Tell whether two shapes broadcast."""
    return all(n == m or 1 in (n, m) for n, m in zip(reversed(a), reversed(b), strict=False))


def run(program: Sequence[Step], leaves: Sequence[Any]) -> list[Any]:
    """Return every value of a program, the leaves first; operands that do not broadcast give a unary step instead."""
    values = list(leaves)
    for number, i, j in program:
        a, b = values[i % len(values)], values[-1 - j % len(values)]
        if number % 2 and broadcast(a.shape, b.shape):
            values.append(BINARY[number // 2 % len(BINARY)](a, b))
        else:
            values.append(UNARY[number // 2 % len(UNARY)](a))
    return values
