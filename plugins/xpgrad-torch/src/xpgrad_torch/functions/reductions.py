"""PyTorch's reductions, scans and orders, with its names of arguments, for Variables."""

from typing import Any, NamedTuple

import torch

from xpgrad import array_api as xp
from xpgrad import ops
from xpgrad_torch.functions.elementwise import pair
from xpgrad_torch.functions.table import Function, axes, floating, is_whole, torch_function, torch_functions, variable


class Chosen(NamedTuple):
    """Elements along an axis, and their indices."""

    values: Any
    indices: Any


def cast(x: Any, dtype: Any) -> Any:
    """Return `x` in another dtype; None leaves it unchanged."""
    return x if dtype is None else x.astype(dtype, copy=False)


@torch_function("mean")
def mean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the mean over `dim`."""
    return xp.mean(cast(variable(input), dtype), axis=axes(dim), keepdims=keepdim)


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


@torch_function("sort")
def sort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Chosen:
    """Return the elements sorted along `dim`, and their indices."""
    at = argsort(input, dim, descending)
    return Chosen(xp.take_along_axis(variable(input), at, axis=dim), at)


@torch_function("argsort")
def argsort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """Return the indices that sort the elements along `dim`."""
    return variable(input).argsort(dim, descending=descending)


@torch_function("topk")
def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Chosen:
    """Return the `k` largest or smallest elements along `dim`, and their indices."""
    at = _first(argsort(input, dim, descending=largest), k, dim)
    return Chosen(xp.take_along_axis(variable(input), at, axis=dim), at)


def _first(x: Any, k: int, dim: int) -> Any:
    return x[(slice(None),) * (dim % x.ndim) + (slice(k),)]


@torch_function("kthvalue")
def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False) -> Chosen:
    """Return the element number `k`, counted from 1, in ascending order along `dim`, and its index."""
    at = _first(argsort(input, dim), k, dim)
    last = at[(slice(None),) * (dim % at.ndim) + (slice(k - 1, k),)]
    return _chosen(variable(input), last, dim, keepdim)


@torch_function("median")
def median(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the median along `dim`, the lower one of two, and its index."""
    x = variable(input)
    if dim is None:
        return kthvalue(x.ravel(), (x.size + 1) // 2, 0).values
    return kthvalue(x, (x.shape[dim] + 1) // 2, dim, keepdim)


@torch_function("quantile")
def quantile(input: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear") -> Any:
    """Return quantiles over `dim`."""
    q = q.tolist() if isinstance(q, torch.Tensor) else q
    return ops.quantile(variable(input), q, axis=dim, method=interpolation, keepdims=keepdim)


@torch_function("norm")
def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """Return the norm of all elements, or that of the vectors in `dim`; "nuc" is that of matrices."""
    if p == "nuc":
        return matrix_norm(input, p, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    return vector_norm(input, 2 if p in (None, "fro") else p, dim, keepdim, dtype=dtype)


@torch_function("linalg_norm")
def linalg_norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the norm of vectors, or of matrices if there are two axes and an `ord`."""
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
    found = xp.nonzero(variable(input))
    return found if as_tuple else xp.stack(list(found), axis=1)


@torch_function("unique")
def unique(input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False) -> Any:
    """Return the unique values of integers; floating-point numbers have a gradient in `unique_values`."""
    x = variable(input)
    if return_inverse or return_counts or not is_whole(x):
        raise TypeError("torch.unique is for integers; use xpgrad.array_api.unique_values and its siblings")
    return xp.unique_values(x)


ROWS: dict[str, Function] = {
    "sum": lambda input, dim=None, keepdim=False, *, dtype=None: xp.sum(
        cast(variable(input), dtype), axis=axes(dim), keepdims=keepdim
    ),
    "nansum": lambda input, dim=None, keepdim=False, *, dtype=None: ops.nansum(
        cast(variable(input), dtype), axis=axes(dim), keepdims=keepdim
    ),
    "nanmean": lambda input, dim=None, keepdim=False, *, dtype=None: ops.nanmean(
        cast(variable(input), dtype), axis=axes(dim), keepdims=keepdim
    ),
    "prod": lambda input, dim=None, keepdim=False, *, dtype=None: xp.prod(
        cast(variable(input), dtype), axis=axes(dim), keepdims=keepdim
    ),
    "all": lambda input, dim=None, keepdim=False: xp.all(variable(input), axis=axes(dim), keepdims=keepdim),
    "any": lambda input, dim=None, keepdim=False: xp.any(variable(input), axis=axes(dim), keepdims=keepdim),
    "count_nonzero": lambda input, dim=None: xp.count_nonzero(variable(input), axis=axes(dim)),
    "logsumexp special_logsumexp": lambda input, dim, keepdim=False: ops.logsumexp(
        floating(input), axis=axes(dim), keepdims=keepdim
    ),
    "cumsum": lambda input, dim, *, dtype=None: cast(variable(input), dtype).cumsum(dim),
    "cumprod": lambda input, dim, *, dtype=None: cast(variable(input), dtype).cumprod(dim),
    "diff": lambda input, n=1, dim=-1, prepend=None, append=None: xp.diff(
        variable(input), axis=dim, n=n, prepend=prepend, append=append
    ),
    "bincount": lambda input, weights=None, minlength=0: ops.bincount(
        variable(input), None if weights is None else variable(weights), minlength
    ),
    "numel": lambda input: int(variable(input).size),
}
torch_functions(ROWS)
