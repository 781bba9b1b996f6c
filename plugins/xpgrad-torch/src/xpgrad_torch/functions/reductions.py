"""PyTorch's reductions, scans and orders, with its names of arguments, for Variables."""

from typing import Any, NamedTuple

import torch

from xpgrad import array_api as xp
from xpgrad import ops
from xpgrad_torch.functions.elementwise import pair
from xpgrad_torch.functions.table import (
    Function,
    NoRule,
    along_axis,
    axes,
    axis,
    floating,
    is_whole,
    torch_function,
    torch_functions,
    variable,
)


class Chosen(NamedTuple):
    """Elements along an axis, and their indices."""

    values: Any
    indices: Any


class Extrema(NamedTuple):
    """Least and greatest elements."""

    min: Any
    max: Any


def cast(x: Any, dtype: Any) -> Any:
    """Return `x` in another dtype; None leaves it unchanged."""
    return x if dtype is None else x.astype(dtype, copy=False)


def _summary(name: str, function: Any) -> Function:
    @torch_function(name)
    def summary(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
        return cast(function(cast(variable(input), dtype), axis=axes(dim), keepdims=keepdim), dtype)

    return summary


mean = _summary("mean", xp.mean)
_summary("sum", xp.sum)
_summary("prod", xp.prod)
_summary("nansum", lambda x, **options: (xp.sum if is_whole(x) else ops.nansum)(x, **options))
_summary("nanmean", ops.nanmean)


def _truth(name: str, function: Any) -> None:
    @torch_function(name)
    def truth(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
        x = variable(input)
        elementwise = dim is not None and axes(dim) is None  # dim=() means no axes here, else all axes
        y = x != 0 if elementwise else function(x, axis=axes(dim), keepdims=keepdim)
        return y.astype(torch.uint8) if x.dtype is torch.uint8 else y


_truth("all", xp.all)
_truth("any", xp.any)


def _scan(name: str) -> None:
    @torch_function(name)
    @along_axis
    def scan(input: Any, dim: Any, *, dtype: Any = None) -> Any:
        x = cast(input, dtype)
        return cast(getattr(x, name)(axis(dim, x.ndim, name)), dtype)


_scan("cumsum")
_scan("cumprod")


def _correction(unbiased: Any, correction: Any) -> float:
    if correction is not None:
        return float(correction)
    return 1.0 if unbiased is None else float(unbiased)


def _moment(name: str, function: Any) -> None:
    @torch_function(name)
    def moment(
        input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
    ) -> Any:
        dim, unbiased = (None, dim) if isinstance(dim, bool) else (dim, unbiased)
        return function(variable(input), axis=axes(dim), correction=_correction(unbiased, correction), keepdims=keepdim)

    @torch_function(f"{name}_mean")
    def both(
        input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
    ) -> Any:
        dim, unbiased = (None, dim) if isinstance(dim, bool) else (dim, unbiased)
        spread = moment(input, dim, unbiased, keepdim, correction=correction)
        return spread, mean(input, dim, keepdim)


_moment("var", xp.var)
_moment("std", xp.std)


def _extremum(name: str, all_of: Any, place: Any, of_two: Any) -> None:
    @torch_function(f"a{name}")
    def plain(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
        return all_of(variable(input), axis=axes(dim), keepdims=keepdim)

    @torch_function(f"arg{name}")
    def position(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
        x = variable(input)
        return chosen(x, dim, keepdim).indices if dim is not None else place(x, axis=None, keepdims=keepdim)

    @along_axis
    def chosen(x: Any, dim: int, keepdim: bool) -> Chosen:
        along = axis(dim, x.ndim, name)
        order = x.astype(torch.uint8) if x.dtype is torch.bool else x
        return _chosen(x, place(order, axis=along, keepdims=True), along, keepdim)

    @torch_function(name)
    def extremum(input: Any, dim: Any = None, keepdim: Any = None, *, other: Any = None) -> Any:
        if other is None and not hasattr(dim, "shape"):
            return all_of(variable(input)) if dim is None else chosen(input, dim, bool(keepdim))
        if keepdim is not None:
            raise TypeError(f"torch.{name}: keepdim= is for dim=, got other=")
        return of_two(*pair(input, dim if other is None else other))


def _chosen(x: Any, at: Any, dim: int, keepdim: bool) -> Chosen:
    values = xp.take_along_axis(x, at, axis=dim)
    return Chosen(values, at) if keepdim else Chosen(values.squeeze(dim), at.squeeze(dim))


_extremum("max", xp.max, xp.argmax, xp.maximum)
_extremum("min", xp.min, xp.argmin, xp.minimum)


@torch_function("aminmax")
def aminmax(input: Any, *, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the least and the greatest element over `dim`."""
    x = variable(input)
    options = {"axis": axes(dim), "keepdims": keepdim}
    return Extrema(xp.min(x, **options), xp.max(x, **options))


@torch_function("sort")
@along_axis
def sort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Chosen:
    """Return the elements sorted along `dim`, and their indices."""
    at = argsort(input, dim, descending)
    return Chosen(xp.take_along_axis(variable(input), at, axis=dim), at)


@torch_function("argsort")
@along_axis
def argsort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """Return the indices that sort the elements along `dim`."""
    return variable(input).argsort(dim, descending=descending)


@torch_function("topk")
@along_axis
def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Chosen:
    """Return the `k` largest or smallest elements along `dim`, and their indices."""
    at = _part(argsort(input, dim, descending=largest), 0, k, dim, "topk")
    return Chosen(xp.take_along_axis(input, at, axis=dim), at)


def _part(x: Any, start: int, stop: int, dim: int, name: str) -> Any:
    along = axis(dim, x.ndim, name)
    if not 0 <= start <= stop <= x.shape[along]:
        raise ValueError(f"torch.{name}: expected k within the {x.shape[along]} elements of dim {dim}, got {stop}")
    return x[(slice(None),) * along + (slice(start, stop),)]


@torch_function("kthvalue")
@along_axis
def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False) -> Chosen:
    """Return the element number `k`, counted from 1, in ascending order along `dim`, and its index."""
    return _chosen(input, _part(argsort(input, dim), k - 1, k, dim, "kthvalue"), dim, keepdim)


@torch_function("median")
def median(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the median along `dim`, the lower one of two, and its index."""
    x = variable(input)
    if dim is None:
        return kthvalue(x.ravel(), (x.size + 1) // 2, 0).values
    return kthvalue(x, ((x.shape[axis(dim, x.ndim, "median")] if x.ndim else 1) + 1) // 2, dim, keepdim)


@torch_function("quantile")
def quantile(input: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear") -> Any:
    """Return quantiles over `dim`."""
    x, q = variable(input), q.tolist() if isinstance(q, torch.Tensor) else q
    along = None if dim is None else axis(dim, x.ndim, "quantile")
    return ops.quantile(x, q, axis=along if x.ndim else None, method=interpolation, keepdims=keepdim)


@torch_function("norm")
def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """Return the norm of all elements, or of the vectors in `dim`; "nuc" is a norm of matrices."""
    if p == "nuc":
        return matrix_norm(input, p, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    return vector_norm(input, 2 if p in (None, "fro") else p, dim, keepdim, dtype=dtype)


@torch_function("linalg_norm")
def linalg_norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return vector norms, or matrix norms if there are two axes and an `ord`."""
    x, along = variable(A), axes(dim)
    count = x.ndim if along is None else len(along) if isinstance(along, tuple) else 1
    if ord is None or count == 1:
        return vector_norm(x, 2 if ord is None else ord, along, keepdim, dtype=dtype)
    return matrix_norm(x, ord, (-2, -1) if along is None else along, keepdim, dtype=dtype)


@torch_function("linalg_vector_norm")
def vector_norm(x: Any, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the norm of vectors."""
    return xp.linalg.vector_norm(cast(variable(x), dtype), axis=axes(dim), keepdims=keepdim, ord=ord)


@torch_function("linalg_matrix_norm")
def matrix_norm(A: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the norm of matrices."""
    x = xp.moveaxis(cast(variable(A), dtype), tuple(dim), (-2, -1))
    y = xp.linalg.matrix_norm(x, keepdims=keepdim, ord=ord)
    return xp.moveaxis(y, (-2, -1), tuple(dim)) if keepdim else y


@torch_function("is_floating_point")
def is_floating_point(input: Any) -> bool:
    """Return whether the dtype is real floating-point."""
    return bool(variable(input).dtype.is_floating_point)


@torch_function("is_complex")
def is_complex(input: Any) -> bool:
    """Return whether the dtype is complex."""
    return bool(variable(input).dtype.is_complex)


@torch_function("nonzero")
def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """Return the indices of the elements that are not 0."""
    x = variable(input)
    if not x.ndim:
        raise NoRule
    found = xp.nonzero(x)
    return found if as_tuple else xp.stack(list(found), axis=1)


@torch_function("unique")
def unique(input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False) -> Any:
    """Return the unique values of integers."""
    x = variable(input)
    if return_inverse or return_counts or not is_whole(x):
        raise NoRule
    return xp.unique_values(x)


@torch_function("bincount")
def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    """Return how often each integer occurs, or the sums of its weights."""
    if minlength < 0:
        raise ValueError(f"torch.bincount: expected minlength from 0 on, got {minlength}")
    w = None if weights is None else variable(weights)
    return ops.bincount(variable(input), w.astype(torch.float64) if w is not None and is_whole(w) else w, minlength)


ROWS: dict[str, Function] = {
    "count_nonzero": lambda input, dim=None: xp.count_nonzero(variable(input), axis=axes(dim)),
    "logsumexp special_logsumexp": lambda input, dim, keepdim=False: ops.logsumexp(
        floating(input), axis=axes(dim), keepdims=keepdim
    ),
    "diff": lambda input, n=1, dim=-1, prepend=None, append=None: xp.diff(
        variable(input), axis=dim, n=n, prepend=prepend, append=append
    ),
    "msort": lambda input: sort(input, 0).values,
    "argwhere": lambda input: nonzero(input),
    "trapezoid trapz": lambda y, x=None, *, dx=1, dim=-1: ops.trapezoid(
        variable(y), None if x is None else variable(x), dx=dx, axis=dim
    ),
    "dist": lambda input, other, p=2: vector_norm(variable(input) - variable(other), p),
    "bucketize": lambda input, boundaries, *, out_int32=False, right=False: cast(
        xp.searchsorted(variable(boundaries), variable(input, variable(boundaries)), side="right" if right else "left"),
        torch.int32 if out_int32 else None,
    ),
    "numel": lambda input: int(variable(input).size),
}
torch_functions(ROWS)
