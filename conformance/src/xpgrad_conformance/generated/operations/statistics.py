"""Sums, products, means, variances and extrema: exact for integers stored as floats, along every choice of axes."""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.operation import FLOATS, INTEGERS, Operation, operation, operations
from xpgrad_conformance.generated.points import several_axes, shaped
from xpgrad_conformance.generated.sample import Argument, Sample
from xpgrad_conformance.generated.sizes import LONG
from xpgrad_conformance.generated.values import special_numbers

PLACES: tuple[tuple[tuple[str, ...], Any], ...] = (
    (("n",), None),
    (("n",), 0),
    (("n", "m"), 0),
    (("n", "m"), -1),
    (("m", "n"), -1),
    (("m", "n"), 0),
    (("k", "n", "m"), 1),
    (("k", "n", "m"), (0, 2)),
    (("k", "m", "n"), (2, 0)),
    (("k", "m", "n"), (-1, 1)),
    (("n", "k", "m"), (0, 1, 2)),
    (("n", "k", "m"), None),
    (("m", "k", "n"), (1,)),
)
"""The axes of arrays, and the reduced axes."""
BLOCKS = (130, 131), (67, 1030), (1030, 67), (65, 257), (34, 35, 37)
"""Shapes with several axes that are not short."""
CHOSEN = 1, 2, 7, 8, 9, 16, 33, 129, 257, 1025
POSITIONS = 5, 8, 17, 33
"""Lengths of vectors in which one special value takes each position."""
Reference = Callable[..., Any]
Make = Callable[[tuple[int, ...], tuple[str, ...], str], Argument]
"""``make(shape, axes, layout)`` returns an argument."""


def specials(dtype: str) -> list[float]:
    """Return the special numbers that a reduction must propagate."""
    return [each for each in special_numbers(dtype) if not np.isfinite(each)]


def with_single_value(draw: Draw, value: Any, n: int, others: Any = None) -> Any:
    """Return a matrix whose rows are vectors with a value at each position."""
    host = draw.array((n, n), "integers").host if others is None else np.full((n, n), others, draw.dtype)
    np.fill_diagonal(host, value)
    return host


def positions(draw: Draw, values: Sequence[Any], reference: Reference, **what: Any) -> Iterator[Sample]:
    """Yield samples with a value in each position of a row, a column, a vector, and a block."""
    others = what.pop("others", None)
    what = {"smooth": draw.dtype in FLOATS, **what}
    for value in values:
        for n in POSITIONS:
            host = with_single_value(draw, value, n, others)
            for axis in (0, 1, None):
                yield Sample((Argument(host, ("n", "m")),), reference, {"axis": axis}, **what)
            for row in draw.rng.permutation(n)[: 2 if draw.quick else n]:
                yield Sample((Argument(host[row], ("n",)),), reference, **what)
        long = draw.array((2, 1500), "integers").host if others is None else np.full((2, 1500), others, draw.dtype)
        for at in draw.rng.integers(1500, size=2 if draw.quick else 8):
            host = long.copy()
            host[1, at] = value
            yield Sample((Argument(host, ("k", "n")),), reference, {"axis": 1}, **what)
            yield Sample((Argument(host[1], ("n",)),), reference, **what)
        layouts = draw.layouts(broadcast=False)
        yield from (
            Sample((Argument(host, axes, draw.pick(layouts)),), reference, {"axis": axes.index("n")}, **what)
            for host, axes in late(draw, value, others)
        )
        for layout in layouts:
            x = Argument(with_single_value(draw, value, POSITIONS[-1], others), ("n", "m"), layout)
            yield Sample((x,), reference, {"axis": draw.pick((0, 1))}, **what)


def late(draw: Draw, value: Any, others: Any = None) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """Yield arrays with a long axis in each place, with a value only among the last three elements."""
    for axes in ("n", "m"), ("m", "n"), ("k", "n", "m"):
        for n in draw.rng.choice(LONG, 1 if draw.quick else 3, replace=False).tolist():
            shape = shaped(axes, n)
            host = draw.array(shape, "integers").host if others is None else np.full(shape, others, draw.dtype)
            np.moveaxis(host, axes.index("n"), 0)[-1 - draw.rng.integers(3)] = value
            yield host, axes


def reduced(draw: Draw, make: Callable[..., Argument], reference: Reference, **what: Any) -> Iterator[Sample]:
    """Yield samples of all lengths, axes, and layouts, with and without keepdims; `make(shape, axes, layout)`."""
    least, what = what.pop("least", 0), {"smooth": draw.dtype in FLOATS, **what}
    for n in draw.lengths(least=least):
        yield Sample((make((n,), ("n",), "contiguous"),), reference, **what)
    for n in (4097,) if draw.quick else (4097, 65537):
        for axes in (("n", "m"), ("m", "n"), ("k", "n", "m")):
            x = make(shaped(axes, n), axes, "contiguous")
            yield Sample((x,), reference, {"axis": axes.index("n")}, **what)
    for shape in BLOCKS[:: 2 if draw.quick else 1]:
        for axis in range(len(shape)):
            x = make(shape, ("n", "m", "k")[: len(shape)], "contiguous")
            yield Sample((x,), reference, {"axis": axis}, **what)
    for row in draw.combinations(place=PLACES, n=CHOSEN, keepdims=(False, True), layout=draw.layouts()):
        axes, axis = row["place"]
        x = make(shaped(axes, row["n"]), axes, row["layout"])
        yield Sample((x,), reference, {"axis": axis, "keepdims": row["keepdims"]}, **what)
    for uneven, several in several_axes(draw):
        x = make(uneven, (), draw.pick(draw.layouts()))
        yield Sample((x,), reference, {"axis": several, "keepdims": draw.pick((False, True))}, **what)
    yield Sample((make((), (), "contiguous"),), reference, **what)
    for shape, axis in (((0, 3), 1), ((2, 0, 3), -1)) if draw.has("empty_arrays") else ():
        yield Sample((make(shape, (), "contiguous"),), reference, {"axis": axis}, **what)


def whole(draw: Draw, shape: tuple[int, ...], axes: tuple[str, ...], layout: str = "contiguous") -> Argument:
    """Return small integers with one larger integer; their sums are exact in floating-point dtypes as well."""
    x = draw.array(shape, "integers", axes=axes, layout=layout)
    if x.host.size and layout != "broadcast" and x.host.dtype.kind != "b":
        x.host.reshape(-1)[-1 if draw.rng.random() < 0.5 else draw.rng.integers(x.host.size)] = 64
    return x


def factors(draw: Draw, shape: tuple[int, ...], axes: tuple[str, ...], layout: str = "contiguous") -> Argument:
    """Return factors whose products are exact: mostly 1 and -1, some pairs of 2 and a half."""
    host = draw.rng.choice(np.asarray([1.0, 1.0, 1.0, -1.0]), shape)
    flat = host.reshape(-1)
    some = draw.rng.permutation(flat.size)[: min(flat.size // 2, 20)]
    flat[some[::2]] *= 2.0
    if np.dtype(draw.dtype).kind in "fc":
        flat[some[1::2]] *= 0.5
    elif np.dtype(draw.dtype).kind == "u":
        flat[...] = np.abs(flat)
    flat[some[16:]] = np.sign(flat[some[16:]])
    x = Argument(host.astype(draw.dtype), axes, layout)
    return x if layout != "broadcast" or not host.ndim else Argument(_constant(x.host), axes, layout)


def _constant(host: Any) -> Any:
    """Return the sign of the first element, repeated along an axis; its products are exact in all dtypes."""
    return np.broadcast_to(np.sign(host[:1]), host.shape).copy()


def size_of(x: Any, axis: Any = None, keepdims: bool = False, **_: Any) -> Any:
    """Return the sums of magnitudes, to which errors of sums are proportional."""
    return np.sum(np.abs(x), axis=axis, keepdims=keepdims)


def growing(n: int) -> float:
    """Return units for sums of n numbers, which are rounded at each step: for most, errors cancel."""
    return 4.0 + float(np.sqrt(n))


@operation("sum")
def _sum(draw: Draw) -> Iterator[Sample]:
    make = functools.partial(whole, draw)
    yield from reduced(draw, make, np.sum)
    yield from positions(draw, specials(draw.dtype), np.sum)
    yield Sample((Argument(np.asarray([np.inf, 1.0, -np.inf], draw.dtype)),), np.sum)
    for n in (16, 257, 4097):
        for axes, axis in (("n",), None), (("n", "m"), 0), (("m", "n"), -1), (("k", "n", "m"), 1):
            x = draw.array(shaped(axes, n), "spread" if axis is None else "ordinary", axes=axes)
            yield Sample((x,), np.sum, {"axis": axis}, units=growing(n), scale=size_of, smooth=True)
    x = draw.array((1_000_003,) if draw.dtype == "float32" else (65_537,), low=0.09, high=0.11, axes=("n",))
    yield Sample((x,), np.sum, units=1000)
    yield from _of_another_dtype(draw, "sum", make)


def _of_another_dtype(draw: Draw, name: str, make: Callable[..., Argument]) -> Iterator[Sample]:
    """Yield samples with ``dtype=``: sums of float32 in float64 have its precision, and sums of int8 are wide."""
    kind = np.dtype(draw.dtype).kind
    others = {"f": ("float32", "float64", "complex128"), "i": ("int64", "float64"), "u": ("uint64",), "b": ("int64",)}
    for other in others.get(kind, ()):
        if not draw.has(other):
            continue
        target, reference = draw.s.dtype_of(other), getattr(np, name)

        def call(xp: Any, x: Any, target: Any = target, **given: Any) -> Any:
            return getattr(xp, name)(x, dtype=target, **given)

        def expected(x: Any, other: str = other, reference: Reference = reference, **given: Any) -> Any:
            return reference(x.astype(other), **given)

        for n, axis in ((1, None), (33, 0), (257, -1)):
            x = make((n, 3), ("n", "m"), "contiguous")
            text = f"xp.{name}(x0, axis={axis}, dtype=xp.{other})"
            yield Sample((x,), expected, {"axis": axis}, dtype=other, call=call, text=text)
        if other == "float64" and draw.dtype == "float32" and name == "sum":
            x = draw.array((3001,), low=0.3, high=0.4, axes=("n",))
            yield Sample((x,), expected, units=64, dtype=other, call=call, text="xp.sum(x0, dtype=xp.float64)")


@operation("prod")
def _prod(draw: Draw) -> Iterator[Sample]:
    make = functools.partial(factors, draw)
    yield from reduced(draw, make, np.prod)
    if draw.dtype in FLOATS:
        yield from positions(draw, [np.nan, 0.0], np.prod, others=-1.0)
        x = draw.array((33, 5), low=0.5, high=1.8, axes=("n", "m"))
        for axis in (0, 1, None):
            yield Sample((x,), np.prod, {"axis": axis}, units=100 if axis is None else 33, smooth=True)
        info = np.finfo(draw.dtype)
        beyond = np.asarray([float(info.max), 0.5, 0.5, float(info.smallest_normal), 2.0], draw.dtype)
        yield Sample((Argument(beyond),), np.prod, units=4)
    yield from _of_another_dtype(draw, "prod", make)


@operation("mean")
def _mean(draw: Draw) -> Iterator[Sample]:
    yield from reduced(draw, functools.partial(whole, draw), np.mean, units=2, least=1)
    yield from positions(draw, specials(draw.dtype), np.mean, units=2)
    x = draw.array((1_000_003,) if draw.dtype == "float32" else (65_537,), low=0.09, high=0.11, axes=("n",))
    yield Sample((x,), np.mean, units=1000)


def spread_of(name: str) -> Operation:
    """Return the operation of var or std."""
    plain = getattr(np, name)

    def reference(x: Any, *, correction: float = 0.0, **given: Any) -> Any:
        found = np.asarray(plain(x, ddof=correction, **given))
        return found if correction * found.size < x.size else np.full_like(found, np.nan)

    def samples(draw: Draw) -> Iterator[Sample]:
        def make(shape: tuple[int, ...], axes: tuple[str, ...], layout: str) -> Argument:
            x = whole(draw, shape, axes, layout)
            x.host[x.host == 64] = max(64.0, float(x.host.size) ** 0.5)  # visible next to the sum of squares
            return x

        for sample in reduced(draw, make, reference, least=1):
            yield _tolerant(sample)
        yield from map(_tolerant, positions(draw, [np.nan, np.inf], reference))
        for correction in (0.0, 1.0, 1, 2.5):
            for axes, axis in (("n",), None), (("n", "m"), 0), (("m", "n"), -1), (("k", "m", "n"), (0, 2)):
                given = {"axis": axis, "correction": correction}
                yield Sample((draw.array(shaped(axes, 33), axes=axes),), reference, given, units=64, smooth=True)
        far = 100.0 if draw.dtype == "float32" else 1000.0  # a difference of mean squares has lost its digits here
        for axes, axis in (("n",), None), (("n", "m"), 0), (("m", "n"), -1):
            x = draw.array(shaped(axes, 257), low=far - 1, high=far + 1, axes=axes)
            yield Sample((x,), reference, {"axis": axis}, units=2000)
        large = float(np.finfo(draw.dtype).max) ** 0.5 / 64  # squares do not overflow, nor do their sums
        for host in ([large, -large, large / 2], [1 / large, -1 / large, 0.5 / large]):
            yield Sample((Argument(np.asarray(host, draw.dtype)),), reference, units=64)

    def cancelling(draw: Draw) -> Iterator[Sample]:
        """Yield samples whose second derivatives may cancel, as `scale` describes, with a rounded mean."""
        eps = float(np.finfo(draw.dtype).eps)

        def scale(x: Any, *, axis: Any = None, keepdims: bool = False, **given: Any) -> Any:
            largest = np.max(np.abs(x), axis=axis, keepdims=keepdims, initial=0.0)
            rounded = eps * largest**2 if name == "var" else largest / 64
            return reference(x, axis=axis, keepdims=keepdims, **given) + rounded

        return (replace(sample, scale=scale) for sample in samples(draw))

    return Operation(name, cancelling)


def _tolerant(sample: Sample) -> Sample:
    """Return the sample with the units that a sum of so many squares needs, if one is added after the other."""
    return replace(sample, units=16 + sample.hosts[0].size / 2)


@operations((*FLOATS, *INTEGERS), ("float32", "float64", "int64", "uint8"))
def extremum(draw: Draw, name: str, reference: Reference) -> Iterator[Sample]:
    """Yield samples of max or min."""
    kinds = ("ordinary", "extremes", "ties", "near", "equal", *(("spread",) if draw.dtype in FLOATS else ()))
    end = 1e30 if draw.dtype in FLOATS else np.iinfo(draw.dtype).max
    least = -end if draw.dtype in FLOATS else np.iinfo(draw.dtype).min

    def make(shape: tuple[int, ...], axes: tuple[str, ...], layout: str) -> Argument:
        return draw.array(shape, draw.pick(kinds), axes=axes, layout=layout)

    yield from reduced(draw, make, reference, least=1)
    for high in (False, True):  # equal signs, to detect a start from 0
        low = 1 if high else -4
        x = draw.array((33, 5), low=low, high=low + 3, axes=("n", "m"))
        for axis in (0, 1, None) if high or not draw.dtype.startswith("u") else ():
            yield Sample((x,), reference, {"axis": axis})
    wanted = [end if name == "max" else least]
    if draw.dtype in FLOATS:
        wanted += [np.nan, np.inf, -np.inf]
    yield from positions(draw, wanted, reference)
    if draw.dtype in FLOATS:
        yield from positions(draw, [-1.0], reference, others=-np.inf if name == "max" else np.inf)


STATISTICS = (spread_of("var"), spread_of("std"), extremum("max", np.max), extremum("min", np.min))
