"""Absolute values, signs, and parts of complex numbers."""

from xpgrad.array_api.elementwise import rounding
from xpgrad.array_api.shared.precision import rescaling
from xpgrad.backend.spec import Spec
from xpgrad.graph.definition import identity
from xpgrad.graph.primitive import elementwise
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray, Array, Namespace, Operand


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


def _abs_rule(xp: Namespace, gy: Array, x: Array, x_spec: Spec) -> Array:
    sign = xp.complex_sign(x) if x_spec.complex else xp.sign(x)  # real signs have no gradient
    return gy * (xp.conj(sign) if x_spec.complex else sign)


@elementwise(label="|_|", same_dtype=False, x=_abs_rule)
def abs(xp: Namespace, x: AnyArray, /) -> Array:
    """Absolute value or modulus, elementwise. The derivative at 0 is 0."""
    return xp.abs(x)


def _complex_sign_rule(xp: Namespace, gy: Array, x: Array, y: Array) -> Array:
    # dy = (dx - y**2 conj(dx)) / (2 |x|): a change along the ray leaves the sign. The factor y is factored out, so that
    # components along the ray cancel exactly.
    modulus = xp.abs(x)
    origin = modulus == 0
    scale = xp.where(origin, 0.0, 0.5 / xp.where(origin, 1.0, modulus))
    turned = gy * y
    return xp.conj(y) * (turned - xp.conj(turned)) * scale


@elementwise(label="sign", x=_complex_sign_rule)
def complex_sign(xp: Namespace, x: AnyArray, /) -> Array:
    """Complex numbers divided by their modulus, elementwise; 0 at 0."""
    return xp.sign(x)


def sign(x: AnyArray, /) -> Variable:
    """Sign, elementwise: -1, 0 or 1 for a real number, and a complex number divided by its modulus; 0 at 0.

    Parameters
    ----------
    x : Variable or array, numeric

    Returns
    -------
    Variable
        Piecewise constant for real numbers, so without a gradient. The gradient at a complex 0 is 0.
    """
    x = as_variable(x)
    spec = x.node.spec
    return (complex_sign if spec is not None and spec.complex else rounding.sign)(x)


def squared_modulus(x: AnyArray, /) -> Variable:
    """Square of the absolute value, elementwise, in the real dtype, with a gradient at 0 to every order."""
    x = as_variable(x)
    return real(x * conj(x)) if x.node.spec.complex else x * x


@elementwise(same_dtype=False)
def signbit(xp: Namespace, x: AnyArray, /) -> Array:
    """Whether the sign bit is set, as for -0.0, elementwise."""
    return xp.signbit(x)


@elementwise(x1=lambda xp, gy, x1, x2: gy * (xp.sign(x1) * xp.copysign(xp.ones_like(x1), x2)))
def copysign(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Magnitude of `x1` with the sign of `x2`, elementwise.

    It is piecewise constant in `x2`, which has no gradient. The derivative where `x1` is 0 is 0.
    """
    return xp.copysign(x1, x2)


def polar(xp: Namespace, x: Array, other: Array, length: Array) -> tuple[Array, Array, Array]:
    """Return the cosine of the angle between `x` and a vector of components `x` and `other`, its length, and a factor.

    The returned length is multiplied by the factor and so does not overflow. For a vector 0 it is 1, and the cosine 0.
    """
    factor = rescaling(xp, length)
    scaled = xp.hypot(x * factor, other * factor)
    origin = scaled == 0
    scaled = xp.where(origin, 1.0, scaled)
    return xp.cornered(x * factor / scaled, origin, x + other), scaled, factor


@elementwise(
    x1=lambda xp, gy, x1, x2, y: gy * polar(xp, x1, x2, y)[0],
    x2=lambda xp, gy, x1, x2, y: gy * polar(xp, x2, x1, y)[0],
)
def hypot(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Length of the hypotenuse over two legs, without overflow, elementwise.

    The gradient at the origin is 0; there are no second derivatives there.
    """
    return xp.hypot(x1, x2)
