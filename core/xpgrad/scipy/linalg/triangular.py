"""Triangular factors: solutions, LU and Cholesky factorizations as SciPy stores them."""

from collections.abc import Callable, Sequence
from typing import Any

from xpgrad import array_api as xpa
from xpgrad.array_api.linalg.checks import adjoint, square
from xpgrad.array_api.linalg.decomposition import Arrays, Decomposition, Targets
from xpgrad.backend.plugins import plugins
from xpgrad.errors import ShapeError
from xpgrad.graph.operands import as_variables
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.scipy.operands import by_matrix, eye_beside, inexact, reference
from xpgrad.types import AnyArray, Array, Namespace

Map = Callable[[Any], Any]


def _trans(trans: int | str, function: str) -> int:
    """Return SciPy's `trans` as 0, 1 or 2."""
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise ValueError(f"{function}: expected trans 0, 1, 2, 'N', 'T' or 'C', got {trans!r}")
    return trans if isinstance(trans, int) else "NTC".index(trans)


def _columns(b: Any, function: str, size: int) -> tuple[Any, bool]:
    """Return right-hand sides as columns, and whether `b` was a vector."""
    if not b.ndim or b.shape[-1 if b.ndim == 1 else -2] != size:
        raise ShapeError(
            f"{function}: expected right-hand sides of shape ({size},) or (..., {size}, K), got {tuple(b.shape)}"
        )
    return (b[:, None], True) if b.ndim == 1 else (b, False)


class TriangularSolution(Decomposition):
    """The solution with a triangular matrix, a class because one solution gives the gradients of both sides."""

    name = "solve_triangular"
    keeps_inputs = (0,)
    keeps_outputs = (0,)

    def __init__(self, lower: bool, unit: bool) -> None:
        self.lower, self.unit = lower, unit

    def compute(self, xp: Namespace, *xs: Array) -> Sequence[Array]:
        """Return the solution."""
        a, b = xs
        return (self.solved(xp, a, b, self.lower),)

    def solved(self, xp: Namespace, a: Array, b: Array, lower: bool) -> Any:
        """Return the solution for one triangle of `a`."""
        if isinstance(a, Variable) or isinstance(b, Variable):
            return TriangularSolution(lower, self.unit).apply((a, b))[0]
        own = reference("scipy.linalg", "solve_triangular", a, b)
        if own is not None:
            return by_matrix(lambda a, b: (self.hosted(own, a, b, lower),), (a, b), (2, 2))[0]
        triangle = self.triangle(xp, a, lower)
        if self.unit:
            triangle = triangle + xp.eye(a.shape[-1], dtype=a.dtype, device=xp.device_of(a))
        return xp.linalg.solve(triangle, b)

    def hosted(self, own: Callable[..., Any], a: Any, b: Any, lower: bool) -> Any:
        """Return the solution by BLAS of the transposed equation, which copies nothing, or by SciPy's `own` checks."""
        finite, find = plugins.host.namespace.isfinite, reference("scipy.linalg", "get_blas_funcs", a, b)
        if find is not None and b.size and (self.unit or a.diagonal().all()):
            by_rows, (trsm,) = a.flags.c_contiguous, find(("trsm",), (a, b))
            a_turned, options = (a.T, {"lower": not lower}) if by_rows else (a, {"lower": lower, "trans_a": 1})
            y = trsm(1.0, a_turned, b.T, side=1, diag=self.unit, **options).T
            if finite(y).all():
                return y
        return own(a, b, lower=lower, unit_diagonal=self.unit)

    def triangle(self, xp: Namespace, a: Array, lower: bool) -> Array:
        """Return the part of `a` that the solution depends on."""
        if lower:
            return xp.tril(a, k=-1 if self.unit else 0)
        return xp.triu(a, k=1 if self.unit else 0)

    def rule(self, xp: Namespace, gys: Arrays, xs: Arrays, ys: Arrays, targets: Targets) -> Arrays:
        """Return ``gb``, the solution with the adjoint, and ``ga = -gb y^H`` in the triangle."""
        (gy,), (a,), (y,) = gys, xs, ys
        a_spec, b_spec = self.inputs[0].spec, self.inputs[1].spec
        gb = self.solved(xp, adjoint(xp, a, a_spec.complex), gy, not self.lower)
        if targets == (1,):
            return [gb]
        ga = -self.triangle(xp, xp.matmul(gb, adjoint(xp, y, a_spec.complex or b_spec.complex)), self.lower)
        return [ga, gb][: len(targets)]


def solve_triangular(
    a: AnyArray, b: AnyArray, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False
) -> Variable:
    """Return the solution `x` of ``a x = b`` for a triangular matrix `a`.

    Parameters
    ----------
    a : Variable or array, shape (..., M, M), floating-point
        Only one triangle is used, and has a gradient.
    b : Variable or array, shape (M,) or (..., M, K)
    trans : {0, 1, 2, "N", "T", "C"}
        Solve with `a`, its transpose or its adjoint.
    lower : bool
        Use the lower triangle of `a`.
    unit_diagonal : bool
        Take ones for the diagonal, which is not used then.

    Returns
    -------
    Variable, shape (M,) or (..., M, K)
    """
    a, b = as_variables("solve_triangular", *(inexact(x, "solve_triangular") for x in (a, b)))
    square(a, "solve_triangular")
    kind = _trans(trans, "solve_triangular")
    if kind:
        a, lower = adjoint(xpa, a, kind == 2 and a.node.spec.complex), not lower
    columns, is_vector = _columns(b, "solve_triangular", a.shape[-1])
    y: Variable = TriangularSolution(bool(lower), bool(unit_diagonal)).apply((a, columns))[0]
    return y[..., 0] if is_vector else y


def cho_factor(a: AnyArray, lower: bool = False) -> tuple[Variable, bool]:
    """Return the Cholesky factor of Hermitian positive definite matrices, and whether it is lower triangular.

    Parameters
    ----------
    a : Variable or array, shape (..., M, M), floating-point
    lower : bool
        Return the lower factor. Only this triangle of `a`, else the upper one, is read and has a gradient.

    Returns
    -------
    Variable, shape (..., M, M), and bool
        For `cho_solve`. The other triangle is zero.
    """
    a = inexact(a, "cho_factor")
    square(a, "cho_factor")
    half, beside = (xpa.tril(a), xpa.tril(a, k=-1)) if lower else (xpa.triu(a), xpa.triu(a, k=1))
    return xpa.linalg.cholesky(half + adjoint(xpa, beside, a.node.spec.complex), upper=not lower), lower


def cho_solve(c_and_lower: tuple[AnyArray, bool], b: AnyArray) -> Variable:
    """Return the solution `x` of ``a x = b`` for the Cholesky factor of `a` from `cho_factor`.

    Parameters
    ----------
    c_and_lower : pair of Variable or array, shape (..., M, M), and bool
    b : Variable or array, shape (M,) or (..., M, K)

    Returns
    -------
    Variable, shape (M,) or (..., M, K)
    """
    c, lower = c_and_lower
    first, second = (0, 2) if lower else (2, 0)
    columns, is_vector = _columns(as_variable(b), "cho_solve", c.shape[-1])
    y = solve_triangular(c, solve_triangular(c, columns, first, lower), second, lower)
    return y[..., 0] if is_vector else y


class PackedLU(Decomposition):
    """The LU factorization with partial pivoting, a class because it also returns pivots and a permutation."""

    name = "lu_factor"
    of_square = False
    keeps_outputs = (0, 2)

    def compute(self, xp: Namespace, *xs: Array) -> Sequence[Array]:
        """Return both factors in one matrix, LAPACK's pivots, and the rows of the matrix in their order."""
        (a,) = xs
        if a.ndim < 2:
            raise ShapeError(f"lu_factor: expected a matrix or a stack of matrices, got shape {tuple(a.shape)}")
        rows, columns = a.shape[-2:]
        numbers = xp.arange(rows, device=xp.device_of(a))
        own, exchange = reference("scipy.linalg", "lu_factor", a), reference("scipy.linalg.lapack", "dlaswp", a)
        if own is not None and exchange is not None:

            def factors(a: Array) -> tuple[Array, Array, Array]:
                packed, pivots = own(a)
                order = exchange(xp.astype(numbers, xp.float64)[:, None], pivots)[:, 0]
                return packed, xp.astype(pivots, numbers.dtype), xp.astype(order, numbers.dtype)

            return by_matrix(factors, (a,), (2,))
        order = xp.broadcast_to(numbers, a.shape[:-1])
        is_complex = xp.isdtype(a.dtype, "complex floating")  # whose pivots LAPACK chooses by the sum of their parts
        pivots = []
        for k in range(min(rows, columns)):
            column = a[..., k]
            size = xp.abs(xp.real(column)) + xp.abs(xp.imag(column)) if is_complex else xp.abs(column)
            column = xp.where(numbers >= k, size, -1.0)
            p = xp.argmax(column, axis=-1, keepdims=True)
            pivots.append(xp.astype(p, numbers.dtype))
            swap = xp.where(numbers == k, p, xp.where(numbers == p, k, numbers))
            a = xp.take_along_axis(a, xp.broadcast_to(swap[..., None], a.shape), axis=-2)
            order = xp.take_along_axis(order, swap, axis=-1)
            pivot = a[..., k : k + 1, k : k + 1]
            below = (numbers > k)[:, None]
            factor = xp.where(below, a[..., k : k + 1] / xp.where(pivot == 0, 1.0, pivot), 0.0)
            right = numbers_of(xp, a, columns) > k
            a = a - factor * xp.where(right, a[..., k : k + 1, :], 0.0)
            first = numbers_of(xp, a, columns) == k
            a = xp.where(below & first, factor, a)
        if not pivots:
            return a, order[..., :0], order
        return a, xp.concat(pivots, axis=-1), order

    def rule(self, xp: Namespace, gys: Arrays, xs: Arrays, ys: Arrays, targets: Targets) -> Arrays:
        """Return the gradient of the matrices.

        Of the leading square block it is ``l^-H (tril(l^H gl, -1) + triu(gu u^H)) u^-H``; the rows below it are
        ``l2 u``, or the columns on its right ``l u2``.
        """
        packed, order = ys
        is_complex, (rows, columns) = self.spec.complex, self.spec.shape[-2:]
        k = min(rows, columns)
        gl, gu = gys[0][..., :k], gys[0][..., :k, :]
        solution = TriangularSolution(True, True), TriangularSolution(True, False)
        lower = packed[..., :k, :k]
        upper = adjoint(xp, lower, is_complex)
        left: Map = lambda x: solution[0].solved(xp, upper, x, False)  # noqa: E731
        right: Map = lambda x: adjoint(  # noqa: E731
            xp, solution[1].solved(xp, adjoint(xp, upper, is_complex), adjoint(xp, x, is_complex), False), is_complex
        )
        parts, axis = [], -2
        numbers = numbers_of(xp, lower, k)
        below = numbers[:, None] > numbers
        gl1, gu1 = xp.where(below, gl[..., :k, :], 0.0), xp.where(below, 0.0, gu[..., :k])
        if rows > k:
            ga2 = right(gl[..., k:, :])
            gu1 = gu1 - xp.triu(xp.matmul(adjoint(xp, packed[..., k:, :], is_complex), ga2))
            parts = [ga2]
        elif columns > k:
            ga2 = left(gu[..., k:])
            gl1 = gl1 - xp.matmul(ga2, adjoint(xp, packed[..., k:], is_complex))
            parts, axis = [ga2], -1
        above = numbers[:, None] < numbers
        l = xp.where(above, upper, xp.eye(k, dtype=self.spec.dtype, device=self.spec.device))
        u = xp.where(above, 0.0, upper)
        # of the products ``l gl1`` and ``gu1 u``, one quarter each is neither needed nor computed
        h = k // 2
        bottom, right_half = xp.matmul(l[..., h:, h:], gl1[..., h:, :]), xp.matmul(gu1[..., h:], u[..., h:, h:])
        first = xp.matmul(l[..., :h, :], gl1[..., :h]), xp.matmul(gu1[..., :h, :], u[..., :h])
        first = xp.where(below[:h, :h], *first)
        last = xp.where(below[h:, h:], bottom[..., h:], right_half[..., h:, :])
        top = xp.concat([first, right_half[..., :h, :]], axis=-1)
        inner = xp.concat([top, xp.concat([bottom[..., :h], last], axis=-1)], axis=-2)
        ga = xp.concat([right(left(inner)), *parts], axis=axis)
        return (in_order(xp, xp.argsort(order, axis=-1), ga),)


def in_order(xp: Any, order: Any, x: Any) -> Any:
    """Return the rows of matrices in an order, of which each has its own; one matrix is gathered by rows."""
    if x.ndim == 2:
        return xp.take(x, order, axis=-2)
    return xp.take_along_axis(x, xp.broadcast_to(order[..., None], x.shape), axis=-2)


def numbers_of(xp: Namespace, x: Array, count: int) -> Any:
    """Return the integers below `count` on the device of `x`."""
    return xp.arange(count, device=xp.device_of(x))


def permutation(xp: Namespace, pivots: Any, rows: int) -> Any:
    """Return the row permutation that LAPACK's pivots encode."""
    numbers = xp.arange(rows, device=xp.device_of(pivots))
    order = xp.broadcast_to(numbers, (*pivots.shape[:-1], rows))
    for k in range(pivots.shape[-1]):
        p = pivots[..., k : k + 1]
        swap = xp.where(numbers == k, p, xp.where(numbers == p, k, numbers))
        order = xp.take_along_axis(order, swap, axis=-1)
    return order


def lu_factor(a: AnyArray) -> tuple[Variable, Variable]:
    """Return the LU factorization of matrices with partial pivoting, as LAPACK stores it.

    Parameters
    ----------
    a : Variable or array, shape (..., M, N), floating-point

    Returns
    -------
    Variable, shape (..., M, N)
        U in the upper triangle, L below it without its unit diagonal.
    Variable of int, shape (..., K)
        Row `i` was exchanged with row ``pivots[i]``; K is the smaller of M and N.
    """
    packed, pivots, _ = PackedLU().apply((as_variable(a),))
    return packed, pivots


def lu_solve(lu_and_piv: tuple[AnyArray, AnyArray], b: AnyArray, trans: int | str = 0) -> Variable:
    """Return the solution `x` of ``a x = b`` for the factors of `a` from `lu_factor`.

    Parameters
    ----------
    lu_and_piv : pair of Variables or arrays
    b : Variable or array, shape (M,) or (..., M, K)
    trans : {0, 1, 2, "N", "T", "C"}
        Solve with `a`, its transpose or its adjoint.

    Returns
    -------
    Variable, shape (M,) or (..., M, K)
    """
    factors, order_of_rows = lu_and_piv
    packed, pivots, b = (as_variable(x) for x in (factors, order_of_rows, b))
    square(packed, "lu_solve")
    kind = _trans(trans, "lu_solve")
    columns, is_vector = _columns(b, "lu_solve", packed.shape[-1])
    order = _order(pivots, packed.shape[-1])
    if kind == 0:
        half = solve_triangular(packed, _rows_in(order, columns), 0, True, True)
        y = solve_triangular(packed, half)
    else:
        half = solve_triangular(packed, solve_triangular(packed, columns, kind), kind, True, True)
        y = _rows_in(xpa.argsort(order, axis=-1), half)
    return y[..., 0] if is_vector else y


def _order(pivots: Variable, rows: int) -> Variable:
    """Return the order of the rows as a Variable."""
    return as_variable(permutation(pivots.node.spec.backend.xp, pivots.array, rows))


def _rows_in(order: Variable, x: Variable) -> Variable:
    """Return the rows of `x` in an order, for each matrix of a stack."""
    lead = xpa.broadcast_shapes(order.shape[:-1], x.shape[:-2])
    rows: Variable = in_order(xpa, order, xpa.broadcast_to(x, lead + x.shape[-2:]))
    return rows


def lu(a: AnyArray, permute_l: bool = False, p_indices: bool = False) -> tuple[Variable, ...]:
    """Return the factors of ``a = P L U``, computed by Gaussian elimination with partial pivoting.

    Parameters
    ----------
    a : Variable or array, shape (..., M, N), floating-point
    permute_l : bool
        Return ``P L`` and U.
    p_indices : bool
        Return P as indices, with ``a = L[P] @ U``.

    Returns
    -------
    tuple of Variables
        P, shape (..., M, M), L, shape (..., M, K), with a unit diagonal, and U, shape (..., K, N); K is the smaller of
        M and N.
    """
    packed, _, order = PackedLU().apply((inexact(a, "lu"),))
    rows, columns = packed.shape[-2:]
    k = min(rows, columns)
    lower = xpa.tril(packed, k=-1)[..., :k] + eye_beside(packed, rows, k)
    upper = xpa.triu(packed)[..., :k, :]
    back = xpa.argsort(order, axis=-1)
    if permute_l:
        return _rows_in(back, lower), upper
    if p_indices:
        return back, lower, upper
    return _rows_in(back, eye_beside(xpa.real(packed), rows)), lower, upper
