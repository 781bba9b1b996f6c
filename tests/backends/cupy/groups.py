"""Fused groups, written by hand and random."""

import random
from typing import Any

import numpy as np
from tests.backends.fusion.written import Writer

from xpgrad_cupy.fusion.table import ROWS, kind_of
from xpgrad_fusion.statements import REDUCTIONS, Statement


def table(dtype: str) -> tuple[Writer, list[Statement]]:
    """Return a group of all elementwise rows for a dtype, each separate, with two points for each pair of `EDGES`."""
    edges = edges_of(dtype)
    b = Writer(1, len(edges) ** 2)
    x1, x2, x3 = b.drawn(dtype=dtype), b.drawn(dtype=dtype), b.drawn(dtype="bool")
    rows = ROWS[kind_of(dtype)]
    operands = {op: (x1, x2) if "{1}" in rows[op] else (x1,) for op in rows if op not in REDUCTIONS}
    if "where" in operands:
        operands["where"] = x3, x1, x2
    return b, [b(op, *given) for op, given in operands.items()]


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


def p4(rows: int = 1, columns: int = 10_000) -> tuple[Writer, list[Statement]]:
    b = Writer(rows, columns)
    x, a, c = b.drawn(), b.drawn("one"), b.drawn("one")
    y = b("multiply", b("tanh", b("add", b("multiply", x, a), c)), b("exp", b("multiply", b("negative", x), x)))
    one = b.constant(1.0)
    gate = b("divide", one, b("add", one, b("exp", b("negative", x))))
    return b, [b.over("one", "sum", b("add", y, gate))]


def flat() -> tuple[Writer, list[Statement]]:
    b, _ = p4()
    return b, b.statements[5:9]


def softmax(rows: int = 5, columns: int = 33) -> tuple[Writer, list[Statement]]:
    b = Writer(rows, columns)
    x = b.drawn()
    e = b("exp", b("subtract", x, b.over("row", "max", x)))
    return b, [b("divide", e, b.over("row", "sum", e))]


def layer_norm(rows: int = 5, columns: int = 100, dtype: str = "float32") -> tuple[Writer, list[Statement]]:
    """Layer normalization of all elements, and the statements of its gradient and a loss."""
    b = Writer(rows, columns)
    x, scale, shift = b.drawn(dtype=dtype), b.drawn("column", dtype), b.drawn("column", dtype)
    n = b.constant(columns, dtype)
    mean = b("divide", b.over("row", "sum", x), n)
    centred = b("subtract", x, mean)
    variance = b("divide", b.over("row", "sum", b("square", centred)), n)
    inverse = b("reciprocal", b("sqrt", b("add", variance, b.constant(1e-5, dtype))))
    y = b("add", b("multiply", b("multiply", centred, inverse), scale), shift)
    return b, [y, inverse, mean, b("exp", scale)]


def gradients(rows: int = 300, columns: int = 7) -> tuple[Writer, list[Statement]]:
    """Sums over rows and over all elements of results of column sums, and the statements after them."""
    b, (y, inverse, mean, other) = layer_norm(rows, columns)
    g = b.drawn()
    total = b.over("column", "sum", b("multiply", g, y))
    largest = b.over("one", "max", b("abs", b("multiply", g, y)))
    return b, [
        total,
        b("divide", total, b("sqrt", b("add", largest, b.constant(1.0)))),
        largest, mean, other, b("multiply", y, inverse),
    ]  # fmt: skip


def levels(rows: int = 4, columns: int = 6) -> tuple[Writer, list[Statement]]:
    """Results at every level, without reductions."""
    b = Writer(rows, columns)
    r, c, one = b.drawn("row"), b.drawn("column"), b.drawn("one")
    return b, [b("add", r, c), b("exp", r), b("sin", c), b("square", one), b("multiply", b("add", r, c), one)]


def integers(rows: int = 3, columns: int = 20) -> tuple[Writer, list[Statement]]:
    b = Writer(rows, columns)
    x, y, m = b.drawn(dtype="int32"), b.drawn("row", "int32"), b.drawn(dtype="bool")
    z = b("where", m, b("multiply", x, y), b("subtract", y, x))
    wide, short = b.cast(z, dtype="int64"), b.cast(z, dtype="int8")
    single = b.cast(short, dtype="float32")
    return b, [
        z, b.over("row", "sum", wide), b.over("row", "max", m), b.over("column", "min", m), b.over("one", "sum", wide),
        b.over("row", "prod", short), b.over("column", "max", short), single, b.over("row", "min", x),
    ]  # fmt: skip


def whole(columns: int = 50) -> tuple[Writer, list[Statement]]:
    """One row, normalized by its sum; and single elements."""
    b = Writer(1, columns)
    x = b.drawn(dtype="float64")
    k = b.element(b.array(np.linspace(0.1, 0.9, 13)), 7)
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


def at_random(seed: int) -> tuple[Writer, list[Statement]]:
    """Return a random group."""
    r = random.Random(seed)
    b = Writer(r.choice([1, 2, 5, 130]), r.choice([1, 3, 8, 65, 300]), seed)
    pool = [b.drawn(r.choice(["point", "point", "row", "column", "one"])) for _ in range(r.randint(1, 4))]
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
