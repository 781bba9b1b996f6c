"""How NumPy's functions are written down for Variables: with NumPy's own argument names, some of which are refused."""

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from xpgrad.backend.plugins import plugins
from xpgrad.graph.variable import Variable, as_variable, constant_variable

Function = Callable[..., Any]


class Refused:
    """Default of an argument that has no meaning for Variables; NumPy's own default may pass."""

    def __repr__(self) -> str:
        return "<not for Variables>"


REFUSED: Any = Refused()
TABLE: dict[str, Function] = {}
"""From the name of a function of NumPy, such as ``linalg.solve``, to what it is for Variables."""

_HARMLESS = {
    "where": (True,),
    "order": ("K", "C", "A"),
    "casting": ("same_kind", "unsafe", "no"),
    "subok": (True, False),
    "kind": ("quicksort", "stable", "mergesort", "heapsort", "introselect"),
    "overwrite_input": (False,),
    "mode": ("raise",),
    "UPLO": ("L",),
}
_ADVICE = {
    "out": "write y = f(x); a Variable or array that is written to has no gradient of it",
    "where": "choose with xpgrad.array_api.where",
    "initial": "join it to the array first",
}


def numpy_function(*names: str) -> Callable[[Function], Function]:
    """Enter the decorated function in the table under NumPy's `names`; its REFUSED arguments are refused.

    In the table it has the first of the names, the module of `xpgrad` that it is found in, and a docstring.
    """

    def enter(function: Function) -> Function:
        parameters = inspect.signature(function, follow_wrapped=False).parameters.values()
        refused = {
            p.name: i if p.kind is p.POSITIONAL_OR_KEYWORD else sys.maxsize
            for i, p in enumerate(parameters)
            if p.default is REFUSED
        }
        _describe(function, names[0])
        for name in names:
            TABLE[name] = _checked(name, function, refused) if refused else function
        return function

    return enter


def _describe(function: Function, name: str) -> None:
    chapter, _, short = name.rpartition(".")
    function.__module__ = f"xpgrad.{chapter}" if chapter else "xpgrad"
    function.__name__ = function.__qualname__ = short
    own = f"\n\n{function.__doc__}" if function.__doc__ else ""
    function.__doc__ = f"`numpy.{name}` of Variables, differentiable, with NumPy's names and order of arguments.{own}"


def _checked(name: str, function: Function, refused: dict[str, int]) -> Function:
    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        for argument, place in refused.items():
            if argument in kwargs:
                refuse_argument(name, argument, kwargs[argument])
            elif place < len(args):
                refuse_argument(name, argument, args[place])
        return function(*args, **kwargs)

    return checked


def given(value: Any) -> Any:
    """Return an argument, or None for what NumPy has in the place of one that was not given."""
    return None if type(value).__name__ == "_NoValueType" else value


def refuse_argument(name: str, argument: str, value: Any) -> None:
    """Raise TypeError unless `value` says what would be done anyway."""
    if given(value) is None:
        return
    if any(value is each or (type(value) is str and value == each) for each in _HARMLESS.get(argument, ())):
        return
    advice = _ADVICE.get(argument, f"leave {argument} away")
    raise TypeError(f"numpy.{name}: {argument}= is not for Variables; {advice}")


def refuse_function(name: str, advice: str | None = None) -> NoReturn:
    """Raise TypeError: there is no such function for Variables."""
    advice = advice or "use functions of xpgrad.array_api or xpgrad.ops, or, where no gradient is wanted, v.array"
    raise TypeError(f"numpy.{name} has no meaning for Variables here; {advice}")


def lead_of(*xs: Any) -> Variable | None:
    """Return the first Variable among `xs`, looking into sequences."""
    for x in xs:
        if isinstance(x, Variable):
            return x
        if isinstance(x, (list, tuple)):
            found = lead_of(*x)
            if found is not None:
                return found
    return None


def like(lead: Variable, x: Any, exact: bool = False) -> Any:
    """Return lists and scalars, which NumPy's functions take for arrays, as constants of the library of `lead`.

    Parameters
    ----------
    lead : Variable
    x : object
        Variables and arrays are returned as Variables.
    exact : bool
        Leave the dtype open; by default it becomes that of `lead`, if that is floating-point.
    """
    if isinstance(x, Variable):
        return x
    if hasattr(x, "shape") and not plugins.is_scalar(x):
        return as_variable(x)
    if isinstance(x, (list, tuple)) and lead_of(x) is not None:
        from xpgrad.array_api import stack

        return stack([like(lead, part) for part in x])
    spec = lead.node.spec
    dtype = spec.dtype if spec.differentiable and not exact else None
    return constant_variable(spec.backend.asarray(x, dtype=dtype, device=spec.device))


def alike(*xs: Any) -> list[Variable]:
    """Return arrays, lists and scalars as Variables of one library."""
    lead = lead_of(*xs)
    return [as_variable(x) if lead is None else like(lead, x) for x in xs]


def dtype_like(x: Any, dtype: Any) -> Any:
    """Return the dtype of the library of `x` that NumPy's `dtype`, its name or a Python type means; None stays."""
    lead = lead_of(x)
    if dtype is None or lead is None or isinstance(dtype, type(lead.dtype)):
        return dtype
    python = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
    name = python.get(dtype) or getattr(dtype, "__name__", None) or str(dtype)
    return getattr(lead.node.spec.backend.namespace, name)
