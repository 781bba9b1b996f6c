"""Cases of trigonometric and hyperbolic functions."""

from collections.abc import Callable
from typing import Any

import numpy as np

from xpgrad_conformance.table.case import Case, Input

INSIDE = Input(low=-0.8, high=0.8)
ANY = Input(low=-1.4, high=1.4)
ABOVE_ONE = Input(low=1.2, high=3.0)


def _unary(name: str, reference: Callable[..., Any], x: Input, *keeps: str) -> Case:
    return Case(name, lambda xp, x: getattr(xp, name)(x), reference, (x,), keeps=keeps, elementwise=True, complex=True)


# Computed from exponentials and logarithms of complex numbers; real inputs have real results.
def _real_if_real(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: f(x + 0j) if np.iscomplexobj(x) else f(x + 0j).real


CASES = (
    _unary("sin", _real_if_real(lambda z: (np.exp(1j * z) - np.exp(-1j * z)) / 2j), Input(), "x"),
    _unary("cos", _real_if_real(lambda z: (np.exp(1j * z) + np.exp(-1j * z)) / 2), Input(), "x"),
    _unary("tan", _real_if_real(lambda z: (np.exp(2j * z) - 1) / (np.exp(2j * z) + 1) / 1j), ANY, "y"),
    _unary("asin", _real_if_real(lambda z: -1j * np.log(1j * z + np.sqrt(1 - z * z))), INSIDE, "x"),
    _unary("acos", _real_if_real(lambda z: np.pi / 2 + 1j * np.log(1j * z + np.sqrt(1 - z * z))), INSIDE, "x"),
    _unary("atan", _real_if_real(lambda z: (np.log(1 + 1j * z) - np.log(1 - 1j * z)) / 2j), INSIDE, "x"),
    _unary("sinh", lambda x: (np.exp(x) - np.exp(-x)) / 2, Input(), "x"),
    _unary("cosh", lambda x: (np.exp(x) + np.exp(-x)) / 2, Input(), "x"),
    _unary("tanh", lambda x: (np.exp(2 * x) - 1) / (np.exp(2 * x) + 1), ANY, "x", "y"),
    _unary("asinh", lambda x: np.log(x + np.sqrt(x * x + 1)), INSIDE, "x"),
    _unary("acosh", lambda x: np.log(x + np.sqrt(x - 1) * np.sqrt(x + 1)), ABOVE_ONE, "x"),
    _unary("atanh", lambda x: (np.log(1 + x) - np.log(1 - x)) / 2, INSIDE, "x"),
    Case("acosh-left", lambda xp, x: xp.acosh(xp.add(x, 0.5j)),
         lambda x: np.log(x + 0.5j + np.sqrt(x + 0.5j - 1) * np.sqrt(x + 0.5j + 1)), (Input(low=-3.0, high=-1.2),),
         dtype="complex", complex=True),
    Case("atan2", {}, lambda a, b: np.log(b + 1j * a).imag, (Input(low=0.3, high=2.0), Input()), ("x1", "x2"),
         elementwise=True),
    Case("atan2-scalar", (-2.0,), lambda x: np.log(-2 + 1j * x).imag, (ABOVE_ONE,)),
    Case("atan2-scalar-first", lambda xp, x: xp.atan2(2, x), lambda x: np.log(x + 2j).imag),
)  # fmt: skip
