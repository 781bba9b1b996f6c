"""Sequences of different lengths: padding, transposing, permuting and adding."""

from collections.abc import Sequence
from typing import Any

from xpgrad import array_api
from xpgrad.errors import ShapeError
from xpgrad.functions.checks import integral, invalid, known_spec, require_axis
from xpgrad.graph.variable import Variable, as_array, as_variable
from xpgrad.types import AnyArray, Index

__all__ = ["pad", "pad_sequence", "permutate", "scatter_add", "transpose_sequence"]


def pad(x: AnyArray, pad_width: Any, mode: str, **keywords: Any) -> Variable:
    """Return `x` with padding before and after each axis, with the arguments of `numpy.pad`.

    Parameters
    ----------
    x : Variable or array
    pad_width : int, pair of int, a pair for each axis, or a dict of these by axis
    mode : {"constant", "edge", "empty", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect", \
            "symmetric", "wrap"}
    **keywords
        The option of the mode: `constant_values`, `end_values`, `stat_length` or `reflect_type`; see `xpgrad.ops.pad`.
    """
    from xpgrad import ops  # which most programs do not need

    return ops.pad(x, pad_width, mode, **keywords)


def pad_sequence(xs: Sequence[AnyArray], length: int | None = None, padding: float = 0) -> Variable:
    """Stack arrays of different lengths along axis 0, with `padding` after the shorter arrays.

    Parameters
    ----------
    xs : sequence of Variables or arrays, shapes (T_k, *S)
    length : int, optional
        Length of the padded arrays; by default the length of the longest array.
    padding : scalar

    Returns
    -------
    Variable, shape (K, length, *S)

    Raises
    ------
    ValueError
        An array is longer than `length`, or `xs` is empty.
    """
    if not xs:
        raise ValueError("pad_sequence: expected at least one array, got none")
    specs = [known_spec(x, "pad_sequence") for x in xs]
    if any(not spec.ndim or spec.shape[1:] != specs[0].shape[1:] or spec.dtype != specs[0].dtype for spec in specs):
        raise invalid("pad_sequence", "arrays of one dtype and, except for axis 0, one shape", f"xs is {specs!r}")
    longest = max(spec.shape[0] for spec in specs)
    length = longest if length is None else length
    if length < longest:
        raise ShapeError(f"pad_sequence: length must be at least {longest}, as in the longest array; got {length}")
    widths = [((0, length - spec.shape[0]), *((0, 0),) * (spec.ndim - 1)) for spec in specs]
    padded = [pad(x, widths, "constant", constant_values=padding) for x, widths in zip(xs, widths, strict=True)]
    return array_api.stack(padded, axis=0)


def transpose_sequence(xs: Sequence[AnyArray]) -> tuple[Variable, ...]:
    """Transpose sequences: return for each position the elements of all sequences that are longer.

    Parameters
    ----------
    xs : sequence of Variables or arrays, shapes (T_k, *S)
        The longest first.

    Returns
    -------
    tuple of Variable
        Element t has shape (K_t, *S), where K_t is the number of sequences longer than t.

    Raises
    ------
    InvalidType
        The lengths are not in descending order, or the shapes differ in other axes than axis 0.
    """
    specs = [known_spec(x, "transpose_sequence") for x in xs]
    lengths = [spec.shape[0] if spec.ndim else -1 for spec in specs]
    if lengths != sorted(lengths, reverse=True) or any(spec.shape[1:] != specs[0].shape[1:] for spec in specs):
        raise invalid("transpose_sequence", "arrays of shapes (T_k, ...), the longest first", f"xs is {specs!r}")
    if not any(lengths):
        return ()
    parts = [array_api.unstack(as_variable(x), axis=0) for x in xs]
    steps = [[part[t] for part in parts if len(part) > t] for t in range(lengths[0])]
    return tuple(array_api.stack(step, axis=0) for step in steps)


def permutate(x: AnyArray, indices: AnyArray, axis: int = 0, inv: bool = False) -> Variable:
    """Permute `x` along `axis`.

    Parameters
    ----------
    x : Variable or array
    indices : Variable or array, shape (N,), integer
        A permutation of 0 to N - 1.
    axis : int
        Axis of length N.
    inv : bool
        Apply the inverse permutation instead.
    """
    spec, order = known_spec(x, "permutate"), integral(indices, "permutate", "indices")
    axis = require_axis(spec, axis, "permutate")
    if order.shape != (spec.shape[axis],):
        raise invalid("permutate", f"indices of shape {(spec.shape[axis],)}", f"x is {spec!r}, indices is {order!r}")
    places = array_api.argsort(indices).array if inv else as_array(indices)
    return array_api.take(x, places, axis=axis)


def scatter_add(a: AnyArray, slices: Index, b: AnyArray) -> Variable:
    """Return a copy of `a` with `b` added at ``a[slices]``; positions that occur more than once get the sum."""
    from xpgrad import ops  # which most programs do not need

    return ops.scatter_add(a, slices, b)
