"""Systems whose matrices have few diagonals, or equal elements along each diagonal."""

from collections.abc import Sequence
from typing import Any

from xpgrad import array_api as xpa
from xpgrad.array_api.linalg.decomposition import Arrays, Decomposition, Targets
from xpgrad.errors import ShapeError
from xpgrad.graph.operands import as_variables
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.scipy.operands import by_matrix, reference
from xpgrad.types import AnyArray, Array, Namespace, integers


def _shifted(xp: Namespace, row: Any, offset: int) -> Any:
    """Return ``row[..., j + offset]``, and zeros beyond the ends."""
    if not offset:
        return row
    n = row.shape[-1]
    count = min(abs(offset), n)
    zeros = xp.zeros_like(row[..., :count])
    parts = [row[..., count:], zeros] if offset > 0 else [zeros, row[..., : n - count]]
    return xp.concat(parts, axis=-1)


class BandedSolution(Decomposition):
    """The solution with a banded matrix, a class because one solution gives the gradients of both sides."""

    name = "solve_banded"
    of_square = False
    keeps_inputs = (0,)
    keeps_outputs = (0,)

    def __init__(self, below: int, above: int) -> None:
        self.below, self.above = below, above

    def compute(self, xp: Namespace, *xs: Array) -> Sequence[Array]:
        """Return the solution."""
        ab, b = xs
        own = reference("scipy.linalg", "solve_banded", ab, b)
        if own is not None:
            return by_matrix(lambda ab, b: (own((self.below, self.above), ab, b),), (ab, b), (2, 2))
        return (xp.linalg.solve(self.dense(xp, ab), b),)

    def dense(self, xp: Namespace, ab: Array) -> Array:
        """Return the matrix."""
        n = ab.shape[-1]
        numbers = xp.arange(n, device=xp.device_of(ab))
        place = numbers[:, None] - numbers + self.above
        inside = (place >= 0) & (place <= self.below + self.above)
        place = xp.broadcast_to(xp.where(inside, place, 0), (*ab.shape[:-2], n, n))
        return xp.where(inside, xp.take_along_axis(ab, place, axis=-2), xp.zeros_like(ab[..., :1, :]))

    def rule(self, xp: Namespace, gys: Arrays, xs: Arrays, ys: Arrays, targets: Targets) -> Arrays:
        """Return ``gb``, the solution with the adjoint, and the diagonals of ``-gb y^H``."""
        (gy,), (ab,), (y,) = gys, xs, ys
        a_spec, b_spec = self.inputs[0].spec, self.inputs[1].spec
        offsets = range(self.above, -self.below - 1, -1)
        rows = [_shifted(xp, ab[..., i, :], d) for i, d in enumerate(offsets)]
        transposed = xp.stack(rows[::-1], axis=-2)
        transposed = xp.conj(transposed) if a_spec.complex else transposed
        node = BandedSolution(self.above, self.below)
        recorded = any(isinstance(x, Variable) for x in (transposed, gy))
        gb = node.apply((transposed, gy))[0] if recorded else node.compute(xp, transposed, gy)[0]
        if targets == (1,):
            return [gb]
        y = xp.conj(y) if a_spec.complex or b_spec.complex else y
        other = xp.matrix_transpose(gb)
        columns = [xp.matrix_transpose(_shifted(xp, other, -d)) * y for d in offsets]
        return [-xp.stack([xp.sum(c, axis=-1) for c in columns], axis=-2), gb][: len(targets)]


def solve_banded(l_and_u: tuple[int, int], ab: AnyArray, b: AnyArray) -> Variable:
    """Return the solution `x` of ``a x = b`` for a banded matrix `a`.

    Parameters
    ----------
    l_and_u : pair of int
        Numbers of diagonals below and above the main diagonal.
    ab : Variable or array, shape (..., l + u + 1, M), floating-point
        The diagonals: ``ab[u + i - j, j] = a[i, j]``.
    b : Variable or array, shape (M,) or (..., M, K)

    Returns
    -------
    Variable, shape (M,) or (..., M, K)
    """
    below, above = map(int, integers(l_and_u, "solve_banded"))
    ab, b = as_variables("solve_banded", ab, b)
    if ab.ndim < 2 or ab.shape[-2] != below + above + 1:
        raise ShapeError(f"solve_banded: expected ab of shape (..., {below + above + 1}, M), got {ab.shape}")
    if not b.ndim or b.shape[-1 if b.ndim == 1 else -2] != ab.shape[-1]:
        raise ShapeError(f"solve_banded: expected right-hand sides with {ab.shape[-1]} rows, got shape {b.shape}")
    columns = b[:, None] if b.ndim == 1 else b
    y: Variable = BandedSolution(below, above).apply((ab, columns))[0]
    return y[..., 0] if b.ndim == 1 else y


def solveh_banded(ab: AnyArray, b: AnyArray, lower: bool = False) -> Variable:
    """Return the solution `x` of ``a x = b`` for a Hermitian positive definite banded matrix `a`.

    Parameters
    ----------
    ab : Variable or array, shape (..., u + 1, M), floating-point
        The main diagonal and those above it, ``ab[u + i - j, j] = a[i, j]``, or with `lower` those below it,
        ``ab[i - j, j] = a[i, j]``.
    b : Variable or array, shape (M,) or (..., M, K)
    lower : bool

    Returns
    -------
    Variable, shape (M,) or (..., M, K)
        Whether `a` is positive definite is not checked.
    """
    ab = as_variable(ab)
    if ab.ndim < 2 or not ab.shape[-2]:
        raise ShapeError(f"solveh_banded: expected ab of shape (..., u + 1, M), got {ab.shape}")
    count = ab.shape[-2] - 1
    conj = xpa.conj(ab) if ab.node.spec.complex else ab
    given = [ab[..., i, :] for i in range(count + 1)]
    if lower:  # row d holds subdiagonal d; superdiagonal d begins d columns later
        others = [_shifted(xpa, conj[..., d, :], -d) for d in range(count, 0, -1)]
        rows = [*others, *given]
    else:
        others = [_shifted(xpa, conj[..., count - d, :], d) for d in range(1, count + 1)]
        rows = [*given, *others]
    return solve_banded((count, count), xpa.stack(rows, axis=-2), b)


def solve_toeplitz(c_or_cr: Any, b: AnyArray) -> Variable:
    """Return the solution `x` of ``T x = b`` for a Toeplitz matrix, which has equal elements along each diagonal.

    Parameters
    ----------
    c_or_cr : Variable or array, shape (..., M), or a pair of them
        The first column of T, and its first row, by default the conjugate of the column. The first element of the row
        is not used.
    b : Variable or array, shape (M,) or (..., M, K)

    Returns
    -------
    Variable, shape (M,) or (..., M, K)
        By elimination with pivoting, in ``O(M**3)``, where SciPy recurs in ``O(M**2)`` with larger errors.
    """
    if isinstance(c_or_cr, tuple):
        c, r = as_variables("solve_toeplitz", *c_or_cr)
    else:
        c = as_variable(c_or_cr)
        r = xpa.conj(c) if c.node.spec.complex else c
    if not c.ndim or r.shape[-1:] != c.shape[-1:]:
        raise ShapeError(f"solve_toeplitz: expected a column and a row of one length, got {c.shape} and {r.shape}")
    n, spec = c.shape[-1], c.node.spec
    diagonals = xpa.concat([xpa.flip(r[..., 1:], axis=-1), c], axis=-1)
    numbers: Any = spec.backend.xp.arange(n, device=spec.device)
    place = as_variable(numbers[:, None] - numbers + (n - 1))
    matrix = xpa.reshape(xpa.take(diagonals, xpa.reshape(place, (-1,)), axis=-1), (*c.shape[:-1], n, n))
    return xpa.linalg.solve(matrix, b)
