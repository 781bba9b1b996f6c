"""Family K, views as inputs, running totals and choices; indices of every kind."""

import itertools
from typing import Any

import numpy as np

from xpgrad import Variable
from xpgrad_conformance.check import check
from xpgrad_conformance.oracle import agrees, host, same
from xpgrad_conformance.subject import Subject

VIEWS: dict[str, Any] = {
    "x[1:, ::2]": lambda xp, x: x[1:, ::2],
    "x[:, 3:]": lambda xp, x: x[:, 3:],
    "the transpose of x": lambda xp, x: xp.permute_dims(x, (1, 0)),
    "x[::-1, ::-2]": lambda xp, x: x[::-1, ::-2],
    "a row of x, broadcast": lambda xp, x: xp.broadcast_to(x[2, :4], (3, 4)),
    "a column of x, broadcast": lambda xp, x: xp.broadcast_to(x[:, 1:2], (4, 3)),
    "rows of the transpose of x": lambda xp, x: xp.permute_dims(x, (1, 0))[::3, 1:],
    "x in another shape, transposed": lambda xp, x: xp.permute_dims(xp.reshape(x, (4, 7)), (1, 0))[:, 1:],
}
OF_VIEWS: dict[str, Any] = {
    "exp": lambda xp, v: xp.exp(v),
    "sqrt": lambda xp, v: xp.sqrt(v),
    "add": lambda xp, v: xp.add(v, v[:1, :]),
    "divide": lambda xp, v: xp.divide(v[:, :1], v),
    "less": lambda xp, v: xp.less(v, v[:1, :]),
    "where": lambda xp, v: xp.where(v > 1.0, v, -v),
    "sum": lambda xp, v: xp.sum(v),
    "sum, axis=0": lambda xp, v: xp.sum(v, axis=0),
    "max, axis=1": lambda xp, v: xp.max(v, axis=1),
    "argmax, axis=0": lambda xp, v: xp.argmax(v, axis=0),
    "var, axis=1": lambda xp, v: xp.add(xp.var(v, axis=1), 1.0),  # the variance of equal numbers is only rounding
    "cumulative_sum, axis=1": lambda xp, v: xp.cumulative_sum(v, axis=1),
    "matmul": lambda xp, v: xp.matmul(v, xp.permute_dims(v, (1, 0))),
    "matmul with a vector": lambda xp, v: xp.matmul(v, v[0, :]),
    "reshape": lambda xp, v: xp.reshape(v, (-1,)),
    "concat": lambda xp, v: xp.concat([v, v[:1, :]], axis=0),
    "stack": lambda xp, v: xp.stack([v, v + 1.0], axis=-1),
    "flip": lambda xp, v: xp.flip(v, axis=1),
    "roll": lambda xp, v: xp.roll(v, 1, axis=0),
    "sort": lambda xp, v: xp.sort(v, axis=0),
    "take": lambda xp, v: xp.take(v, xp.argsort(v[0, :2]), axis=1),
    "tril": lambda xp, v: xp.tril(v),
    "astype": lambda xp, v: xp.astype(v, xp.float32),
}
WITH_NUMBERS: dict[str, Any] = {
    "2.5 - x": lambda x: 2.5 - x,
    "x - 2.5": lambda x: x - 2.5,
    "2.5 / x": lambda x: 2.5 / x,
    "x / 2.5": lambda x: x / 2.5,
    "x * 2.5": lambda x: x * 2.5,
    "2.5 * x": lambda x: 2.5 * x,
    "x + 2.5": lambda x: x + 2.5,
    "2.5 + x": lambda x: 2.5 + x,
    "x ** 2": lambda x: x**2,
    "x ** 3": lambda x: x**3,
    "x ** 1": lambda x: x**1,
    "2.5 ** x": lambda x: 2.5**x,
    "x // 0.7": lambda x: x // 0.7,
    "x % 0.7": lambda x: x % 0.7,
    "2.5 % x": lambda x: 2.5 % x,
    "x < 0.1": lambda x: x < 0.1,
    "x > 0.1": lambda x: x > 0.1,
    "x >= 0.1": lambda x: x >= 0.1,
}
"""Operators of an array and a number."""


KEYS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "x[1]": (1, ()),
    "x[-1]": (-1, ()),
    "x[1, 2, 3]": ((1, 2, 3), ()),
    "x[..., 1]": ((..., 1), ()),
    "x[-1, ..., -2]": ((-1, ..., -2), ()),
    "x[:, None, 1:, ::2]": ((slice(None), None, slice(1, None), slice(None, None, 2)), ()),
    "x[1:1]": (slice(1, 1), ("empty_arrays",)),
    "x[:, -2:, 1:-1]": ((slice(None), slice(-2, None), slice(1, -1)), ()),
    "x[::-1, :, ::-2]": ((slice(None, None, -1), slice(None), slice(None, None, -2)), ("negative_steps",)),
    "x[::-2]": (slice(None, None, -2), ("negative_steps",)),
    "x[:, 2:0:-1]": ((slice(None), slice(2, 0, -1)), ("negative_steps",)),
    "x[[1, 0, 1]]": (np.asarray([1, 0, 1]), ("index_arrays",)),
    "x[[-1, 0, -2]]": (np.asarray([-1, 0, -2]), ("index_arrays", "negative_index_arrays")),
    "x[[[1, 0], [0, 0]]]": (np.asarray([[1, 0], [0, 0]]), ("index_arrays",)),
    "x[[1, 0], [2, 2], [3, 1]]": ((np.asarray([1, 0]), np.asarray([2, 2]), np.asarray([3, 1])), ("index_arrays",)),
    "x[:, [2, 0, 2]]": ((slice(None), np.asarray([2, 0, 2])), ("index_arrays", "index_arrays_with_slices")),
    "x[[1, 0], :, [4, 2]]": (
        (np.asarray([1, 0]), slice(None), np.asarray([4, 2])),
        ("index_arrays", "index_arrays_with_slices"),
    ),
    "x[[1, -1], :, [-2, 0]]": (
        (np.asarray([1, -1]), slice(None), np.asarray([-2, 0])),
        ("index_arrays", "index_arrays_with_slices", "negative_index_arrays"),
    ),
    "x[mask]": (np.asarray([[True, False, True], [False, True, True]]), ("index_arrays", "data_dependent_shapes")),
}


def on_device(s: Subject, key: Any) -> Any:
    """Return an index with its arrays on the device."""
    if isinstance(key, tuple):
        return tuple(on_device(s, each) for each in key)
    return s.array(key) if isinstance(key, np.ndarray) else key


def scattered(x_shape: tuple[int, ...], dtype: Any, parts: list[tuple[Any, Any]]) -> Any:
    """Return the expected result of ``scatter_add``: zeros with every value added at its index."""
    total = np.zeros(x_shape, np.complex128 if np.dtype(dtype).kind == "c" else np.float64)
    for key, value in parts:
        np.add.at(total, key, value)
    return total


@check("K10")
def of_views(s: Subject) -> None:
    """Functions return equal results for views and copies: strides, offsets, transposes, reversal, broadcasting."""
    x = s.values((4, 7), 0.3, 1.7)
    array = s.array(x)
    for view, taken in VIEWS.items():
        if "::-" in view and not s.has("negative_steps"):
            continue
        seen = taken(host, x)
        for name, call in OF_VIEWS.items():
            if not s.has(name.partition(",")[0].partition(" ")[0]):
                continue
            expected = np.asarray(call(host, seen.astype(np.float64)))
            got = call(s.xp, taken(s.backend.namespace, array))
            wanted = "float32" if name == "astype" else s.wide if expected.dtype.kind == "f" else ""
            s.expect(got, expected, f"{name} of {view}, shape (4, 7)", dtype=wanted)


@check("K16")
def running_totals(s: Subject) -> None:
    """cumulative_sum and cumulative_prod along each axis, with the initial element and long rows."""
    x = s.values((2, 3, 5), 0.5, 1.5)
    for name in ("cumulative_sum", "cumulative_prod"):
        if s.has(name):
            for axis, initial in itertools.product((0, 1, 2, -1, -2), (False, True)):
                same(s, name, x, axis=axis, include_initial=initial)
            same(s, name, s.values((67,), 0.9, 1.1))
    if s.has("diff"):
        for axis in (0, -1):
            same(s, "diff", x, axis=axis)


@check("K17")
def choosing(s: Subject) -> None:
    """where, clip, maximum and minimum: arrays that broadcast in either direction, Python numbers on either side."""
    x, row, column = s.values((3, 4)), s.values((4,)), s.values((3, 1))
    for a, b in itertools.product((x, row, column), repeat=2):
        for name in ("maximum", "minimum", "subtract", "divide"):
            same(s, name, a, b)
        what = f"where of shapes {a.shape} and {b.shape}"
        agrees(s, what, lambda xp, a, b: xp.where(xp.greater(a, 0.1), a, b), None, a, b)
    agrees(s, "where(x > 0.1, 2.5, x)", lambda xp, x: xp.where(x > 0.1, 2.5, x), None, x)
    agrees(s, "where(x > 0.1, x, 2.5)", lambda xp, x: xp.where(x > 0.1, x, 2.5), None, x)
    for shapes in (((2, 3, 5), (2, 1, 5)), ((1, 3, 1), (2, 1, 5)), ((2, 3, 5), (3, 1)), ((), (2, 3, 5))):
        for name in ("add", "multiply"):
            same(s, name, *map(s.values, shapes))
    bad, mask = np.asarray([np.inf, 0.3, np.nan]), np.asarray([False, True, False])
    for other in (2.5, x[0, :3]):
        got = s.xp.where(s.array(mask), s.array(bad), other if isinstance(other, float) else s.array(other))
        s.expect(got, np.where(mask, bad, other), "where(mask, [inf, 0.3, nan], x), with nothing infinite chosen")
    for low, high in ((None, 0.5), (-0.5, None), (-0.5, 0.5)):
        agrees(s, f"clip to {low}, {high}", lambda xp, x, a=low, b=high: xp.clip(x, a, b), None, x)
    agrees(
        s,
        "clip to arrays that broadcast",
        lambda xp, x, a, b: xp.clip(x, a, b),
        lambda x, a, b: np.minimum(np.maximum(x, a), b),
        x,
        row - 2.0,
        column + 1.0,
    )
    for title, call in WITH_NUMBERS.items():
        agrees(s, title, lambda xp, x, f=call: f(Variable(x)), call, x)
