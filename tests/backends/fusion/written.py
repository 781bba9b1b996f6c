"""Groups written by hand, statement by statement, with their inputs."""

from collections.abc import Callable
from typing import Any

import numpy as np

import xpgrad
from xpgrad.transforms.trace.calls import Call, Value
from xpgrad_fusion.group import Fused
from xpgrad_fusion.statements import COMPARISONS, Statement, level_of

BACKEND = xpgrad.get_device("@numpy").backend
TRUTHS = COMPARISONS | {"isnan", "isinf", "isfinite", "signbit", "logical_not", "logical_and", "logical_or"}
TRUTHS |= {"logical_xor"}
SHAPES: dict[str, Callable[[int, int], tuple[int, ...]]] = {
    "point": lambda rows, columns: (rows, columns),
    "row": lambda rows, columns: (rows, 1),
    "column": lambda rows, columns: (columns,),
    "one": lambda rows, columns: (),
}
"""Shapes of arrays of each level."""


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Any:
    """Return random numbers of both signs, none of them close to zero if they are real."""
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.startswith("float"):
        return np.asarray(rng.uniform(0.1, 0.9, shape) * rng.choice([-1, 1], shape), dtype)
    info = np.iinfo(dtype)
    return rng.integers(max(info.min, -100), min(info.max, 100), shape).astype(dtype)


class Writer:
    """Writes a group; operands that are numbers become constants. ``writer.exp(x)`` is ``writer("exp", x)``."""

    def __init__(self, rows: int, columns: int, seed: int = 0) -> None:
        self.rows, self.columns = rows, columns
        self.rng = np.random.default_rng(seed)
        self.statements: list[Statement] = []
        self.arrays: list[Any] = []
        self.levels: list[str] = []

    def __getattr__(self, op: str) -> Callable[..., Statement]:
        return lambda *operands, **options: self(op, *operands, **options)

    def __call__(
        self, op: str, *operands: Any, dtype: str | None = None, level: str | None = None, value: Any = None
    ) -> Statement:
        kind = next((item.dtype for item in operands[::-1] if isinstance(item, Statement)), "")
        given = tuple(item if isinstance(item, Statement) else self.constant(item, kind) for item in operands)
        made = Statement(op, given, dtype or ("bool" if op in TRUTHS else kind), level or level_of(given), value)
        self.statements.append(made)
        return made

    def constant(self, value: object, dtype: str = "float32") -> Statement:
        return self("constant", dtype=dtype, level="one", value=value)

    def load(self, array: Any, level: str = "point") -> Statement:
        return self("load", dtype=str(array.dtype), level=level, value=self.array(array, level))

    def drawn(self, level: str = "point", dtype: str = "float32") -> Statement:
        """Load an array of random numbers."""
        return self.load(numbers(self.rng, self.shape(level), dtype), level)

    def over(self, level: str, op: str, x: Statement) -> Statement:
        """Reduce an operand, which has first a number at each point, as in groups of programs."""
        return self(op, x if x.level == "point" else self.copy(x, level="point"), level=level)

    def array(self, array: Any, level: str = "array") -> int:
        """Add an input, and return its number."""
        self.arrays.append(np.ascontiguousarray(array).reshape(np.shape(array)))
        self.levels.append(level)
        return len(self.arrays) - 1

    def element(self, number: int, index: int) -> Statement:
        return self("element", dtype=str(self.arrays[number].dtype), level="one", value=(number, index))

    def scatter(self, size: int, indices: Any, *operands: Statement) -> Statement:
        return self("scatter", *operands, level="array", value=(size, tuple(indices)))

    def shape(self, level: str) -> tuple[int, ...]:
        return SHAPES[level](self.rows, self.columns)

    def fused(self, *results: Statement, levels: Any = (), spec_of: Any = BACKEND.spec) -> Fused:
        """Return the group; `levels` are the levels of its first outputs, if they are not those of the results.

        `spec_of` returns the spec of an array of NumPy.
        """
        found = [*levels, *(item.level for item in results[len(levels) :])]
        shapes = [s.value[0] if k == "array" else self.shape(k) for s, k in zip(results, found, strict=True)]
        inputs = tuple(Value(spec_of(x)) for x in self.arrays)
        outputs = tuple(Value(spec_of(np.empty(n, s.dtype))) for n, s in zip(shapes, results, strict=True))
        known = dict(zip((*inputs, *outputs), (*self.levels, *found), strict=True))
        calls = (Call("none", lambda *arrays: None, inputs, {}, outputs),)
        return Fused(self.rows, self.columns, inputs, outputs, known, tuple(self.statements), results, calls)
