"""Sums at positions with many collisions, sums of many contributions, and gradients that are such sums."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from xpgrad import as_variable
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.layers import layer, lengths, written
from xpgrad_conformance.generated.operation import COMPLEX, FLOATS, operation
from xpgrad_conformance.generated.sample import Argument, Sample
from xpgrad_conformance.generated.sizes import LARGEST

PLACES = 1, 2, 7, 100
"""Numbers of places: one makes every position collide."""


def _positions(draw: Draw, n: int, places: int) -> Argument:
    """Return positions: at random, all the same, in order, or in blocks."""
    made = draw.pick(
        [
            draw.rng.integers(0, places, n),
            np.full(n, places - 1),
            np.arange(n) % places,
            np.sort(draw.rng.integers(0, places, n)),
        ]
    )
    return Argument(np.asarray(made).astype("int64" if draw.has("int64") else "int32"), ("n",), kept=True)


@operation("ops.scatter_add", (*FLOATS, *COMPLEX), (*FLOATS, "complex64"), needs=())
def _scatter_add(draw: Draw) -> Iterator[Sample]:
    for n in lengths(draw, LARGEST):
        places, width = int(draw.pick(PLACES)), int(draw.pick([0, 0, 1, 3]) if n < 70_000 else 0)
        tail = (width,) if width else ()
        x = draw.array((places, *tail), "integers", layout=draw.pick(draw.layouts()))
        values = draw.array((n, *tail), "integers", axes=("n", ""), layout=draw.pick(draw.layouts()))
        values = Argument(values.host, ("n", "w")[: values.host.ndim], values.layout)
        yield layer("ops.scatter_add", x, _positions(draw, n, places), values)
    for n in (33, 129, 513, 4097):
        place, x = _positions(draw, n, 7), draw.array((7,), "integers")
        scale = 2.0 ** draw.rng.choice([-12, 0, 12], 7)[place.host]  # exact sums, but not across positions
        host = (draw.array((n,), "integers").host * scale).astype(draw.dtype)
        start = Argument(np.zeros_like(x.host), ("",))
        yield layer("ops.scatter_add", start, place, Argument(host, ("n",), kept=True))


@operation("ops.segment_sum", needs=())
def _segment_sum(draw: Draw) -> Iterator[Sample]:
    for n in lengths(draw, LARGEST):
        places = int(draw.pick(PLACES))
        x = draw.array((n,), "integers", axes=("n",), layout=draw.pick(draw.layouts()))
        yield layer("ops.segment_sum", x, _positions(draw, n, places), num_segments=places)


@operation("taken", (*FLOATS, *COMPLEX), (*FLOATS, "complex128"), needs=("take",))
def _taken(draw: Draw) -> Iterator[Sample]:
    """Rows that are taken many times: their gradient is a scatter with collisions, along every axis."""
    for n in lengths(draw, LARGEST):
        places, axis = int(draw.pick(PLACES)), int(draw.rng.integers(3)) if n < 5000 else 0
        shape = [2, 2, 2] if n < 5000 else [0]
        shape[axis] = places
        x = draw.array(tuple(shape), "integers", layout=draw.pick(draw.layouts()))
        yield written(
            lambda xp, x, i, axis: xp.take(x, i, axis=axis),
            f"xp.take(x0, x1, axis={axis})",
            x,
            _positions(draw, n, places),
            parameters={"axis": axis},
        )


@operation("parts", needs=("take",))
def _several_parts(draw: Draw) -> Iterator[Sample]:
    """Parts of one array, taken by slices and by positions: its gradient is one sum of many parts."""

    def call(xp: Any, x: Any, i: Any, w: Any) -> Any:
        x = as_variable(x)
        rows = xp.take(x, i, axis=0)
        parts = [x[k::3] for k in range(3)] + [x[-1], x[0], x[::-1][0]]
        return xp.sum(rows) * w + sum(xp.sum(part) * (k + 1) for k, part in enumerate(parts)) + xp.sum(x * x) * w

    text = (
        "xp.sum(xp.take(x0, x1, axis=0)) * x2 + sum(xp.sum(part) * (k + 1) for k, part in enumerate("
        "[x0[k::3] for k in range(3)] + [x0[-1], x0[0], x0[::-1][0]])) + xp.sum(x0 * x0) * x2"
    )
    if not draw.has("negative_steps"):
        return
    for n in lengths(draw, 70_000, 3):
        x = draw.array((n,), "integers", layout=draw.pick(draw.layouts()))
        weight = draw.array((), "integers")
        yield written(call, text, x, _positions(draw, int(draw.pick([3, 200])), n), weight)


@operation("contributions", (*FLOATS, *COMPLEX), needs=("flip",))
def _contributions(draw: Draw) -> Iterator[Sample]:
    """One array used many times, plainly and broadcast and transposed: its gradient has many contributions."""

    def call(xp: Any, x: Any, w: Any, r: Any, v: Any) -> Any:
        x, w, r, v = (as_variable(each) for each in (x, w, r, v))
        y = x * w + xp.sum(x, axis=0) * r
        for k in range(1, 5):
            y = y + x * k - xp.sum(xp.matrix_transpose(x), axis=0)[:, None] * w
        return y + x + xp.flip(x, axis=1) * r + xp.sum(xp.matrix_transpose(x) * v)

    text = (
        "x0 * x1 + xp.sum(x0, axis=0) * x2 + sum(x0 * k - xp.sum(x0.mT, axis=0)[:, None] * x1 for k in range(1, 5)) "
        "+ x0 + xp.flip(x0, axis=1) * x2 + xp.sum(x0.mT * x3)"
    )
    start = draw.s.backend.in_place_from
    more = [int(start) + k for k in (-2, -1, 0, 1, 2)] if start < 10**6 else []
    for n in sorted({*lengths(draw, 70_000, 1), *(k for k in more if k > 0)}):
        for shape in draw.pick([((n, 1), (1, n)), ((2, (n + 1) // 2),), (((n + 2) // 3, 3),)]):
            x, w = (draw.array(shape, "integers", layout=draw.pick(draw.layouts())) for _ in range(2))
            row, turned = draw.array(shape[1:], "integers"), draw.array(shape[::-1], "integers")
            yield replace(written(call, text, x, w, row, turned), summed=x.host.size)
