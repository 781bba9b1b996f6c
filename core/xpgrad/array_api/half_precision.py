"""Compositions of half-precision arrays, computed in single precision and rounded once at the end."""

import functools
from collections.abc import Callable, Iterator
from typing import Any, ParamSpec, TypeVar

from xpgrad.array_api.data_types import astype
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.errors import BackendUnavailable, UnknownArray
from xpgrad.graph.variable import Variable
from xpgrad.types import Dtype

P = ParamSpec("P")
R = TypeVar("R")


def in_single_precision(function: Callable[P, R]) -> Callable[P, R]:
    """Return `function` with half-precision arguments cast to single precision, and its results cast back.

    Intermediate results of a composition may overflow in float16 even if its value and its gradient do not. Arguments
    of several floating-point dtypes are passed unchanged: they promote to single precision or wider. Lists and tuples
    of arrays are cast as well.
    """
    call: Callable[..., Any] = function

    @functools.wraps(function)
    def computed(*args: Any, **kwargs: Any) -> Any:
        for x in args:
            if type(x) is Variable and (spec := x._node.spec) is not None and spec.differentiable:
                if not spec.half:
                    return call(*args, **kwargs)
                break
        found = {spec.dtype: spec for spec in _floating((*args, *kwargs.values()))}
        if len(found) != 1:
            return call(*args, **kwargs)
        (spec,) = found.values()
        if not spec.half:
            return call(*args, **kwargs)
        narrow, wide = spec.dtype, spec.wide
        y = call(*_cast(args, narrow, wide), **{name: _cast(x, narrow, wide) for name, x in kwargs.items()})
        return _cast(y, wide, narrow)

    return computed


def _floating(x: Any) -> Iterator[Spec]:
    """Yield the spec of each floating-point array in nested lists and tuples."""
    if isinstance(x, (list, tuple)):
        for each in x:
            yield from _floating(each)
        return
    spec = _spec(x)
    if spec is not None and spec.differentiable:
        yield spec


def _spec(x: Any) -> Spec | None:
    """Return the spec of a Variable or an array; None for anything else, and for an uninitialised Variable."""
    if isinstance(x, Variable):
        return x._node.spec
    if not hasattr(x, "dtype") or isinstance(x, plugins.scalar_types):
        return None
    try:
        return plugins.backend_of(x).spec(x)
    except (UnknownArray, BackendUnavailable):
        return None


def _cast(x: Any, source: Dtype, target: Dtype) -> Any:
    """Return arrays of the dtype `source`, in nested lists and tuples, in the dtype `target`."""
    if type(x) in (list, tuple):
        return type(x)(_cast(each, source, target) for each in x)
    spec = _spec(x)
    if spec is None or spec.dtype != source:
        return x
    return astype(x, target) if isinstance(x, Variable) else spec.backend.xp.astype(x, target)
