"""Checks of the operands of linear algebra, and its errors."""

from xpgrad.backend.spec import Spec
from xpgrad.errors import DtypeError, ShapeError, SingularMatrix
from xpgrad.types import Array, Namespace

EXPECTED = (ValueError, TypeError, IndexError, AttributeError, RuntimeError, ArithmeticError)
"""Errors of libraries for unsupported operands, and for matrices without a solution."""


def square(x: Array, function: str) -> None:
    """Raise `ShapeError` unless `x` is a square matrix or a stack of square matrices."""
    shape = x.shape
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ShapeError(f"{function}: expected square matrices, (..., M, M), got shape {tuple(shape)}")


def explained(error: Exception, function: str, specs: tuple[Spec, ...]) -> Exception:
    """Return the error that names the function and its operands."""
    got = ", ".join(map(repr, specs))
    text = f"{function}: {error}; got {got} on {specs[0].backend.name}"
    if is_numerical(error):
        return SingularMatrix(text)
    if isinstance(error, ValueError):
        return ShapeError(text)
    return DtypeError(text) if isinstance(error, TypeError) else error


def is_numerical(error: Exception) -> bool:
    """Return whether an error reports a singular or indefinite matrix, or a failure to converge."""
    return type(error).__name__.endswith("LinAlgError") or isinstance(error, SingularMatrix)


def inverse_of(xp: Namespace, x: Array) -> Array | None:
    """Return the inverses, or None if the library finds a matrix singular."""
    try:
        return xp.linalg.inv(x)
    except EXPECTED as error:
        if not is_numerical(error):
            raise
        return None


def adjoint(xp: Namespace, x: Array, is_complex: bool) -> Array:
    """Return the conjugate transpose."""
    return xp.matrix_transpose(xp.conj(x)) if is_complex else xp.matrix_transpose(x)


def epsilon(spec: Spec) -> float:
    """Return the distance from 1 to the next number of this dtype."""
    return float(spec.backend.namespace.finfo(spec.dtype).eps)


def readable(x: Array, spec: Spec) -> bool:
    """Return whether the values of `x` can be read: not if they are computed later, or while a function is traced."""
    backend = spec.backend
    declared = backend.declared
    return type(x) is backend.array_types[0] and (declared is None or "data_dependent_shapes" not in declared.missing)
