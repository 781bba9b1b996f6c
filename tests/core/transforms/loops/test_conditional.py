"""`while_loop` against Python's."""

from typing import Any

import numpy as np
import pytest
from tests.building import array, assert_near, values, variable

import xpgrad
from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import grad, hvp, jvp, vmap, while_loop


def by_hand(cond: Any, f: Any, c: Any) -> Any:
    """Return the result of the loop in the documentation."""
    while cond(c):
        c = f(c)
    return c


@pytest.mark.parametrize("checkpoints", [None, 1, 4, "all"])
@pytest.mark.parametrize("limit", [1.0, 1.5, 3.0, 30.0, 1e3])
def test_values_and_gradients_agree_with_a_while_loop(device: Any, checkpoints: Any, limit: float) -> None:
    x, w = variable(device, [0.5, 0.7], "float64"), variable(device, [1.2, 1.1], "float64")
    cond = lambda c: xp.sum(c["x"]) < limit  # noqa: E731
    f = lambda c: {"x": c["x"] * (w * 1.0), "n": c["n"] + 1}  # noqa: E731
    start = {"x": x, "n": Variable(array(device, 0, "int64"))}
    found, expected = while_loop(cond, f, start, checkpoints=checkpoints), by_hand(cond, f, start)
    assert values(found["n"]) == values(expected["n"])
    for order in (False, True):
        ys = [xp.sum(c["x"] ** 2) for c in (found, expected)]
        a, b = (xpgrad.grad([y], [x, w], enable_double_backprop=order) for y in ys)
        if order and values(found["n"]):
            a, b = (xpgrad.grad([xp.sum(gs[0] * gs[1])], [x, w]) for gs in (a, b))
        for p, q in zip(a, b, strict=True):
            assert (p is None) == (q is None)
            if p is not None:
                np.testing.assert_allclose(on_host(p), on_host(q), rtol=1e-10)


def test_transforms(device: Any) -> None:
    x = array(device, [0.5, 0.7], "float64")
    total = lambda loop: lambda x: xp.sum(loop(lambda c: xp.sum(c) < 9, lambda c: c * (1 + x * x), x))  # noqa: E731
    for transform in (
        lambda f: [grad(f)(x)], lambda f: jvp(f, (x,), (x,)), lambda f: hvp(f, (x,), (x,)),
    ):  # fmt: skip
        assert_near(transform(total(while_loop)), transform(total(by_hand)), rtol=1e-10)


def test_many_steps_keep_few_carries(device: Any) -> None:
    x = variable(device, 0.0, "float64")
    y = while_loop(lambda c: c < 999.5, lambda c: c + 1, x)
    states = y.creator_node.states
    assert len(states) <= 2 * states[1].step
    assert states[1].step <= 64
    assert values(xpgrad.grad([y], [x])[0]) == 1.0
    y = while_loop(lambda c: c < 999.5, lambda c: c + 1, x, checkpoints=5)
    assert len(y.creator_node.states) <= 5


def test_exactly_max_steps_are_no_error(device: Any) -> None:
    x = array(device, 0.0)
    assert values(while_loop(lambda c: c < 7, lambda c: c + 1, x, max_steps=7)) == 7.0


@pytest.mark.parametrize("checkpoints", [None, 2, "all"])
def test_members_of_a_batch_end_at_their_own_steps(device: Any, checkpoints: Any) -> None:
    w = variable(device, 1.3, "float64")
    rows = np.abs(np.random.default_rng(0).standard_normal((4, 3))) + 0.1
    batch = array(device, rows, "float64")

    def f(c: Any) -> Any:
        end = lambda c: xp.sum(c) < 50  # noqa: E731
        return xp.sum(while_loop(end, lambda c: c * w + c**2 * 0.01, c, checkpoints=checkpoints) ** 2)

    members = [Variable(array(device, row, "float64")) for row in rows]
    values_, gradients = [on_host(f(x)) for x in members], [on_host(grad(f)(x)) for x in members]
    by_weight = on_host(xpgrad.grad([sum(map(f, members))], [w])[0])
    assert len({values(while_loop(lambda c: xp.sum(c[0]) < 50, lambda c: (c[0] * 1.3, c[1] + 1), (
        x, x[0] * 0))[1]) for x in members}) > 1  # fmt: skip
    ones = array(device, np.ones((4, 3)), "float64")
    for found, known in (
        (vmap(f)(batch), values_),
        (vmap(grad(f))(batch), gradients),
        (grad(lambda x: xp.sum(vmap(f)(x)))(batch), gradients),
        (jvp(vmap(f), (batch,), (ones,))[1], np.sum(gradients, axis=1)),
        (vmap(lambda x, t: jvp(f, (x,), (t,))[1])(batch, ones), np.sum(gradients, axis=1)),
        (xpgrad.grad([xp.sum(vmap(f)(Variable(batch)))], [w])[0], by_weight),
    ):
        np.testing.assert_allclose(on_host(found), known, rtol=1e-9)
