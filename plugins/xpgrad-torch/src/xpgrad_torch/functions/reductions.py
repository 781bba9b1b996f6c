"""PyTorch's reductions, scans and orders, with its names of arguments, for Variables."""

from typing import Any, NamedTuple

import torch

from xpgrad import array_api as xp
from xpgrad import ops
from xpgrad_torch.functions.elementwise import pair
from xpgrad_torch.functions.table import axes, floating, is_whole, torch_function, variable


class Chosen(NamedTuple):
    """Elements that were chosen along an axis, and their positions."""

    values: Any
    indices: Any


def cast(x: Any, dtype: Any) -> Any:
    """Return `x` in another dtype; None leaves it."""
    return x if dtype is None else x.astype(dtype, copy=False)


@torch_function("sum")
def sum_(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the sum over `dim`."""
    return xp.sum(cast(variable(input), dtype), axis=axes(dim), keepdims=keepdim)


@torch_function("nansum")
def nansum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the sum over `dim` of what is not NaN."""
    return ops.nansum(cast(variable(input), dtype), axis=axes(dim), keepdims=keepdim)


@torch_function("mean")
def mean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the mean over `dim`."""
    return xp.mean(cast(variable(input), dtype), axis=axes(dim), keepdims=keepdim)


@torch_function("nanmean")
def nanmean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the mean over `dim` of what is not NaN."""
    return ops.nanmean(cast(variable(input), dtype), axis=axes(dim), keepdims=keepdim)


@torch_function("prod")
def prod(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the product over `dim`."""
    return xp.prod(cast(variable(input), dtype), axis=axes(dim), keepdims=keepdim)


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
        return place(variable(input), axis=dim, keepdims=keepdim)

    @torch_function(name)
    def extremum(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
        if other is not None or hasattr(dim, "shape"):
            return of_two(*pair(input, dim if other is None else other))
        x = variable(input)
        return all_of(x) if dim is None else _chosen(x, place(x, axis=dim, keepdims=True), dim, keepdim)


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
    return xp.min(x, **options), xp.max(x, **options)


@torch_function("all")
def all_(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return whether all elements over `dim` are true."""
    return xp.all(variable(input), axis=axes(dim), keepdims=keepdim)


@torch_function("any")
def any_(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return whether any element over `dim` is true."""
    return xp.any(variable(input), axis=axes(dim), keepdims=keepdim)


@torch_function("count_nonzero")
def count_nonzero(input: Any, dim: Any = None) -> Any:
    """Return how many elements over `dim` are not 0."""
    return xp.count_nonzero(variable(input), axis=axes(dim))


@torch_function("logsumexp", "special_logsumexp")
def logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Any:
    """Return the logarithm of the sum of exponentials over `dim`."""
    return ops.logsumexp(floating(input), axis=axes(dim), keepdims=keepdim)


@torch_function("cumsum")
def cumsum(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Return the sum of all elements up to each one along `dim`."""
    return cast(variable(input), dtype).cumsum(dim)


@torch_function("cumprod")
def cumprod(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Return the product of all elements up to each one along `dim`."""
    return cast(variable(input), dtype).cumprod(dim)


@torch_function("diff")
def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Return the differences of neighbours along `dim`."""
    return xp.diff(variable(input), axis=dim, n=n, prepend=prepend, append=append)


@torch_function("sort")
def sort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Chosen:
    """Return the elements in order along `dim`, and where they were."""
    at = argsort(input, dim, descending)
    return Chosen(xp.take_along_axis(variable(input), at, axis=dim), at)


@torch_function("argsort")
def argsort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """Return the indices that sort the elements along `dim`."""
    return variable(input).argsort(dim, descending=descending)


@torch_function("topk")
def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Chosen:
    """Return the `k` largest or smallest elements along `dim`, and where they are."""
    at = _first(argsort(input, dim, descending=largest), k, dim)
    return Chosen(xp.take_along_axis(variable(input), at, axis=dim), at)


def _first(x: Any, k: int, dim: int) -> Any:
    return x[(slice(None),) * (dim % x.ndim) + (slice(k),)]


@torch_function("kthvalue")
def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False) -> Chosen:
    """Return the element number `k`, counted from 1, along `dim`, and where it is."""
    at = _first(argsort(input, dim), k, dim)
    last = at[(slice(None),) * (dim % at.ndim) + (slice(k - 1, k),)]
    return _chosen(variable(input), last, dim, keepdim)


@torch_function("median")
def median(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the median, the lower one of two, along `dim` with its position."""
    x = variable(input)
    if dim is None:
        return kthvalue(x.ravel(), (x.size + 1) // 2, 0).values
    return kthvalue(x, (x.shape[dim] + 1) // 2, dim, keepdim)


@torch_function("quantile")
def quantile(input: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear") -> Any:
    """Return quantiles over `dim`."""
    q = q.tolist() if isinstance(q, torch.Tensor) else q
    return ops.quantile(variable(input), q, axis=dim, method=interpolation, keepdims=keepdim)


@torch_function("bincount")
def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    """Return how often each integer occurs, or the sum of its weights."""
    return ops.bincount(variable(input), None if weights is None else variable(weights), minlength)


@torch_function("norm")
def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """Return the norm of all elements, or that of the vectors in `dim`; "nuc" is that of matrices."""
    if p == "nuc":
        return matrix_norm(input, p, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    return vector_norm(input, 2 if p in (None, "fro") else p, dim, keepdim, dtype=dtype)


@torch_function("linalg_norm")
def linalg_norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the norm of vectors, or of matrices where there are two axes and `ord` says which."""
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


@torch_function("numel")
def numel(input: Any) -> int:
    """Return the number of elements."""
    return int(variable(input).size)


@torch_function("is_floating_point")
def is_floating_point(input: Any) -> bool:
    """Tell whether the dtype is real floating-point."""
    return bool(variable(input).dtype.is_floating_point)


@torch_function("is_complex")
def is_complex(input: Any) -> bool:
    """Tell whether the dtype is complex."""
    return bool(variable(input).dtype.is_complex)


@torch_function("nonzero")
def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """Return where the elements are not 0."""
    found = xp.nonzero(variable(input))
    return found if as_tuple else xp.stack(list(found), axis=1)


@torch_function("unique")
def unique(input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False) -> Any:
    """Return the different values of integers; those of floating-point numbers have a gradient in `unique_values`."""
    x = variable(input)
    if return_inverse or return_counts or not is_whole(x):
        raise TypeError("torch.unique is for integers here; use xpgrad.array_api.unique_values and its siblings")
    return xp.unique_values(x)
