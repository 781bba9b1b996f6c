"""Products of matrices and vectors: exact products of small integers, and accurate products of other numbers."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from xpgrad.types import Shape
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.moved import combined, given, mixed, moving, swept
from xpgrad_conformance.generated.operation import COMPLEX, FLOATS, operation
from xpgrad_conformance.generated.points import broadcasting
from xpgrad_conformance.generated.sample import Argument, Sample

NUMERIC = (*FLOATS, *COMPLEX, "int32", "int64")
INTEGERS = "int32", "int64"
QUICK = "float32", "float64", "complex64", "int64"
BATCHES: tuple[tuple[Shape, Shape], ...] = (
    ((), ()), ((2,), (2,)), ((3,), ()), ((), (3,)), ((2, 1), (5,)), ((5, 1), (1, 2)), ((1,), (4,)),
    ((2, 1, 3), (2, 1, 1)),
)  # fmt: skip
"""Shapes of batches that broadcast."""


def _pair(
    draw: Draw, kind: str, one: Shape, other: Shape, axes: Any = ((), ()), layouts: Any = ("contiguous",) * 2
) -> tuple[Argument, Argument]:
    a, b = (given(draw, shape, kind, names, how) for shape, names, how in zip((one, other), axes, layouts, strict=True))
    return a, b


def _product(
    pair: tuple[Argument, Argument], reference: Callable[..., Any], terms: int, *, exact: bool, **options: Any
) -> Sample:
    """Return a sample of a sum of products: exact, or with errors relative to the sum of absolute values.

    Parameters
    ----------
    terms : int
        How many products are added.
    """
    if exact:
        return Sample(pair, reference, precise=False, smooth=True, **options)
    size = lambda a, b, **parameters: reference(abs(a), abs(b), **parameters)  # noqa: E731
    return Sample(pair, reference, units=4 + 2 * terms**0.5, scale=size, smooth=True, **options)


def _large(
    draw: Draw, reference: Callable[..., Any], one: Shape, other: Shape, terms: int, **parameters: Any
) -> Iterator[Sample]:
    """Yield a product of integers with more digits than a floating-point number of as many bits has, if they fit."""
    if draw.dtype in INTEGERS:
        bits = np.iinfo(draw.dtype).bits
        most = 2 ** (bits - 5) // terms
        a = draw.rng.integers(-most, most, one, draw.dtype)
        b = draw.rng.integers(-8, 9, other, draw.dtype)
        layouts = [draw.pick(draw.layouts()[:-1]) for _ in range(2)]
        pair = tuple(Argument(np.asarray(x), (), how) for x, how in zip((a, b), layouts, strict=True))
        yield Sample(pair, reference, parameters, precise=False)


@operation("matmul", NUMERIC, QUICK)
def _matmul(draw: Draw) -> Iterator[Sample]:
    for n in swept(draw):
        if n < 70_000:
            yield _exact(draw, (n, 3), (3, 2), (("n", "k"), ("k", "m")))
            yield _exact(draw, (2, 3), (3, n), (("n", "k"), ("k", "m")))
            yield _exact(draw, (n, 2, 3), (n, 3, 2), (("b", "n", "k"), ("b", "k", "m")))
        yield _exact(draw, (2, n), (n, 3), (("n", "k"), ("k", "m")))
        yield _exact(draw, (n,), (n,), (("k",), ("k",)))
        if n < 70_000 and draw.pick((0, 1)):
            yield _exact(draw, (2, n), (n,), (("n", "k"), ("k",)))
            yield _exact(draw, (n,), (n, 2), (("k",), ("k", "m")))
            yield _exact(draw, (n, 3), (3,), (("n", "k"), ("k",)))
            yield _exact(draw, (3,), (3, n), (("k",), ("k", "m")))
    sizes = (1, 2, 8, 17, 33, 64, 65, 129, 257)[: 9 if draw.dtype in (*FLOATS, *COMPLEX) else 7]
    for row in combined(draw, m=sizes, k=sizes, n=sizes, one=draw.layouts(), other=draw.layouts()):
        shapes = (row["m"], row["k"]), (row["k"], row["n"])
        yield _exact(draw, *shapes, (("n", "k"), ("k", "m")), (row["one"], row["other"]))
    long = (1025, 3, 2), (3, 1025, 2), (3, 2, 1025), (4097, 2, 1), (1, 2, 4097)
    inner = (1, 4097, 1), (2, 4097, 1), (1, 4097, 3)
    square = (2, 2, 2), (3, 3, 3), (17, 17, 17), (64, 64, 64)
    for (m, k, n), pair in itertools.product((*long, *inner, *square), _layouts(draw)):
        yield _exact(draw, (m, k), (k, n), (("n", "k"), ("k", "m")), pair)
        if n == 1:
            yield _exact(draw, (m, k), (k,), (("n", "k"), ("k",)), pair)
        if m == 1:
            yield _exact(draw, (k,), (k, n), (("k",), ("k", "m")), pair)
    for row in combined(draw, batch=BATCHES, k=(1, 3, 16, 33), one=draw.layouts(), other=draw.layouts()):
        one, other = row["batch"]
        yield _exact(draw, (*one, 3, row["k"]), (*other, row["k"], 5), layouts=(row["one"], row["other"]))
        if one:
            yield _exact(draw, (*one, 3, row["k"]), (row["k"],), layouts=(row["one"], "contiguous"))
        if other:
            yield _exact(draw, (row["k"],), (*other, row["k"], 2), layouts=("contiguous", row["other"]))
    for one, other in broadcasting(draw, 2):
        m, k, n = (int(each) for each in draw.rng.integers(1, 5, 3))
        yield _exact(draw, (*one, m, k), (*other, k, n), layouts=[draw.pick(draw.layouts()) for _ in range(2)])
    if draw.has("empty_arrays"):
        nothing: list[tuple[Shape, Shape]] = [((3, 0), (0, 2)), ((0, 4), (4, 2)), ((0, 3, 4), (4, 2)), ((2, 0), (0,))]
        for one, other in (*nothing, ((2, 3, 0), (0, 4)), ((0,), (0,))):
            yield _exact(draw, one, other)
    for one, other in ((3, 5), (5, 2)), ((17, 9), (9, 33)), ((2, 4, 65), (65, 3)), ((33,), (33, 2)), ((7,), (7,)):
        yield from _large(draw, np.matmul, one, other, one[-1])
    if draw.dtype in (*FLOATS, *COMPLEX):
        yield from _inexact(draw)


def _layouts(draw: Draw) -> list[tuple[str, str]]:
    """Return pairs of layouts: each layout with a transpose, and the remaining pairs with a random layout."""
    found: list[tuple[str, str]] = [(one, draw.pick(draw.layouts())) for one in draw.layouts()]
    if draw.quick:
        found = [draw.pick(found)]
        if not draw.long:
            return found
    else:
        found += [(other, one) for one, other in found]
    if "transposed" in draw.layouts():
        found += [("transposed", "contiguous"), ("contiguous", "transposed"), ("transposed", "transposed")]
    return found


def _exact(draw: Draw, one: Shape, other: Shape, axes: Any = ((), ()), layouts: Any = ("contiguous",) * 2) -> Sample:
    return _product(_pair(draw, "integers", one, other, axes, layouts), np.matmul, one[-1], exact=True)


def _inexact(draw: Draw) -> Iterator[Sample]:
    for k in (1, 2, 7, 16, 33, 65, 129, 257, 1025, 4097):
        for kind in ("ordinary", "spread"):
            pair = _pair(draw, kind, (3, k), (k, 4), (("n", "k"), ("k", "m")))
            yield _product(pair, np.matmul, k, exact=False)
    pair = _pair(draw, "ordinary", (33, 65), (65, 34), (("n", "k"), ("k", "m")))
    yield _product(pair, np.matmul, 65, exact=False)
    for k in (1, 2, 9, 17, 33, 65) if draw.dtype in FLOATS else ():
        a, b = _pair(draw, "ordinary", (5, k), (k, 6), (("n", "k"), ("k", "m")))
        a.host[1, draw.rng.integers(k)] = np.nan
        a.host[2, draw.rng.integers(k)] = np.inf
        b.host[draw.rng.integers(k), 3] = -np.inf
        yield Sample((a, b), np.matmul, units=4 + 2 * k**0.5, scale=_finite_scale)


def _finite_scale(a: Any, b: Any) -> Any:
    """Return the sums of absolute values of the finite products."""
    return np.matmul(*(np.where(np.isfinite(each), abs(each), 0) for each in (a, b)))


AXES: tuple[tuple[Any, Shape, Shape], ...] = (
    (1, (5, 2, 3), (3, 4)), (2, (5, 2, 3), (2, 3, 4)), (0, (2, 3), (3, 4)), (3, (2, 3, 4), (2, 3, 4)), (0, (3,), (3,)),
    (((0, 1), (1, 0)), (2, 3, 4), (3, 2, 5)), (((-1,), (0,)), (2, 3), (3, 4)), (((2, 0), (0, 1)), (3, 5, 4), (4, 3)),
    (((0,), (-1,)), (33, 2), (3, 33)), (((1, 2), (2, 0)), (2, 3, 3), (3, 4, 3)),
    (((0, 1, 2), (2, 0, 1)), (2, 3, 4), (3, 4, 2)),
)  # fmt: skip


@operation("tensordot", NUMERIC, QUICK)
def _tensordot(draw: Draw) -> Iterator[Sample]:
    for n in swept(draw, 65_537):
        pair = _pair(draw, "integers", (2, n), (n, 3), (("n", "k"), ("k", "m")))
        yield _product(pair, np.tensordot, n, exact=True, parameters={"axes": 1})
        pair = _pair(draw, "integers", (n, 2), (3, n))
        yield _product(pair, np.tensordot, n, exact=True, parameters={"axes": ((0,), (1,))})
    for row in combined(draw, axes=AXES, kind=("integers", "ordinary"), one=draw.layouts(), other=draw.layouts()):
        axes, one, other = row["axes"]
        pair = _pair(draw, row["kind"], one, other, layouts=(row["one"], row["other"]))
        yield _product(pair, np.tensordot, 33, exact=row["kind"] == "integers", parameters={"axes": axes})
    for axes, one, other in AXES[::3]:
        yield from _large(draw, np.tensordot, one, other, 33, axes=axes)


def vecdot(a: Any, b: Any, axis: int = -1) -> Any:
    """Return the dot products of host vectors; the first argument is conjugated."""
    return np.sum(np.conj(a) * b, axis=axis, dtype=np.result_type(a, b))


@operation("vecdot", NUMERIC, QUICK)
def _vecdot(draw: Draw) -> Iterator[Sample]:
    for n in swept(draw):
        pair = _pair(draw, "integers", (n,), (n,), (("n",), ("n",)))
        yield _product(pair, vecdot, n, exact=True)
        if n < 70_000:
            pair = _pair(draw, "integers", (n, 2), (n, 2), (("n", "m"), ("n", "m")))
            yield _product(pair, vecdot, n, exact=True, parameters={"axis": -2})
    kinds, layouts = ("integers", "ordinary"), draw.layouts()
    for row in combined(draw, batch=BATCHES, n=(1, 2, 16, 33, 257), kind=kinds, one=layouts, other=layouts):
        one, other = ((*batch, row["n"]) for batch in row["batch"])
        pair = _pair(draw, row["kind"], one, other, layouts=(row["one"], row["other"]))
        yield _product(pair, vecdot, row["n"], exact=row["kind"] == "integers")
    for one, other in ((7,), (7,)), ((3, 17), (17,)), ((2, 1, 33), (5, 33)):
        yield from _large(draw, vecdot, one, other, one[-1])


@operation("linalg.outer", NUMERIC, ("float32", "int64"))
def _outer(draw: Draw) -> Iterator[Sample]:
    for n in swept(draw, 65_537):
        for one, other in (((n,), (3,)), ((2,), (n,))):
            pair = _pair(draw, "integers", one, other, (("n",), ("m",)))
            yield Sample(pair, np.outer, precise=False, smooth=True)
    for row in combined(draw, n=(1, 17, 65), m=(1, 33, 64), one=draw.layouts(), other=draw.layouts()):
        pair = _pair(draw, "ordinary", (row["n"],), (row["m"],), layouts=(row["one"], row["other"]))
        yield Sample(pair, np.outer, units=4, smooth=True)
    yield from _large(draw, np.outer, (9,), (17,), 1)


def _crossed(a: Any, b: Any, axis: int = -1) -> Any:
    a, b = np.broadcast_arrays(a, b)
    return np.cross(a, b, axis=axis)


@operation("linalg.cross", NUMERIC, ("float32", "int64"))
def _cross(draw: Draw) -> Iterator[Sample]:
    for n in swept(draw, 65_537):
        shape, axis = draw.pick((((n, 3), -1), ((3, n), -2)))
        yield _crossing(draw, "integers", shape, shape, axis)
    for row in combined(
        draw, n=(1, 2, 17, 33), place=(0, 1, 2), kind=("integers", "ordinary"), one=draw.layouts(), other=draw.layouts()
    ):
        shape = [2, row["n"]]
        shape.insert(row["place"], 3)
        yield _crossing(draw, row["kind"], tuple(shape), tuple(shape), row["place"] - 3, (row["one"], row["other"]))
    yield _crossing(draw, "integers", (5, 1, 3), (4, 3), -1)
    yield from _large(draw, _crossed, (9, 3), (9, 3), 2, axis=-1)


def _crossing(draw: Draw, kind: str, one: Shape, other: Shape, axis: int, layouts: Any = ("contiguous",) * 2) -> Sample:
    pair = _pair(draw, kind, one, other, layouts=layouts)
    if kind == "integers":
        return Sample(pair, _crossed, {"axis": axis}, precise=False, smooth=True)
    size = lambda a, b, axis: np.full((), 16.0)  # noqa: E731
    return Sample(pair, _crossed, {"axis": axis}, units=16, scale=size, smooth=True)


@operation("linalg.diagonal", NUMERIC, ("float32", "complex64"))
def _diagonal(draw: Draw) -> Iterator[Sample]:
    for x, offset in _matrices(draw):
        diagonal = lambda x, offset: np.diagonal(x, offset, -2, -1)  # noqa: E731
        yield moving((x,), diagonal, {"offset": offset}, smooth=True)


def _matrices(draw: Draw) -> Iterator[tuple[Argument, int]]:
    for n in swept(draw, 4097, least=1):
        for shape in ((n, 3), (3, n), *(((n, n),) if n < 140 else ())):
            host = mixed(draw, shape) if draw.dtype[0] in "iu" else given(draw, shape, "integers").host
            yield Argument(host, ("n", "m") if shape[0] != shape[1] else ()), draw.pick((0, 0, 1, -1, 2, -2))
    for row in combined(draw, n=(1, 2, 17, 33), m=(1, 2, 17, 33), batch=((), (2,), (3, 2)), layout=draw.layouts()):
        shape = (*row["batch"], row["n"], row["m"])
        offsets = [k for k in (0, 1, -1, 3, -3, row["m"] - 1, 1 - row["n"]) if -row["n"] < k < row["m"]]
        yield given(draw, shape, "integers", layout=row["layout"]), draw.pick(offsets)


@operation("linalg.trace", (*FLOATS, *COMPLEX), ("float32", "complex64"))
def _trace(draw: Draw) -> Iterator[Sample]:
    for x, offset in _matrices(draw):
        yield Sample(
            (x,), lambda x, offset: np.trace(x, offset, -2, -1), {"offset": offset}, precise=False, smooth=True
        )
