"""Leading axes."""

from xpgrad.array_api.manipulation import reshape
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray


def atleast_nd(x: AnyArray, /, *, ndim: int) -> Variable:
    """`x` with leading axes of length 1, so that it has at least `ndim` axes."""
    x = as_variable(x)
    return x if x.ndim >= ndim else reshape(x, shape=(1,) * (ndim - x.ndim) + x.shape)
