"""Comparisons: boolean Variables, without gradients."""

from xpgrad.graph.primitive import elementwise
from xpgrad.types import Array, Namespace, Operand


@elementwise(label="_ == _", same_dtype=False)
def equal(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Whether elements are equal."""
    return xp.equal(x1, x2)


@elementwise(label="_ != _", same_dtype=False)
def not_equal(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Whether elements differ."""
    return xp.not_equal(x1, x2)


@elementwise(label="_ < _", same_dtype=False)
def less(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Whether ``x1 < x2``, elementwise."""
    return xp.less(x1, x2)


@elementwise(label="_ <= _", same_dtype=False)
def less_equal(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Whether ``x1 <= x2``, elementwise."""
    return xp.less_equal(x1, x2)


@elementwise(label="_ > _", same_dtype=False)
def greater(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Whether ``x1 > x2``, elementwise."""
    return xp.greater(x1, x2)


@elementwise(label="_ >= _", same_dtype=False)
def greater_equal(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Whether ``x1 >= x2``, elementwise."""
    return xp.greater_equal(x1, x2)
