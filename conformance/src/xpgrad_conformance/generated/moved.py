"""Common parts of the functions that move elements: distinct values, lengths for a second dtype, places of an axis."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from xpgrad.types import Shape
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.operation import COMPLEX, FLOATS, INTEGERS
from xpgrad_conformance.generated.sample import Argument, Sample, laid
from xpgrad_conformance.generated.sizes import LARGEST
from xpgrad_conformance.oracle import named

ALL = (*FLOATS, *INTEGERS, "bool", *COMPLEX)
"""Every dtype of the standard."""
QUICK = "float32", "int64", "bool"
"""Dtypes that the quick profile takes for functions of every dtype."""
LONG = "float32", "float64", "complex64", "int64"
"""Dtypes in which the full profile takes every length."""
QUICK_LENGTHS = 7
"""How many lengths the quick profile takes in a second dtype; the full one takes twice as many outside of `LONG`."""
MODERATE = 65_537
"""The largest length in dtypes in which the full profile takes some."""

OTHERS = (2, 3), (2, 19), (3, 5), (18, 2)
"""Lengths of the axes around the main axis."""


def swept(draw: Draw, most: int = LARGEST, least: int = 0) -> list[int]:
    """Return lengths in ascending order: all lengths in one dtype (`LONG` ones in full), a random choice in others."""
    first = _is_first(draw)
    found = draw.lengths(most if first or draw.quick else min(most, MODERATE), least)
    count = QUICK_LENGTHS if draw.quick else 2 * QUICK_LENGTHS
    if first or len(found) <= count:
        return found
    return sorted(int(n) for n in draw.rng.choice(found, count, replace=False))


def combined(draw: Draw, **factors: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Yield combinations of factors; a third of them in dtypes in which `swept` takes some lengths."""
    rows = list(draw.combinations(**factors))
    yield from rows if _is_first(draw) else rows[::3]


def _is_first(draw: Draw) -> bool:
    return draw.long if draw.quick else draw.dtype in LONG


def mixed(draw: Draw, shape: Shape, dtype: str = "") -> Any:
    """Return random host values, nearly all different, some differing only in their first or last bits."""
    kind = np.dtype(dtype or draw.dtype)
    if kind.kind == "b":
        return draw.rng.random(shape) < 0.5
    if kind.kind in "iu":
        return _integers(draw, shape, kind)
    real = draw.rng.standard_normal(shape)
    host = (real + 1j * draw.rng.standard_normal(shape) if kind.kind == "c" else real).astype(kind)
    if host.size:  # numbers that are equal in a dtype of less precision
        near = draw.rng.permutation(host.reshape(-1)).reshape(shape) * (1 + np.finfo(kind).eps)
        host = np.where(draw.rng.random(shape) < 0.2, near.astype(kind), host)
    return host


def _integers(draw: Draw, shape: Shape, kind: Any) -> Any:
    """Return integers from the whole range, including pairs that differ in one bit."""
    info = np.iinfo(kind)
    host = draw.rng.integers(info.min, info.max, shape, kind, endpoint=True)
    if not host.size:
        return host
    return np.where(draw.rng.random(shape) < 0.3, one_bit_off(draw, draw.rng.choice(host.reshape(-1), shape)), host)


def one_bit_off(draw: Draw, host: Any) -> Any:
    """Return integers that each differ in one bit from a given integer."""
    bits = draw.rng.integers(0, 8 * host.dtype.itemsize, host.shape)
    unsigned = host.view(f"u{host.dtype.itemsize}") ^ (np.uint64(1) << bits.astype(np.uint64)).astype(
        f"u{host.dtype.itemsize}"
    )
    return unsigned.view(host.dtype)


def given(draw: Draw, shape: Shape, kind: str, axes: Sequence[str] = (), layout: str = "contiguous") -> Argument:
    """Return an argument of values of a kind, "mixed" among them."""
    if kind != "mixed":
        return draw.array(shape, kind, axes=axes, layout=layout)
    return laid(mixed(draw, shape), axes, layout)


def varied(draw: Draw) -> str:
    """Return a layout that does not repeat elements, contiguous with probability one half."""
    layouts = draw.layouts(broadcast=False)
    return draw.pick(layouts) if draw.rng.integers(2) else layouts[0]


def positions(draw: Draw, shape: Shape, n: int, layout: str = "", dtype: str = "") -> Argument:
    """Return random positions in an axis of length `n`, in a random integer dtype that can represent them."""
    layout = layout or varied(draw)
    often, seldom = ("int64", "int32") * 3, ("int8", "int16", "uint8")
    fitting = [each for each in (*often, *seldom) if draw.has(each) and n - 1 <= np.iinfo(each).max]
    host = draw.rng.integers(0, n, shape).astype(dtype or draw.pick(fitting))
    return laid(host, (), layout, kept=True)


def others_of(n: int) -> Shape:
    """Return the lengths of two axes next to an axis of length `n`; constant for a long axis."""
    return OTHERS[n % len(OTHERS)] if n <= 64 else OTHERS[0]


def around(n: int, place: int, others: Sequence[int] | None = None) -> Shape:
    """Return a shape with an axis of length `n` at a place between two other axes, by default from `others_of`."""
    shape = list(others_of(n) if others is None else others)
    shape.insert(place, n)
    return tuple(shape)


def finite(*arguments: Argument) -> bool:
    """Return whether arguments are floating-point, and without infinities and NaN."""
    return all(x.host.dtype.kind in "fc" and bool(np.isfinite(x.host).all()) for x in arguments)


def moving(
    arguments: tuple[Argument, ...],
    reference: Callable[..., Any],
    parameters: Mapping[str, Any] | None = None,
    **options: Any,
) -> Sample:
    """Return a call that moves the elements of its first argument, bit by bit; others are fields of `Sample`."""
    options = {"smooth": finite(arguments[0]), "precise": False, "signs": True} | options
    return Sample(arguments, reference, parameters or {}, **options)


def positional(name: str, arrays: int, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a sample whose parameters follow its arrays by position."""
    values = list(parameters.values())
    text = ", ".join([*(f"x{i}" for i in range(arrays)), *map(repr, values)])
    return {"call": by_position(name), "text": f"xp.{name}({text})", "parameters": parameters}


def by_position(name: str) -> Callable[..., Any]:
    """Return a call of a function that takes its parameters by position."""
    return lambda xp, *arrays, **parameters: named(xp, name)(*arrays, *parameters.values())
