"""Cumulative sums and products, and differences: exact to the last element, along every axis."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from xpgrad_conformance.generated.decisive import decisive_elements
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.operation import FLOATS, INTEGERS, Operation, operation
from xpgrad_conformance.generated.operations.statistics import BLOCKS, factors, positions, specials, whole
from xpgrad_conformance.generated.points import FORMS, shaped
from xpgrad_conformance.generated.sample import Argument, Sample

CHOSEN = 1, 2, 8, 17, 33, 129, 1025
QUICK = "float32", "float64", "int32", "uint8"
ONE_AXIS = ("n",), ("n", "m"), ("k", "n", "m"), ("m", "n")


def cumulative(name: str, plain: Callable[..., Any], make: Callable[..., Argument], neutral: float) -> Operation:
    """Return the operation of cumulative_sum or cumulative_prod.

    Parameters
    ----------
    make : callable
        ``make(draw, shape, axes, layout)`` returns an argument whose results are exact.
    neutral : float
        First element of results with ``include_initial``.
    """

    def reference(x: Any, *, axis: int | None = None, include_initial: bool = False) -> Any:
        axis = 0 if axis is None else axis
        found = plain(x, axis=axis)
        if not include_initial:
            return found
        shape = list(found.shape)
        shape[axis] = 1
        return np.concatenate([np.full(shape, neutral, found.dtype), found], axis)

    def samples(draw: Draw) -> Iterator[Sample]:
        what: dict[str, Any] = {"dtype": draw.dtype if draw.dtype in FLOATS else "int", "smooth": draw.dtype in FLOATS}
        for n in draw.lengths():
            yield Sample((make(draw, (n,), ("n",)),), reference, **what)
            if n % 256 == 0 or draw.pick((False, False, True)):
                yield Sample((make(draw, (n,), ("n",)),), reference, {"include_initial": True}, **what)
        for row in draw.combinations(axes=FORMS, n=CHOSEN, initial=(False, True), layout=draw.layouts()):
            axes = row["axes"]
            given = {"axis": axes.index("n"), "include_initial": row["initial"]}
            yield Sample((make(draw, shaped(axes, row["n"]), axes, row["layout"]),), reference, given, **what)
            given = {"axis": -1, "include_initial": row["initial"]}
            yield Sample((make(draw, shaped(axes, row["n"]), axes, row["layout"]),), reference, given, **what)
        for shape in ((0,), (2, 0), (0, 3)) if draw.has("empty_arrays") else ():
            given = {"axis": -1, "include_initial": True}
            yield Sample((make(draw, shape, ()),), reference, given, **what)
        for n in (4097,) if draw.quick else (4097, 65537):
            for axes in FORMS[1:]:
                x = make(draw, shaped(axes, n), axes)
                yield Sample((x,), reference, {"axis": axes.index("n")}, **what)
        for shape in BLOCKS[1:4]:
            for axis in (0, 1):
                yield Sample((make(draw, shape, ("n", "m")),), reference, {"axis": axis}, **what)
        if draw.dtype != "int8" and not draw.dtype.startswith("u"):
            yield from decisive_elements(draw, reference, [(neutral + 1, neutral)], **what)
        if draw.dtype in FLOATS:
            values = specials(draw.dtype) if name == "cumulative_sum" else [np.nan]
            others = None if name == "cumulative_sum" else -1.0  # whose products are exact
            for sample in positions(draw, values, reference, others=others, **what):
                if sample.parameters.get("axis", 0) is not None:
                    yield sample
            x = draw.array((257,), low=0.5, high=1.5, axes=("n",))
            yield Sample((x,), reference, units=300, smooth=True)
        yield from _of_another_dtype(draw)

    def _of_another_dtype(draw: Draw) -> Iterator[Sample]:
        others = {"float32": ("float64",), "int32": ("int64", "float64"), "int8": ("int32",)}
        for other in others.get(draw.dtype, ()):
            if draw.has(other):
                target = draw.s.dtype_of(other)
                yield Sample(
                    (make(draw, (33, 3), ("n", "m")),),
                    lambda x, other=other: reference(x.astype(other), axis=0),
                    dtype=other,
                    call=lambda xp, x, target=target: getattr(xp, name)(x, axis=0, dtype=target),
                    text=f"xp.{name}(x0, axis=0, dtype=xp.{other})",
                )

    return Operation(name, samples, (*FLOATS, *INTEGERS), QUICK)


@operation("diff", (*FLOATS, "int8", "int16", "int32", "int64"), QUICK[:3])
def _diff(draw: Draw) -> Iterator[Sample]:
    floating = draw.dtype in FLOATS
    for n in draw.lengths(least=1):
        yield Sample((draw.array((n,), "integers", axes=("n",)),), np.diff, smooth=floating)
    for row in draw.combinations(axes=ONE_AXIS, n=CHOSEN, times=(0, 1, 2, 3), layout=draw.layouts()):
        axes = row["axes"]
        if row["n"] <= row["times"]:
            continue
        x = draw.array(shaped(axes, row["n"]), "integers", axes=axes, layout=row["layout"])
        yield Sample((x,), np.diff, {"axis": axes.index("n"), "n": row["times"]}, smooth=floating)
    for axis in (0, 1, -1):
        x, before, after = (draw.array((4, 4), "integers") for _ in range(3))
        yield _with_ends(x, before, after, axis)
        yield _with_ends(x, before, None, axis)
        yield _with_ends(x, None, after, axis)
    if draw.dtype in FLOATS:
        x = draw.array((257, 3), "specials", axes=("n", "m"))
        for axis in (0, 1):
            yield Sample((x,), np.diff, {"axis": axis}, units=0.6)


def _with_ends(x: Argument, before: Argument | None, after: Argument | None, axis: int) -> Sample:
    given = [(key, each) for key, each in (("prepend", before), ("append", after)) if each is not None]
    keys = [key for key, _ in given]

    def reference(x: Any, *ends: Any) -> Any:
        return np.diff(x, axis=axis, **dict(zip(keys, ends, strict=True)))

    def call(xp: Any, x: Any, *ends: Any) -> Any:
        return xp.diff(x, axis=axis, **dict(zip(keys, ends, strict=True)))

    written = "".join(f", {key}=x{i}" for i, key in enumerate(keys, 1))
    arguments = (x, *(each for _, each in given))
    return Sample(arguments, reference, call=call, text=f"xp.diff(x0, axis={axis}{written})")


CUMULATIVE = (
    cumulative("cumulative_sum", np.cumsum, whole, 0.0),
    cumulative("cumulative_prod", np.cumprod, factors, 1.0),
)
