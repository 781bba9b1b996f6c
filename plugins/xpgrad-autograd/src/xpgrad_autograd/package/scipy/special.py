"""``scipy.special`` of arrays whose derivatives are taken."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

import xpgrad.special
from xpgrad_autograd.boxes import boxed, functions, inside, value_of
from xpgrad_autograd.wrapping import has_box, namespace


def _of_boxes(name: str) -> Callable[..., Any]:
    """Return a function of SciPy for plain arguments, xpgrad's for boxes."""
    plain, differentiated = getattr(scipy.special, name, None), getattr(xpgrad.special, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        if plain is not None and not has_box(args):
            return plain(*args, **kwargs)
        return boxed(differentiated(*map(inside, args), **kwargs))

    call.__name__, call.__doc__ = name, getattr(plain, "__doc__", None)
    return call


globals().update(namespace(scipy.special))
for _name in xpgrad.special.__all__:  # of SciPy's functions that are no ufuncs
    if not isinstance(getattr(scipy.special, _name, None), np.ufunc):
        globals()[_name] = _of_boxes(_name)


ONE = 1.0
"""The default of `b`."""


def logsumexp(x: Any, axis: Any = None, b: Any = ONE, keepdims: bool = False, return_sign: bool = False) -> Any:
    """Return the logarithm of the sum of ``b * exp(x)`` along axes."""
    if type(x) is np.ndarray and x.ndim and x.size and x.dtype.kind == "f" and b is ONE and not return_sign:
        with np.errstate(divide="ignore"):  # SciPy's function takes many times longer
            top = _top(x, axis)
            made = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
        return made if keepdims else np.squeeze(made, axis)[()]
    if not has_box([x, b]):
        return scipy.special.logsumexp(x, axis=axis, b=b, keepdims=keepdims, return_sign=return_sign)
    xp = functions()
    x = xp["array"](x)
    top = _top(value_of(x), axis)
    sums = xp["sum"](b * xp["exp"](x - top), axis=axis, keepdims=True)
    result = xp["log"](xp["abs"](sums) if return_sign else sums) + top
    if not keepdims:
        result = xp["reshape"](result, xp["shape"](xp["sum"](result, axis=axis)))
    return (result, xp["sign"](xp["reshape"](sums, xp["shape"](result)))) if return_sign else result


def _top(x: Any, axis: Any) -> Any:
    """Return the maxima along axes, with 0 in place of infinities and NaN."""
    top = np.max(x, axis=axis, keepdims=True)
    return np.where(np.isfinite(top), top, 0)


def multigammaln(a: Any, d: int) -> Any:
    """Return the logarithm of the multivariate gamma function of dimension `d`."""
    if not has_box([a]):
        plain: Any = scipy.special
        return plain.multigammaln(a, d)
    xp = functions()
    halves = sum(globals()["gammaln"](a - i / 2) for i in range(d))
    return halves + d * (d - 1) / 4 * xp["log"](3.141592653589793)


def __getattr__(name: str) -> Any:  # for type checkers: other names come from the library
    raise AttributeError(f"{__name__} has no attribute {name!r}")
