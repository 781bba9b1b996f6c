"""Fused groups, written by hand and random, and the results of their statements in NumPy."""

import random
from typing import Any

import numpy as np

from xpgrad.transforms.trace.calls import Call, Value
from xpgrad_cupy.fusion.table import ROWS, kind_of
from xpgrad_fusion.group import Fused
from xpgrad_fusion.statements import REDUCTIONS, Statement, level_of

COMPARED = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "isnan", "isinf", "isfinite"}
COMPARED |= {"signbit", "logical_not", "logical_and", "logical_or", "logical_xor"}


class Builder:
    """Makes a group, statement by statement."""

    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns
        self.statements: list[Statement] = []
        self.dtypes: list[str] = []
        self.levels: list[str] = []

    def add(self, *given: Any) -> Statement:
        self.statements.append(Statement(*given))
        return self.statements[-1]

    def load(self, level: str = "point", dtype: str = "float32") -> Statement:
        self.dtypes.append(dtype)
        self.levels.append(level)
        return self.add("load", (), dtype, level, len(self.dtypes) - 1)

    def element(self, place: int, dtype: str = "float32") -> Statement:
        self.dtypes.append(dtype)
        self.levels.append("array")
        return self.add("element", (), dtype, "one", (len(self.dtypes) - 1, place))

    def constant(self, value: object, dtype: str = "float32") -> Statement:
        return self.add("constant", (), dtype, "one", value)

    def cast(self, x: Statement, dtype: str) -> Statement:
        return self.add("cast", (x,), dtype, x.level)

    def over(self, level: str, op: str, x: Statement, dtype: str | None = None) -> Statement:
        return self.add(op, (x,), dtype or x.dtype, level)

    def __call__(self, op: str, *operands: Statement) -> Statement:
        dtype = "bool" if op in COMPARED else operands[-1].dtype
        return self.add(op, operands, dtype, level_of(operands))

    def shape(self, level: str) -> tuple[int, ...]:
        return shape_of(level, self.rows, self.columns)

    def fused(self, spec_of: Any, *results: Statement) -> Fused:
        """Return the group; `spec_of` returns the spec of an array of NumPy."""
        inputs = tuple(Value(spec_of(x)) for x in self.arrays())
        outputs = tuple(Value(spec_of(np.empty(self.shape(s.level), s.dtype))) for s in results)
        levels = dict(zip(inputs, self.levels, strict=True)) | {
            value: s.level for value, s in zip(outputs, results, strict=True)
        }
        call = Call("none", lambda *arrays: None, inputs, {}, outputs)
        return Fused(self.rows, self.columns, inputs, outputs, levels, tuple(self.statements), results, (call,))

    def arrays(self, seed: int = 0) -> list[Any]:
        """Return inputs of these levels and dtypes."""
        rng = np.random.default_rng(seed)
        return [numbers(rng, self.shape(level), dtype) for level, dtype in zip(self.levels, self.dtypes, strict=True)]


def shape_of(level: str, rows: int, columns: int) -> tuple[int, ...]:
    return {"point": (rows, columns), "row": (rows, 1), "column": (columns,), "one": (), "array": (13,)}[level]


def numbers(rng: Any, shape: tuple[int, ...], dtype: str) -> Any:
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.startswith("float"):
        return np.asarray(rng.uniform(0.1, 0.9, shape) * rng.choice([-1, 1], shape), dtype)
    info = np.iinfo(dtype)
    return rng.integers(max(info.min, -100), min(info.max, 100), shape).astype(dtype)


FUNCTIONS: dict[str, Any] = {"erf": None, "erfc": None, "divide": np.divide, "pow": np.power, "round": np.round}
FUNCTIONS |= {"abs": np.abs, "sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min}
FUNCTIONS |= {"asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh}
FUNCTIONS |= {"atanh": np.arctanh, "atan2": np.arctan2, "bitwise_invert": np.invert, "copy": np.positive}


def function(op: str) -> Any:
    """Return NumPy's function of this name in the standard."""
    if op in ("erf", "erfc"):
        import scipy.special

        return getattr(scipy.special, op)
    return FUNCTIONS.get(op) or getattr(np, op)


def reference(fused: Fused, arrays: list[Any]) -> list[Any]:
    """Return the values of the statements, computed by NumPy on whole arrays of rows and columns."""
    rows, columns = fused.rows, fused.columns
    shapes = {"point": (rows, columns), "row": (rows, 1), "column": (1, columns), "one": (1, 1)}
    axes = {"row": 1, "column": 0, "one": (0, 1)}
    found: dict[Statement, Any] = {}
    for s in fused.statements:
        given = [found[item] for item in s.operands]
        if s.op == "load":
            value = arrays[s.value].reshape(shapes[s.level])
        elif s.op == "element":
            value = arrays[s.value[0]].ravel()[s.value[1]]
        elif s.op == "constant":
            value = np.asarray(s.value, s.dtype)
        elif s.op == "cast":
            value = given[0].astype(s.dtype)
        elif s.op in REDUCTIONS:
            wide = np.float64 if s.dtype == "float32" else s.dtype
            whole = np.broadcast_to(given[0].astype(wide), (rows, columns))
            value = function(s.op)(whole, axis=axes[s.level], keepdims=True).astype(s.dtype)
        elif s.op == "copy":
            value = given[0]
        else:
            value = function(s.op)(*given)
        assert value.dtype == s.dtype or s.op == "where", (s, value.dtype)
        found[s] = np.broadcast_to(value, shapes[s.level]).astype(s.dtype)
    return [found[s].reshape(value.spec.shape) for s, value in zip(fused.results, fused.outputs, strict=True)]


def table(dtype: str) -> tuple[Builder, list[Statement]]:
    """Return a group of all elementwise rows for a dtype, each separate, with two points for each pair of `EDGES`."""
    edges = edges_of(dtype)
    b = Builder(1, len(edges) ** 2)
    x1, x2, x3 = b.load(dtype=dtype), b.load(dtype=dtype), b.load(dtype="bool")
    results = []
    for op in ROWS[kind_of(dtype)]:
        if op in REDUCTIONS:
            continue
        if op == "where":
            results.append(b(op, x3, x1, x2))
        else:
            results.append(
                b(op, *(x1, x2)[: 1 + ("{1}" in ROWS[kind_of(dtype)][op] or "({1}" in ROWS[kind_of(dtype)][op])])
            )
    return b, results


def edges_of(dtype: str) -> Any:
    """Return numbers at which functions differ, and ordinary numbers."""
    if dtype == "bool":
        return np.array([False, True])
    if dtype.startswith("float"):
        info = np.finfo(dtype)
        special = [0.0, -0.0, np.inf, -np.inf, np.nan, info.max, -info.max, info.tiny, info.smallest_subnormal]
        return np.array([*special, 0.5, -0.5, 1.5, 2.5, -1.5, 1, -1, 2, 3, -3, 0.3, -0.7, 20.25, -100.5, 1e-5], dtype)
    whole = np.iinfo(dtype)
    return np.array(sorted({whole.min, whole.min + 1, whole.max, 0, 1, 2, 3, 7, 100, max(whole.min, -5)}), dtype)


def p4(rows: int = 1, columns: int = 10_000) -> tuple[Builder, list[Statement]]:
    b = Builder(rows, columns)
    x, a, c = b.load(), b.load("one"), b.load("one")
    y = b("multiply", b("tanh", b("add", b("multiply", x, a), c)), b("exp", b("multiply", b("negative", x), x)))
    one = b.constant(1.0)
    gate = b("divide", one, b("add", one, b("exp", b("negative", x))))
    return b, [b.over("one", "sum", b("add", y, gate))]


def flat() -> tuple[Builder, list[Statement]]:
    b, _ = p4()
    return b, b.statements[5:9]


def softmax(rows: int = 5, columns: int = 33) -> tuple[Builder, list[Statement]]:
    b = Builder(rows, columns)
    x = b.load()
    e = b("exp", b("subtract", x, b.over("row", "max", x)))
    return b, [b("divide", e, b.over("row", "sum", e))]


def layer_norm(rows: int = 5, columns: int = 100, dtype: str = "float32") -> tuple[Builder, list[Statement]]:
    """Layer normalization of all elements, and the statements of its gradient and a loss."""
    b = Builder(rows, columns)
    x, scale, shift = b.load(dtype=dtype), b.load("column", dtype), b.load("column", dtype)
    n = b.constant(columns, dtype)
    mean = b("divide", b.over("row", "sum", x), n)
    centred = b("subtract", x, mean)
    variance = b("divide", b.over("row", "sum", b("square", centred)), n)
    inverse = b("reciprocal", b("sqrt", b("add", variance, b.constant(1e-5, dtype))))
    y = b("add", b("multiply", b("multiply", centred, inverse), scale), shift)
    return b, [y, inverse, mean, b("exp", scale)]


def gradients(rows: int = 300, columns: int = 7) -> tuple[Builder, list[Statement]]:
    """Sums over rows and over all elements of results of column sums, and the statements after them."""
    b, (y, inverse, mean, other) = layer_norm(rows, columns)
    g = b.load()
    total = b.over("column", "sum", b("multiply", g, y))
    largest = b.over("one", "max", b("abs", b("multiply", g, y)))
    return b, [
        total,
        b("divide", total, b("sqrt", b("add", largest, b.constant(1.0)))),
        largest, mean, other, b("multiply", y, inverse),
    ]  # fmt: skip


def levels(rows: int = 4, columns: int = 6) -> tuple[Builder, list[Statement]]:
    """Results at every level, without reductions."""
    b = Builder(rows, columns)
    r, c, one = b.load("row"), b.load("column"), b.load("one")
    return b, [b("add", r, c), b("exp", r), b("sin", c), b("square", one), b("multiply", b("add", r, c), one)]


def integers(rows: int = 3, columns: int = 20) -> tuple[Builder, list[Statement]]:
    b = Builder(rows, columns)
    x, y, m = b.load(dtype="int32"), b.load("row", "int32"), b.load(dtype="bool")
    z = b("where", m, b("multiply", x, y), b("subtract", y, x))
    wide = b.cast(z, "int64")
    short = b.cast(z, "int8")
    return b, [
        z, b.over("row", "sum", wide), b.over("row", "max", m), b.over("column", "min", m), b.over("one", "sum", wide),
        b.over("row", "prod", short), b.over("column", "max", short), b.cast(short, "float32"), b.over("row", "min", x),
    ]  # fmt: skip


def whole(columns: int = 50) -> tuple[Builder, list[Statement]]:
    """One row, normalized by its sum; and single elements."""
    b = Builder(1, columns)
    x = b.load(dtype="float64")
    k = b.element(7, "float64")
    total = b.over("one", "sum", b("square", x))
    return b, [b("multiply", b("divide", x, total), k), b("sqrt", total), k]


SAMPLES: dict[str, Any] = {
    "p4": p4, "p4 of rows": lambda: p4(3, 3000), "flat": flat, "softmax": softmax, "layer_norm": layer_norm,
    "gradients": gradients, "levels": levels, "integers": integers, "whole": whole,
    "one row": lambda: softmax(1, 7), "one column": lambda: softmax(9, 1), "one point": lambda: softmax(1, 1),
    "levels of a row": lambda: levels(1, 6), "levels of a column": lambda: levels(6, 1),
    "double": lambda: layer_norm(3, 17, "float64"), "wide": lambda: layer_norm(2, 8000),
    "long": lambda: softmax(3, 9_000), "narrow": lambda: gradients(1000, 3), "tall": lambda: softmax(257, 8),
    "long row": lambda: whole(9_000),
}  # fmt: skip


def at_random(seed: int) -> tuple[Builder, list[Statement]]:
    """Return a random group."""
    r = random.Random(seed)
    b = Builder(r.choice([1, 2, 5, 130]), r.choice([1, 3, 8, 65, 300]))
    pool = [b.load(r.choice(["point", "point", "row", "column", "one"])) for _ in range(r.randint(1, 4))]
    pool.append(b.constant(r.choice([0.5, 2.0, -1.0])))

    def step(among: list[Statement]) -> Statement:
        op = r.choice(["add", "subtract", "multiply", "maximum", "minimum", "tanh", "exp", "negative", "where", "abs"])
        x, y = r.choice(among), r.choice(among)
        if op == "where":
            return b("where", b("less", x, y), y, x)
        if op == "exp":
            return b("exp", b("negative", b("abs", x)))
        return b(op, x) if op in ("tanh", "negative", "abs") else b(op, b("tanh", x), y)

    for _ in range(r.randint(2, 12)):
        if r.random() < 0.25:
            level = "one" if b.rows == 1 and r.random() < 0.5 else "row"
            pool.append(b.over(level, r.choice(["sum", "max", "min"]), r.choice(pool)))
        else:
            pool.append(step(pool))
    results = r.sample(pool, r.randint(1, 3))
    after = [s for s in pool if s.level in ("column", "one")]
    for _ in range(r.choice([0, 0, 1, 2])):
        after.append(b.over(r.choice(["column", "one"]), r.choice(["sum", "max"]), r.choice(pool)))
        results.append(after[-1])
    if after:
        results.append(step(after))
    return b, results
