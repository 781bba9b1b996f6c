"""Shapes and orders of elements: one array in, the same elements out, in another shape or order or repeated."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from xpgrad.types import Shape
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.moved import ALL, QUICK, around, combined, given, moving, positional, swept
from xpgrad_conformance.generated.operation import operation, operations
from xpgrad_conformance.generated.points import many_axes
from xpgrad_conformance.generated.sample import Argument, Sample

Choice = Callable[[Draw, Shape, int], dict[str, Any]]
"""``choice(draw, shape, place)`` returns parameters for an array with its long axis at a place."""
KINDS = "mixed", "specials", "extremes"


@operations(ALL, QUICK)
def _moving(
    draw: Draw, name: str, reference: Callable[..., Any], choice: Choice, *, by_position: bool = False
) -> Iterator[Sample]:
    """Yield samples of a function of one array."""

    def sample(draw: Draw, x: Argument, place: int) -> Sample:
        parameters = choice(draw, x.host.shape, place)
        options: Any = positional(name, 1, parameters) if by_position else {"parameters": parameters}
        return moving((x,), reference, **options)

    for n in swept(draw):
        yield sample(draw, given(draw, (n,), "mixed", ("n",)), 0)
        if n < 70_000:
            place = draw.pick((0, 1))
            yield sample(draw, given(draw, (n, 3) if place == 0 else (3, n), "mixed"), place)
    for row in combined(draw, n=(1, 2, 16, 33, 257, 4097), kind=KINDS, place=(0, 1, 2), layout=draw.layouts()):
        x = given(draw, around(row["n"], row["place"]), row["kind"], layout=row["layout"])
        yield sample(draw, x, row["place"])
    for shape in many_axes(draw) if name != "expand_dims" else ():
        for layout in draw.layouts() if not draw.quick else (draw.pick(draw.layouts()),):
            yield sample(draw, given(draw, shape, "mixed", layout=layout), int(draw.rng.integers(len(shape))))


def _axes(draw: Draw, rank: int) -> tuple[int, ...]:
    """Return some axes, in any order, counted from either end."""
    chosen = draw.rng.permutation(rank)[: int(draw.rng.integers(1, rank + 1))]
    return tuple(int(i) - draw.pick((0, rank)) for i in chosen)


def _flip(draw: Draw, shape: Shape, place: int) -> dict[str, Any]:
    return {"axis": draw.pick((None, place, place - len(shape), _axes(draw, len(shape))))}


def _roll(draw: Draw, shape: Shape, place: int) -> dict[str, Any]:
    n = shape[place]
    shifts = [0, 1, -1, 3, n // 2, -(n // 3), n - 1, n, n + 1, -n - 2, 2 * n + 1]
    how = draw.pick(("flat", "axis", "axes"))
    if how == "axes":
        axes = _axes(draw, len(shape))
        return {"shift": tuple(draw.pick(shifts) for _ in axes), "axis": axes}
    return {"shift": draw.pick(shifts), "axis": None if how == "flat" else place - draw.pick((0, len(shape)))}


def _reshape(draw: Draw, shape: Shape, place: int) -> dict[str, Any]:
    size = math.prod(shape)
    shapes: list[Shape] = [(size,), (1, size), (size, 1), shape[::-1]]
    if size:
        divisor = draw.pick([k for k in (*range(1, 9), 33, 64, 256) if size % k == 0])
        shapes += [(-1,), (divisor, -1), (-1, 1, divisor), (divisor, size // divisor)]
    return {"shape": draw.pick(shapes), "copy": draw.pick((None, True))}


def _permute_dims(draw: Draw, shape: Shape, place: int) -> dict[str, Any]:
    return {"axes": tuple(draw.rng.permutation(len(shape)).tolist())}


def _moveaxis(draw: Draw, shape: Shape, place: int) -> dict[str, Any]:
    rank = len(shape)
    source = _axes(draw, rank)
    target = tuple(int(i) for i in draw.rng.permutation(rank)[: len(source)])
    one = int(source[0]), target[0] - draw.pick((0, rank))
    source, target = draw.pick(((source, target), one))
    return {"source": source, "destination": target}


def _expand_dims(draw: Draw, shape: Shape, place: int) -> dict[str, Any]:
    return {"axis": draw.pick(range(-len(shape) - 1, len(shape) + 1))}


def _tile(draw: Draw, shape: Shape, place: int) -> dict[str, Any]:
    most = 3 if math.prod(shape) < 100_000 else 1
    counts = tuple(draw.rng.integers(0 if draw.has("empty_arrays") else 1, most + 1, len(shape)).tolist())
    return {"repetitions": draw.pick((counts, (*counts, 2), (2, *counts), counts[-1:]))}


PLAIN = (
    _moving("flip", np.flip, _flip),
    _moving("roll", np.roll, _roll),
    _moving("reshape", lambda x, shape, copy: np.reshape(x, shape), _reshape),
    _moving("permute_dims", np.transpose, _permute_dims),
    _moving("moveaxis", np.moveaxis, _moveaxis, by_position=True),
    _moving("expand_dims", np.expand_dims, _expand_dims),
    _moving("tile", lambda x, repetitions: np.tile(x, repetitions), _tile, by_position=True),
)


@operation("matrix_transpose", ALL, QUICK)
def _matrix_transpose(draw: Draw) -> Iterator[Sample]:
    for n in swept(draw, 65_537):
        yield _transposed(given(draw, (n, 3), "mixed", ("n", "m")))
        yield _transposed(given(draw, (3, n), "mixed", ("m", "n")))
    for row in combined(draw, n=(1, 16, 33, 65, 257), m=(1, 16, 33, 65, 257), layout=draw.layouts()):
        yield _transposed(given(draw, (row["n"], row["m"]), "mixed", ("n", "m"), row["layout"]))
        yield _transposed(given(draw, (3, row["n"], row["m"]), "specials", ("b", "n", "m"), row["layout"]))


def _transposed(x: Argument) -> Sample:
    return moving((x,), lambda x: np.swapaxes(x, -1, -2))


@operation("broadcast_to", ALL, QUICK)
def _broadcast_to(draw: Draw) -> Iterator[Sample]:
    for n in swept(draw, 65_537):
        for shape, target in (((n,), (3, n)), ((n, 1), (n, 3)), ((1,), (n,)), ((1, 3), (n, 3)), ((), (n,))):
            yield _broadcast(given(draw, shape, "mixed"), target)
    for row in combined(draw, n=(1, 2, 16, 33, 257, 4097), kind=KINDS, place=(0, 1, 2), layout=draw.layouts()):
        wide = around(row["n"], row["place"])
        some = tuple(n if draw.pick((False, True)) else 1 for n in wide)
        x = given(draw, some[draw.pick((0, 1, 2)) :], row["kind"], layout=row["layout"])
        yield _broadcast(x, draw.pick((wide, (2, *wide))))


def _broadcast(x: Argument, shape: Shape) -> Sample:
    return moving((x,), np.broadcast_to, {"shape": shape})


@operation("squeeze", ALL, QUICK)
def _squeeze(draw: Draw) -> Iterator[Sample]:
    for n in swept(draw):
        yield _squeezed(given(draw, (1, n), "mixed"), draw.pick((0, -2, (0,))))
    for row in combined(draw, n=(2, 16, 33, 257, 4097), kind=KINDS, place=(0, 1, 2, 3), layout=draw.layouts()):
        shape = around(row["n"], row["place"], (1, 3, 1))
        thin = [i - draw.pick((0, 4)) for i, n in enumerate(shape) if n == 1]
        yield _squeezed(given(draw, shape, row["kind"], layout=row["layout"]), draw.pick((*thin, tuple(thin))))


def _squeezed(x: Argument, axis: Any) -> Sample:
    return moving((x,), np.squeeze, {"axis": axis})


@operation("repeat", ALL, QUICK)
def _repeat(draw: Draw) -> Iterator[Sample]:
    for n in swept(draw, 65_537):
        x = given(draw, (n,), "mixed", ("n",))
        yield _repeated(x, draw.pick((1, 2, 3)), draw.pick((None, 0)))
        if n and draw.has("data_dependent_shapes"):
            yield _counted(draw, x, 0)
    for row in combined(draw, n=(1, 2, 16, 33, 257, 4097), kind=KINDS, place=(0, 1, 2), layout=draw.layouts()):
        x = given(draw, around(row["n"], row["place"]), row["kind"], layout=row["layout"])
        yield _repeated(x, draw.pick((1, 2, 3)), draw.pick((None, row["place"], row["place"] - 3)))
        if draw.has("data_dependent_shapes"):
            yield _counted(draw, x, row["place"] - draw.pick((0, 3)))


def _repeated(x: Argument, repeats: int, axis: int | None) -> Sample:
    return _repeating((x,), {"repeats": repeats, "axis": axis}, f"xp.repeat(x0, {repeats}, axis={axis})")


def _counted(draw: Draw, x: Argument, axis: int) -> Sample:
    """Return a call with a number of repetitions for each element, zeros among them."""
    counts = draw.rng.integers(0 if draw.has("empty_arrays") else 1, 4, x.host.shape[axis])
    repeats = Argument(counts.astype("int64" if draw.has("int64") else "int32"), x.axes, kept=True)
    return _repeating((x, repeats), {"axis": axis}, f"xp.repeat(x0, x1, axis={axis})")


def _repeating(arguments: tuple[Argument, ...], parameters: dict[str, Any], text: str) -> Sample:
    return moving(
        arguments, lambda x, repeats, axis: np.repeat(x, repeats, axis), parameters,
        call=lambda xp, x, repeats, axis: xp.repeat(x, repeats, axis=axis), text=text,
    )  # fmt: skip
