"""Real and imaginary parts, and the conjugate, elementwise."""

from xpgrad.graph.definition import identity
from xpgrad.graph.primitive import elementwise
from xpgrad.types import AnyArray, Array, Namespace


@elementwise(linear=("x",), same_dtype=False, x=identity)
def real(xp: Namespace, x: AnyArray, /) -> Array:
    """Real part, elementwise."""
    return xp.real(x)


@elementwise(linear=("x",), same_dtype=False, x=lambda xp, gy: -1j * gy)
def imag(xp: Namespace, x: AnyArray, /) -> Array:
    """Imaginary part, elementwise."""
    return xp.imag(x)


@elementwise(linear=("x",), x=lambda xp, gy: xp.conj(gy))
def conj(xp: Namespace, x: AnyArray, /) -> Array:
    """Complex conjugate, elementwise."""
    return xp.conj(x)
