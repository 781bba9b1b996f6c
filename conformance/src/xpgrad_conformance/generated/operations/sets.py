"""Sets: the different elements of an array, how often and where they are, and which of them are in another array."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.moved import ALL, around, combined, given, mixed, one_bit_off, swept
from xpgrad_conformance.generated.operation import FLOATS, INTEGERS, Operation, operation
from xpgrad_conformance.generated.sample import Argument, Sample, laid
from xpgrad_conformance.generated.sizes import DISTINCT

QUICK = "float32", "float64", "int64", "uint64", "bool"
WIDE = "int32", "int64", "uint32", "uint64", "float32", "float64"
"""Dtypes that have so many different elements."""
KINDS = "mixed", "ties", "sorted", "reversed", "equal", "extremes"


def _inputs(draw: Draw) -> Iterator[Argument]:
    for n in swept(draw, 65_537):
        yield _with_repeats(draw, n)
    for row in combined(draw, n=(1, 2, 16, 33, 1025), kind=KINDS, place=(0, 1, 2), layout=draw.layouts()):
        yield given(draw, around(row["n"], row["place"]), row["kind"], layout=row["layout"])
    if draw.dtype in WIDE and (draw.long or not draw.quick):
        yield Argument(draw.rng.permutation(DISTINCT).astype(draw.dtype), ("n",))
    for n in (5, 33, 129) if draw.dtype in FLOATS else ():
        host = draw.rng.choice(np.asarray([0.0, -0.0, 1.0, -1.0], draw.dtype), n)
        host[:2] = -0.0, 0.0
        yield Argument(host, ("n",))
    for n in (3, 17, 67) if draw.dtype in FLOATS else ():
        x = draw.array((n,), "ties", axes=("n",))
        x.host[draw.rng.permutation(n)[:3]] = np.nan, np.inf, np.nan
        yield x


def _with_repeats(draw: Draw, n: int) -> Argument:
    """Return an argument in which about half of the elements are repeated."""
    host = mixed(draw, (n,))
    return Argument(draw.rng.permutation(np.where(draw.rng.random(n) < 0.5, host, draw.rng.permutation(host))), ("n",))


def _canonical(name: str, x: Any, results: Any) -> Any:
    """Return the results of a function with the values in ascending order, and the inverse as elements."""
    values, *others = results
    order = np.argsort(values, kind="stable")
    found, shaped = [values[order]], list(others)
    if name == "unique_all":
        found.append(_first(x, values, shaped.pop(0))[order])
    if name in ("unique_all", "unique_inverse"):
        inverse = shaped.pop(0)
        found.append(np.where(np.isnan(x), x, values[inverse]) if x.dtype.kind in "fc" else values[inverse])
    return (*found, *(each[order] for each in shaped))


def _first(x: Any, values: Any, indices: Any) -> Any:
    """Return the positions of the values; positions of NaN, whose order is free, become -1."""
    flat = x.reshape(-1)
    return np.where(np.isnan(flat[indices]), -1, indices) if x.dtype.kind in "fc" else indices


def _unique(name: str) -> Operation:
    reference = getattr(np, name)

    def expected(x: Any) -> Any:
        found = reference(x)
        return _canonical(name, x, [found] if name == "unique_values" else found)

    def samples(draw: Draw) -> Iterator[Sample]:
        dtypes = {
            "unique_values": (draw.dtype,),
            "unique_counts": (draw.dtype, "int"),
            "unique_inverse": (draw.dtype, "int"),
            "unique_all": (draw.dtype, "int", "int", "int"),
        }[name]
        for x in _inputs(draw):
            yield Sample(
                (x,), expected, dtype=dtypes, precise=False,
                derived=lambda hosts, results: _canonical(name, hosts[0], results),
            )  # fmt: skip

    return Operation(name, samples, ALL, QUICK, (name, "data_dependent_shapes"))


@operation("isin", (*INTEGERS, *FLOATS), ("int32", "int64", "uint64"))
def _isin(draw: Draw) -> Iterator[Sample]:
    if draw.dtype in FLOATS:
        yield from _isin_of_floats(draw)
        return
    for n in swept(draw, 65_537):
        yield from (_searched(draw, 7, n), _searched(draw, n, 7))
    for row in combined(draw, n=(1, 2, 33, 1025), m=(1, 2, 33, 1025), layout=draw.layouts()):
        yield _searched(draw, row["n"], row["m"], row["layout"])
    for other in INTEGERS:
        if other != draw.dtype and np.promote_types(draw.dtype, other).kind in "iu" and draw.has(other):
            yield _of_two_dtypes(draw, other)


def _of_two_dtypes(draw: Draw, other: str) -> Sample:
    """Return a sample whose arrays have two dtypes, with numbers that are the same in fewer bits."""
    table = draw.rng.integers(0, 100, 9).astype(other)
    narrow = min(np.dtype(draw.dtype).itemsize, np.dtype(other).itemsize)
    host = draw.rng.choice(table, (17, 2)).astype("int64") + draw.rng.choice((0, 0, 2 ** (8 * narrow)), (17, 2))
    info = np.iinfo(draw.dtype)
    host = np.where(host <= info.max, host, host % 100) if 8 * narrow < 63 else host % 100
    arguments = Argument(host.astype(draw.dtype), ("n", "k")), Argument(table, ("m",))
    return Sample(arguments, np.isin, dtype="bool")


def _searched(draw: Draw, n: int, m: int, layout: str = "contiguous") -> Sample:
    table = mixed(draw, (m,))
    host = mixed(draw, (n, 2))
    if m:
        chosen, which = draw.rng.choice(table, (n, 2)), draw.rng.random((n, 2))
        host = np.where(which < 0.4, chosen, np.where(which < 0.7, one_bit_off(draw, chosen), host))
    arguments = laid(host, ("n", "k"), layout), Argument(table, ("m",))
    return Sample(arguments, np.isin, {"invert": draw.pick((False, True))}, dtype="bool")


def _isin_of_floats(draw: Draw) -> Iterator[Sample]:
    """Yield samples of floating-point numbers, which the standard does not ask for, if the library takes them."""
    try:
        draw.s.xp.isin(draw.s.array(np.ones(2), draw.dtype), draw.s.array(np.ones(3), draw.dtype))
    except Exception:
        return
    for n, m in ((1, 5), (7, 33), (65, 7), (1025, 257), (9, 1)):
        table, host = mixed(draw, (m,)), mixed(draw, (n, 2))
        table[draw.rng.random(m) < 0.2] = np.nan
        chosen, which = draw.rng.choice(table, (n, 2)), draw.rng.random((n, 2))
        host = np.where(which < 0.4, chosen, np.where(which < 0.7, np.nextafter(chosen, np.inf), host))
        for invert in (False, True):
            arguments = Argument(host.astype(draw.dtype), ("n", "k")), Argument(table, ("m",))
            yield Sample(arguments, np.isin, {"invert": invert}, dtype="bool")


UNIQUE = tuple(map(_unique, ("unique_values", "unique_counts", "unique_inverse", "unique_all")))
