"""Mixed precision: inputs of several floating-point dtypes; the result has the dtype of the first input.

The computation uses the dtype to which all inputs promote, float32 or higher.
"""

from typing import Any

from xpgrad.array_api import astype
from xpgrad.backend.checks import require_together
from xpgrad.backend.spec import Spec
from xpgrad.functions.checks import known_spec
from xpgrad.graph.variable import Variable
from xpgrad.types import AnyArray, Array


def mixed(x: Spec, *others: Spec | None) -> bool:
    """Return whether real arrays of one library have several dtypes."""
    rest = [spec for spec in others if spec is not None and spec.dtype is not x.dtype]
    if not rest or any(spec.complex or library(spec) is not library(x) for spec in (x, *rest)):
        return False
    return any(spec.dtype != x.dtype for spec in rest)


def library(spec: Spec) -> Any:
    """Return the backend below all transformations: arrays from outside a transformation are not lifted yet."""
    backend: Any = spec.backend
    while backend.base is not None:
        backend = backend.base
    return backend


def unified(
    function: str, *arrays: AnyArray | None, beside: tuple[Array, ...] = (), single: bool = False
) -> tuple[Any, ...]:
    """Return `arrays` in their common dtype, float32 at least, if they and those `beside` them are `mixed`.

    The first is not None. Otherwise they are returned unchanged, except in half precision if `single`.
    """
    first = known_spec(arrays[0], function)
    single = single and first.half
    for x in arrays + beside:
        if x is not None and known_spec(x, function).dtype is not first.dtype:
            break
    else:
        if not single:
            return arrays  # the usual case, without the lists below
    require_together(function, *arrays, *beside)
    specs = [known_spec(x, function) for x in arrays if x is not None]
    if not single and not mixed(first, *specs, *(known_spec(x, function) for x in beside)):
        return arrays
    common = first.backend.namespace.result_type(*(spec.wide for spec in specs))
    return tuple(None if x is None else astype(x, common, copy=False) for x in arrays)


def in_dtype_of(spec: Spec, y: Variable) -> Variable:
    """Return `y` in the dtype of the first input, whose spec is given."""
    found = y._node.spec
    same = found is None or found.dtype == spec.dtype or found.complex
    return y if same else astype(y, spec.dtype)
