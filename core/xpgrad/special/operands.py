"""Decorators for functions of real numbers, whose operands become floating-point arrays of one library first.

They append the parameters common to all these functions to docstrings without a parameters section.
"""

import functools
import inspect
import operator
import re
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, NoReturn, ParamSpec, TypeVar

from xpgrad.array_api.data_types import astype
from xpgrad.array_api.elementwise.rounding import floor
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.backend.plugins import plugins
from xpgrad.errors import DtypeError, GraphError, UnknownArray
from xpgrad.graph.definition import Rule
from xpgrad.graph.primitive import elementwise
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import Array, Namespace

MAX_ORDER = 100_000
"""Order of a derivative, above which its loop would not end."""

P = ParamSpec("P")
R = TypeVar("R")


def special(
    *, of_complex: Callable[[Variable], Variable] | None = None, no_gradient: Sequence[str] = (), **rules: Rule
) -> Callable[[Callable[Concatenate[Namespace, P], Array]], Callable[P, Variable]]:
    """Define an elementwise function of real numbers: as `elementwise`, with operands `as_floating`.

    Parameters
    ----------
    of_complex : callable, optional
        The function of one complex Variable; without it, complex numbers raise.
    no_gradient : sequence of str
        Inputs whose gradients raise a `GraphError`.
    **rules : callable
        As for `elementwise`.
    """

    def define(body: Callable[Concatenate[Namespace, P], Array]) -> Callable[P, Variable]:
        _, *names = _positional(body)
        others = [name for name in names if name not in no_gradient]
        refused = {name: _refusal(body.__name__, name, " and ".join(others)) for name in no_gradient}
        note = f"Gradients exist with respect to {_quoted(others)} only." if no_gradient else ""
        _describe(body, names, "" if of_complex else ", real", note)
        return promoted(
            in_single_precision(
                elementwise(same_dtype=True, label=None, extension="special", linear=(), **refused, **rules)(body)
            ),
            of_complex,
        )

    return define


def _refusal(function: str, parameter: str, others: str) -> Rule:
    def refuse(xp: Namespace, gy: Array) -> NoReturn:
        raise GraphError(
            f"{function}: expected a gradient with respect to {others} only, got a request for {parameter}; "
            f"pass {parameter} as an array or a number, or as xpgrad.transforms.stop_gradient({parameter})"
        )

    return refuse


def composed(function: Callable[P, R]) -> Callable[P, R]:
    """Define a function of real numbers by other functions: its operands are first converted by `as_floating`."""
    return _composed(function, None)


def composed_of_counts(count: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """As `composed`, for a function whose first `count` arguments are numbers of events, without their fractions."""

    def define(function: Callable[P, R]) -> Callable[P, R]:
        note = f"The fractions of {_quoted(_positional(function)[:count])} are dropped; these have no gradients."
        return _composed(function, None, note, count)

    return define


def composed_of_order(kind: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """As `composed`, for a function whose first argument is an int from 0 on: its order, or another `kind`."""
    return lambda function: _composed(function, kind)


def _composed(function: Callable[P, R], kind: str | None, note: str = "", counts: int = 0) -> Callable[P, R]:
    call: Callable[..., R] = in_single_precision(function)
    names = _positional(function)
    name, count, lead = function.__name__, len(names), int(kind is not None)
    _describe(function, names[lead:], ", real", note, f"{names[0]} : int\n    From 0 on.\n" if lead else "")

    @functools.wraps(function)
    def composition(*args: Any, **parameters: Any) -> R:
        orders = [_whole(name, kind, n) for n in args[:lead]]
        operands = as_floating(name, args[lead:count])
        whole = map(floor, operands[:counts])
        return call(*orders, *whole, *operands[counts:], *args[count:], **parameters)

    return composition


def _whole(name: str, kind: str | None, n: Any) -> int:
    try:
        order = operator.index(n) if not isinstance(n, (bool, Variable)) and not getattr(n, "shape", ()) else -1
    except TypeError:
        order = -1
    if order < 0:
        raise DtypeError(f"{name}: expected an int from 0 on as the {kind}, got {n!r}")
    return order


def _positional(function: Callable[..., Any]) -> tuple[str, ...]:
    code = function.__code__
    return code.co_varnames[: code.co_posonlyargcount]


def _quoted(names: Sequence[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)


def _describe(function: Callable[..., Any], names: Sequence[str], real: str, note: str = "", before: str = "") -> None:
    """Add the section of the parameters to the docstring of `function`, before all other sections."""
    code = function.__code__
    text = inspect.cleandoc(function.__doc__ or "")
    if "Parameters\n----" in text:
        return
    section = f"Parameters\n----------\n{before}{', '.join(names)} : Variable or array{real}"
    if note:
        section += f"\n    {note}"
    if orders := code.co_varnames[code.co_posonlyargcount : code.co_argcount]:
        section += f"\n{', '.join(orders)} : int\n    From 0 on."
    end = found.start() if (found := re.search(r"\n\n\w+\n---", text)) else len(text)
    function.__doc__ = f"{text[:end]}\n\n{section}{text[end:]}"


def promoted(
    function: Callable[P, Variable], of_complex: Callable[[Variable], Variable] | None = None
) -> Callable[P, Variable]:
    """Return a primitive, or a function that wraps one, with operands that are made `as_floating` where necessary."""
    call: Callable[..., Variable] = function
    name, count = call.__name__, len(call.definition.inputs)  # type: ignore[attr-defined]  # a primitive's

    @functools.wraps(function)
    def promoting(*operands: Any, **parameters: Any) -> Variable:
        arrays = operands[:count]
        for x in arrays:
            if type(x) is not Variable or (spec := x._node.spec) is None or spec.complex or not spec.differentiable:
                if of_complex is not None and not _is_scalar(x) and (x := as_variable(x)).node.spec.complex:
                    return of_complex(x)
                operands = *as_floating(name, arrays), *operands[count:]
                break
        if parameters or len(operands) > count:
            _check_orders(name, *operands[count:], *parameters.values())
        return call(*operands, **parameters)

    return promoting


def _check_orders(name: str, *parameters: Any) -> None:
    """Raise if an integer parameter, such as the order of a derivative, requires an excessively long loop."""
    if any(isinstance(value, int) and value > MAX_ORDER for value in parameters):
        raise ValueError(f"{name}: expected an order of at most {MAX_ORDER}, got {max(parameters)}")


def where_scalars(xp: Namespace, condition: Array, x1: float, x2: float, like: Array) -> Array:
    """Return `x1` where the condition holds and `x2` otherwise, in the dtype of `like`.

    The standard's `where` takes at most one Python scalar.
    """
    return xp.where(condition, xp.asarray(x1, dtype=like.dtype, device=xp.device_of(like)), x2)


def as_floating(name: str, operands: tuple[Any, ...]) -> tuple[Variable, ...]:
    """Return operands as Variables of floating-point dtypes.

    Integers are cast, and Python scalars become 0-d arrays, to the dtype of the first floating-point array, or to the
    library's default without one.

    Raises
    ------
    UnknownArray
        None of the operands is an array.
    DtypeError
        One is complex.
    """
    xs = [x if _is_scalar(x) else as_variable(x) for x in operands]
    arrays = [x for x in xs if isinstance(x, Variable)]
    if not arrays:
        xs = [plugins.array_of(x) for x in xs]  # libraries' scalars are 0-d
        xs = [x if _is_scalar(x) else as_variable(x) for x in xs]
        arrays = [x for x in xs if isinstance(x, Variable)]
    if not arrays:
        kinds = ", ".join(type(x).__name__ for x in operands) or "nothing"
        raise UnknownArray(f"{name}: expected at least one Variable or array, got {kinds}")
    lead = next((x for x in arrays if x._node.spec.differentiable), arrays[0])
    spec = lead._node.spec
    if any(x._node.spec.complex for x in arrays) or any(isinstance(x, complex) for x in xs):
        raise DtypeError(
            f"{name}: expected real numbers, got complex numbers; take the real part or the absolute value"
        )
    backend = spec.backend
    dtype = spec.dtype if spec.differentiable else backend.default_dtype("float")
    floating = []
    for x in xs:
        if not isinstance(x, Variable):
            x = as_variable(backend.asarray(x.item() if hasattr(x, "item") else x, dtype, spec.device))
        elif not x._node.spec.differentiable:
            x = astype(x, dtype)
        floating.append(x)
    return tuple(floating)


def _is_scalar(x: Any) -> bool:
    return isinstance(x, (int, float, complex)) or (
        not isinstance(x, Variable) and type(x) not in plugins.by_type and plugins.is_scalar(x)
    )
