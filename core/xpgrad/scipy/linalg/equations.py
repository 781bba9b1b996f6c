"""Linear and quadratic matrix equations, whose derivatives solve linear equations."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad import array_api as xpa
from xpgrad.array_api.linalg.checks import adjoint, square
from xpgrad.array_api.linalg.decomposition import Arrays, Decomposition, Targets
from xpgrad.backend.plugins import plugins
from xpgrad.errors import ShapeError
from xpgrad.graph.operands import as_variables
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.scipy.operands import by_matrix, eye_beside, reference, required
from xpgrad.types import AnyArray, Array, Namespace

Map = Callable[[Any], Any]
MAX_UNKNOWNS = 400
"""Unknowns up to which the equation of Sylvester is solved as one linear system."""
MAX_DIRECT = 10
"""Rows below which `solve_discrete_lyapunov` solves one linear system by default, as in SciPy."""
SIGN_ITERATIONS = 40


def kronecker(xp: Namespace, a: Array, b: Array) -> Any:
    """Return Kronecker products of stacks of matrices."""
    product = a[..., :, None, :, None] * b[..., None, :, None, :]
    rows, columns = a.shape[-2] * b.shape[-2], a.shape[-1] * b.shape[-1]
    return xp.reshape(product, shape=(*product.shape[:-4], rows, columns))


class SylvesterSolution(Decomposition):
    """The solution of a linear matrix equation, a class because one solution gives the gradients of all inputs."""

    name = "solve_sylvester"
    keeps_inputs = (0, 1)
    keeps_outputs = (0,)

    def compute(self, xp: Namespace, *xs: Array) -> Sequence[Array]:
        """Return the solution."""
        return (sylvester(xp, *xs),)

    def rule(self, xp: Namespace, gys: Arrays, xs: Arrays, ys: Arrays, targets: Targets) -> Arrays:
        """Return ``gq``, the solution for the adjoint matrices, ``ga = -gq y^H`` and ``gb = -y^H gq``."""
        (gy,), (a, b), (y,) = gys, xs, ys
        is_complex = any(x.spec.complex for x in self.inputs)
        conjugate: Map = lambda x: adjoint(xp, x, is_complex)  # noqa: E731
        gq = sylvester(xp, conjugate(a), conjugate(b), gy)
        of_sides = [lambda: -xp.matmul(gq, conjugate(y)), lambda: -xp.matmul(conjugate(y), gq), lambda: gq]
        return [of_sides[i]() for i in targets]


def sylvester(xp: Namespace, a: Any, b: Any, q: Any) -> Any:
    """Return the solution `x` of ``a x + x b = q``, for arrays or Variables."""
    if any(isinstance(x, Variable) for x in (a, b, q)):
        return SylvesterSolution().apply((a, b, q))[0]
    own = reference("scipy.linalg", "solve_sylvester", a, b, q)
    if own is not None and a is b:
        return by_matrix(lambda *xs: (_by_one_schur(*xs),), (a, q), (2, 2))[0]
    if own is not None:
        return by_matrix(lambda *xs: (own(*xs),), (a, b, q), (2, 2, 2))[0]
    rows, columns = q.shape[-2:]
    if rows * columns <= MAX_UNKNOWNS:
        eyes = [xp.eye(n, dtype=q.dtype, device=xp.device_of(q)) for n in (rows, columns)]
        matrix = kronecker(xp, a, eyes[1]) + kronecker(xp, eyes[0], xp.matrix_transpose(b))
        flat = xp.reshape(q, shape=(*q.shape[:-2], rows * columns, 1))
        solution = xp.linalg.solve(matrix, flat)
        return xp.reshape(solution, shape=(*solution.shape[:-2], rows, columns))
    y = _by_eigenvalues(xp, a, b, q)
    return y + _by_eigenvalues(xp, a, b, q - (xp.matmul(a, y) + xp.matmul(y, b)))


def _by_one_schur(a: Array, q: Array) -> Any:
    """Return SciPy's solution of ``a x + x a = q``, with one factorization where `solve_sylvester` computes two."""
    linalg = required("scipy.linalg", "solve_sylvester")
    xp: Any = plugins.host.namespace
    t, u = linalg.schur(a, output="complex" if xp.isdtype(q.dtype, "complex floating") else "real")
    adjoint_of_u = xp.conj(u).T
    inner = adjoint_of_u @ q @ u
    y, scale, _ = linalg.get_lapack_funcs(("trsyl",), (t, inner))[0](t, t, inner)
    return u @ (y / scale) @ adjoint_of_u


def _by_eigenvalues(xp: Namespace, a: Array, b: Array, q: Array) -> Any:
    """Return the solution in the bases of eigenvectors of both matrices; its errors grow with their condition."""
    (u, left), (v, right) = xp.linalg.eig(a), xp.linalg.eig(b)
    q = xp.astype(q, left.dtype)
    inner = xp.linalg.solve(left, xp.matmul(q, right)) / (u[..., :, None] + v[..., None, :])
    y = xp.matmul(left, inner)
    y = xp.matrix_transpose(xp.linalg.solve(xp.matrix_transpose(right), xp.matrix_transpose(y)))
    return y if xp.isdtype(a.dtype, "complex floating") else xp.real(y)


def solve_sylvester(a: AnyArray, b: AnyArray, q: AnyArray) -> Variable:
    """Return the solution `x` of ``a x + x b = q``.

    Parameters
    ----------
    a : Variable or array, shape (..., M, M), floating-point
    b : Variable or array, shape (..., N, N)
    q : Variable or array, shape (..., M, N)

    Returns
    -------
    Variable, shape (..., M, N)
        For libraries other than NumPy, equations of more than 400 unknowns are solved by eigenvalues, with errors that
        grow with the condition number of the eigenvectors.
    """
    a, b, q = _promoted("solve_sylvester", a, b, q)
    square(a, "solve_sylvester")
    square(b, "solve_sylvester")
    if q.shape[-2:] != (a.shape[-1], b.shape[-1]):
        raise ShapeError(f"solve_sylvester: expected q of shape (..., {a.shape[-1]}, {b.shape[-1]}), got {q.shape}")
    y: Variable = sylvester(xpa, a, b, q)
    return y


def _promoted(name: str, *xs: AnyArray) -> list[Variable]:
    """Return arrays as Variables of one dtype."""
    known = as_variables(name, *xs)
    dtype = known[0].node.spec.backend.namespace.result_type(*(x.dtype for x in known))
    return [xpa.astype(x, dtype, copy=False) for x in known]


def solve_continuous_lyapunov(a: AnyArray, q: AnyArray) -> Variable:
    """Return the solution `x` of ``a x + x a^H = q``.

    Parameters
    ----------
    a, q : Variable or array, shape (..., M, M), floating-point

    Returns
    -------
    Variable, shape (..., M, M)
    """
    a = as_variable(a)
    return solve_sylvester(a, adjoint(xpa, a, a.node.spec.complex), q)


def solve_discrete_lyapunov(a: AnyArray, q: AnyArray, method: str | None = None) -> Variable:
    """Return the solution `x` of ``a x a^H - x + q = 0``.

    Parameters
    ----------
    a, q : Variable or array, shape (..., M, M), floating-point
    method : {"direct", "bilinear"}, optional
        One linear system of ``M**2`` unknowns, by default for M below 10, or a continuous equation after a bilinear
        transformation, for which `a` has no eigenvalue -1.

    Returns
    -------
    Variable, shape (..., M, M)
    """
    a, q = _promoted("solve_discrete_lyapunov", a, q)
    square(a, "solve_discrete_lyapunov")
    if method not in (None, "direct", "bilinear"):
        raise ValueError(f"solve_discrete_lyapunov: expected the method 'direct' or 'bilinear', got {method!r}")
    n, spec = a.shape[-1], a.node.spec
    conj = xpa.conj(a) if spec.complex else a
    if method == "direct" or (method is None and n < MAX_DIRECT):
        flat = xpa.reshape(q, (*q.shape[:-2], n * n, 1))
        return xpa.reshape(
            xpa.linalg.solve(eye_beside(a, n * n) - kronecker(xpa, a, conj), flat), (*flat.shape[:-2], n, n)
        )
    identity, transposed = eye_beside(a, n), xpa.matrix_transpose(conj)
    inverse = xpa.linalg.inv(transposed + identity)
    b = xpa.matmul(transposed - identity, inverse)
    c = 2.0 * xpa.matmul(xpa.matmul(xpa.linalg.inv(a + identity), q), inverse)
    return solve_continuous_lyapunov(adjoint(xpa, b, spec.complex), -c)


class RiccatiSolution(Decomposition):
    """The stabilising solution of a Riccati equation, a class because one solution gives all gradients."""

    name = "solve_continuous_are"
    keeps_inputs = (0, 1)
    keeps_outputs = (0,)

    def compute(self, xp: Namespace, *xs: Array) -> Sequence[Array]:
        """Return the solution, from the sign function of the Hamiltonian matrix, with a step of Newton's method."""
        a, g, q = xs
        n, is_complex = a.shape[-1], xp.isdtype(a.dtype, "complex floating")
        transposed = adjoint(xp, a, is_complex)
        z = xp.concat([xp.concat([a, -g], axis=-1), xp.concat([-q, -transposed], axis=-1)], axis=-2)
        for _ in range(SIGN_ITERATIONS if math.prod(a.shape) else 0):
            z = 0.5 * (z + xp.linalg.inv(z))
        eye = xp.eye(n, dtype=a.dtype, device=xp.device_of(a))
        left = xp.concat([z[..., :n, n:], z[..., n:, n:] + eye], axis=-2)
        right = xp.concat([z[..., :n, :n] + eye, z[..., n:, :n]], axis=-2)
        y = -xp.matmul(xp.linalg.pinv(left), right)
        y = 0.5 * (y + adjoint(xp, y, is_complex))
        closed = a - xp.matmul(g, y)
        misfit = xp.matmul(transposed, y) + xp.matmul(y, closed) + q
        step = sylvester(xp, adjoint(xp, closed, is_complex), closed, -0.5 * (misfit + adjoint(xp, misfit, is_complex)))
        return (y + step,)

    def rule(self, xp: Namespace, gys: Arrays, xs: Arrays, ys: Arrays, targets: Targets) -> Arrays:
        """Return ``ga = y (gq + gq^H)``, ``gg = -y gq y`` and ``gq``, which solves a Lyapunov equation."""
        (gy,), (a, g), (y,) = gys, xs, ys
        is_complex = self.spec.complex
        closed = a - xp.matmul(g, y)
        gq = sylvester(xp, closed, adjoint(xp, closed, is_complex), -gy)
        gradients = {
            0: lambda: xp.matmul(y, gq + adjoint(xp, gq, is_complex)),
            1: lambda: -xp.matmul(xp.matmul(y, gq), y),
            2: lambda: gq,
        }
        return [gradients[i]() for i in targets]


def solve_continuous_are(
    a: AnyArray, b: AnyArray, q: AnyArray, r: AnyArray, e: AnyArray | None = None, s: AnyArray | None = None
) -> Variable:
    """Return the stabilising solution `x` of ``a^H x + x a - x b r^-1 b^H x + q = 0``.

    Parameters
    ----------
    a : Variable or array, shape (M, M), floating-point
    b : Variable or array, shape (M, N)
    q : Variable or array, shape (M, M), Hermitian
    r : Variable or array, shape (N, N), Hermitian and nonsingular
    e : Variable or array, shape (M, M), nonsingular, optional
    s : Variable or array, shape (M, N), optional
        With these, ``a^H x e + e^H x a - (e^H x b + s) r^-1 (b^H x e + s^H) + q = 0``.

    Returns
    -------
    Variable, shape (M, M), Hermitian
    """
    y: Variable = RiccatiSolution().apply(_reduced("solve_continuous_are", a, b, q, r, e, s))[0]
    return y


def solve_discrete_are(
    a: AnyArray, b: AnyArray, q: AnyArray, r: AnyArray, e: AnyArray | None = None, s: AnyArray | None = None
) -> Variable:
    """Return the stabilising solution `x` of ``a^H x a - x - a^H x b (r + b^H x b)^-1 b^H x a + q = 0``.

    Parameters
    ----------
    a, b, q, r
        As for `solve_continuous_are`.
    e : Variable or array, shape (M, M), nonsingular, optional
    s : Variable or array, shape (M, N), optional
        With these, ``a^H x a - e^H x e - (a^H x b + s) (r + b^H x b)^-1 (b^H x a + s^H) + q = 0``.

    Returns
    -------
    Variable, shape (M, M), Hermitian
    """
    a, g, q = _reduced("solve_discrete_are", a, b, q, r, e, s)
    n, transposed = a.shape[-1], adjoint(xpa, a, a.node.spec.complex)
    eye = eye_beside(a, n)
    total = [xpa.concat([a + eye, g], axis=-1), xpa.concat([-q, transposed + eye], axis=-1)]
    difference = [xpa.concat([a - eye, -g], axis=-1), xpa.concat([-q, eye - transposed], axis=-1)]
    # Cayley's transform of the symplectic pencil: the Hamiltonian matrix of a continuous equation with this solution
    h = xpa.linalg.solve(xpa.concat(total, axis=-2), xpa.concat(difference, axis=-2))
    y: Variable = RiccatiSolution().apply((h[..., :n, :n], -h[..., :n, n:], -h[..., n:, :n]))[0]
    return y


def _reduced(name: str, a: Any, b: Any, q: Any, r: Any, e: Any, s: Any) -> tuple[Variable, Variable, Variable]:
    """Return `a`, ``b r^-1 b^H`` and `q` of the same equation without `e` and `s`."""
    given = [a, b, q, r, *(x for x in (e, s) if x is not None)]
    known = iter(_promoted(name, *given))
    a, b, q, r = (next(known) for _ in range(4))
    e = None if e is None else next(known)
    s = None if s is None else next(known)
    square(a, name)
    m, n = a.shape[-1], b.shape[-1]
    if b.shape[-2:-1] != (m,) or q.shape[-2:] != (m, m) or r.shape[-2:] != (n, n):
        raise ShapeError(
            f"{name}: expected b of shape ({m}, N), q ({m}, {m}) and r (N, N), got {b.shape}, {q.shape} and {r.shape}"
        )
    is_complex = as_variable(a).node.spec.complex
    conjugate: Map = lambda x: adjoint(xpa, x, is_complex)  # noqa: E731
    solve = xpa.linalg.solve
    if e is not None:
        right: Map = lambda x: xpa.matrix_transpose(  # noqa: E731
            solve(xpa.matrix_transpose(e), xpa.matrix_transpose(x))
        )
        a, q = right(a), right(solve(conjugate(e), q))
        s = None if s is None else solve(conjugate(e), s)
    if s is not None:
        a = a - xpa.matmul(b, solve(r, conjugate(s)))
        q = q - xpa.matmul(s, solve(r, conjugate(s)))
    return a, xpa.matmul(b, solve(r, conjugate(b))), q
