"""Systems of linear equations, and inverses."""

from collections.abc import Sequence

from xpgrad.array_api.linalg.checks import adjoint, inverse_of, square
from xpgrad.array_api.linalg.decomposition import Arrays, Decomposition, Targets
from xpgrad.errors import ShapeError
from xpgrad.graph.primitive import primitive
from xpgrad.graph.variable import Variable
from xpgrad.types import AnyArray, Array, Namespace


def _inv_rule(xp: Namespace, gy: Array, y: Array) -> Array:
    transposed = xp.matrix_transpose(y)
    return -xp.matmul(xp.matmul(transposed, gy), transposed)


@primitive(extension="linalg", x=_inv_rule)
def inv(xp: Namespace, x: AnyArray, /) -> Array:
    """Inverses of square matrices.

    Parameters
    ----------
    x : Variable or array, shape (..., M, M), floating-point

    Returns
    -------
    Variable, shape (..., M, M)

    Raises
    ------
    SingularMatrix
        A matrix has no inverse.
    """
    square(x, "inv")
    return xp.linalg.inv(x)


@primitive(extension="linalg", x=_inv_rule)
def inv_or_nan(xp: Namespace, x: AnyArray, /) -> Array:
    """Inverses of square matrices, NaN for singular matrices, so that gradients of other matrices are kept."""
    if (inverse := inverse_of(xp, x)) is not None:
        return inverse
    singular = (xp.linalg.det(x) == 0)[..., None, None]
    identity = xp.eye(x.shape[-1], dtype=x.dtype, device=xp.device_of(x))
    return xp.where(singular, float("nan"), xp.linalg.inv(xp.where(singular, identity, x)))


class Solve(Decomposition):
    """The solution of linear equations, a class because one transposed solution gives the gradients of both sides."""

    name = "solve"
    keeps_inputs = (0,)
    keeps_outputs = (0,)

    def compute(self, xp: Namespace, *xs: Array) -> Sequence[Array]:
        """Return the solution."""
        a, b = xs
        square(a, "solve")
        if not b.ndim or b.shape[-1 if b.ndim == 1 else -2] != a.shape[-1]:
            raise ShapeError(
                f"solve: expected right-hand sides of shape ({a.shape[-1]},) or (..., {a.shape[-1]}, K) for matrices "
                f"of shape {tuple(a.shape)}, got {tuple(b.shape)}"
            )
        return (xp.linalg.solve(a, b),)

    def rule(self, xp: Namespace, gys: Arrays, xs: Arrays, ys: Arrays, targets: Targets) -> Arrays:
        """Return ``gb = solve(a^H, gy)`` and ``ga = -gb y^H``."""
        (gy,), (a,), (y,) = gys, xs, ys
        a_spec, b_spec = self.inputs[0].spec, self.inputs[1].spec
        transposed = adjoint(xp, a, a_spec.complex)
        vector = b_spec.ndim == 1
        if vector and a_spec.ndim > 2:
            gb = xp.linalg.solve(transposed, gy[..., None])[..., 0]
        else:
            gb = xp.linalg.solve(transposed, gy)
        gxs = []
        if 0 in targets:
            is_complex = a_spec.complex or b_spec.complex
            if vector:
                gxs.append(-gb[..., :, None] * (xp.conj(y) if is_complex else y)[..., None, :])
            else:
                gxs.append(-xp.matmul(gb, adjoint(xp, y, is_complex)))
        return [*gxs, gb] if 1 in targets else gxs

    def push(self, xp: Namespace, xs: tuple[Array, ...], ts: Arrays) -> tuple[Arrays, Arrays] | None:
        """Return the solution, and ``solve(a, tb - ta y)`` as its tangent."""
        (a, b), (ta, tb) = xs, ts
        if a.dtype != b.dtype:
            return None
        (y,) = self._forward(xs)
        if ta is None:
            return (y,), (xp.linalg.solve(a, tb),)
        vector = len(b.shape) == 1
        columns = y[..., None] if vector else y
        right = xp.negative(xp.matmul(ta, columns))
        if tb is not None:
            right = xp.add(right, tb[..., None] if vector else tb)
        found = xp.linalg.solve(a, right)
        return (y,), (found[..., 0] if vector else found,)


def solve(x1: AnyArray, x2: AnyArray, /) -> Variable:
    """Return the solution `y` of ``x1 y = x2``.

    Parameters
    ----------
    x1 : Variable or array, shape (..., M, M), floating-point
    x2 : Variable or array, shape (M,) or (..., M, K), floating-point
        With one axis, it is the right-hand side for all matrices. The axes before the last two broadcast.

    Returns
    -------
    Variable, shape (..., M) or (..., M, K)

    Raises
    ------
    SingularMatrix
        A matrix has no inverse.
    """
    return Solve().apply((x1, x2))[0]
