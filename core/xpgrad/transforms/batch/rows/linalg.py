"""Linear algebra on stacks of matrices: the batch is one more axis of the stack."""

from collections.abc import Callable
from typing import Any

from xpgrad.array_api.linalg.checks import square
from xpgrad.array_api.shared.axes import matrices
from xpgrad.errors import ShapeError
from xpgrad.transforms.batch.batching import Batching
from xpgrad.transforms.batch.rows.table import Row, row

OF_SQUARE = ("cholesky", "cofactor_changes", "cofactor_derivatives", "cofactors", "det", "eig", "eigh", "eigvals",
             "eigvalsh", "inv", "inv_or_nan", "lower_half", "matrix_power", "slogdet")  # fmt: skip
OF_MATRICES = ("diagonal", "matrix_norm", "matrix_rank", "pinv", "qr", "svd", "svdvals", "trace")


def _stacked(name: str, check: Callable[[Any, str], None]) -> Row:
    """Return the row of a function of stacks of matrices.

    It checks the first argument, which the hidden axis turns into a stack; other arguments may be stacks of numbers.
    """

    def of_stack(b: Batching, function: Callable[..., Any], /, *args: Any, **options: Any) -> Any:
        kind = b.kind
        check(args[0], name)
        stack = args[0].ndim - 2
        options = {key: b.aligned(x, stack) if type(x) is kind else x for key, x in options.items()}
        return b.restored(function(*[b.front(x) if type(x) is kind else x for x in args], **options))

    return of_stack


for _name in OF_SQUARE:
    row(f"linalg.{_name}")(_stacked(_name, square))
for _name in OF_MATRICES:
    row(f"linalg.{_name}")(_stacked(_name, matrices))


@row("linalg.expand_diagonal")
def expand_diagonal(b: Batching, function: Callable[..., Any], x: Any, /, *sizes: int, **options: Any) -> Any:
    """Return matrices with vectors on a diagonal."""
    return b.made(function(x.values, *sizes, **options))


@row("linalg.solve")
def solve(b: Batching, function: Callable[..., Any], x1: Any, x2: Any, /) -> Any:
    """Return solutions; right-hand sides for one matrix are columns of one, so that it is factorized once."""
    square(x1, "solve")
    vector = x2.ndim == 1
    if not x2.ndim or x2.shape[-1 if vector else -2] != x1.shape[-1]:
        raise ShapeError(
            f"solve: expected right-hand sides of shape ({x1.shape[-1]},) or (..., {x1.shape[-1]}, K) for matrices of "
            f"shape {x1.shape}, got {x2.shape}"
        )
    v1, v2 = x1.values, x2.values
    if not x2.batched and vector:
        return b.made(function(v1, v2))
    if not x1.batched and x1.ndim == 2 and x2.ndim <= 2:
        rows = v1.shape[-1]
        if vector:
            return b.made(b.xp.matrix_transpose(function(v1, b.xp.matrix_transpose(v2))))
        columns = v2.shape[-1]
        side = b.shaped(b.permuted(v2, (1, 0, 2)), (rows, b.size * columns))
        return b.made(b.permuted(b.shaped(function(v1, side), (rows, b.size, columns)), (1, 0, 2)))
    if vector:
        y = function(b.aligned(x1, max(x1.ndim, 2)), b.shaped(v2, (b.size, *(1,) * (x1.ndim - 2), v2.shape[1], 1)))
        return b.made(b.shaped(y, tuple(y.shape[:-1])))
    ndim = max(x1.ndim, x2.ndim)
    return b.made(function(b.aligned(x1, ndim), b.aligned(x2, ndim)))


@row("linalg.vector_norm", "linalg.euclidean_norm")
def vector_norm(b: Batching, function: Callable[..., Any], x: Any, /, axis: Any = None, **options: Any) -> Any:
    """Return norms over axes of batch elements, by default over all."""
    if not x.ndim:  # the norm of a vector of one element
        return b.made(function(b.shaped(x.values, (b.size, 1)), axis=1, **options | {"keepdims": False}))
    return b.made(function(x.values, axis=b.axes(axis, x.ndim), **options))


@row("linalg.power_norm")
def power_norm(
    b: Batching, function: Callable[..., Any], x: Any, /, ord: float, axis: Any = None, **options: Any
) -> Any:
    """Return norms over axes of batch elements, by default over all."""
    return vector_norm(b, function, x, axis, ord=ord, **options)
