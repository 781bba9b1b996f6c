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
    """Whether elements of `x1` are less than those of `x2`."""
    return xp.less(x1, x2)


@elementwise(label="_ <= _", same_dtype=False)
def less_equal(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Whether elements of `x1` are at most those of `x2`."""
    return xp.less_equal(x1, x2)


@elementwise(label="_ > _", same_dtype=False)
def greater(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Whether elements of `x1` are greater than those of `x2`."""
    return xp.greater(x1, x2)


@elementwise(label="_ >= _", same_dtype=False)
def greater_equal(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Whether elements of `x1` are at least those of `x2`."""
    return xp.greater_equal(x1, x2)
