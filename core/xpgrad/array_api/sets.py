"""Set functions: unique values of an array, and membership."""

from typing import NamedTuple

from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.graph.primitive import primitive
from xpgrad.graph.variable import Variable, as_variable, constant_variable
from xpgrad.types import AnyArray, Array, Namespace, Operand


class UniqueAll(NamedTuple):
    """The result of `unique_all`."""

    values: Variable
    indices: Variable
    inverse_indices: Variable
    counts: Variable


class UniqueCounts(NamedTuple):
    """The result of `unique_counts`."""

    values: Variable
    counts: Variable


class UniqueInverse(NamedTuple):
    """The result of `unique_inverse`."""

    values: Variable
    inverse_indices: Variable


def _representatives_rule(xp: Namespace, gy: Array, x_spec: Spec, inverse: Array, counts: Array) -> Array:
    shares = gy / xp.astype(counts, gy.dtype)
    return xp.reshape(xp.take(shares, xp.reshape(inverse, shape=(-1,)), axis=0), shape=x_spec.shape)


@primitive(label="unique", x=_representatives_rule)
def representatives(xp: Namespace, x: AnyArray, /, *, first: AnyArray, inverse: AnyArray, counts: AnyArray) -> Array:
    """The elements of `x` at the flat positions `first`, one for each unique value.

    `inverse` is the index of the value of each element of `x`, and `counts` is how often each value occurs: equal
    elements share the gradient of their value.
    """
    return xp.take(xp.reshape(x, (-1,)), first, axis=0)


def unique_all(x: AnyArray, /) -> UniqueAll:
    """Return the unique values of `x`, their first positions, the index of each element's value, and their counts.

    Parameters
    ----------
    x : Variable or array
        Equal elements share the gradient of their value equally. NaNs are distinct.

    Returns
    -------
    UniqueAll
        `values` and, as integers without a gradient, `indices` into the flattened array, `inverse_indices` of the shape
        of `x`, and `counts`.
    """
    x = as_variable(x)
    values, first, inverse, counts = _plain(x, "unique_all")
    if _is_differentiated(x):
        values = representatives(x, first=first.array, inverse=inverse.array, counts=counts.array)
    return UniqueAll(values, first, inverse, counts)


def _is_differentiated(x: Variable) -> bool:
    """Return whether the unique values of `x` are to have derivatives."""
    return x.node.requires_grad or x.node.spec.backend.carries_tangents


def _plain(x: Variable, name: str) -> list[Variable]:
    """Return the results of the library's function of this name, without gradients."""
    backend = plugins.backend_of(x.array)
    found = getattr(backend.xp, name)(backend.stopped(x.array))
    return [constant_variable(backend.restore(each)) for each in (found if isinstance(found, tuple) else (found,))]


def unique_counts(x: AnyArray, /) -> UniqueCounts:
    """Return the unique values of `x` and their counts; gradients are as in `unique_all`."""
    x = as_variable(x)
    if not _is_differentiated(x):
        return UniqueCounts(*_plain(x, "unique_counts"))
    return UniqueCounts(*unique_all(x)[::3])


def unique_inverse(x: AnyArray, /) -> UniqueInverse:
    """Return the unique values of `x` and the index of each element's value; gradients are as in `unique_all`."""
    x = as_variable(x)
    if not _is_differentiated(x):
        return UniqueInverse(*_plain(x, "unique_inverse"))
    return UniqueInverse(*unique_all(x)[::2])


def unique_values(x: AnyArray, /) -> Variable:
    """Return the unique values of `x`; equal elements share the gradient equally."""
    x = as_variable(x)
    return unique_all(x).values if _is_differentiated(x) else _plain(x, "unique_values")[0]


@primitive()
def isin(xp: Namespace, x1: Operand, x2: Operand, /, *, invert: bool = False) -> Array:
    """Whether each element of `x1` is one of the elements of `x2`; negated if `invert` is true.

    One of the two may be a scalar. There is no gradient.
    """
    found = xp.isin(x1, x2)
    return xp.logical_not(found) if invert else found  # array-api-strict 2.6 takes `invert` and ignores it
