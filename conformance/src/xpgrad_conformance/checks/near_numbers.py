"""Family S, Python numbers: numbers that are nearly equal, or have the same hash or text, are distinguished."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xpgrad import using_device
from xpgrad.testing.arrays import on_host
from xpgrad_conformance.check import check
from xpgrad_conformance.oracle import host as numpy_namespace
from xpgrad_conformance.oracle import same_numbers
from xpgrad_conformance.subject import Subject

FLOATS: tuple[tuple[float, ...], ...] = (
    (1.5, 1.5 + 1e-6, 1.5 + 1e-9, 2),
    (2, 2.0, 2.0 + 1e-7, 1),
    (-1, -2, -1.0, -2.0),
    (0.1, 0.1 + 1e-8, 0.125),
    (3, 2**61 + 2, 3.0),
    (0.0, -0.0, 5e-7, -5e-7),
    (1e6, 1e6 + 0.25, 1000001),
)
"""Consecutive numbers for arrays of float64; 2 ** 61 + 2 has the hash of 3, and -1 the hash of -2."""
INTEGERS: tuple[tuple[int, ...], ...] = (
    (-1, -2), (3, 2**32 + 3), (2**53, 2**53 + 1), (7, 2**31 + 7, 6), (255, 256, 257),
)  # fmt: skip
"""The same for arrays of int64."""
EQUAL: tuple[tuple[complex, ...], ...] = ((3, 3.0), (1, 1.0, True, 1 + 0j), (0.0, -0.0, 0, False))
"""Numbers that are equal, and have one hash."""
Call = Callable[[Any, Any, Any], Any]
CALLS: dict[str, Call] = {
    "x + {}": lambda xp, x, number: x + number,
    "{} - x": lambda xp, x, number: number - x,
    "x * {}": lambda xp, x, number: x * number,
    "x < {}": lambda xp, x, number: x < number,
    "x == {}": lambda xp, x, number: x == number,
    "maximum(x, {})": lambda xp, x, number: xp.maximum(x, number),
    "where(x > 1, x, {})": lambda xp, x, number: xp.where(x > 1, x, number),
    "full_like(x, {})": lambda xp, x, number: xp.full_like(x, number),
}
OF_FLOATS: dict[str, Call] = {
    "x / {}": lambda xp, x, number: x / number,
    "x ** {}": lambda xp, x, number: x**number,
    "abs({}) ** x": lambda xp, x, number: abs(number) ** x,
    "asarray({}) * x": lambda xp, x, number: xp.asarray(number, dtype=x.dtype) * x,
}


@check("S10", needs=("float64",))
def near_floats(s: Subject) -> None:
    """Calls with Python numbers are right after ones with numbers that nearly equal them, or have their hash."""
    _compare(s, np.asarray([0.5, 1.25, 2.0, 3.5]), FLOATS, CALLS | OF_FLOATS)


@check("S12", needs=("int64",))
def near_integers(s: Subject) -> None:
    """Calls with Python integers are right after ones with integers that are the same in fewer bits."""
    _compare(s, np.asarray([0, 1, 5, 2**20 + 1]), INTEGERS, CALLS)


@check("S14")
def equal_numbers(s: Subject) -> None:
    """Python numbers that are equal but differ in type or sign create arrays with the right type and sign."""
    makers: dict[str, tuple[str, Callable[[Any], Any]]] = {
        "arange({})": ("arange", lambda number: s.xp.arange(number)),
        "arange(0, {})": ("arange", lambda number: s.xp.arange(0, number)),
        "full((2,), {})": ("full", lambda number: s.xp.full((2,), number)),
        "asarray({})": ("asarray", lambda number: s.xp.asarray(number)),
        "asarray([{}])": ("asarray", lambda number: s.xp.asarray([number])),
    }
    with using_device(s.device):
        for text, (name, make) in makers.items():
            for numbers in EQUAL if s.has(name) else ():
                for number in (*numbers, *numbers[::-1]):
                    if _takes(s, name, number):
                        got, expected = on_host(make(number)).reshape(-1), _made(name, number)
                        assert _same_values(got, expected), (
                            f"{text.format(number)}, after equal numbers, is {got}, of {got.dtype}; expected {expected}"
                        )


def _takes(s: Subject, name: str, number: Any) -> bool:
    if name == "arange":
        return type(number) in (int, float)
    return type(number) is not complex or s.has("complex64")


def _same_values(got: Any, expected: Any) -> bool:
    """Return whether two arrays have the same numbers, with their signs, in dtypes of one kind."""
    same = got.dtype.kind == expected.dtype.kind and np.array_equal(got, expected)
    return same and np.array_equal(np.signbit(got.real), np.signbit(expected.real))


def _made(name: str, number: Any) -> Any:
    """Return the elements of an array created from a number."""
    return np.arange(number) if name == "arange" else np.full(2 if name == "full" else 1, number)


def _compare(s: Subject, host: Any, groups: Sequence[Sequence[float]], calls: dict[str, Call]) -> None:
    x = s.variable(host, host.dtype.name) if host.dtype.kind == "f" else s.xp.asarray(s.array(host, "int64"))
    with using_device(s.device), np.errstate(all="ignore"):
        for text, call in calls.items():
            name, called, _ = text.partition("(")
            if called and not s.has(name):
                continue
            for numbers in groups:
                for number in (*numbers, *numbers[::-1]):
                    got, expected = call(s.xp, x, number), call(numpy_namespace, host, number)
                    what = f"{text.format(number)} with x of {host.tolist()}, after other numbers"
                    same_numbers(
                        on_host(got), np.asarray(expected), 1e-13 if host.dtype.kind == "f" else 0.0, what, signs=True
                    )
