"""Errors of loops and integrations: each names the function and what is wrong."""

from typing import Any

import pytest
from tests.building import variable

from xpgrad import array_api as xp
from xpgrad.errors import DtypeError, IterationError, ShapeError, StructureError
from xpgrad.transforms import fori_loop, odeint, while_loop


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: while_loop(None, lambda c: c, x), TypeError, "expected a function, got NoneType"),
        (lambda x: while_loop(lambda c: True, 3, x), TypeError, "expected a function, got int"),
        (lambda x: while_loop(lambda c: c > 0, lambda c: c, x), TypeError, "one boolean, got bool (2,)"),
        (lambda x: while_loop(lambda c: c[0], lambda c: c, x), TypeError, "one boolean, got float64 ()"),
        (lambda x: while_loop(lambda c: "yes", lambda c: c, x), TypeError, "one boolean, got str before step 0"),
        (lambda x: while_loop(lambda c: True, lambda c: c, x, max_steps=7), IterationError, "max_steps=7"),
        (lambda x: while_loop(lambda c: True, lambda c: c, x, max_steps=-1), ValueError, "negative"),
        (lambda x: while_loop(lambda c: True, lambda c: c[:1], x), StructureError, "step 0"),
        (lambda x: fori_loop(0, 3, None, x), TypeError, "expected a function, got NoneType"),
        (lambda x: fori_loop(0.5, 3, lambda i, c: c, x), TypeError, "lower must be an integer, got 0.5"),
        (lambda x: fori_loop(0, True, lambda i, c: c, x), TypeError, "upper must be an integer"),
        (lambda x: fori_loop(0, 3, lambda i, c: (c, c), x), StructureError, "the carry that step 0 returned"),
        (lambda x: fori_loop(0, 3, lambda i, c: xp.stack([c, c]), x), StructureError, "(2, 2)"),
        (lambda y: odeint(lambda y, t: -1e7 * (y - xp.cos(t)), y, [0, 2], max_steps=30), IterationError, "stiff"),
        (lambda y: odeint(lambda y, t: y * y, y, [0, 2], rtol=0.01, atol=0.01), IterationError, "come to t=0.5"),
        (lambda y: odeint(lambda y, t: y + float("nan"), y, [0, 2]), IterationError, "returns NaN"),
        (lambda y: odeint(lambda y, t: y[0], y, [0, 2]), StructureError, "the derivative that f returned: expected"),
        (lambda y: odeint(lambda y, t: (y, y), y, [0, 2]), StructureError, "must be like y"),
        (lambda y: odeint(None, y, [0, 2]), TypeError, "expected a function"),
        (lambda y: odeint(lambda y, t: y, y, [0, 2, 1]), ValueError, "increase or decrease"),
        (lambda y: odeint(lambda y, t: y, y, []), ShapeError, "at least one time"),
        (lambda y: odeint(lambda y, t: y, y, y[0]), ShapeError, "1-D"),
        (lambda y: odeint(lambda y, t: y, 1, [0, 2]), DtypeError, "floating-point"),
        (lambda y: odeint(lambda y, t: y, (), [0, 2]), ShapeError, "no arrays"),
        (lambda y: odeint(lambda y, t: y, y, [0, 2], adjoint="other"), ValueError, "'discrete', 'continuous'"),
        (lambda y: odeint(lambda y, t: y, y, [0, 2], rtol=-1.0), ValueError, "rtol"),
        (lambda y: odeint(lambda y, t: y, y, [0, 2], rtol=0, atol=0), ValueError, "both be 0"),
        (lambda y: odeint(lambda y, t: y, y, [0, 2], max_steps=0), ValueError, "max_steps"),
    ],
)
def test_bad_input_is_named(device: Any, call: Any, error: Any, words: str) -> None:
    with pytest.raises(error) as caught:
        call(variable(device, [1.0, 2.0], "float64"))
    name, _, text = str(caught.value).partition(": ")
    assert name in call.__code__.co_names
    assert words in text
