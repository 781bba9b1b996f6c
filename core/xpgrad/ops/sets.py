"""Sets of values, as sorted vectors without repetition; the elements keep their gradients."""

from xpgrad.array_api.indexing import take
from xpgrad.array_api.manipulation import concat, reshape
from xpgrad.backend.checks import beside
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray


def _unique(x: Variable) -> Variable:
    """Return the unique elements of a vector, sorted; of equal elements, the first."""
    xp = x.node.spec.backend.xp
    return take(x, xp.unique_all(x.array).indices, axis=0)


def nunique(x: AnyArray, /) -> Variable:
    """Number of unique elements, a 0-d integer without a gradient."""
    x = as_variable(x)
    backend = x.node.spec.backend
    count = backend.xp.unique_values(x.array).shape[0]
    return as_variable(backend.asarray(count, device=x.node.spec.device))


def union1d(a: AnyArray, b: AnyArray, /) -> Variable:
    """The unique elements of both arrays, sorted; the gradient goes to the first occurrence."""
    return _unique(concat([reshape(a, shape=(-1,)), reshape(b, shape=(-1,))]))


def setdiff1d(a: AnyArray, b: AnyArray, /, *, assume_unique: bool = False) -> Variable:
    """The unique elements of `a` that are not in `b`, sorted; the gradient goes to the first occurrence.

    Parameters
    ----------
    a, b : Variable or array
    assume_unique : bool
        Return the elements in the order of `a`, which must be distinct.
    """
    values = reshape(a, shape=(-1,)) if assume_unique else _unique(reshape(a, shape=(-1,)))
    others = beside(values.node.spec, b, "setdiff1d")
    xp = values.node.spec.backend.xp
    removed = xp.any(xp.equal(xp.reshape(values.array, shape=(-1, 1)), xp.reshape(others, shape=(1, -1))), axis=1)
    return values[xp.logical_not(removed)]
