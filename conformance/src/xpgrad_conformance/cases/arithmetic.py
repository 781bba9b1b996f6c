"""Cases of elementwise arithmetic: functions, operators, and operators with scalars."""

import numpy as np

from xpgrad_conformance.table.case import Case, Input

TWO = Input(), Input(low=0.3, high=2.0)
POSITIVE = (Input(low=0.3, high=2.0),)
POWER = Input(low=0.3, high=2.0), Input()
QUOTIENT = Input(low=3.1, high=3.9), Input(low=2.0, high=3.0)  # quotients between 1 and 2, without discontinuities

BINARY = (
    Case("add", {}, lambda a, b: b + a, TWO, (), elementwise=True, complex=True),
    Case("subtract", {}, lambda a, b: -(b - a), TWO, (), elementwise=True, complex=True),
    Case("multiply", {}, lambda a, b: b * a, TWO, ("x1", "x2"), elementwise=True, complex=True),
    Case("divide", {}, lambda a, b: a * (1 / b), TWO, ("x2", "y"), elementwise=True, complex=True),
    Case("floor_divide", {}, lambda a, b: np.floor(a / b), QUOTIENT, (), order=0, elementwise=True),
    Case("remainder", {}, lambda a, b: a - b * np.floor(a / b), QUOTIENT, ("x1", "x2"), elementwise=True),
    Case("pow", {}, lambda a, b: np.exp(b * np.log(a)), POWER, ("x1", "x2", "y"), elementwise=True, complex=True),
)

UNARY = (
    Case("negative", {}, lambda x: 0 - x, keeps=(), elementwise=True, complex=True),
    Case("positive", {}, lambda x: 0 + x, keeps=(), elementwise=True, complex=True),
    Case("square", {}, lambda x: x * x, keeps=("x",), elementwise=True, complex=True),
)

OPERATORS = (
    Case("arithmetic-operators", lambda xp, a, b: ((a + b) * a - b / a) ** b + -b % a,
         lambda a, b: np.power(np.subtract(np.multiply(a + b, a), np.divide(b, a)), b) + np.mod(-b, a),
         (Input(low=2.0, high=2.4), Input(low=0.5, high=1.0)), elementwise=True),
    Case("operator-add-scalar", lambda xp, x: x + 2.5, lambda x: np.add(2.5, x), keeps=(), complex=True),
    Case("operator-radd-scalar", lambda xp, x: 2 + x, lambda x: np.add(2, x), keeps=(), complex=True),
    Case("operator-sub-scalar", lambda xp, x: x - 2, lambda x: np.add(-2, x), keeps=(), complex=True),
    Case("operator-rsub-scalar", lambda xp, x: 2.5 - x, lambda x: np.add(2.5, -x), keeps=(), complex=True),
    Case("operator-mul-scalar", lambda xp, x: x * -1.5, lambda x: np.divide(x, -1 / 1.5), complex=True),
    Case("operator-rmul-scalar", lambda xp, x: 3 * x, lambda x: x + x + x, complex=True),
    Case("operator-truediv-scalar", lambda xp, x: x / 4, lambda x: 0.25 * x, complex=True),
    Case("operator-rtruediv-scalar", lambda xp, x: 4 / x, lambda x: 4 * x**-1, POSITIVE, complex=True),
    Case("operator-mod-scalar", lambda xp, x: x % 2, lambda x: x - 2, (Input(low=2.1, high=3.9),)),
    Case("operator-rmod-scalar", lambda xp, x: 3 % x, lambda x: 3 - x, (Input(low=1.6, high=2.9),)),
    Case("operator-mul-zero", lambda xp, x: x * 0.0, lambda x: 0 * x, complex=True),
    Case("operator-mul-complex", lambda xp, x: x * (1 + 2j), lambda x: x + 2j * x, complex=True, dtype="complex"),
    Case("operator-rsub-complex", lambda xp, x: 1j - x, lambda x: -x + 1j, complex=True, dtype="complex"),
    Case("operator-pow-0", lambda xp, x: x**0, lambda x: x * 0 + 1, complex=True),
    Case("operator-pow-1", lambda xp, x: x**1, lambda x: x + 0, complex=True),
    Case("operator-pow-2", lambda xp, x: xp.asarray(x) ** 2, lambda x: x * x, keeps=("x",), complex=True),
    Case("operator-pow-3", lambda xp, x: x**3, lambda x: x * x * x, keeps=("x",), complex=True),
    Case("operator-pow-4.0", lambda xp, x: x**4.0, lambda x: x * x * x * x, keeps=("x",), complex=True),
    Case("operator-pow-minus-1", lambda xp, x: x**-1, lambda x: 1 / x, POSITIVE, complex=True),
    Case("operator-pow-half", lambda xp, x: x**0.5, np.sqrt, POSITIVE, complex=True),
    Case("operator-rpow", lambda xp, x: 2.5**x, lambda x: np.exp(x * np.log(2.5)), complex=True),
    Case("pow-scalar-exponent", (2.5,), lambda x: np.exp(2.5 * np.log(x)), POSITIVE, complex=True),
    Case("pow-exponent-0", (0.0,), lambda x: x * 0 + 1, complex=True),
    Case("pow-base-0", lambda xp, x: xp.pow(0.0, x), lambda x: 0 * x, POSITIVE, order=1),
    Case("pow-scalar-base", lambda xp, x: xp.pow(3, x), lambda x: np.exp(x * np.log(3)), complex=True),
)  # fmt: skip

CASES = BINARY + UNARY + OPERATORS
