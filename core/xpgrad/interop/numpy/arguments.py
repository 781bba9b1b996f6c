"""How NumPy's functions are defined for Variables: with NumPy's own argument names, some of which are refused."""

import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from xpgrad import array_api as xp
from xpgrad.backend.backend import Backend
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spellings import dtype_of
from xpgrad.errors import DtypeError
from xpgrad.graph.operands import promoted_dtype
from xpgrad.graph.variable import Variable, as_variable, constant_variable

Function = Callable[..., Any]


class Refused:
    """Default of an argument that is not supported; NumPy's own default may be passed."""

    def __repr__(self) -> str:
        return "<not for Variables>"


REFUSED: Any = Refused()
KINDS = "bool", "integral", "real floating", "complex floating"
"""Kinds of dtypes; elements of one kind are cast to later kinds only."""
FLOATING = KINDS[2:]
TABLE: dict[str, Function] = {}
"""From the name of a function of NumPy, such as ``linalg.solve``, to our function."""

_HARMLESS: dict[str, tuple[Any, ...]] = {  # values without effect, of arguments that are otherwise rejected
    "where": (True,),
    "order": ("K", "C", "A"),
    "casting": ("same_kind",),
    "einsum.casting": ("safe",),
    **dict.fromkeys(["reshape.order", "ravel.order", "unravel_index.order"], ("C",)),
    **dict.fromkeys(["sort.order", "argsort.order", "partition.order", "argpartition.order"], ()),
    **dict.fromkeys(["partition.kind", "argpartition.kind"], ("introselect",)),
    "subok": (True, False),
    "kind": ("quicksort", "stable", "mergesort", "heapsort"),
    "overwrite_input": (False,),
    "retstep": (False,),
    "returned": (False,),
    "mode": ("raise",),
    "UPLO": ("L",),
}
_ADVICE = {
    "out": "write y = f(x); a Variable or array that is written to has no gradient of it",
    "where": "choose with xpgrad.array_api.where",
    "initial": "concatenate it with the array first",
}


def numpy_function(*names: str) -> Callable[[Function], Function]:
    """Enter the decorated function in the table under NumPy's `names`; its REFUSED arguments are refused.

    The function gets the first of the names, the module of `xpgrad` in which it is found, and a docstring.
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


def numpy_functions(rows: Mapping[str, Function]) -> None:
    """Enter functions by NumPy's names, separated by a space where one has several.

    A row is a lambda with NumPy's argument names and defaults, so that it has the signature that users see.
    """
    for names, function in rows.items():
        numpy_function(*names.split())(function)


def standard(name: str) -> Function:
    """Return the standard's function ``name``, such as ``linalg.det``; TypeError where xpgrad has none."""
    found: Any = xp
    for part in name.split("."):
        found = getattr(found, part, None)
    function: Function = refuse_function(name) if found is None else found
    return function


def delegated(name: str, inputs: int = 1) -> None:
    """Enter a function that has the standard's name and arguments, looked up when it is called."""

    @numpy_function(name)
    @functools.wraps(standard(name), updated=())  # its docstring and signature
    def called(*args: Any, out: Any = REFUSED, **kwargs: Any) -> Any:
        return standard(name)(*alike(*args[:inputs]), *args[inputs:], **kwargs)


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
    """Return an argument, or None for NumPy's placeholder of an argument that was not passed."""
    return None if type(value).__name__ == "_NoValueType" else value


def refuse_argument(name: str, argument: str, value: Any, library: str = "numpy") -> None:
    """Raise TypeError unless `value` is None or has no effect."""
    if given(value) is None:
        return
    harmless = _HARMLESS.get(f"{name}.{argument}", _HARMLESS.get(argument, ()))
    if any(value is each or (type(value) is str and value == each) for each in harmless):
        return
    advice = _ADVICE.get(argument, f"leave {argument} away")
    raise TypeError(f"{library}.{name}: {argument}= is not for Variables; {advice}")


def refuse_function(name: str, advice: str | None = None, library: str = "numpy") -> NoReturn:
    """Raise TypeError for a function that is not defined for Variables."""
    advice = advice or "use functions of xpgrad.array_api or xpgrad.ops, or, where no gradient is wanted, v.array"
    raise TypeError(f"{library}.{name} has no meaning for Variables here; {advice}")


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
        Let the library choose the dtype; by default it is the dtype of `lead`, if floating-point.
    """
    if isinstance(x, Variable):
        return x
    if hasattr(x, "shape") and not plugins.is_scalar(x):
        return as_variable(x)
    if isinstance(x, (list, tuple)) and lead_of(x) is not None:
        return xp.stack([like(lead, part) for part in x])
    spec = lead.node.spec
    scalars = list(_scalars(x))
    dtype = (
        promoted_dtype("asarray", [lead._array], scalars, spec.backend) if spec.differentiable and not exact else None
    )
    return constant_variable(spec.backend.asarray(x, dtype=dtype, device=spec.device))


def _scalars(x: Any) -> Iterator[Any]:
    """Yield the scalars in nested lists and tuples."""
    if isinstance(x, (list, tuple)):
        for part in x:
            yield from _scalars(part)
    else:
        yield x


def alike(*xs: Any) -> list[Variable]:
    """Return arrays, lists and scalars as Variables of one library."""
    lead = lead_of(*xs)
    return [as_variable(x) if lead is None else like(lead, x) for x in xs]


def cast(a: Any, dtype: Any) -> Any:
    """Return `a` in NumPy's `dtype`; None leaves it unchanged."""
    return a if dtype is None else xp.astype(a, dtype, copy=False)


def holds(backend: Backend, dtype: Any, given: Any) -> bool:
    """Return whether elements of the dtype `given` can be cast to `dtype` without being truncated."""
    wanted, kind = (next(i for i, each in enumerate(KINDS) if backend.is_kind(one, each)) for one in (dtype, given))
    return wanted >= kind


def cast_within(name: str, a: Any, dtype: Any, kinds: tuple[str, ...] = KINDS) -> Any:
    """Return `a` in NumPy's `dtype`, which must be of one of `kinds`; NumPy would truncate the elements.

    Raises
    ------
    DtypeError
        With the function's `name`.
    """
    if dtype is None:
        return a
    a = as_variable(a)
    backend = a.node.spec.backend
    found = dtype_of(dtype, backend, name)
    if not backend.is_kind(found, kinds) or not holds(backend, found, a.dtype):
        raise DtypeError(
            f"numpy.{name}: expected a dtype= that holds the results for {a.dtype} elements, got {dtype}; "
            "cast the result with astype"
        )
    return cast(a, found)


def flat(a: Any) -> Variable:
    """Return `a` as a vector."""
    return xp.reshape(a, shape=(-1,))
