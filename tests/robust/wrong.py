"""Wrong values, which callers may pass instead of an array, an axis, a shape or a number."""

import datetime
import decimal
import fractions
import itertools
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np


class HostileError(Exception):
    """Error of hostile objects; it may reach the caller, who passed the object."""


class Raises:
    """Raises in every special method."""

    def _raise(self, *args: Any) -> Any:
        raise HostileError

    __len__ = __index__ = __array__ = __iter__ = __float__ = __int__ = __complex__ = __bool__ = __getitem__ = _raise
    __dlpack__ = __array_namespace__ = __call__ = __eq__ = __add__ = __radd__ = __mul__ = __rmul__ = _raise
    __hash__ = None  # type: ignore[assignment]


class Lies:
    """Returns values that Python rejects."""

    shape = ndim = dtype = "text"

    def __len__(self) -> int:
        return -1

    def __index__(self) -> Any:
        return "text"

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return [1.0]

    def __float__(self) -> Any:
        return "text"


class Endless:
    """A sequence of all integers, whose length is too large for Python."""

    def __len__(self) -> int:
        return 10**30

    def __getitem__(self, index: Any) -> Any:
        return index


class Unhashable(int):
    """An integer that no dictionary takes."""

    __hash__ = None  # type: ignore[assignment]


def _cyclic_list() -> Any:
    made: list[Any] = [0]
    made.append(made)
    return made


def _cyclic_dict() -> Any:
    made: dict[Any, Any] = {"a": 1.0}
    made["self"] = made
    return made


def _cyclic_tuple() -> Any:
    inner: list[Any] = []
    made = (inner,)
    inner.append(made)
    return made


def _deep() -> Any:
    made: Any = 0
    for _ in range(2000):
        made = [made]
    return made


WRONG: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "text": lambda: "text",
    "empty text": lambda: "",
    "a digit": lambda: "0",
    "bytes": lambda: b"bytes",
    "10**30": lambda: 10**30,
    "-10**30": lambda: -(10**30),
    "10**400": lambda: 10**400,
    "2**63": lambda: 2**63,
    "-7": lambda: -7,
    "3": lambda: 3,
    "NaN": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "1.5": lambda: 1.5,
    "1j": lambda: 1j,
    "True": lambda: True,
    "False": lambda: False,
    "object": object,
    "a class": lambda: int,
    "a function": lambda: lambda *args: None,
    "a module": lambda: itertools,
    "Ellipsis": lambda: ...,
    "NotImplemented": lambda: NotImplemented,
    "slice": lambda: slice(None, None, 0),
    "range": lambda: range(2),
    "generator": lambda: (i for i in (0, 1)),
    "generator of one": lambda: (i for i in (0,)),
    "empty generator": lambda: (i for i in ()),
    "count": itertools.count,
    "set": lambda: {0, 1},
    "dict": lambda: {"a": 1.0},
    "empty list": list,
    "empty tuple": tuple,
    "list of text": lambda: ["a", "b"],
    "tuple with None": lambda: (0, None),
    "list in itself": _cyclic_list,
    "dict in itself": _cyclic_dict,
    "tuple in itself": _cyclic_tuple,
    "deep list": _deep,
    "ragged list": lambda: [[1.0], [1.0, 2.0]],
    "huge shape": lambda: (10**15, 10**15),
    "huge lengths": lambda: (10**30, 2),
    "negative shape": lambda: (-5, 2),
    "100 axes": lambda: (1,) * 100,
    "date": lambda: datetime.date(2026, 1, 1),
    "timedelta": lambda: datetime.timedelta(1),
    "datetime64": lambda: np.datetime64("2026-01-01"),
    "Decimal": lambda: decimal.Decimal("1.5"),
    "Fraction": lambda: fractions.Fraction(1, 3),
    "path": lambda: pathlib.Path("no/such/file"),
    "array of text": lambda: np.asarray(["a", "b"]),
    "array of objects": lambda: np.asarray([None, {}], dtype=object),
    "array of dates": lambda: np.asarray(["2026-01-01"], dtype="datetime64[D]"),
    "empty array": lambda: np.empty((0,)),
    "structured array": lambda: np.zeros(2, dtype=[("a", "f4"), ("b", "i4")]),
    "raises": Raises,
    "lies": Lies,
    "endless": Endless,
    "unhashable": lambda: Unhashable(1),
}
"""Makers of new objects, because a generator can be used only once."""
