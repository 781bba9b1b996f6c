"""NumPy's functions that call a function of the user, with its argument names, for Variables."""

import functools
import itertools
import re
from collections.abc import Callable
from typing import Any

from xpgrad import array_api as xp
from xpgrad.array_api.indexing import setitem
from xpgrad.errors import ShapeError
from xpgrad.graph.variable import Variable, as_array, as_variable
from xpgrad.interop.numpy.arguments import alike, lead_of, like, numpy_function


@numpy_function("apply_along_axis")
def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kw: Any) -> Any:
    """Return the results of `func1d` for the vectors along `axis`, one call each; `vmap` makes one call of all."""
    arr = alike(arr)[0]
    if not -arr.ndim <= axis < arr.ndim:
        raise IndexError(f"numpy.apply_along_axis: expected an axis of an array with {arr.ndim} axes, got {axis}")
    axis %= arr.ndim
    lines = xp.moveaxis(arr, axis, -1)
    around = lines.shape[:-1]
    found = [func1d(lines[at], *args, **kw) for at in itertools.product(*map(range, around))]
    if not found:
        raise ValueError(f"numpy.apply_along_axis: expected at least one vector, got an array of shape {arr.shape}")
    y = _gathered(lines, found, around)
    shape = y.shape[len(around) :]
    return xp.moveaxis(y, tuple(range(len(around), y.ndim)), tuple(range(axis, axis + len(shape)))) if shape else y


def _gathered(lead: Variable, found: list[Any], around: tuple[int, ...]) -> Any:
    """Return results, in the order of the index, as one array with the leading axes `around`."""
    parts = [like(lead, each, exact=True) for each in found]
    return xp.reshape(xp.stack(parts), shape=around + parts[0].shape)


@numpy_function("piecewise")
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """Return values of functions where conditions hold: each is called with the elements for which its value counts.

    So a function that is infinite or NaN elsewhere does not affect gradients. As in NumPy, the dtype is that of `x`.
    """
    lead: Any = lead_of(x, condlist, funclist)
    x = like(lead, x, exact=True)
    of_many = isinstance(condlist, (list, tuple)) or getattr(condlist, "ndim", 0) > 0
    if not of_many or (x.ndim and not isinstance(condlist[0], (list, tuple)) and not getattr(condlist[0], "ndim", 0)):
        condlist = [condlist]
    conditions = [xp.astype(like(lead, each, exact=True), bool, copy=False) for each in condlist]
    if len(funclist) == len(conditions) + 1:
        conditions.append(xp.logical_not(functools.reduce(xp.logical_or, conditions)))
    elif len(funclist) != len(conditions):
        raise ValueError(
            f"numpy.piecewise: expected {len(conditions)} or {len(conditions) + 1} functions, got {len(funclist)}"
        )
    y = xp.zeros_like(x)
    for condition, piece in zip(conditions, funclist, strict=True):
        chosen = as_array(xp.broadcast_to(condition, shape=x.shape))
        part = x[chosen]
        if part.size:
            value = piece(part, *args, **kw) if callable(piece) else piece
            y = setitem(y, xp.astype(like(x, value), x.dtype, copy=False), index=chosen)
    return y


@numpy_function("vectorize")
def vectorize(pyfunc: Any, *, excluded: Any = None, signature: str | None = None) -> Any:
    """Return a function of arrays that calls `pyfunc` for the elements of arguments, which broadcast.

    NumPy's own class takes no Variables. `vmap` makes one call of all, for a function without branches on values.

    Parameters
    ----------
    pyfunc : callable
        Takes 0-d Variables, or arrays with the axes of the `signature`, and returns such, or a tuple.
    excluded : set of int and str, optional
        Positions and names of arguments that are passed on unchanged.
    signature : str, optional
        Axes of the arguments and results of one call, such as ``"(m,n),(n)->(m)"``.
    """
    inner = _axes_of(signature)
    kept = set(excluded or ())

    @functools.wraps(pyfunc)
    def vectorized(*args: Any, **kwargs: Any) -> Any:
        places: list[Any] = [i for i in range(len(args)) if i not in kept]
        places += [name for name in kwargs if name not in kept]
        xs = alike(*(args[at] if isinstance(at, int) else kwargs[at] for at in places))
        counts = [0] * len(xs) if inner is None else inner
        if len(counts) != len(xs):
            raise TypeError(f"numpy.vectorize: expected {len(counts)} arguments for {signature!r}, got {len(xs)}")
        return _called(pyfunc, args, kwargs, places, xs, counts)

    return vectorized


def _axes_of(signature: str | None) -> list[int] | None:
    """Return the number of axes of each argument of one call."""
    if signature is None:
        return None
    text = signature.replace(" ", "")
    if not re.fullmatch(r"\((\w+(,\w+)*)?\)(,\((\w+(,\w+)*)?\))*->\((\w+(,\w+)*)?\)(,\((\w+(,\w+)*)?\))*", text):
        raise ValueError(f"numpy.vectorize: expected a signature such as '(m,n),(n)->(m)', got {signature!r}")
    return [len(re.findall(r"\w+", axes)) for axes in re.findall(r"\(([^)]*)\)", text.partition("->")[0])]


def _called(
    pyfunc: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], places: list[Any], xs: list[Variable],
    counts: list[int],
) -> Any:  # fmt: skip
    """Return the results of `pyfunc` for all elements of `xs`, whose last `counts` axes belong to one call."""
    for x, count in zip(xs, counts, strict=True):
        if x.ndim < count:
            raise ShapeError(f"numpy.vectorize: expected at least {count} axes for the signature, got shape {x.shape}")
    around = xp.broadcast_shapes(*(x.shape[: x.ndim - n] for x, n in zip(xs, counts, strict=True)))
    spread = [xp.broadcast_to(x, shape=around + x.shape[x.ndim - n :]) for x, n in zip(xs, counts, strict=True)]
    found = []
    for at in itertools.product(*map(range, around)):
        positional, named = list(args), dict(kwargs)
        for place, x in zip(places, spread, strict=True):
            if isinstance(place, int):
                positional[place] = x[at]
            else:
                named[place] = x[at]
        found.append(pyfunc(*positional, **named))
    if not found:
        raise ValueError(f"numpy.vectorize: expected arguments with elements, got the common shape {around}")
    lead = as_variable(xs[0])
    if isinstance(found[0], tuple):
        return tuple(_gathered(lead, list(each), around) for each in zip(*found, strict=True))
    return _gathered(lead, found, around)
