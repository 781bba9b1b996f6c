"""Filters by the order of the elements around each element: extrema, ranks and grey morphology."""

import itertools
from collections.abc import Callable
from typing import Any

from xpgrad import array_api as xpa
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.array_api.shared.axes import checked_axes
from xpgrad.backend.plugins import plugins
from xpgrad.errors import DtypeError, ShapeError
from xpgrad.graph.variable import Variable, as_array, as_variable
from xpgrad.scipy.ndimage.filters import extended, per_axis, reach
from xpgrad.scipy.operands import beside, inexact
from xpgrad.transforms.batch.vmap import vmap
from xpgrad.transforms.vectors import host_array
from xpgrad.types import AnyArray, Array, as_list


def _neighbours(
    x: Variable, size: Any, footprint: Any, structure: Any, mode: Any, cval: float, origin: Any, axes: Any, sign: int,
    name: str,
) -> list[Variable]:  # fmt: skip
    """Return the elements at each place of the neighbourhoods; `structure`, times `sign`, is added to them."""
    if x.node.spec.complex:
        raise DtypeError(f"{name}: expected real numbers, got {x.node.spec!r}")
    along = tuple(range(x.ndim)) if axes is None else checked_axes(axes, x.ndim, name)
    shaped = structure if footprint is None else footprint
    places: Any = None if shaped is None else _flags(shaped, structure is not None and footprint is None)
    if places is None and size is None:
        raise ShapeError(f"{name}: expected a size, a footprint or a structure, got none of them")
    sizes = per_axis(size, len(along), "size", name) if places is None else list(places.shape)
    if len(sizes) != len(along):
        raise ShapeError(f"{name}: expected a footprint with {len(along)} axes, got {len(sizes)}")
    added = None if structure is None else beside(x, structure, name)
    if added is not None and list(added.shape) != sizes:
        raise ShapeError(f"{name}: expected a structure of the footprint's shape {tuple(sizes)}, got {added.shape}")
    shape = x.shape
    options = (per_axis(each, len(along), "an option", name) for each in (mode, origin))
    for axis, count, each, place in zip(along, sizes, *options, strict=True):
        x = extended(x, axis, *reach(count, place, name), each, cval, name)
    terms = []
    for index in itertools.product(*map(range, sizes)):
        if places is None or places[index]:
            window = [slice(None)] * x.ndim
            for axis, i in zip(along, index, strict=True):
                window[axis] = slice(i, i + shape[axis])
            term = x[tuple(window)]
            terms.append(term if added is None else term + sign * added[index])
    return terms


def _flags(places: Any, everywhere: bool) -> Array:
    """Return a footprint on the host; that of a structure covers all of it."""
    host = plugins.host
    if everywhere and hasattr(places, "shape"):  # its values may be unknown
        return host.namespace.ones(tuple(places.shape), dtype=host.namespace.bool)
    flags = host_array(as_array(places)) if hasattr(places, "shape") else host.asarray(places)
    return host.namespace.ones_like(flags, dtype=host.namespace.bool) if everywhere else flags != 0


def _extremum(
    input: Any, size: Any, footprint: Any, structure: Any, mode: Any, cval: float, origin: Any, axes: Any, sign: int,
    name: str,
) -> Variable:  # fmt: skip
    x = inexact(input, name)
    reduce = xpa.max if sign > 0 else xpa.min
    if footprint is not None or structure is not None or size is None:
        terms = _neighbours(x, size, footprint, structure, mode, cval, origin, axes, sign, name)
        return reduce(xpa.stack(terms, axis=0), axis=0)
    along = tuple(range(x.ndim)) if axes is None else checked_axes(axes, x.ndim, name)
    options = (per_axis(o, len(along), "an option", name) for o in (size, mode, origin))
    for axis, count, each, place in zip(along, *options, strict=True):
        terms = _neighbours(x, count, None, None, each, cval, place, axis, sign, name)
        x = reduce(xpa.stack(terms, axis=0), axis=0)
    return x


@in_single_precision
def maximum_filter(
    input: AnyArray, size: Any = None, footprint: Any = None, mode: Any = "reflect", cval: float = 0.0,
    origin: Any = 0, axes: Any = None,
) -> Variable:  # fmt: skip
    """Return the maxima of neighbourhoods of each element; other arguments as for `correlate`.

    Parameters
    ----------
    input : Variable or array, floating-point
        Elements that tie share the gradient equally.
    size : int or sequence of int
        The size of the neighbourhoods along each axis.
    footprint : array of bool, optional
        The elements of the neighbourhoods, in place of `size`.
    """
    return _extremum(input, size, footprint, None, mode, cval, origin, axes, 1, "maximum_filter")


@in_single_precision
def minimum_filter(
    input: AnyArray, size: Any = None, footprint: Any = None, mode: Any = "reflect", cval: float = 0.0,
    origin: Any = 0, axes: Any = None,
) -> Variable:  # fmt: skip
    """Return the minima of neighbourhoods of each element; arguments as for `maximum_filter`."""
    return _extremum(input, size, footprint, None, mode, cval, origin, axes, -1, "minimum_filter")


def maximum_filter1d(
    input: AnyArray, size: int, axis: int = -1, mode: str = "reflect", cval: float = 0.0, origin: int = 0
) -> Variable:
    """Return the maxima of windows along an axis; arguments as for `maximum_filter`."""
    return maximum_filter(input, size, None, mode, cval, origin, axis)


def minimum_filter1d(
    input: AnyArray, size: int, axis: int = -1, mode: str = "reflect", cval: float = 0.0, origin: int = 0
) -> Variable:
    """Return the minima of windows along an axis; arguments as for `maximum_filter`."""
    return minimum_filter(input, size, None, mode, cval, origin, axis)


@in_single_precision
def rank_filter(
    input: AnyArray, rank: int, size: Any = None, footprint: Any = None, mode: Any = "reflect", cval: float = 0.0,
    origin: Any = 0, axes: Any = None,
) -> Variable:  # fmt: skip
    """Return the element of a rank, from 0, in each neighbourhood; negative ranks count from the largest element.

    Other arguments are as for `maximum_filter`.
    """
    return _ranked(input, lambda count: rank, size, footprint, mode, cval, origin, axes, "rank_filter")


def _ranked(
    input: Any, rank_of: Any, size: Any, footprint: Any, mode: Any, cval: float, origin: Any, axes: Any, name: str
) -> Variable:
    x = inexact(input, name)
    terms = _neighbours(x, size, footprint, None, mode, cval, origin, axes, 1, name)
    rank = rank_of(len(terms))
    if not -len(terms) <= rank < len(terms):
        raise ValueError(f"{name}: expected a rank in a neighbourhood of {len(terms)} elements, got {rank}")
    return xpa.sort(xpa.stack(terms, axis=0), axis=0)[rank, ...]


@in_single_precision
def percentile_filter(
    input: AnyArray, percentile: float, size: Any = None, footprint: Any = None, mode: Any = "reflect",
    cval: float = 0.0, origin: Any = 0, axes: Any = None,
) -> Variable:  # fmt: skip
    """Return a percentile, from 0 to 100, of each neighbourhood; other arguments as for `maximum_filter`."""
    share = (percentile + 100 if percentile < 0 else percentile) / 100
    rank_of = lambda count: min(int(count * share), count - (share == 1))  # noqa: E731
    return _ranked(input, rank_of, size, footprint, mode, cval, origin, axes, "percentile_filter")


@in_single_precision
def median_filter(
    input: AnyArray, size: Any = None, footprint: Any = None, mode: Any = "reflect", cval: float = 0.0,
    origin: Any = 0, axes: Any = None,
) -> Variable:  # fmt: skip
    """Return the medians of neighbourhoods of each element; arguments as for `maximum_filter`."""
    rank_of = lambda count: count // 2  # noqa: E731
    return _ranked(input, rank_of, size, footprint, mode, cval, origin, axes, "median_filter")


def generic_filter(
    input: AnyArray, function: Callable[..., Any], size: Any = None, footprint: Any = None, mode: Any = "reflect",
    cval: float = 0.0, origin: Any = 0, extra_arguments: tuple[Any, ...] = (),
    extra_keywords: dict[str, Any] | None = None, axes: Any = None,
) -> Variable:  # fmt: skip
    """Return the results of a function of each neighbourhood; other arguments as for `maximum_filter`.

    Parameters
    ----------
    input : Variable or array, floating-point
    function : callable
        Takes a vector of the elements of one neighbourhood, and returns a number; `vmap` maps it.
    extra_arguments, extra_keywords
        Further arguments of `function`.
    """
    x = inexact(input, "generic_filter")
    terms = xpa.stack(_neighbours(x, size, footprint, None, mode, cval, origin, axes, 1, "generic_filter"), axis=-1)
    rows = xpa.reshape(terms, (-1, terms.shape[-1]))
    mapped = vmap(lambda row: function(row, *as_list(extra_arguments, "arguments"), **(extra_keywords or {})))
    return xpa.reshape(as_variable(mapped(rows)), x.shape)


@in_single_precision
def grey_erosion(
    input: AnyArray, size: Any = None, footprint: Any = None, structure: Any = None, mode: Any = "reflect",
    cval: float = 0.0, origin: Any = 0, axes: Any = None,
) -> Variable:  # fmt: skip
    """Return the minima of neighbourhoods of each element, from which a structure is subtracted.

    Parameters
    ----------
    input : Variable or array, floating-point
    size, footprint, mode, cval, origin, axes
        As for `maximum_filter`.
    structure : Variable or array, optional
        Numbers for the elements of the neighbourhoods, differentiable. They decide the size.
    """
    return _extremum(input, size, footprint, structure, mode, cval, origin, axes, -1, "grey_erosion")


@in_single_precision
def grey_dilation(
    input: AnyArray, size: Any = None, footprint: Any = None, structure: Any = None, mode: Any = "reflect",
    cval: float = 0.0, origin: Any = 0, axes: Any = None,
) -> Variable:  # fmt: skip
    """Return the maxima of reflected neighbourhoods with a structure added; arguments as for `grey_erosion`."""
    name = "grey_dilation"
    x = inexact(input, name)
    structure = None if structure is None else xpa.flip(beside(x, structure, name))
    footprint = None if footprint is None else plugins.host.namespace.flip(_flags(footprint, False))
    shape = structure.shape if structure is not None else size if footprint is None else tuple(footprint.shape)
    count = x.ndim if axes is None else 1 if isinstance(axes, int) else len(axes)
    sizes, origins = (per_axis(each, count, "an option", name) for each in (shape, origin))
    if any(each is None for each in sizes):
        raise ShapeError(f"{name}: expected a size, a footprint or a structure, got none of them")
    origins = [-each - (n % 2 == 0) for each, n in zip(origins, sizes, strict=True)]
    return _extremum(x, size, footprint, structure, mode, cval, origins, axes, 1, name)


def grey_opening(input: AnyArray, *args: Any, **kwargs: Any) -> Variable:
    """Return the dilation of the erosion; arguments as for `grey_erosion`."""
    return grey_dilation(grey_erosion(input, *args, **kwargs), *args, **kwargs)


def grey_closing(input: AnyArray, *args: Any, **kwargs: Any) -> Variable:
    """Return the erosion of the dilation; arguments as for `grey_erosion`."""
    return grey_erosion(grey_dilation(input, *args, **kwargs), *args, **kwargs)


def morphological_gradient(input: AnyArray, *args: Any, **kwargs: Any) -> Variable:
    """Return the dilation less the erosion; arguments as for `grey_erosion`."""
    return grey_dilation(input, *args, **kwargs) - grey_erosion(input, *args, **kwargs)


def morphological_laplace(input: AnyArray, *args: Any, **kwargs: Any) -> Variable:
    """Return dilation and erosion less twice the image; arguments as for `grey_erosion`."""
    return (
        grey_dilation(input, *args, **kwargs)
        + grey_erosion(input, *args, **kwargs)
        - 2.0 * inexact(input, "morphological_laplace")
    )


def white_tophat(input: AnyArray, *args: Any, **kwargs: Any) -> Variable:
    """Return the image less its opening; arguments as for `grey_erosion`."""
    return inexact(input, "white_tophat") - grey_opening(input, *args, **kwargs)


def black_tophat(input: AnyArray, *args: Any, **kwargs: Any) -> Variable:
    """Return the closing less the image; arguments as for `grey_erosion`."""
    return grey_closing(input, *args, **kwargs) - inexact(input, "black_tophat")
