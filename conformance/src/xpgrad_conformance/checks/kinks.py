"""Family N: derivatives at kinks and ties, with the values that the functions' docstrings document."""

from typing import Any

import numpy as np

import xpgrad.functions as F
import xpgrad.ops as ops
from xpgrad.testing.arrays import on_host
from xpgrad_conformance.check import check
from xpgrad_conformance.oracle import near_gradient, pulled
from xpgrad_conformance.subject import Subject

inf = np.inf


def _expect_rows(s: Subject, *rows: tuple[Any, ...]) -> None:
    """Check ``(what, call, inputs, factors, *needs)``: each gradient is the cotangent times the factor."""
    for what, call, inputs, factors, *needs in rows:
        if not s.has(*needs):
            continue
        xs = [s.variable(np.asarray(x)) for x in inputs]
        y = call(s.xp, *xs)
        gy = s.cotangent(y).astype(s.wide)
        gxs = pulled([y], xs, [s.variable(gy)])
        assert np.isfinite(on_host(y)).all(), f"{what} at {inputs} is {on_host(y)}"
        for i, (x, gx, factor) in enumerate(zip(xs, gxs, factors, strict=True)):
            assert gx is not None, f"{what}: input {i} has no gradient"
            expected = factor(gy) if callable(factor) else np.asarray(factor) * gy
            near_gradient(s, gx, x, expected, f"{what} at {inputs}: the gradient of input {i} from {gy.tolist()}")


@check("N01")
def kinks(s: Subject) -> None:
    """At its kink a function has the documented derivative: 0 for abs and relu."""
    points = [-1.3, 0.0, -0.0, 0.7]
    _expect_rows(
        s,
        ("abs", lambda xp, x: xp.abs(x), [points], [[-1, 0, 0, 1]]),
        ("abs, 0-d", lambda xp, x: xp.abs(x), [0.0], [0]),
        ("relu", lambda xp, x: F.relu(x), [points], [[0, 0, 0, 1]]),
        ("relu, 0-d", lambda xp, x: F.relu(x), [0.0], [0]),
        ("leaky_relu", lambda xp, x: F.leaky_relu(x), [points], [[0.2, 1, 1, 1]]),
        ("clipped_relu", lambda xp, x: F.clipped_relu(x, 2.0), [[0.0, 2.0, 1.0]], [[0, 0, 1]]),
        ("elu", lambda xp, x: F.elu(x), [[0.0, 1.0]], [[1, 1]]),
        ("hard_sigmoid", lambda xp, x: F.hard_sigmoid(x), [[-2.5, 0.0, 2.5]], [[0, 0.2, 0]]),
        ("hypot", lambda xp, x, y: xp.hypot(x, y), [[0.0, 3.0], [0.0, 4.0]], [[0, 0.6], [0, 0.8]], "hypot"),
        ("atan2", lambda xp, x, y: xp.atan2(x, y), [[0.0, 1.0], [0.0, 1.0]], [[0, 0.5], [0, -0.5]], "hypot"),
        ("x ** 2", lambda xp, x: x**2, [[0.0, 3.0]], [[0, 6]]),
        ("x ** 1", lambda xp, x: x**1, [[0.0, 3.0]], [[1, 1]]),
    )
    for name in ("sign", "floor", "ceil", "trunc", "round"):
        x = s.variable(np.asarray(points))
        y = getattr(s.xp, name)(x)
        (gx,) = pulled([y + 0.0 * x], [x], [s.variable(s.cotangent(y))])
        near_gradient(s, gx, x, np.zeros(4), f"the gradient of {name}(x) + 0 x at {points}")


@check("N02")
def ties_of_two(s: Subject) -> None:
    """Larger, smaller and clipped ones: two numbers that are equal share the gradient equally."""
    x1, x2 = [1.0, 2.0, 2.0, -0.0], [2.0, 2.0, 1.0, 0.0]
    _expect_rows(
        s,
        ("maximum", lambda xp, a, b: xp.maximum(a, b), [x1, x2], [[0, 0.5, 1, 0.5], [1, 0.5, 0, 0.5]]),
        ("minimum", lambda xp, a, b: xp.minimum(a, b), [x1, x2], [[1, 0.5, 0, 0.5], [0, 0.5, 1, 0.5]]),
        ("maximum(x, 0.0)", lambda xp, x: xp.maximum(x, 0.0), [[-1.0, 0.0, 1.0]], [[0, 0.5, 1]]),
        ("minimum(0.0, x)", lambda xp, x: xp.minimum(0.0, x), [[-1.0, 0.0, 1.0]], [[1, 0.5, 0]]),
        ("maximum(x, x)", lambda xp, x: xp.maximum(x, x), [[1.0, -2.0]], [[1, 1]]),
        (
            "maximum of shapes (2, 1) and (2,)",
            lambda xp, a, b: xp.maximum(a, b),
            [[[1.0], [2.0]], [1.0, 2.0]],
            [
                lambda gy: np.asarray([[0.5 * gy[0, 0]], [gy[1, 0] + 0.5 * gy[1, 1]]]),
                lambda gy: np.asarray([0.5 * gy[0, 0], gy[0, 1] + 0.5 * gy[1, 1]]),
            ],
        ),
        ("clip to -1, 1", lambda xp, x: xp.clip(x, -1.0, 1.0), [[-2.0, -1.0, 0.0, 1.0, 2.0]], [[0, 0.5, 1, 0.5, 0]]),
    )


@check("N03")
def ties_of_many(s: Subject) -> None:
    """Extrema over axes: all elements that are equal to the result share the gradient equally."""
    x = [[2.0, 1.0, 2.0], [3.0, 3.0, 3.0], [0.0, 5.0, -0.0]]
    rows = np.asarray([[0.5, 0, 0.5], [1 / 3, 1 / 3, 1 / 3], [0, 1, 0]])
    low = np.asarray([[0, 1, 0], [1 / 3, 1 / 3, 1 / 3], [0.5, 0, 0.5]])
    columns = np.asarray([[0, 0, 0], [1, 0, 1], [0, 1, 0]])
    everything = np.asarray([[0, 0], [0.5, 0.5]])
    _expect_rows(
        s,
        ("max, axis=1", lambda xp, x: xp.max(x, axis=1), [x], [lambda gy: rows * gy[:, None]]),
        ("max, axis=-1, keepdims", lambda xp, x: xp.max(x, axis=-1, keepdims=True), [x], [rows]),
        ("min, axis=1", lambda xp, x: xp.min(x, axis=1), [x], [lambda gy: low * gy[:, None]]),
        ("max, axis=0", lambda xp, x: xp.max(x, axis=0), [x], [columns]),
        ("max of all", lambda xp, x: xp.max(x), [[[1.0, 2.0], [4.0, 4.0]]], [everything]),
        ("max, axis=(0, 1)", lambda xp, x: xp.max(x, axis=(0, 1)), [[[1.0, 2.0], [4.0, 4.0]]], [everything]),
        ("max of 0-d", lambda xp, x: xp.max(x), [2.0], [1]),
        ("max of negative numbers", lambda xp, x: xp.max(x), [[-3.0, -1.0, -1.0]], [[0, 0.5, 0.5]]),
    )
    tied = [2.0, 2.0, 1.0]
    weights = np.asarray([1.3, -0.7, 2.1])
    _expect_rows(
        s,
        (
            "sort: each place gets its own, equal ones in their order",
            lambda xp, v: xp.sort(v) * s.variable(weights),
            [tied],
            [lambda gy: (gy * weights)[[1, 2, 0]]],
        ),
    )


@check("N04")
def branches(s: Subject) -> None:
    """Elements that where does not select get the gradient 0, even if their value is infinite or NaN."""
    bad = [inf, 0.3, np.nan, -inf]
    mask = np.asarray([False, True, False, False])
    _expect_rows(
        s,
        ("where(mask, x, 1.5)", lambda xp, x: xp.where(s.variable(mask), x, 1.5), [bad], [[0, 1, 0, 0]]),
        (
            "where(mask, a, b)",
            lambda xp, a, b: xp.where(s.variable(mask), a, b),
            [bad, [1.0, 2.0, 3.0, 4.0]],
            [[0, 1, 0, 0], [1, 0, 1, 1]],
        ),
        (
            "apply_where(x > 0, log), 0 elsewhere",
            lambda xp, x: ops.apply_where(x > 0.0, (x,), xp.log, fill_value=0.0),
            [[0.0, -1.0, 2.0]],
            [[0, 0, 0.5]],
            "data_dependent_shapes",
        ),
    )


@check("N05")
def origins(s: Subject) -> None:
    """Norms at 0, spreads of equal numbers, and products with zeros have finite gradients."""
    zeros = [[0.0, 0.0], [3.0, 4.0]]
    _expect_rows(
        s,
        (
            "vector_norm, axis=1",
            lambda xp, x: xp.linalg.vector_norm(x, axis=1),
            [zeros],
            [lambda gy: np.asarray([[0, 0], [0.6, 0.8]]) * gy[:, None]],
            "linalg",
        ),
        (
            "matrix_norm",
            lambda xp, x: xp.linalg.matrix_norm(x),
            [[[0.0, 0.0], [0.0, 0.0]]],
            [np.zeros((2, 2))],
            "linalg",
        ),
        ("std", lambda xp, x: xp.std(x), [[2.0, 2.0, 2.0]], [[0, 0, 0]]),
        ("var", lambda xp, x: xp.var(x), [[2.0, 2.0, 2.0]], [[0, 0, 0]]),
        ("prod", lambda xp, x: xp.prod(x), [[0.0, 2.0, 3.0]], [[6, 0, 0]]),
        ("prod", lambda xp, x: xp.prod(x), [[0.0, 0.0, 3.0]], [[0, 0, 0]]),
        ("x ** n", lambda xp, x: xp.pow(x, s.variable(np.asarray([0.0, 1.0, 2.0]))), [[0.0] * 3], [[0, 1, 0]]),
        ("logsumexp", lambda xp, x: ops.logsumexp(x), [[-inf, 1.0]], [[0, 1]]),
    )
    if s.has("complex128" if s.wide == "float64" else "complex64"):
        z = s.variable(np.asarray([0j, 3 + 4j]), "complex128" if s.wide == "float64" else "complex64")
        gy = s.values((2,))
        with np.errstate(all="ignore"):  # a library that uses NumPy may divide 0 by 0 and then select other elements
            (gx,) = pulled([s.xp.abs(z)], [z], [s.variable(gy)])
        near_gradient(s, gx, z, gy * np.asarray([0, 0.6 + 0.8j]), "abs of [0, 3 + 4j]: the gradient")


POLES = {"sqrt": (0.0, 1), "asin": (1.0, 1), "acos": (1.0, -1), "acosh": (1.0, 1)}
"""Points at which a function is finite but its derivative infinite, with the sign of the derivative."""


@check("N06")
def poles(s: Subject) -> None:
    """Where the docstring says that a derivative is infinite, the gradient is, with the sign of the cotangent."""
    for name, (at, sign) in POLES.items():
        if not s.has(name):
            continue
        for gy in (0.5, -2.0):
            x = s.variable(np.asarray([at]))
            with np.errstate(all="ignore"):
                (gx,) = pulled([getattr(s.xp, name)(x)], [x], [s.variable(np.asarray([gy]))])
            expected, found = np.copysign(inf, sign * gy), on_host(gx)[0]
            assert found == expected, f"{name} at {at}: the gradient from {gy} is {found}, expected {expected}"
