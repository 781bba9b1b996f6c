"""Checks of inputs for authors of functions: one plain `expect`, whose message quotes the condition that failed."""

import ast
import linecache
import math
import sys
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from types import FrameType
from typing import Any, NamedTuple

from xpgrad.backend.plugins import plugins
from xpgrad.errors import InvalidType as InvalidType
from xpgrad.types import Dtype, Shape


class TypeInfo(NamedTuple):
    """Shape and dtype of one input."""

    shape: Shape
    dtype: Dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def __str__(self) -> str:
        return f"{self.dtype} {self.shape}"


class TypeInfoTuple(tuple[TypeInfo, ...]):
    """Shapes and dtypes of all inputs."""

    def size(self) -> int:
        """Return the number of inputs."""
        return len(self)


def expect(*conditions: Any, actual: str = "") -> None:
    """Raise `InvalidType` for the first condition that is not true.

    Parameters
    ----------
    conditions : bool
        The message quotes the source of the failed condition, and describes its inputs.
    actual : str
        The actual value, if the inputs in the condition do not show it.
    """
    for position, condition in enumerate(conditions):
        if not condition:
            frame = sys._getframe(1)
            quoted = _argument(frame, position)
            if quoted is None:
                raise InvalidType(f"condition {position + 1} of the check holds", actual or "it does not")
            raise InvalidType(ast.unparse(quoted), actual or _known(quoted, frame))


def argname(in_types: TypeInfoTuple, names: Sequence[str]) -> None:
    """Raise `InvalidType` unless the number of inputs equals the number of `names`."""
    if len(in_types) != len(names):
        raise InvalidType(f"{len(names)} argument(s): {', '.join(names)}", f"{len(in_types)} argument(s)")


def expect_broadcast_shapes(message: str, *shapes: Shape) -> None:
    """Raise `InvalidType` unless the shapes broadcast."""
    for lengths in zip_longest(*map(reversed, shapes), fillvalue=1):
        if len({*lengths} - {1}) > 1:
            raise InvalidType(f"{message}: shapes that broadcast", ", ".join(map(str, shapes)))


def eval(value: Any) -> Any:
    """Return `value` unchanged, because checks compute with plain numbers, not expressions."""
    return value


def prod(values: Iterable[int]) -> int:
    """Return the product of lengths."""
    return math.prod(values)


def same_types(*arrays: Any) -> bool:
    """Return whether all arrays are of one backend."""
    return len({plugins.backend_of(array) for array in arrays}) < 2


def _known(condition: ast.expr, frame: FrameType) -> str:
    """Return the values of names in a condition that are inputs, plain numbers or text, without any call."""
    names = dict.fromkeys(node.id for node in ast.walk(condition) if isinstance(node, ast.Name))
    values = {name: frame.f_locals.get(name, frame.f_globals.get(name)) for name in names}
    return ", ".join(f"{name} is {value}" for name, value in values.items() if _is_plain(value)) or "it is not so"


def _is_plain(value: Any) -> bool:
    return type(value) in (TypeInfo, bool, int, float, str) or (type(value) is tuple and all(map(_is_plain, value)))


def _argument(frame: FrameType, position: int) -> ast.expr | None:
    """Return an argument of the call that `frame` is in, parsed from the source; None where that is unknown."""
    place = next((p for i, p in enumerate(frame.f_code.co_positions()) if i == frame.f_lasti // 2), None)
    if place is None or None in place:
        return None
    first, last, start, end = (n or 0 for n in place)
    source = [linecache.getline(frame.f_code.co_filename, n) for n in range(first, last + 1)]
    if not all(source):
        return None
    source[-1] = source[-1].encode()[:end].decode()
    source[0] = source[0].encode()[start:].decode()
    try:
        call = ast.parse("(" + "".join(source) + ")", mode="eval").body
    except SyntaxError:
        return None
    found = isinstance(call, ast.Call) and not any(isinstance(a, ast.Starred) for a in call.args)
    return call.args[position] if found and isinstance(call, ast.Call) else None


_argname = argname  # the name in functions written for Chainer
