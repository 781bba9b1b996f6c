"""Functions of matrices: exponential, logarithm, square root and powers."""

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

from xpgrad import array_api as xpa
from xpgrad.array_api.linalg.checks import adjoint, readable, square
from xpgrad.array_api.linalg.decomposition import Arrays, Decomposition, Targets
from xpgrad.backend.levels import innermost
from xpgrad.backend.plugins import plugins
from xpgrad.graph.variable import Variable
from xpgrad.scipy.linalg.equations import sylvester
from xpgrad.scipy.operands import by_matrix, inexact, reference
from xpgrad.transforms.leaves import is_differentiable
from xpgrad.types import AnyArray, Array, Namespace

PADE = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
    10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip
"""Coefficients of the numerator of the Padé approximant of order 13 of the exponential function."""
MAX_NORM = 5.371920351148152
"""1-norm up to which that approximant has the precision of float64 (N. J. Higham, "The scaling and squaring method for
the matrix exponential revisited", 2005)."""
MAX_SQUARINGS = 16
"""Squarings where values cannot be read: the 1-norm of matrices is at most `MAX_NORM` times 2 to this power."""
MAX_ROOTS = 10
"""Square roots of a logarithm where values cannot be read."""
MAX_ITERATIONS, LAST_ITERATIONS = 40, 7
"""Iterations of a square root where values cannot be read, and those of them that matrices near the identity need."""
LEGENDRE = (
    (0.0950125098376374, 0.1894506104550685), (0.2816035507792589, 0.1826034150449236),
    (0.4580167776572274, 0.1691565193950025), (0.6178762444026438, 0.1495959888165767),
    (0.7554044083550030, 0.1246289712555339), (0.8656312023878318, 0.0951585116824928),
    (0.9445750230732326, 0.0622535239386479), (0.9894009349916499, 0.0271524594117541),
)  # fmt: skip
"""Positive nodes and weights of the quadrature of Gauss and Legendre with 16 points."""


Matrices = list[Any]


class MatrixFunction(NamedTuple):
    """A function of matrices.

    Attributes
    ----------
    name : str
        Name of SciPy's function.
    compute : callable
        ``compute(xp, x)`` by functions of the standard.
    arguments : tuple
        Further arguments of SciPy's function.
    """

    name: str
    compute: Callable[[Namespace, Array], Any]
    arguments: tuple[Any, ...] = ()


class OfMatrices(Decomposition):
    """A matrix function; a class, because its derivative is the same function of matrices of twice the size."""

    keeps_inputs: ClassVar[tuple[int, ...]] = (0,)

    def __init__(self, function: MatrixFunction) -> None:
        self.function = function

    @property
    def label(self) -> str:
        """The function's name."""
        return self.function.name

    def compute(self, xp: Namespace, *xs: Array) -> Sequence[Array]:
        """Return the function of each matrix."""
        (x,) = xs
        square(x, self.label)
        return (self.value(xp, x),)

    def value(self, xp: Namespace, x: Any) -> Any:
        """Return the function of arrays or Variables."""
        if isinstance(x, Variable):
            return type(self)(self.function).apply((x,))[0]
        own = reference("scipy.linalg", self.function.name, x)
        if own is None and plugins.backend_of(x).carries_tangents:  # SciPy computes the primals of dual numbers
            return type(self)(self.function).apply((Variable(x, requires_grad=False),))[0]._array
        if own is None or not x.size:
            return self.function.compute(xp, x)
        double = (
            xp.complex128 if xp.isdtype(x.dtype, "complex floating") else xp.float64
        )  # SciPy's logm warns in single
        wide = xp.astype(x, double, copy=False)
        (y,) = by_matrix(lambda x: (own(x, *self.function.arguments),), (wide,), (2,))
        is_complex = xp.isdtype(y.dtype, "complex floating")
        return xp.astype(y, xp.result_type(x.dtype, xp.complex64) if is_complex else x.dtype, copy=False)

    def rule(self, xp: Namespace, gys: Arrays, xs: Arrays, ys: Arrays, targets: Targets) -> Arrays:
        """Return the adjoint of the function's Fréchet derivative in the direction ``gy^H``.

        It is the upper right block of the function of ``[[x, gy^H], [0, x]]``, see R. Mathias, "A chain rule for matrix
        functions and applications" (1996), where no equation gives it.
        """
        (gy,), (x,) = gys, xs
        direction = adjoint(xp, gy, xp.isdtype(gy.dtype, "complex floating"))
        if self.spec.complex or not xp.isdtype(gy.dtype, "complex floating"):
            y = self.derivative(xp, xp.astype(x, gy.dtype, copy=False), direction)
        else:  # real matrices stay real, so that rounding moves no eigenvalue across a branch cut
            y = self.derivative(xp, x, xp.real(direction)) + 1j * self.derivative(xp, x, xp.imag(direction))
        y = adjoint(xp, y, xp.isdtype(y.dtype, "complex floating"))
        return (y if self.spec.complex or not xp.isdtype(y.dtype, "complex floating") else xp.real(y),)

    def derivative(self, xp: Namespace, x: Any, direction: Any) -> Any:
        """Return the Fréchet derivative at `x` in a direction."""
        n = self.spec.shape[-1]
        if self.function is EXPM and n and not (isinstance(x, Variable) or isinstance(direction, Variable)):
            return _exponentials(xp, [x, direction])[1]
        upper = xp.concat([x, direction], axis=-1)
        lower = xp.concat([xp.zeros_like(x), x], axis=-1)
        return self.value(xp, xp.concat([upper, lower], axis=-2))[..., :n, n:]


class SquareRoot(OfMatrices):
    """The square root; a class, because its derivative solves an equation with the root itself."""

    keeps_inputs: ClassVar[tuple[int, ...]] = ()
    keeps_outputs = (0,)

    def rule(self, xp: Namespace, gys: Arrays, xs: Arrays, ys: Arrays, targets: Targets) -> Arrays:
        """Return the solution of ``y^H gx + gx y^H = gy``."""
        (gy,), (y,) = gys, ys
        is_complex = xp.isdtype(y.dtype, "complex floating")
        y = adjoint(xp, y, is_complex)
        gx = sylvester(xp, y, y, gy)
        return (gx if self.spec.complex or not is_complex else xp.real(gx),)


def _eye(xp: Namespace, x: Array) -> Any:
    return xp.eye(x.shape[-1], dtype=x.dtype, device=xp.device_of(x))


def _norm(xp: Namespace, x: Array) -> Any:
    """Return the 1-norms of matrices, with two axes of length 1."""
    return xp.max(xp.sum(xp.abs(x), axis=-2, keepdims=True), axis=-1, keepdims=True)


def _read(xp: Namespace, x: Array, values: Any, otherwise: float) -> float:
    """Return the largest of `values`, or a bound where they cannot be read."""
    if innermost() is not None or not readable(x, plugins.backend_of(x).spec(x)):
        return otherwise
    found = float(xp.max(values))
    return found if math.isfinite(found) else 0.0


def _products(xp: Namespace, a: Matrices, b: Matrices) -> Matrices:
    """Return the product of two matrices, and its derivative."""
    return [sum(xp.matmul(a[i], b[k - i]) for i in range(k + 1)) for k in range(len(a))]


def _exponentials(xp: Namespace, xs: Matrices) -> Matrices:
    """Return the exponential by scaling and squaring, and its derivative if there is a direction beside the matrix.

    The derivative is that of each step, see A. H. Al-Mohy and N. J. Higham, "Computing the Fréchet derivative of the
    matrix exponential, with an application to condition number estimation" (2009).
    """
    x = xs[0]
    squarings = xp.ceil(xp.log2(xp.maximum(_norm(xp, x) / MAX_NORM, xp.ones_like(_norm(xp, x)))))
    most = int(_read(xp, x, squarings, MAX_SQUARINGS))
    squarings = xp.minimum(squarings, xp.full_like(squarings, float(most)))
    factor = xp.pow(xp.full_like(squarings, 2.0), -squarings)
    xs = [each * factor for each in xs]
    x2 = _products(xp, xs, xs)
    x4 = _products(xp, x2, x2)
    x6 = _products(xp, x4, x2)

    def total(start: int, one: bool) -> Matrices:
        found = [sum(PADE[start + 2 * i] * p for i, p in enumerate(each, 1)) for each in zip(x2, x4, x6, strict=True)]
        return [found[0] + PADE[start] * _eye(xp, x), *found[1:]] if one else found

    def added(a: Matrices, b: Matrices) -> Matrices:
        return [p + q for p, q in zip(a, b, strict=True)]

    odd = _products(xp, xs, added(_products(xp, x6, total(7, False)), total(1, True)))
    even = added(_products(xp, x6, total(6, False)), total(0, True))
    below = [p - q for p, q in zip(even, odd, strict=True)]
    ys = [xp.linalg.solve(below[0], even[0] + odd[0])]
    for e, o, d in zip(even[1:], odd[1:], below[1:], strict=True):
        ys.append(xp.linalg.solve(below[0], e + o - xp.matmul(d, ys[0])))
    for i in range(most):
        ys = [xp.where(squarings > i, new, y) for new, y in zip(_products(xp, ys, ys), ys, strict=True)]
    return ys


def _expm(xp: Namespace, x: Array) -> Any:
    """Return the exponential of arrays."""
    return _exponentials(xp, [x])[0] if math.prod(x.shape) else x


def _sqrtm(xp: Namespace, x: Array, most: int = MAX_ITERATIONS) -> Any:
    """Return the principal square root by at most `most` steps of the product form of Denman and Beavers' iteration.

    See S. H. Cheng, N. J. Higham, C. S. Kenney and A. J. Laub, "Approximating the logarithm of a matrix to specified
    accuracy" (2001).
    """
    if not math.prod(x.shape):
        return x
    eye, y, m = _eye(xp, x), x, x
    tolerance = float(xp.finfo(x.dtype).eps) * x.shape[-1]
    for _ in range(most):
        inverse = xp.linalg.inv(m)
        y, m = 0.5 * xp.matmul(y, eye + inverse), 0.5 * (eye + 0.5 * (m + inverse))
        if _read(xp, x, _norm(xp, m - eye), 1.0) <= tolerance:
            break
    # An eigenvalue that is negative never comes near 1.
    return xp.where(_norm(xp, m - eye) < 0.5, y, xp.full_like(y, math.nan))


def _logm(xp: Namespace, x: Array) -> Any:
    """Return the logarithm by square roots, until an integral of a rational function is accurate."""
    if not math.prod(x.shape):
        return x
    eye, roots = _eye(xp, x), 0
    while roots < 60 and _read(xp, x, _norm(xp, x - eye), float(roots < MAX_ROOTS)) > 0.5:
        # A step divides large eigenvalues by 4, so the root of a root takes half as many until all are near 1.
        most = min(MAX_ITERATIONS, (MAX_ITERATIONS >> roots) + LAST_ITERATIONS)
        x, roots = _sqrtm(xp, x, most), roots + 1
    x = x - eye
    y = xp.zeros_like(x)
    for node, weight in LEGENDRE:
        for t in (0.5 + 0.5 * node, 0.5 - 0.5 * node):
            y = y + (0.5 * weight) * xp.linalg.solve(eye + t * x, x)
    return 2.0**roots * y


EXPM = MatrixFunction("expm", _expm)
LOGM = MatrixFunction("logm", _logm)
SQRTM = MatrixFunction("sqrtm", _sqrtm)


def _applied(function: MatrixFunction, a: AnyArray) -> Variable:
    node = SquareRoot if function is SQRTM else OfMatrices
    y: Variable = node(function).apply((inexact(a, function.name),))[0]
    return y


def expm(A: AnyArray) -> Variable:
    """Return the exponential of matrices.

    Parameters
    ----------
    A : Variable or array, shape (..., M, M), floating-point

    Returns
    -------
    Variable, shape (..., M, M)
        Where values cannot be read, as in programs, matrices may have a 1-norm of at most 350,000.
    """
    return _applied(EXPM, A)


def logm(A: AnyArray) -> Variable:
    """Return the principal logarithm of matrices.

    Parameters
    ----------
    A : Variable or array, shape (..., M, M), floating-point
        Without eigenvalues on the closed negative real axis. For NumPy, SciPy returns complex logarithms of real
        matrices that have some; for other libraries and in `vmap` the result is NaN.

    Returns
    -------
    Variable, shape (..., M, M)
    """
    return _applied(LOGM, A)


def sqrtm(A: AnyArray) -> Variable:
    """Return the principal square root of matrices.

    Parameters
    ----------
    A : Variable or array, shape (..., M, M), floating-point
        As for `logm`.

    Returns
    -------
    Variable, shape (..., M, M)
    """
    return _applied(SQRTM, A)


def fractional_matrix_power(A: AnyArray, t: Any) -> Variable:
    """Return powers of matrices with a real exponent.

    Parameters
    ----------
    A : Variable or array, shape (..., M, M), floating-point
        As for `logm`, unless `t` is an integer.
    t : float or Variable, shape ()

    Returns
    -------
    Variable, shape (..., M, M)
        Differentiable by both arguments.
    """
    if isinstance(t, Variable) or is_differentiable(t):
        return expm(t * logm(A))
    t = float(t)
    if t == int(t):
        return xpa.linalg.matrix_power(A, int(t))
    compute = lambda xp, x: _expm(xp, t * _logm(xp, x))  # noqa: E731
    return _applied(MatrixFunction("fractional_matrix_power", compute, (t,)), A)
