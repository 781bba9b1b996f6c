"""What linear algebra asks of its operands, and the errors for what cannot be computed."""

from xpgrad.backend.spec import Spec
from xpgrad.errors import DtypeError, ShapeError, SingularMatrix
from xpgrad.types import Array, Namespace

EXPECTED = (ValueError, TypeError, IndexError, AttributeError, RuntimeError, ArithmeticError)
"""What libraries raise for operands that they do not take, and for matrices without a solution."""


def matrices(x: Array, function: str) -> None:
    """Raise `ShapeError` unless `x` is a matrix or a stack of them."""
    if x.ndim < 2:
        raise ShapeError(f"{function}: expected a matrix or a stack of matrices, (..., M, N), got shape {x.shape}")


def square(x: Array, function: str) -> None:
    """Raise `ShapeError` unless `x` is a square matrix or a stack of them."""
    shape = x.shape
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ShapeError(f"{function}: expected square matrices, (..., M, M), got shape {tuple(shape)}")


def explained(error: Exception, function: str, specs: tuple[Spec, ...]) -> Exception:
    """Return the error that says which function failed on what."""
    got = ", ".join(map(repr, specs))
    text = f"{function}: {error}; got {got} on {specs[0].backend.name}"
    if is_numerical(error):
        return SingularMatrix(text)
    if isinstance(error, ValueError):
        return ShapeError(text)
    return DtypeError(text) if isinstance(error, TypeError) else error


def is_numerical(error: Exception) -> bool:
    """Tell whether a library says that a matrix is singular, not definite, or that it has not converged."""
    return type(error).__name__.endswith("LinAlgError") or isinstance(error, SingularMatrix)


def adjoint(xp: Namespace, x: Array, is_complex: bool) -> Array:
    """Return the conjugate transpose."""
    return xp.matrix_transpose(xp.conj(x)) if is_complex else xp.matrix_transpose(x)


def epsilon(spec: Spec) -> float:
    """Return the distance from 1 to the next number of this dtype."""
    return float(spec.backend.namespace.finfo(spec.dtype).eps)


def readable(x: Array, spec: Spec) -> bool:
    """Tell whether the values of `x` may be looked at: not if they are computed later, or within a traced function."""
    backend = spec.backend
    declared = backend.declared
    return type(x) is backend.array_types[0] and (declared is None or "data_dependent_shapes" not in declared.missing)
