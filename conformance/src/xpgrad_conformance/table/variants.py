"""Variants of a case's inputs: shapes that broadcast, are empty or 0-d, and memory that is not contiguous."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from xpgrad.types import Shape
from xpgrad_conformance.table.case import Case


@dataclass(frozen=True)
class Variant:
    """One variant of a case's inputs.

    Attributes
    ----------
    name : str
    shapes : tuple of shapes or None
        One for each input; None keeps the shapes of the case.
    layout : str
        "plain"; "strided" takes every second element of a larger array, "transposed" transposes a transposed array.
    same : bool
        All inputs are one and the same Variable.
    """

    name: str
    shapes: tuple[Shape, ...] | None = None
    layout: str = "plain"
    same: bool = False


PLAIN = Variant("plain")
LAYOUTS = (Variant("strided", layout="strided"), Variant("transposed", layout="transposed"))
UNIFORM: dict[str, Shape] = {"0-d": (), "empty": (0, 3), "size-1": (1,)}
BROADCAST: tuple[tuple[Shape, ...], ...] = (
    ((3, 1), (4,), ()),
    ((), (3, 4), (1, 4)),
    ((2, 1, 4), (3, 1), (3, 4)),
    ((1,), (0, 3), ()),
)


def variants_of(case: Case) -> tuple[Variant, ...]:
    """Return the applicable variants of `case`, the plain one first."""
    found = [PLAIN]
    if any(len(x.shape) > 0 for x in case.inputs):
        found.append(LAYOUTS[0])
    if any(len(x.shape) > 1 for x in case.inputs):
        found.append(LAYOUTS[1])
    if not case.elementwise or any(x.values is not None for x in case.inputs):
        return tuple(found)
    count = len(case.inputs)
    found += [Variant(name, (shape,) * count) for name, shape in UNIFORM.items()]
    if 1 < count <= len(BROADCAST[0]):
        found += [Variant(" ".join(map(str, shapes[:count])), shapes[:count]) for shapes in BROADCAST]
    if _may_coincide(case):
        found.append(Variant("same", same=True))
    return tuple(found)


def small_variants(case: Case) -> tuple[Variant, ...]:
    """Return variants with length 1 for each axis, or for all axes of equal length; with empty axes; and without axes.

    Axes of equal length, in all inputs, keep equal lengths. For elementwise cases, the other variants include small
    inputs.
    """
    if case.elementwise and all(x.values is None for x in case.inputs):
        return ()
    own = tuple(x.shape if x.values is None else np.shape(x.values) for x in case.inputs)
    found = {shapes: name for name, shapes in reversed([*_resized(own)])}
    found.pop(own, None)
    return tuple(Variant(name, shapes) for shapes, name in reversed(found.items()))


def _resized(own: tuple[Shape, ...]) -> Iterator[tuple[str, tuple[Shape, ...]]]:
    def mapped(length: Callable[[int], int]) -> tuple[Shape, ...]:
        return tuple(tuple(map(length, shape)) for shape in own)

    yield "one element", mapped(lambda n: 1)
    for given in sorted({n for shape in own for n in shape if n > 0}):
        for other in (1, 0):
            yield f"{other} for {given}", mapped(partial(_replaced, given, other))
    yield "0-d", ((),) * len(own)


def _replaced(given: int, other: int, n: int) -> int:
    return other if n == given else n


def broadcasting(case: Case) -> Variant | None:
    """Return the first variant of `case` whose inputs broadcast."""
    return next((v for v in variants_of(case) if v.shapes is not None and len(set(v.shapes)) > 1), None)


def _may_coincide(case: Case) -> bool:
    """Return whether one array can be passed for both inputs."""
    if len(case.inputs) != 2:
        return False
    x1, x2 = case.inputs
    low, high = max(x1.low, x2.low), min(x1.high, x2.high)
    return bool(x1.kind == x2.kind == "float" and x1.shape == x2.shape and low < high)
