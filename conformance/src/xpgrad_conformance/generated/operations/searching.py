"""Searching: positions of largest, smallest and nonzero elements, and positions in sorted tables."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.moved import ALL, around, combined, given, mixed, one_bit_off, swept
from xpgrad_conformance.generated.operation import FLOATS, INTEGERS, operation, operations
from xpgrad_conformance.generated.points import many_axes
from xpgrad_conformance.generated.sample import Argument, Sample, laid
from xpgrad_conformance.generated.sizes import DISTINCT, LONG

REALS = (*FLOATS, *INTEGERS)
QUICK = "float32", "float64", "int64", "uint64"


@operations(REALS, QUICK)
def _extremal(draw: Draw, name: str) -> Iterator[Sample]:
    """Yield samples of argmax or argmin: the first of equal elements, with NaN first of all elements."""
    reference: Callable[..., Any] = getattr(np, name)
    for n in swept(draw, least=1):
        x = given(draw, (n,), draw.pick(("mixed", "ties")), ("n",))
        yield Sample((x,), reference, dtype="int")
        yield Sample((_at_end(name, x),), reference, dtype="int")
    for place in (0, 1, 2):
        for n in draw.rng.choice(LONG, 1 if draw.quick else 3, replace=False).tolist():
            x = _at_end(name, given(draw, around(n, place), "mixed"), place)
            yield Sample((x,), reference, {"axis": place}, dtype="int")
    for n in (1, 2, 9, 16, 33) if draw.dtype in FLOATS else ():
        for at in {0, n // 2, n - 1, int(draw.rng.integers(n))}:
            x = draw.array((n,), axes=("n",))
            x.host[at] = np.nan
            yield Sample((x,), reference, dtype="int")
    kinds = "mixed", "ties", "near", "sorted", "reversed", "equal", "extremes", "spread"
    for row in combined(
        draw, n=(1, 2, 17, 64, 257), kind=kinds, place=(0, 1, 2), layout=draw.layouts(), keepdims=(False, True)
    ):
        x = given(draw, around(row["n"], row["place"]), row["kind"], layout=row["layout"])
        parameters = {"axis": draw.pick((None, row["place"], row["place"] - 3)), "keepdims": row["keepdims"]}
        yield Sample((x,), reference, parameters, dtype="int")


def _at_end(name: str, x: Argument, axis: int = -1) -> Argument:
    """Return the argument with its extremal element at the end of an axis, and only there if other elements exist."""
    host = x.host.copy()
    extreme = getattr(np, name[3:])(host)
    others = host[host != extreme]
    if others.size:
        host[host == extreme] = others[0]
    np.moveaxis(host, axis, 0)[-1] = extreme
    return Argument(host, x.axes, x.layout)


@operation("nonzero", ALL, ("float32", "int64", "bool", "complex64"), ("nonzero", "data_dependent_shapes"))
def _nonzero(draw: Draw) -> Iterator[Sample]:
    for n in swept(draw, least=1):
        yield Sample((_sparse(draw, (n,), ("n",)),), np.nonzero, dtype="int")
    for shape in many_axes(draw):
        yield Sample((_sparse(draw, shape),), np.nonzero, dtype="int")
    for row in combined(draw, n=(1, 2, 16, 33, 257), place=(0, 1, 2), layout=draw.layouts()):
        x = _sparse(draw, around(row["n"], row["place"]))
        yield Sample((laid(x.host, (), row["layout"]),), np.nonzero, dtype="int")


def _sparse(draw: Draw, shape: tuple[int, ...], axes: tuple[str, ...] = ()) -> Argument:
    """Return an argument with some zeros, including -0.0; other elements may be NaN, infinite or extreme."""
    host = mixed(draw, shape)
    chosen = draw.rng.random(shape)
    if host.dtype.kind in "fc":
        host = np.select(
            [chosen > 0.9, chosen > 0.8], [np.asarray(np.nan, host.dtype), np.asarray(-np.inf, host.dtype)], host
        )
    elif host.dtype.kind in "iu":
        host = np.where(chosen > 0.8, np.asarray(np.iinfo(host.dtype).min + 1, host.dtype), host)
    host = np.where(
        chosen < draw.pick((0.05, 0.5)), np.asarray(-0.0 if host.dtype.kind in "fc" else 0, host.dtype), host
    )
    return Argument(host, axes)


@operation("searchsorted", REALS, QUICK)
def _searchsorted(draw: Draw) -> Iterator[Sample]:
    for n in swept(draw):
        table = _table(draw, n, draw.pick(("mixed", "ties")))
        yield _search(draw, table, (11,))
        if n < 70_000:
            yield _search(draw, _table(draw, 7, "ties"), (n,))
    if draw.long or not draw.quick:
        yield _search(draw, _table(draw, DISTINCT, "mixed"), (300,))
    for row in combined(draw,
        n=(1, 2, 16, 33, 1025), kind=("mixed", "ties", "equal", "extremes", "spread"), layout=draw.layouts(),
        side=("left", "right"), sorter=(False, True),
    ):  # fmt: skip
        table = _table(draw, row["n"], row["kind"])
        yield _search(draw, table, (3, 5), row["side"], row["layout"], row["sorter"])


def _table(draw: Draw, n: int, kind: str) -> Any:
    host = np.sort(given(draw, (n,), kind).host)
    if host.dtype.kind == "f" and n > 3 and draw.pick((False, True)):
        host[0], host[-1] = -np.inf, np.inf
        zeros = np.searchsorted(host, 0.0) + np.arange(min(2, n // 3))  # both are equal to both that are looked for
        host[np.minimum(zeros, n - 2)] = draw.pick((0.0, -0.0))
    return host


def _search(
    draw: Draw, table: Any, shape: tuple[int, ...], side: str = "", layout: str = "contiguous", sorted_by: bool = False
) -> Sample:
    """Return a search for elements of a table, and for numbers between and outside its elements."""
    wanted = mixed(draw, shape)
    if table.size:
        chosen = draw.rng.choice(table, shape)
        near = one_bit_off(draw, chosen) if table.dtype.kind in "iu" else np.nextafter(chosen, -chosen)
        which = draw.rng.random(shape)
        wanted = np.where(which < 0.5, chosen, np.where(which < 0.7, near, wanted))
        if table.dtype.kind == "f" and wanted.size > 2:
            wanted.reshape(-1)[:2] = 0.0, -0.0
    arguments = [Argument(table, kept=True), laid(wanted, (), layout)]
    side = side or draw.pick(("left", "right"))
    if not sorted_by:
        return Sample(tuple(arguments), np.searchsorted, {"side": side}, dtype="int")
    order = draw.rng.permutation(table.size)
    arguments[0] = Argument(table[np.argsort(order)], kept=True)
    arguments.append(Argument(order.astype("int64" if draw.has("int64") else "int32"), kept=True))
    return Sample(
        tuple(arguments),
        lambda x, v, i, side: np.searchsorted(x, v, side=side, sorter=i),
        {"side": side},
        dtype="int",
        call=lambda xp, x, v, i, side: xp.searchsorted(x, v, side=side, sorter=i),
        text=f"xp.searchsorted(x0, x1, side={side!r}, sorter=x2)",
    )


ARGMAX, ARGMIN = _extremal("argmax"), _extremal("argmin")
