"""Trigonometric functions and their inverses, elementwise; angles are in radians."""

from xpgrad.array_api.shared.precision import narrowed, widened
from xpgrad.backend.spec import Spec
from xpgrad.graph.primitive import elementwise
from xpgrad.types import AnyArray, Array, Namespace, Operand


@elementwise(x=lambda xp, gy, x: gy * xp.cos(x))
def sin(xp: Namespace, x: AnyArray, /) -> Array:
    """Sine, elementwise."""
    return xp.sin(x)


@elementwise(x=lambda xp, gy, x: gy * -xp.sin(x))
def cos(xp: Namespace, x: AnyArray, /) -> Array:
    """Cosine, elementwise."""
    return xp.cos(x)


@elementwise(x=lambda xp, gy, y: gy * (1 + y * y))
def tan(xp: Namespace, x: AnyArray, /) -> Array:
    """Tangent, elementwise."""
    return xp.tan(x)


def one_minus_square(xp: Namespace, x: Array) -> Array:
    """Return ``1 - x * x``, as a product where the difference loses digits; the derivative of that does so near 0.

    Products are called by name, because the `*` of a library's complex scalars may round differently from its product
    of arrays.
    """
    return xp.where(xp.abs(x) < 0.5, 1 - xp.multiply(x, x), xp.multiply(1 - x, 1 + x))


@elementwise(x=lambda xp, gy, x: gy / xp.sqrt(one_minus_square(xp, x)))
def asin(xp: Namespace, x: AnyArray, /) -> Array:
    """Angle in [-π/2, π/2] with this sine, elementwise. The derivative at -1 and 1 is infinite."""
    return xp.asin(x)


@elementwise(x=lambda xp, gy, x: gy / -xp.sqrt(one_minus_square(xp, x)))
def acos(xp: Namespace, x: AnyArray, /) -> Array:
    """Angle in [0, π] with this cosine, elementwise. The derivative at -1 and 1 is infinite."""
    return xp.acos(x)


def _atan_rule(xp: Namespace, gy: Array, x: Array, x_spec: Spec) -> Array:
    if x_spec.complex:
        return gy / (1 + x * x)
    x, gy = widened(xp, x, x_spec), widened(xp, gy, x_spec)
    far = xp.abs(x) > 1  # the derivative of 1 + x * x overflows first
    near, large = xp.where(far, 0.0, x), xp.where(far, x, 1.0)
    slope = xp.where(far, (1 / large) / (large + 1 / large), 1 / (1 + xp.square(near)))
    return narrowed(xp, gy * slope, x_spec)


@elementwise(x=_atan_rule)
def atan(xp: Namespace, x: AnyArray, /) -> Array:
    """Angle in [-π/2, π/2] with this tangent, elementwise."""
    return xp.atan(x)


def turned(xp: Namespace, x1: Operand, x2: Operand, t1: Array | None, t2: Array | None) -> Array:
    """Return the change of the angle for changes of ordinate and abscissa, None for 0; it is 0 at the origin."""
    scale = xp.scale(x2, x1)  # squares of the quotients do not overflow
    x, y = x2 / scale, x1 / scale
    square = x * x + y * y
    origin = square == 0
    change = -(y * t2) if t1 is None else x * t1 if t2 is None else x * t1 - y * t2
    return xp.cornered(change / xp.where(origin, 1.0, square), origin, x1 + x2) / scale


@elementwise(
    x1=lambda xp, gy, x1, x2: turned(xp, x1, x2, gy, None),
    x2=lambda xp, gy, x1, x2: turned(xp, x1, x2, None, gy),
)
def atan2(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Angle in [-π, π] of the point with ordinate `x1` and abscissa `x2`, elementwise.

    The gradient at the origin is 0; there are no second derivatives there.
    """
    return xp.atan2(x1, x2)
