"""Checks of inputs for authors of functions: one plain `expect`, whose message quotes the condition that failed."""

import ast
import linecache
import sys
from types import FrameType
from typing import Any, NamedTuple

from xpgrad.errors import XpgradError
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
        size = 1
        for length in self.shape:
            size *= length
        return size

    def __str__(self) -> str:
        return f"{self.dtype} {self.shape}"


class TypeInfoTuple(tuple[TypeInfo, ...]):
    """Shapes and dtypes of all inputs."""

    def size(self) -> int:
        """Return the number of inputs."""
        return len(self)


class InvalidType(XpgradError, TypeError):
    """An input has a shape or dtype that the function does not take."""

    def __init__(self, expect: str, actual: str, msg: str | None = None) -> None:
        self.expect, self.actual = expect, actual
        super().__init__(msg if msg is not None else f"Expect: {expect}\nActual: {actual}")

    def locate(self, label: str, in_types: TypeInfoTuple) -> None:
        """Put the function's name, and what it got, into the message."""
        inputs = ", ".join(map(str, in_types)) or "no inputs"
        self.actual = f"{self.actual}; inputs: {inputs}" if self.actual else f"inputs: {inputs}"
        head = f"Invalid operation is performed in: {label} (Forward)"
        self.args = (f"{head}\n\nExpect: {self.expect}\nActual: {self.actual}",)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.expect, self.actual, self.args[0])


def expect(*conditions: Any, actual: str = "") -> None:
    """Raise `InvalidType` for the first condition that is not true.

    Parameters
    ----------
    conditions : bool
        The message quotes the text of the one that failed, as it stands in the source.
    actual : str
        What came instead, if the shapes and dtypes of the inputs do not say it.
    """
    for position, condition in enumerate(conditions):
        if not condition:
            raise InvalidType(_text_of_argument(sys._getframe(1), position), actual or "not so")


def _text_of_argument(frame: FrameType, position: int) -> str:
    lines = next((p for i, p in enumerate(frame.f_code.co_positions()) if i == frame.f_lasti // 2), None)
    fallback = f"condition {position + 1} of the check holds"
    if lines is None or None in lines:
        return fallback
    first, last, start, end = (n or 0 for n in lines)
    source = [linecache.getline(frame.f_code.co_filename, n) for n in range(first, last + 1)]
    if not all(source):
        return fallback
    source[-1] = source[-1].encode()[:end].decode()
    source[0] = source[0].encode()[start:].decode()
    try:
        call = ast.parse("(" + "".join(source) + ")", mode="eval").body
        return ast.unparse(call.args[position])  # type: ignore[attr-defined]  # anything else falls through
    except (SyntaxError, AttributeError, IndexError):
        return fallback
