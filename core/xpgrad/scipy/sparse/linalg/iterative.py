"""Iterative solutions by products with a matrix, which may be a function."""

from collections.abc import Callable
from typing import Any

from xpgrad.errors import ShapeError
from xpgrad.graph.operands import is_operand
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.scipy.operands import inexact, required
from xpgrad.scipy.sparse.matrices import as_sparse, on_host
from xpgrad.transforms.implicit import custom_linear_solve
from xpgrad.transforms.vectors import placed
from xpgrad.types import WHOLE, AnyArray

Product = Callable[[Variable], Any]


class LinearOperator:
    """A matrix that is given by its products with vectors.

    Parameters
    ----------
    shape : pair of int
    matvec : callable
        Returns the product with a Variable of shape (N,); Variables that it captures have gradients.
    """

    def __init__(self, shape: tuple[int, int], matvec: Product) -> None:
        self.shape, self.matvec = (int(shape[0]), int(shape[1])), matvec

    def __matmul__(self, x: AnyArray) -> Variable:
        return as_variable(self.matvec(as_variable(x)))


def aslinearoperator(A: Any) -> LinearOperator:
    """Return the matrix `A`, sparse or dense, as a `LinearOperator`."""
    if isinstance(A, LinearOperator):
        return A
    matrix: Any = as_variable(A) if is_operand(A) else as_sparse(A, "aslinearoperator")
    return LinearOperator(matrix.shape, lambda x: matrix @ x)


def _by(name: str, symmetric: bool, A: Any, b: AnyArray, x0: Any, options: dict[str, Any]) -> tuple[Variable, int]:
    """Return the solution computed by SciPy's function, and its exit code."""
    right, operator = inexact(b, name), aslinearoperator(A)
    for key in "maxiter", "restart":
        number = options.get(key)
        if number is not None and not (isinstance(number, WHOLE) and int(number) > 0):
            raise ValueError(f"{name}: expected {key} to be a positive integer or None, got {number!r}")
    n = operator.shape[0]
    if operator.shape != (n, n) or right.shape != (n,):
        raise ShapeError(f"{name}: expected a square matrix and a vector, got shapes {operator.shape}, {right.shape}")
    linalg = required("scipy.sparse.linalg", name)
    reports: list[int] = []
    start = None if x0 is None else on_host(x0)
    if options.get("M") is not None and hasattr(options["M"], "to_scipy"):
        options["M"] = options["M"].to_scipy()

    def solve(matvec: Product, given: Variable) -> Variable:
        spec, device = given.node.spec, given.device

        def product(v: Any) -> Any:
            return on_host(matvec(as_variable(placed(v.reshape(-1), spec, device, shape=(n,)))))

        host = on_host(given)
        initial = start if not reports else None
        y, report = getattr(linalg, name)(
            linalg.LinearOperator((n, n), matvec=product, dtype=host.dtype), host, x0=initial, **options
        )
        reports.append(int(report))
        return as_variable(placed(y, spec, device, shape=(n,)))

    y = custom_linear_solve(operator.matvec, right, solve, None if symmetric else solve, symmetric)
    return y, reports[0]


def cg(
    A: Any, b: AnyArray, x0: AnyArray | None = None, *, rtol: float = 1e-5, atol: float = 0.0,
    maxiter: int | None = None, M: Any = None, callback: Callable[..., Any] | None = None,
) -> tuple[Variable, int]:  # fmt: skip
    """Return the solution `x` of ``A x = b`` for a Hermitian positive definite matrix by conjugate gradients.

    Parameters
    ----------
    A : SparseArray, LinearOperator, matrix of SciPy, Variable or array, shape (M, M)
    b : Variable or array, shape (M,)
    x0 : Variable or array, shape (M,), optional
        Starting point, with respect to which the solution has no gradient.
    rtol, atol : float
        The residual is at most the larger of ``rtol * norm(b)`` and `atol`. Gradients are as accurate as that.
    maxiter : int, optional
    M : sparse matrix, optional
        Approximate inverse of `A`, a constant.
    callback : callable, optional
        Called by SciPy after each iteration, also of gradients.

    Returns
    -------
    Variable, shape (M,), and int
        0, or the number of iterations if there was no convergence.
    """
    return _by("cg", True, A, b, x0, {"rtol": rtol, "atol": atol, "maxiter": maxiter, "M": M, "callback": callback})


def minres(
    A: Any, b: AnyArray, x0: AnyArray | None = None, *, rtol: float = 1e-5, maxiter: int | None = None, M: Any = None,
    callback: Callable[..., Any] | None = None,
) -> tuple[Variable, int]:  # fmt: skip
    """Return the solution `x` of ``A x = b`` for a Hermitian matrix by minimal residuals; arguments as for `cg`."""
    return _by("minres", True, A, b, x0, {"rtol": rtol, "maxiter": maxiter, "M": M, "callback": callback})


def gmres(
    A: Any, b: AnyArray, x0: AnyArray | None = None, *, rtol: float = 1e-5, atol: float = 0.0,
    restart: int | None = None, maxiter: int | None = None, M: Any = None, callback: Callable[..., Any] | None = None,
) -> tuple[Variable, int]:  # fmt: skip
    """Return the solution `x` of ``A x = b`` for any square matrix by generalised minimal residuals.

    Parameters
    ----------
    A, b, x0, rtol, atol, maxiter, M, callback
        As for `cg`.
    restart : int, optional
        Iterations between restarts.

    Returns
    -------
    Variable, shape (M,), and int
        As for `cg`.
    """
    options = {"rtol": rtol, "atol": atol, "restart": restart, "maxiter": maxiter, "M": M, "callback": callback}
    return _by("gmres", False, A, b, x0, options)
