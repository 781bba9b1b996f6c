"""`special`: an elementwise primitive whose operands become floating-point arrays of one library first."""

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec

from xpgrad.array_api.data_types import astype
from xpgrad.backend.plugins import plugins
from xpgrad.errors import DtypeError, UnknownArray
from xpgrad.graph.definition import Rule
from xpgrad.graph.primitive import elementwise
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import Array, Namespace

P = ParamSpec("P")


def special(
    *, of_complex: Callable[[Variable], Variable] | None = None, **rules: Rule
) -> Callable[[Callable[Concatenate[Namespace, P], Array]], Callable[P, Variable]]:
    """Define an elementwise function of real numbers; as `elementwise`, but that its operands are `fitted`.

    Parameters
    ----------
    of_complex : callable, optional
        The function of one complex Variable; without it, complex numbers are refused.
    **rules : callable
        As for `elementwise`.
    """

    def define(body: Callable[Concatenate[Namespace, P], Array]) -> Callable[P, Variable]:
        return promoted(
            _by_single_precision(elementwise(same_dtype=True, label=None, extension="special", **rules)(body)),
            of_complex,
        )

    return define


def promoted(
    function: Callable[P, Variable], of_complex: Callable[[Variable], Variable] | None = None
) -> Callable[P, Variable]:
    """Return a primitive, or a function that wraps one, so that its operands are `fitted` first."""
    call: Callable[..., Variable] = function
    name, count = call.__name__, len(call.definition.inputs)  # type: ignore[attr-defined]  # a primitive's

    @functools.wraps(function)
    def promoting(*operands: Any, **parameters: Any) -> Variable:
        arrays = operands[:count]
        for x in arrays:
            if type(x) is not Variable or (spec := x._node.spec) is None or spec.complex or not spec.differentiable:
                if of_complex is not None and not _is_scalar(x) and (x := as_variable(x)).node.spec.complex:
                    return of_complex(x)
                operands = *fitted(name, arrays), *operands[count:]
                break
        return call(*operands, **parameters)

    return promoting


def _by_single_precision(primitive: Callable[P, Variable]) -> Callable[P, Variable]:
    """Return `primitive`, half precision by way of single: libraries of such functions have no loops for less."""
    call: Callable[..., Variable] = primitive
    count = len(call.definition.inputs)  # type: ignore[attr-defined]  # a primitive's

    @functools.wraps(primitive)
    def function(*operands: Any, **parameters: Any) -> Variable:
        arrays = operands[:count]
        for x in arrays:
            if x._node.spec.half:
                break
        else:
            return call(*operands, **parameters)
        wide = [astype(x, x._node.spec.wide, copy=False) for x in arrays]
        y = call(*wide, *operands[count:], **parameters)
        dtypes = {x.dtype for x in arrays}
        return astype(y, dtypes.pop()) if len(dtypes) == 1 else y

    return function


def either(xp: Namespace, condition: Array, one: float, other: float, like: Array) -> Array:
    """Return one of two numbers, elementwise, in the dtype of `like`; the standard's `where` takes one at most."""
    return xp.where(condition, xp.asarray(one, dtype=like.dtype, device=xp.device_of(like)), other)


def fitted(name: str, operands: tuple[Any, ...]) -> tuple[Variable, ...]:
    """Return operands as Variables of floating-point dtypes.

    Integers are cast, and Python's scalars become 0-d arrays, of the dtype of the first floating-point array there is,
    or else of the library's default.

    Raises
    ------
    UnknownArray
        There is no array among them.
    DtypeError
        One is complex.
    """
    xs = [x if _is_scalar(x) else as_variable(x) for x in operands]
    arrays = [x for x in xs if isinstance(x, Variable)]
    if not arrays:
        kinds = ", ".join(type(x).__name__ for x in operands) or "nothing"
        raise UnknownArray(f"{name}: expected at least one Variable or array, got {kinds}")
    lead = next((x for x in arrays if x._node.spec.differentiable), arrays[0])
    spec = lead._node.spec
    if any(x._node.spec.complex for x in arrays) or any(isinstance(x, complex) for x in xs):
        raise DtypeError(f"{name}: expected real numbers, got complex ones; take the real part or the absolute value")
    backend = spec.backend
    dtype = spec.dtype if spec.differentiable else backend.default_dtype("float")
    made = []
    for x in xs:
        if not isinstance(x, Variable):
            x = as_variable(backend.asarray(x.item() if hasattr(x, "item") else x, dtype, spec.device))
        elif not x._node.spec.differentiable:
            x = astype(x, dtype)
        made.append(x)
    return tuple(made)


def _is_scalar(x: Any) -> bool:
    return isinstance(x, (int, float, complex)) or (
        not isinstance(x, Variable) and type(x) not in plugins.by_type and plugins.is_scalar(x)
    )
