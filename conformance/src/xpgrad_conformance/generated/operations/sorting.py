"""Sorting: every length, ties, orders and extremes, both directions, along each axis."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from xpgrad_conformance.generated.decisive import FORMS as LINES
from xpgrad_conformance.generated.decisive import lengths, with_decisive_element
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.moved import around, combined, given, swept
from xpgrad_conformance.generated.operation import FLOATS, INTEGERS, operation
from xpgrad_conformance.generated.sample import Argument, Sample

QUICK = "float32", "float64", "int64", "uint64"
ORDERS = "mixed", "ties", "sorted", "reversed", "equal", "extremes", "spread"


def argsort(x: Any, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Return the stable order of a host array, which keeps equal elements in order also if descending."""
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    return np.flip(x.shape[axis] - 1 - np.argsort(np.flip(x, axis), axis=axis, kind="stable"), axis)


def sort(x: Any, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Return a sorted host array."""
    ordered = np.sort(x, axis=axis)
    return np.flip(ordered, axis) if descending else ordered


def _inputs(draw: Draw) -> Iterator[tuple[Argument, dict[str, Any]]]:
    for n in swept(draw):
        for descending in (False, True) if n < (9 if draw.quick else 1025) else (draw.pick((False, True)),):
            yield given(draw, (n,), draw.pick(("mixed", "ties")), ("n",)), {"descending": descending}
    for n in lengths(draw)[-1:] if draw.quick else lengths(draw):
        for form in (draw.pick(LINES),) if draw.quick else LINES:
            x = Argument(
                with_decisive_element(draw, n, form, 1, 2), form
            )  # the smallest element is late, the rest is constant
            yield x, {"axis": form.index("n"), "descending": draw.pick((False, True))}
    if draw.dtype in FLOATS:
        for n in (5, 17, 67):
            yield _infinite(draw, n), {"descending": draw.pick((False, True))}
            zeros = draw.rng.choice(np.asarray([0.0, -0.0, 1.0, -1.0], draw.dtype), (n,))  # two of these are equal
            yield Argument(zeros, ("n",)), {"descending": draw.pick((False, True))}
    for row in combined(
        draw, n=(1, 2, 16, 33, 129, 1025), kind=ORDERS, place=(0, 1, 2), layout=draw.layouts(), descending=(False, True)
    ):
        x = given(draw, around(row["n"], row["place"]), row["kind"], layout=row["layout"])
        yield x, {"axis": row["place"] - draw.pick((0, 3)), "descending": row["descending"]}


def _infinite(draw: Draw, n: int) -> Argument:
    x = draw.array((n,), axes=("n",))
    x.host[draw.rng.permutation(n)[:4]] = np.inf, -np.inf, np.inf, -np.inf
    return x


@operation("sort", (*FLOATS, *INTEGERS), QUICK)
def _sorted(draw: Draw) -> Iterator[Sample]:
    for x, parameters in _inputs(draw):
        distinct = x.host.size < 10_000 and np.unique(x.host).size == x.host.size
        yield Sample((x,), sort, parameters, precise=False, smooth=distinct and np.isfinite(x.host).all())
    for n in (5, 17, 40, 1000) if draw.dtype in FLOATS else ():  # at any positions of NaN, no element is lost
        x = given(draw, (n,), "mixed")
        x.host[draw.rng.permutation(n)[: n // 4 + 1]] = np.nan
        parameters = {"descending": draw.pick((False, True))}
        yield Sample((x,), lambda x, **_: np.sort(x), parameters, derived=lambda _, found: np.sort(found[0]))


@operation("argsort", (*FLOATS, *INTEGERS), QUICK)
def _argsorted(draw: Draw) -> Iterator[Sample]:
    for x, parameters in _inputs(draw):
        yield Sample((x,), argsort, parameters, dtype="int")
    for n in (2, 9, 33, 1025):
        for descending in (False, True):
            x = given(draw, (n, 2), "ties", ("n", "m"))
            parameters = {"axis": 0, "stable": False, "descending": descending}
            yield Sample((x,), _in_order(sort), parameters, dtype="int", derived=_chosen)


def _in_order(function: Any) -> Any:
    """Return a reference for the result of `_chosen`."""

    def reference(x: Any, **parameters: Any) -> Any:
        everything = np.sort(np.broadcast_to(np.arange(len(x))[:, None], x.shape), axis=0)
        return function(x, **parameters), everything

    return reference


def _chosen(hosts: Any, results: Any) -> Any:
    """Return the elements in the order that is found, and the positions in ascending order."""
    return np.take_along_axis(hosts[0], results[0], 0), np.sort(results[0], axis=0)
