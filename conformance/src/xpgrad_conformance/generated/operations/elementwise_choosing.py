"""Functions that choose, and functions of truth values: where, clip, logical and bitwise ones of booleans."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from xpgrad import as_variable
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.operation import FLOATS, INTEGERS, operation, operations
from xpgrad_conformance.generated.operations.elementwise_binary import CHOSEN, with_symbol
from xpgrad_conformance.generated.points import FORMS, PAIRS, broadcasting, every_number, shaped
from xpgrad_conformance.generated.sample import Argument, Sample

ALL = "bool", *INTEGERS, *FLOATS, "complex64", "complex128"
TRIPLES: tuple[tuple[tuple[str, ...], ...], ...] = (
    (("n",), ("n",), ("n",)),
    (("n",), (), ("n",)),
    (("n",), ("n",), ()),
    ((), ("n",), ("n",)),
    (("n", ""), ("n", "m"), ("m",)),
    (("m", ""), ("n",), ("m", "n")),
    (("k", "n", "m"), ("k", "", "m"), ("n", "")),
    (("m",), ("n", "m"), ("n", "m")),
    (("m", "n"), ("", "n"), ("m", "")),
    (("n", ""), ("n", ""), ("", "m")),
)
"""The axes of a condition and two arrays that broadcast."""
KINDS = "ordinary", "specials", "extremes"
Bounds = tuple[Any, Any]


@operation("where", ALL, ("float32", "float64", "int64", "complex64", "bool"))
def _where(draw: Draw) -> Iterator[Sample]:
    def sample(*arguments: Argument) -> Sample:
        dtype = str(np.promote_types(arguments[1].host.dtype, arguments[2].host.dtype))
        return Sample(arguments, _chosen, dtype=dtype, signs=True, smooth=True)

    def array(
        axes: tuple[str, ...], n: int, kind: str = "ordinary", layout: str = "contiguous", dtype: str = ""
    ) -> Any:
        return draw.array(shaped(axes, n), kind, axes=axes, layout=layout, dtype=dtype)

    for n in draw.lengths():
        yield sample(array(("n",), n, dtype="bool"), array(("n",), n), array(("n",), n))
    layouts = draw.layouts()
    for row in draw.combinations(axes=TRIPLES, n=CHOSEN, kind=KINDS, layout0=layouts, layout1=layouts, layout2=layouts):
        kinds, dtypes = ("ordinary", row["kind"], row["kind"]), ("bool", "", "")
        given = zip(row["axes"], kinds, (row[f"layout{i}"] for i in range(3)), dtypes, strict=True)
        yield sample(*(array(axes, row["n"], kind, layout, dtype) for axes, kind, layout, dtype in given))
    for shapes in broadcasting(draw, 3):
        yield sample(*(draw.array(shape, dtype="" if k else "bool") for k, shape in enumerate(shapes)))
    for other in {"float32": ["float64"], "float64": ["float32"], "int32": ["int8", "uint8"]}.get(draw.dtype, []):
        if draw.has(other):
            yield sample(array(("n",), 33, dtype="bool"), array(("n",), 33), array((), 1, dtype=other))
    for number in (0.0, -2.5, np.inf, np.nan) if draw.dtype in FLOATS else (0, 3):
        yield from _with_number(array(("n",), 33, dtype="bool"), array(("n",), 33), number)


def _chosen(condition: Any, x1: Any, x2: Any) -> Any:
    return np.where(condition, x1, x2)


def _with_number(condition: Argument, x: Argument, number: Any) -> Iterator[Sample]:
    shown = repr(number).replace("inf", 'float("inf")').replace("nan", 'float("nan")')
    dtype, number = x.host.dtype.name, x.host.dtype.type(number) if x.host.dtype.kind == "b" else number
    options: dict[str, Any] = {"dtype": dtype, "signs": True, "smooth": True}
    yield Sample(
        (condition, x), lambda c, a: np.where(c, a, number), text=f"xp.where(x0, x1, {shown})",
        call=lambda xp, c, a: xp.where(as_variable(c), as_variable(a), number), **options,
    )  # fmt: skip
    yield Sample(
        (condition, x), lambda c, a: np.where(c, number, a), text=f"xp.where(x0, {shown}, x1)",
        call=lambda xp, c, a: xp.where(as_variable(c), number, as_variable(a)), **options,
    )  # fmt: skip


def _clipped(x: Any, least: Any, most: Any) -> Any:
    """Return numbers between bounds, one of which may be None; NaN stays, and bounds that are NaN give NaN."""
    x = x if least is None else np.maximum(x, least)
    return x if most is None else np.minimum(x, most)


@operation("clip", (*FLOATS, *INTEGERS), ("float32", "float64", "int32", "uint8"))
def _clip(draw: Draw) -> Iterator[Sample]:
    floating = draw.dtype in FLOATS
    pairs: list[Bounds] = [(0, 3), (None, 2), (1, None), (2, 2)]
    pairs += [(-0.5, 0.5), (-np.inf, 1.5), (None, np.inf), (-1, 1.25)] if floating else []

    def between(x: Argument, least: Any, most: Any) -> Sample:
        shown = f"{least!r}, {most!r}".replace("inf", 'float("inf")')
        return Sample(
            (x,), lambda a: _clipped(a, least, most), text=f"xp.clip(x0, {shown})", smooth=floating,
            call=lambda xp, a: xp.clip(as_variable(a), least, most),
        )  # fmt: skip

    for n in draw.lengths():
        yield between(draw.array((n,), axes=("n",)), 0, 1)
    if not floating:  # more digits than a floating-point number has
        info = np.iinfo(draw.dtype)
        for bounds in (None, info.max - 2), (info.min + 3, None), (info.max // 2 + 1, info.max - 1):
            yield between(draw.array((33,), "extremes", axes=("n",)), *bounds)
    for least, most in pairs:
        if floating:
            yield between(every_number(draw), least, most)
        for row in draw.combinations(axes=FORMS, n=(7, 33), kind=KINDS, layout=draw.layouts()):
            axes, layout = row["axes"], row["layout"]
            yield between(draw.array(shaped(axes, row["n"]), row["kind"], axes=axes, layout=layout), least, most)
    for axes in (("n", "m"), ("m",), ("n", ""), ()):
        for n in (7, 257):
            x = draw.array(shaped(("n", "m"), n), "specials" if floating else "extremes", axes=("n", "m"))
            least, most = _ordered(draw, axes, n)
            yield Sample((x, least, most), _clipped, smooth=floating)
            yield Sample((x, least), lambda a, b: np.maximum(a, b), smooth=floating)


def _ordered(draw: Draw, axes: tuple[str, ...], n: int) -> tuple[Argument, Argument]:
    """Return two arrays such that the first is nowhere larger."""
    one, other = (draw.array(shaped(axes, n), axes=axes).host for _ in range(2))
    return Argument(np.minimum(one, other), axes), Argument(np.maximum(one, other), axes)


@operations(("bool",), ("bool",))
def truth(draw: Draw, name: str, reference: Callable[..., Any], symbol: str = "") -> Iterator[Sample]:
    """Yield samples of a function of two arrays of truth values."""
    for n in draw.lengths():
        yield Sample(tuple(draw.array((n,), axes=("n",)) for _ in range(2)), reference)
    for row in draw.combinations(axes=PAIRS, n=CHOSEN, layout1=draw.layouts(), layout2=draw.layouts()):
        given = zip(row["axes"], (row["layout1"], row["layout2"]), strict=True)
        arrays = (draw.array(shaped(axes, row["n"]), axes=axes, layout=layout) for axes, layout in given)
        yield Sample(tuple(arrays), reference)
    x1, x2 = (draw.array((9,), axes=("n",)) for _ in range(2))
    if symbol:
        yield with_symbol(symbol, x1, x2, reference=reference)


@operations(("bool",), ("bool",))
def inverse(draw: Draw, name: str, reference: Callable[..., Any]) -> Iterator[Sample]:
    """Yield samples of a function of one array of truth values."""
    for n in draw.lengths():
        yield Sample((draw.array((n,), axes=("n",)),), reference)
    for row in draw.combinations(axes=FORMS, n=CHOSEN, layout=draw.layouts()):
        x = draw.array(shaped(row["axes"], row["n"]), axes=row["axes"], layout=row["layout"])
        yield Sample((x,), reference)


TRUTHS = (
    truth("logical_and", np.logical_and),
    truth("logical_or", np.logical_or),
    truth("logical_xor", np.logical_xor),
    truth("bitwise_and", np.bitwise_and, "&"),
    truth("bitwise_or", np.bitwise_or, "|"),
    truth("bitwise_xor", np.bitwise_xor, "^"),
    truth("equal", np.equal, "=="),
    truth("not_equal", np.not_equal, "!="),
    inverse("logical_not", np.logical_not),
    inverse("bitwise_invert", np.invert),
)
