"""Joining and splitting: few and many arrays, of different lengths and layouts, along each axis."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.moved import ALL, QUICK, around, combined, finite, given, moving, swept
from xpgrad_conformance.generated.operation import operation
from xpgrad_conformance.generated.sample import Argument, Sample

COUNTS = 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 14, 16, 17, 31, 32, 33, 62, 64, 65, 129, 257
"""Numbers of arrays that are joined."""


def _joined(name: str, members: Sequence[Argument], reference: Callable[..., Any], axis: int | None) -> Sample:
    listed = ", ".join(f"x{i}" for i in range(len(members)))
    return moving(
        tuple(members), lambda *xs, axis: reference(xs, axis=axis), {"axis": axis}, smooth=finite(*members),
        call=lambda xp, *xs, axis: getattr(xp, name)(list(xs), axis=axis), text=f"xp.{name}([{listed}], axis={axis})",
    )  # fmt: skip


def _counts(draw: Draw) -> list[int]:
    if draw.spare:
        return [1, *draw.rng.permutation(COUNTS[1:13])[:2].tolist()]
    every = draw.dtype in (QUICK[:1] if draw.quick else QUICK)
    return list(COUNTS) if every else draw.rng.permutation(COUNTS)[:4].tolist()


def _concatenated(x: Any, axis: int | None) -> Any:
    return np.concatenate([each.reshape(-1) for each in x] if axis is None else x, axis=axis or 0)


@operation("concat", ALL, QUICK)
def _concat(draw: Draw) -> Iterator[Sample]:
    for n in swept(draw):
        members = [given(draw, (n,), "mixed", ("n",)), given(draw, (5,), "mixed", ("m",))]
        yield _joined("concat", draw.pick((members, members[::-1])), _concatenated, 0)
        if n < 70_000:
            yield _joined("concat", [given(draw, (2, n), "mixed", ("k", "n")) for _ in range(3)], _concatenated, -1)
            yield _joined("concat", [given(draw, (2, n), "mixed", ("k", "n")) for _ in range(2)], _concatenated, 0)
    least = 0 if draw.has("empty_arrays") else 1
    for count in _counts(draw):
        for place in (0, 1, 2):
            lengths = draw.rng.integers(least, 5, count).tolist()
            kinds, layouts = ("mixed", "specials"), draw.layouts()
            members = [
                given(draw, around(n, place, (2, 3)), draw.pick(kinds), layout=draw.pick(layouts)) for n in lengths
            ]
            yield _joined("concat", members, _concatenated, place - draw.pick((0, 3)))
        members = [given(draw, (3,), "mixed", ("n",)) for _ in range(count)]
        yield _joined("concat", members, _concatenated, 0)
        members = [given(draw, (draw.pick((1, 2, 33)),), "mixed", (f"n{i}",)) for i in range(count)]
        yield _joined("concat", members, _concatenated, 0)
    for count, n in ((3, 4097), (17, 257), (65, 1025)):
        yield _joined("concat", [given(draw, (n,), "mixed") for _ in range(count)], _concatenated, 0)
    for shapes in (((2, 3), (4,), ()), ((), ()), ((33, 5), (1, 65))):
        members = [given(draw, shape, "mixed", layout=draw.pick(draw.layouts())) for shape in shapes]
        yield _joined("concat", members, _concatenated, None)


@operation("stack", ALL, QUICK)
def _stack(draw: Draw) -> Iterator[Sample]:
    for n in swept(draw):
        members = [given(draw, (n,), "mixed", ("n",)) for _ in range(2 if n > 70_000 else 3)]
        yield _joined("stack", members, np.stack, draw.pick((0, 1, -1, -2)))
    for count in _counts(draw):
        layouts = draw.layouts()
        for axis in (0, -1, draw.pick((1, 2, -2, -3))):
            kind = draw.pick(("mixed", "specials"))
            members = [given(draw, (4, 3), kind, ("n", "m"), draw.pick(layouts)) for _ in range(count)]
            yield _joined("stack", members, np.stack, axis)
        yield _joined("stack", [given(draw, (), "mixed") for _ in range(count)], np.stack, 0)


@operation("unstack", ALL, QUICK)
def _unstack(draw: Draw) -> Iterator[Sample]:
    for n in (n for n in swept(draw, 257) if n):
        yield _unstacked(given(draw, (n, 3), "mixed", ("n", "m")), draw.pick((0, -2)))
    for n in swept(draw):
        yield _unstacked(given(draw, (2, n), "mixed", ("m", "n")), draw.pick((0, -2)))
    for row in combined(draw, n=(1, 2, 17, 33), kind=("mixed", "specials"), place=(0, 1, 2), layout=draw.layouts()):
        x = given(draw, around(row["n"], row["place"]), row["kind"], layout=row["layout"])
        yield _unstacked(x, row["place"] - draw.pick((0, 3)))


def _unstacked(x: Argument, axis: int) -> Sample:
    return moving((x,), lambda x, axis: tuple(np.moveaxis(x, axis, 0)), {"axis": axis}, smooth=True)


@operation("broadcast_arrays", ALL, QUICK)
def _broadcast_arrays(draw: Draw) -> Iterator[Sample]:
    for n in swept(draw, 65_537):
        yield _broadcast(draw, [(n,), (3, 1)])
        yield _broadcast(draw, [(n, 1), (1, 3), ()])
    for count in _counts(draw):
        target = around(draw.pick((2, 7, 33)), draw.pick((0, 1, 2)))
        shapes = [tuple(draw.pick((1, n)) for n in target)[draw.pick((0, 1, 2)) :] for _ in range(count - 1)]
        yield _broadcast(draw, [*shapes, target])


def _broadcast(draw: Draw, shapes: Sequence[tuple[int, ...]]) -> Sample:
    layouts = draw.layouts()
    members = tuple(given(draw, shape, draw.pick(("mixed", "specials")), layout=draw.pick(layouts)) for shape in shapes)
    return moving(members, lambda *xs: tuple(np.broadcast_arrays(*xs)), smooth=True)
