"""The boundary of public functions: exceptions name the public function and its arguments.

A primitive has none: its call path explains the errors of its kernel. A composition fails anywhere: in Python, which
names no argument, or in a function that it calls, which names itself. So the functions that a public module lists are
called within `bounded`, which rewords such errors. It costs 0.05 µs a call, and those within xpgrad do not pass it.
"""

import dis
import functools
import inspect
import itertools
import re
import reprlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FrameType
from typing import Any

from xpgrad.errors import (
    AllocationError,
    AnomalyError,
    BackendUnavailable,
    BatchError,
    EscapedArray,
    TraceError,
    XpgradError,
)
from xpgrad.hints import REMOVED

Function = Callable[..., Any]
PACKAGE = __name__.partition(".")[0]
KINDS: tuple[tuple[type[Exception], type[Exception]], ...] = (
    (MemoryError, AllocationError),
    (RecursionError, ValueError),
    (NotImplementedError, NotImplementedError),
    (FloatingPointError, FloatingPointError),
    (ArithmeticError, ValueError),
    (IndexError, IndexError),
    (KeyError, ValueError),
    (ValueError, ValueError),
    (TypeError, TypeError),
    (AttributeError, TypeError),
)
"""What is raised in place of Python's error for a wrong argument, which depends on what could not be done with it."""
NAMED = AnomalyError, BackendUnavailable, BatchError, EscapedArray, TraceError
"""Errors that begin with the function, the device or the transformation that they are about."""
OF_CHAINER = f"{PACKAGE}.functions", f"{PACKAGE}.links"
"""Modules of functions that Chainer has."""
MAX_DEPTH = 100
"""Levels of nested sequences from which on a RecursionError is about them."""
libraries = {"opt_einsum", "scipy"}
"""Root packages of libraries whose errors are those of the call: what plugins add, and what xpgrad needs."""
refusals: dict[type, Callable[[Exception], type[Exception] | None]] = {}
"""`Backend.refusal` by array type: the class of a RuntimeError that is about the arguments."""
_short = reprlib.Repr()
_short.maxstring = _short.maxother = 60


def bounded(function: Function, name: str | None = None) -> Function:
    """Return `function`, whose errors name it, or `name`, and its arguments; a constructor's name its class."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            found = reworded(error, name or type(args[0]).__name__, function, args, kwargs)
            try:
                if found is error:
                    raise
                raise found from error
            finally:
                del found  # else this frame and its arrays would be a cycle with the error

    vars(call)["bounded"] = True  # read by `as_bounded`
    return call


def bound(module: str, names: Iterable[str]) -> None:
    """Bound the functions and the constructors of classes among the `names` of a module, if it has been imported."""
    space = vars(sys.modules[module]) if module in sys.modules else {}
    space.update({name: as_bounded(module, name, space[name]) for name in names if name in space})


def as_bounded(module: str, name: str, value: Any) -> Any:
    """Return the public function of a module for `name`: with a boundary, unless it is a primitive or has one."""
    if isinstance(value, type):
        for base in value.__mro__:
            made = vars(base).get("__init__")
            if inspect.isfunction(made) and not hasattr(made, "bounded") and base.__module__.startswith(f"{PACKAGE}."):
                type.__setattr__(base, "__init__", bounded(made))
    elif inspect.isfunction(value) and not hasattr(value, "bounded") and not _is_primitive(value):
        value = _shared(value, name)
        if value.__module__ not in sys.modules or getattr(sys.modules[value.__module__], name, None) is not value:
            value.__module__, value.__qualname__ = module, name  # where pickle finds it
    return value


def _is_primitive(function: Function) -> bool:
    return hasattr(function, "definition") and not hasattr(function, "__wrapped__")


@functools.cache
def _shared(function: Function, name: str) -> Function:
    """Return a function bounded, the same object for every module that lists it."""
    return bounded(function, name)


def bound_methods(kind: type) -> None:
    """Let errors of the public methods that a class itself defines name the method and its arguments."""
    for name, method in list(vars(kind).items()):
        if inspect.isfunction(method) and not name.startswith("_") and not hasattr(method, "bounded"):
            setattr(kind, name, bounded(method, name))


def reworded(
    error: Exception, name: str, function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Exception:
    """Return the error of a call of the public function `name` such that it names it; a user's error is unchanged.

    Parameters
    ----------
    error : Exception
    name : str
    function : callable
    args, kwargs : tuple, dict
        The arguments of the call.
    """
    own = isinstance(error, XpgradError)
    kind = type(error) if own else next((new for old, new in KINDS if isinstance(error, old)), None)
    if kind is None and type(error) is RuntimeError:
        arrays = (getattr(value, "_array", value) for value in (*args, *kwargs.values()))
        kind = next((refusals[type(a)](error) for a in arrays if type(a) in refusals), None)
    if kind is None or not _is_ours(error):
        return error
    worded = own or (_is_worded(error) and not isinstance(error, AttributeError))
    if worded and (isinstance(error, KeyError) or re.search(rf"^{re.escape(name)}\b", str(error))):
        return error
    if worded:
        if not re.search(rf"\b{re.escape(name)}\b", str(error)) and error.args and isinstance(error.args[0], str):
            error.args = (_renamed(error, name, function), *error.args[1:])
        return error
    if isinstance(error, RecursionError) and not any(map(_is_deep, (*args, *kwargs.values()))):
        return error
    given = ", ".join(f"{key}={described(value)}" for key, value in _by_name(function, args, kwargs).items())
    said = re.sub(r"^([\w.<>]+\(\)|Variable\.\w+:) ", "", str(error)).rstrip(". ")
    unknown = said.removeprefix("got an unexpected keyword argument ").strip("'")
    if unknown in kwargs and unknown in REMOVED and function.__module__.startswith(OF_CHAINER):
        return ValueError(f"{name}: the argument {unknown!r} was removed in Chainer 2; {REMOVED[unknown]}")
    return kind(f"{name}: {said}; got {given or 'no arguments'}")


def _is_worded(error: Exception) -> bool:
    """Return whether a statement of xpgrad has raised an error, with a message of xpgrad."""
    *_, (frame, last) = _steps(error)
    code = frame.f_code.co_code[last]
    return str(frame.f_globals.get("__name__", "")).startswith(PACKAGE) and dis.opname[code] == "RAISE_VARARGS"


def _renamed(error: Exception, name: str, function: Function) -> str:
    """Return the text of an error with the name of the public function that the user called."""
    if str(error.args[0]).startswith("Invalid operation is performed in: "):  # Chainer's words
        label = name if function.__module__.startswith(OF_CHAINER[0]) else r"\1"
        return re.sub(r"(?<=performed in: )(\w+)", label, str(error.args[0]), count=1)
    head, _, rest = str(error.args[0]).partition(": ")
    frames = [*itertools.takewhile(_is_forward, (frame for frame, _ in _steps(error)))]
    of_file = any(f.f_code.co_qualname.endswith("Deserializer.__call__") for f in frames)  # the head is its name there
    most = 0 if of_file else None if _is_function(head) else 2
    inner = head.partition(".")[0] == "Variable" or any(head in _names(frame)[:most] for frame in frames)
    if isinstance(error, NAMED) or (not inner and _is_running(head)):
        return str(error.args[0])
    return f"{name}: {rest if inner else error.args[0]}"


def _names(frame: FrameType) -> list[str]:
    """Return two names of the function of a frame, and names of the function that it computes or checks, if any."""
    definition = frame.f_locals.get("definition")
    given = [*map(frame.f_locals.get, ("name", "function", "operation")), getattr(definition, "title", None)]
    given.append(getattr(type(frame.f_locals.get("self")), "name", None))  # of a FunctionNode
    code = frame.f_code.co_name
    return [code, code.strip("_"), *(name.rpartition(".")[2] for name in given if isinstance(name, str))]


def _is_function(name: str) -> bool:
    """Return whether a function has this name; names may also be those of parameters and of arrays in a file."""
    found = (vars(module).get(name) for root, module in [*sys.modules.items()] if root.startswith(PACKAGE))
    return any(
        str(getattr(each, "__module__", "")).startswith(PACKAGE) and not isinstance(each, type) for each in found
    )


def _is_forward(frame: FrameType) -> bool:
    """Return whether a frame is not that of a sweep, whose functions the user of a gradient has called before."""
    return frame.f_code.co_qualname != "Sweep._run"


def _is_running(name: str) -> bool:
    """Return whether a function of this name is running; errors of its callees then name this function."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == name:
            return True
        frame = frame.f_back
    return False


def _steps(error: Exception) -> Iterator[tuple[FrameType, int]]:
    """Yield the frames on the way to an error, and the positions of their last instructions."""
    step = error.__traceback__
    while step is not None:
        yield step.tb_frame, step.tb_lasti
        step = step.tb_next


def _is_ours(error: Exception) -> bool:
    """Return whether only xpgrad, Python and array libraries are on the way to an error, and no function of a user."""
    for frame, _ in _steps(error):
        root = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if root and not root.startswith(PACKAGE) and root not in libraries and root not in sys.stdlib_module_names:
            return False
    return True


def _by_name(function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call by their names, as far as they have any."""
    parameters = inspect.signature(function).parameters.values()
    names = [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.KEYWORD_ONLY, p.VAR_KEYWORD)]
    if names[:1] == ["self"]:
        names, args = names[1:], args[1:]
    return {names[i] if i < len(names) else f"args[{i}]": value for i, value in enumerate(args)} | {**kwargs}


def described(value: Any) -> str:
    """Return a short description of any argument: dtype and shape for arrays and Variables."""
    try:
        if hasattr(value, "dtype") and isinstance(value.shape, tuple):
            return f"{value.dtype} {tuple(value.shape)}"
        return _short.repr(value)
    except Exception:  # an error of a user's object must not replace the reported error
        return type(value).__name__


def _is_deep(value: Any) -> bool:
    """Return whether `value` contains itself, or is nested deeply."""
    level = [value]
    for _ in range(MAX_DEPTH):
        parts = [list(each.values()) if isinstance(each, dict) else each for each in level]
        level = [item for part in parts if isinstance(part, (list, tuple)) for item in part[:9]][:1000]
    return bool(level)
