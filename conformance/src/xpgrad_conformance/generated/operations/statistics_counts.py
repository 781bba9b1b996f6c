"""Sums and products of integers, counts, and whether all or any elements are true."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.operation import COMPLEX, FLOATS, INTEGERS, operations
from xpgrad_conformance.generated.operations.statistics import POSITIONS, factors, positions, reduced
from xpgrad_conformance.generated.sample import Argument, Sample, laid
from xpgrad_conformance.generated.values import special_numbers

ALL = "bool", *INTEGERS, *FLOATS, *COMPLEX
QUICK = "bool", "int32", "float32"
BOTH: dict[str, Callable[..., Any]] = {"sum": np.sum, "prod": np.prod}


@operations(INTEGERS, ("int8", "int32", "int64", "uint8"))
def of_integers(draw: Draw, name: str) -> Iterator[Sample]:
    """Yield samples of the sum or product of integers, in a dtype at least as wide as the default dtype."""
    reference = BOTH[name]
    info = np.iinfo(draw.dtype)

    def make(shape: tuple[int, ...], axes: tuple[str, ...], layout: str) -> Argument:
        if name == "prod":
            return factors(draw, shape, axes, layout)
        count = max(1, int(np.prod(shape)))
        most = min(int(info.max), draw.largest_sum() // count)
        host = draw.rng.integers(max(info.min, -most), most, shape, np.int64 if info.min else np.uint64)
        return laid(host.astype(draw.dtype), axes, layout)

    yield from reduced(draw, make, reference, dtype="int")
    if name == "prod":  # more digits than a float64 has
        many = np.ones((60, 2), draw.dtype)
        many[: int(np.log(draw.largest_sum()) / np.log(3))] = 3
        yield Sample((Argument(many),), reference, {"axis": 0}, dtype="int")
    for at in POSITIONS:
        host = np.ones(at, draw.dtype)
        host[at // 2] = min(info.max, draw.largest_sum() - at)
        yield Sample((Argument(host, ("n",)),), reference, dtype="int")


def _count(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.sum(x != 0, axis=axis, keepdims=keepdims)


REFERENCES: dict[str, Callable[..., Any]] = {
    "all": lambda x, **given: np.all(x != 0, **given),
    "any": lambda x, **given: np.any(x != 0, **given),
    "count_nonzero": _count,
}


@operations(ALL, QUICK)
def truths(draw: Draw, name: str) -> Iterator[Sample]:
    """Yield samples of all, any or count_nonzero."""
    reference = REFERENCES[name]
    what: dict[str, Any] = {"dtype": "int" if name == "count_nonzero" else "bool"}
    share = {"all": 0.97, "any": 0.03, "count_nonzero": 0.5}[name]

    def make(shape: tuple[int, ...], axes: tuple[str, ...], layout: str) -> Argument:
        return laid(np.where(draw.rng.random(shape) < share, 3, 0).astype(draw.dtype), axes, layout)

    yield from reduced(draw, make, reference, **what)
    for value, others in ((0, 1), (1, 0)):
        yield from positions(draw, [value], reference, others=others, **what)
        for n in draw.lengths(least=1):
            host = np.full(n, others, draw.dtype)
            host[draw.pick((-1, -1, 0, n // 2))] = value
            yield Sample((Argument(host, ("n",)),), reference, **what)
    beside = int(name == "all")  # so that each of these numbers decides
    if np.dtype(draw.dtype).kind in "iu":
        ends = [np.iinfo(draw.dtype).max, np.iinfo(draw.dtype).min + 1, 256 % np.iinfo(draw.dtype).max]
        yield from positions(draw, ends, reference, others=beside, **what)
    elif np.dtype(draw.dtype).kind in "fc":
        real = {"complex64": "float32", "complex128": "float64"}.get(draw.dtype, draw.dtype)
        small = float(np.finfo(real).smallest_normal)
        numbers: list[Any] = [*special_numbers(real)[:5], 0.25, small]
        if draw.has("subnormal_numbers"):
            numbers += special_numbers(real)[5:]
        if draw.dtype in COMPLEX:
            numbers += [0.5j, complex(0.0, -0.0), complex(-0.0, np.nan)]
        yield from positions(draw, numbers, reference, others=beside, **what)


COUNTS = (of_integers("sum"), of_integers("prod"), truths("all"), truths("any"), truths("count_nonzero"))
