"""Expressions over shapes and dtypes, whose text names the violated condition (`chainer.utils.type_check`).

Conditions on the `TypeInfo` of xpgrad are plain booleans, which `expect` of xpgrad quotes; conditions on a `Variable`
of this module are expressions, and a comparison is true or false as a whole.
"""

import contextlib
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from xpgrad import Variable as _Variable
from xpgrad.errors import InvalidType
from xpgrad.utils import type_check
from xpgrad.utils.type_check import TypeInfo, TypeInfoTuple

__all__ = [
    "Constant", "Expr", "InvalidType", "LightMode", "LightTypeInfoTuple", "NamedTypes", "Testable", "TypeInfo",
    "TypeInfoTuple", "Variable", "eval", "expect", "get_function_check_context", "get_light_types", "get_types",
    "in_light_mode", "light_mode", "make_variable", "same_types",
]  # fmt: skip

LightTypeInfoTuple = TypeInfoTuple


class Expr:
    """An expression built by operators, attributes and calls from variables and constants."""

    def __init__(self, priority: int, text: str, evaluate: Callable[[], Any]) -> None:
        self.priority, self.text, self._evaluate = priority, text, evaluate

    def eval(self) -> Any:
        """Return the value."""
        return self._evaluate()

    def __str__(self) -> str:
        return self.text

    def __getattr__(self, name: str) -> "Expr":
        if name.startswith("__"):
            raise AttributeError(name)
        return Expr(8, f"{_within(self, 8)}.{name}", lambda: getattr(self.eval(), name))

    def __getitem__(self, key: Any) -> "Expr":
        keys = key if isinstance(key, tuple) else (key,)
        text = ", ".join(map(_subscript, keys))
        return Expr(8, f"{_within(self, 8)}[{text}]", lambda: self.eval()[_evaluated(key)])

    def __call__(self, *args: Any) -> "Expr":
        """Return the expression of a call."""
        text = ", ".join(map(_text, args))
        return Expr(8, f"{_within(self, 8)}({text})", lambda: self.eval()(*map(_evaluated, args)))

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"{self}: an expression is not iterable; use eval(...)")

    def __bool__(self) -> bool:
        raise RuntimeError(f"{self}: the truth of an expression is not known; use eval(...) or expect(...)")

    def __neg__(self) -> "Expr":
        return Expr(7, f"-{_within(self, 7)}", lambda: -self.eval())

    __hash__ = object.__hash__


def _evaluated(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_evaluated, value))
    return value.eval() if isinstance(value, Expr) else value


def eval(exp: Any) -> Any:
    """Return the value of an expression, and anything else itself."""
    return _evaluated(exp)


def _text(value: Any) -> str:
    return str(value) if isinstance(value, Expr) else repr(value)


def _within(value: Any, priority: int) -> str:
    text = _text(value)
    return f"({text})" if isinstance(value, Expr) and value.priority < priority else text


def _subscript(key: Any) -> str:
    if key is Ellipsis:
        return "..."
    if isinstance(key, slice):
        parts = ["" if part is None else _text(part) for part in (key.start, key.stop)]
        return ":".join(parts if key.step is None else [*parts, _text(key.step)])
    return _text(key)


class Variable(Expr):
    """A value with a name."""

    def __init__(self, value: Any, name: str) -> None:
        super().__init__(9, name, lambda: value)
        self.value, self.name = value, name


class Constant(Expr):
    """A value without a name."""

    def __init__(self, value: Any) -> None:
        super().__init__(9, str(value), lambda: value)
        self.value = value


class Testable(Expr):
    """A comparison: true or false, and an error that shows the values of both sides."""

    __test__ = False  # for pytest

    def __init__(self, left: Any, right: Any, symbol: str, compare: Callable[[Any, Any], Any], inverse: str) -> None:
        self.left, self.right, self.inverse = left, right, inverse
        text = f"{_within(left, 4)} {symbol} {_within(right, 4)}"
        super().__init__(4, text, lambda: compare(_evaluated(left), _evaluated(right)))

    def __bool__(self) -> bool:
        return bool(self.eval())

    def expect(self) -> None:
        """Raise `InvalidType` unless it is true."""
        if not self:
            left, right = _evaluated(self.left), _evaluated(self.right)
            raise InvalidType(str(self), f"{left} {self.inverse} {right}")


def _binary(priority: int, symbol: str, function: Callable[[Any, Any], Any], right_first: bool = False) -> Any:
    outer, inner = (priority + 1, priority) if right_first else (priority, priority + 1)

    def forward(self: Expr, other: Any) -> Expr:
        text = f"{_within(self, outer)} {symbol} {_within(other, inner)}"
        return Expr(priority, text, lambda: function(self.eval(), _evaluated(other)))

    def backward(self: Expr, other: Any) -> Expr:
        text = f"{_within(other, outer)} {symbol} {_within(self, inner)}"
        return Expr(priority, text, lambda: function(_evaluated(other), self.eval()))

    return forward, backward


def _install() -> None:
    binaries = {
        "add": (5, "+"), "sub": (5, "-"), "mul": (6, "*"), "floordiv": (6, "//"), "truediv": (6, "/"), "mod": (6, "%"),
        "pow": (8, "**"),
    }  # fmt: skip
    for name, (priority, symbol) in binaries.items():
        forward, backward = _binary(priority, symbol, getattr(operator, name), name == "pow")
        setattr(Expr, f"__{name}__", forward)
        setattr(Expr, f"__r{name}__", backward)
    comparisons = {"eq": ("==", "!="), "ne": ("!=", "=="), "lt": ("<", ">="), "le": ("<=", ">"), "gt": (">", "<="),
                   "ge": (">=", "<")}  # fmt: skip
    for name, (symbol, inverse) in comparisons.items():
        compare = getattr(operator, name)

        def comparison(self: Expr, other: Any, parts: Any = (symbol, compare, inverse)) -> Testable:
            return Testable(self, other, *parts)

        setattr(Expr, f"__{name}__", comparison)


_install()


def make_variable(value: Any, name: str) -> Any:
    """Return a value as a `Variable` expression, or as itself in light mode."""
    return value if light_mode else Variable(value, name)


class LightMode:
    """Whether checks compute with plain values; as a context manager it makes them so."""

    def __init__(self) -> None:
        self.concrete = False

    def __bool__(self) -> bool:
        return self.concrete

    def __enter__(self) -> None:
        self.concrete = True

    def __exit__(self, *_: object) -> None:
        self.concrete = False


light_mode = LightMode()


def in_light_mode() -> bool:
    """Return whether checks compute with plain values."""
    return bool(light_mode)


class NamedTypes(TypeInfoTuple):
    """Shapes and dtypes of all inputs, each an expression."""

    name: str

    def size(self) -> Any:
        """Return the number of inputs, as an expression."""
        return Variable(len(self), f"{self.name}.size")


def get_types(data: Sequence[Any], name: str, accept_none: bool, *, plain: bool = False) -> TypeInfoTuple:
    """Return shapes and dtypes of arrays, each a `Variable` expression.

    Parameters
    ----------
    data : tuple of arrays, Variables or None
    name : str
    accept_none : bool
        Whether None is allowed; it has the type ``TypeInfo(None, None)``.
    plain : bool
        Whether they are values, not expressions.
    """
    if not isinstance(data, tuple):
        raise TypeError(f"get_types: expected a tuple, got {type(data).__name__}")
    infos = [_info(x, accept_none) for x in data]
    if plain:
        return TypeInfoTuple(infos)
    expressions: Any = [Variable(info, f"{name}[{i}]") for i, info in enumerate(infos)]
    found = NamedTypes(expressions)
    found.name = name
    return found


def _argname(in_types: Sequence[Any], names: Sequence[str]) -> None:
    """Let messages of `expect` use these names of inputs."""
    if len(in_types) != len(names):
        raise InvalidType(f"{len(names)} argument(s): {', '.join(names)}", f"{len(in_types)} argument(s)")
    for info, name in zip(in_types, names, strict=True):
        if isinstance(info, Expr):
            info.text = name


def expect(*conditions: Any, actual: str = "") -> None:
    """Raise `InvalidType` for the first condition that is not true; expressions are quoted.

    Parameters
    ----------
    conditions : Testable or bool
    actual : str
        The actual value, for conditions that are not expressions.
    """
    for position, condition in enumerate(conditions):
        if isinstance(condition, Testable):
            condition.expect()
        elif not condition:
            raise InvalidType(f"condition {position + 1} of the check holds", actual or "it does not")


def get_light_types(data: Sequence[Any]) -> TypeInfoTuple:
    """Return the shapes and dtypes of arrays."""
    return TypeInfoTuple(_info(x, False) for x in data)


def _info(x: Any, accept_none: bool) -> TypeInfo:
    if x is None and accept_none:
        nothing: Any = None  # Chainer's shape and dtype for a gradient that is None
        return TypeInfo(nothing, nothing)
    array: Any = x.array if isinstance(x, _Variable) else x
    return TypeInfo(tuple(array.shape), array.dtype)


def same_types(*arrays: Any) -> bool:
    """Return whether all arrays are of one backend."""
    return type_check.same_types(*arrays)


@contextlib.contextmanager
def get_function_check_context(f: Any) -> Iterator[None]:
    """Context manager in which `InvalidType` names the function `f`."""
    try:
        yield
    except InvalidType as error:
        error.locate(f.label, ())
        raise
