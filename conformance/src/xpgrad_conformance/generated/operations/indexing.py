"""Gathers along an axis: positions of every number and dtype, with repeats, in every layout."""

from collections.abc import Iterator

import numpy as np

from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.moved import ALL, QUICK, around, combined, given, moving, others_of, positions, swept
from xpgrad_conformance.generated.operation import operation
from xpgrad_conformance.generated.sample import Argument, Sample


@operation("take", ALL, QUICK)
def _take(draw: Draw) -> Iterator[Sample]:
    for n in swept(draw):
        yield _taken("take", given(draw, (5, 2), "mixed", ("", "m")), positions(draw, (n,), 5), 0)
        if n:
            yield _taken("take", given(draw, (n,), "mixed"), _ends(positions(draw, (draw.pick((9, 1025)),), n), n), 0)
    for dtype in filter(draw.has, ("int8", "int16", "int32", "int64", "uint8")):
        yield _taken("take", given(draw, (5, 2), "mixed"), positions(draw, (5,), 5, dtype=dtype), 0)
    for layout in draw.layouts() if not draw.quick else (draw.pick(draw.layouts()),):
        x = given(draw, (33, 2), "mixed")
        yield _taken("take", x, positions(draw, (4099,), 33, layout), 0)
    if draw.long:  # more rows than a grid has blocks
        yield _taken("take", given(draw, (65_537, 3), "mixed"), positions(draw, (2,), 3), 1)
    for row in combined(draw,
        n=(1, 2, 16, 33, 257, 4097), m=(1, 17, 64, 1025), place=(0, 1, 2), layout=draw.layouts(), other=draw.layouts(),
        kind=("mixed", "specials"), dtype=[d for d in ("int32", "int64") if draw.has(d)],
    ):  # fmt: skip
        x = given(draw, around(row["n"], row["place"]), row["kind"], layout=row["layout"])
        index = positions(draw, (row["m"],), row["n"], row["other"], row["dtype"])
        yield _taken("take", x, index, row["place"] - draw.pick((0, 3)))


def _ends(index: Argument, n: int) -> Argument:
    """Return positions that include the first and the last position."""
    index.host[:2] = n - 1, 0
    return index


def _taken(name: str, x: Argument, index: Argument, axis: int) -> Sample:
    return moving((x, index), getattr(np, name), {"axis": axis})


@operation("take_along_axis", ALL, QUICK)
def _take_along_axis(draw: Draw) -> Iterator[Sample]:
    for n in swept(draw):
        yield _taken("take_along_axis", given(draw, (2, 5), "mixed"), positions(draw, (2, n), 5), 1)
        if n:
            yield _taken(
                "take_along_axis", given(draw, (n,), "mixed"), _ends(positions(draw, (draw.pick((9, 1025)),), n), n), 0
            )
        if 0 < n < 70_000:
            yield _taken("take_along_axis", given(draw, (3, n), "mixed"), positions(draw, (2, n), 3), 0)
    layouts = draw.layouts()
    chosen = {"transposed", draw.pick(layouts)} if draw.quick else layouts
    for layout in [each for each in layouts if each in chosen]:
        place = draw.pick((0, 1, 2))  # several thousands of positions in each layout
        index = positions(draw, around(1025, place, (2, 3)), 33, layout)
        yield _taken("take_along_axis", given(draw, around(33, place, (2, 3)), "mixed"), index, place)
    broadcast = ((1, 5), (3, 7), 1), ((3, 5), (1, 7), 1), ((5, 1, 2), (9, 4, 2), 0), ((2, 1, 9), (1, 3, 4), -1)
    for one, other, axis in broadcast:
        index = positions(draw, other, one[axis])
        yield _taken("take_along_axis", given(draw, one, "mixed"), index, axis)
    for row in combined(draw,
        n=(1, 2, 16, 33, 257, 4097), m=(1, 17, 64, 1025), place=(0, 1, 2), layout=draw.layouts(), other=draw.layouts(),
        dtype=[d for d in ("int32", "int64") if draw.has(d)],
    ):  # fmt: skip
        others = others_of(row["n"])
        x = given(draw, around(row["n"], row["place"], others), "mixed", layout=row["layout"])
        index = positions(draw, around(row["m"], row["place"], others), row["n"], row["other"], row["dtype"])
        yield _taken("take_along_axis", x, index, row["place"] - draw.pick((0, 3)))
