"""`interop.ours`: calls that another framework's engine pulls."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xpgrad
import xpgrad.array_api as xp
from xpgrad import Variable
from xpgrad.errors import GraphError
from xpgrad.interop.ours import Recorded, values

A, B = np.asarray([0.5, -1.0, 2.0]), np.asarray([1.5, 0.3, -0.7])


def function(inputs: list[Variable]) -> list[Variable]:
    x, y = inputs
    return [xp.sum(x**3 * y), xp.astype(x, xp.int64), xp.sin(y)]


def test_values_are_not_recorded() -> None:
    seen: list[bool] = []

    def watched(inputs: list[Variable]) -> list[Variable]:
        seen.extend((x * 1).requires_grad for x in inputs)
        return function(inputs)

    found = values("test", watched, [A, B])
    np.testing.assert_allclose(found[0], np.sum(A**3 * B))
    assert seen == [False, False]


def test_cotangents_are_pulled_to_the_requested_arrays() -> None:
    recorded = Recorded("test", function, [A, B], [0, 1])
    assert recorded.live == [True, False, True]
    assert not recorded.captures
    gx, gy = recorded.pull([np.asarray(2.0), None, np.ones(3)], [0, 1], accumulate=True)
    np.testing.assert_allclose(gx, 6 * A**2 * B)
    np.testing.assert_allclose(gy, 2 * A**3 + np.cos(B))
    assert recorded.pull([None, None, np.ones(3)], [0], accumulate=True) == [None]


def test_only_active_arrays_have_gradients() -> None:
    recorded = Recorded("test", function, [A, B], [1])
    gx, gy = recorded.pull([np.asarray(1.0), None, None], [0, 1], accumulate=True)
    assert gx is None
    np.testing.assert_allclose(gy, A**3)


def test_a_pullback_is_a_call_to_any_order() -> None:
    first = Recorded("test", function, [A, B], [0, 1])
    second = first.pulled([np.asarray(2.0), None, None], [0])
    np.testing.assert_allclose(second.outputs[0], 6 * A**2 * B)
    gx, gy, gg = second.pull([np.ones(3)], [0, 1, 2], accumulate=True)
    np.testing.assert_allclose(gx, 12 * A * B)
    np.testing.assert_allclose(gy, 6 * A**2)
    np.testing.assert_allclose(gg, np.sum(3 * A**2 * B))
    third = second.pulled([np.ones(3)], [0])
    np.testing.assert_allclose(third.pull([np.ones(3)], [0], accumulate=True)[0], 12 * B)


SCALES: dict[str, Callable[[Variable], Any]] = {"a root": lambda w: w, "computed": lambda w: w * 2}


@pytest.mark.parametrize("title", SCALES)
def test_captured_variables_accumulate_gradients(title: str) -> None:
    w = Variable(np.asarray([1.0, 2.0, 3.0]))
    scale = SCALES[title](w)
    factor = 1 if title == "a root" else 2
    recorded = Recorded("test", lambda inputs: [xp.sum(inputs[0] * scale)], [A], [])
    assert recorded.captures
    assert recorded.live == [True]
    for times in (1, 2):
        recorded.pull([np.asarray(1.0)], [0], accumulate=True)
        np.testing.assert_allclose(w.grad, times * factor * A)
    recorded.pull([np.asarray(1.0)], [0], accumulate=False)
    np.testing.assert_allclose(w.grad, 2 * factor * A)


def test_captured_variables_accumulate_gradients_of_a_pullback() -> None:
    w = Variable(np.asarray([1.0, 2.0, 3.0]))
    recorded = Recorded("test", lambda inputs: [xp.sum(inputs[0] ** 2 * w)], [A], [0])
    pulled = recorded.pulled([np.asarray(1.0)], [0])
    assert w.grad is None
    pulled.pull([np.ones(3)], [0], accumulate=True)
    np.testing.assert_allclose(w.grad, 2 * A)


def test_a_call_within_a_transformation_raises() -> None:
    compiled = xpgrad.compile(lambda x: values("door", lambda inputs: inputs, [A])[0])
    with pytest.raises(GraphError, match="door: expected a call outside of compile"):
        compiled(A)
