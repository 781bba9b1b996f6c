"""The coefficients of Dormand and Prince: consistency, and the orders of the step and of its estimate of the error."""

import math

import pytest

from xpgrad.transforms.loops.step_control import ERROR, NODES, STAGES, combined, stepped


def test_the_weights_of_each_stage_sum_to_its_node() -> None:
    for node, weights in zip(NODES, STAGES, strict=True):
        assert sum(weights) == pytest.approx(node, abs=1e-14)
    assert sum(ERROR) == pytest.approx(0, abs=1e-15)


def errors(h: float) -> tuple[float, float]:
    """Return the error of one step of a problem with a known solution, and the size of its estimate."""
    f = lambda y, t: [y[0] * math.cos(t)]  # noqa: E731
    (y,), (k,), stages = stepped(f, [1.0], f([1.0], 0.0), 0.0, h)
    assert k == f([y], h)[0]
    return abs(y - math.exp(math.sin(h))), abs(combined(None, stages, ERROR, h)[0])


def test_orders() -> None:
    (one, estimate), (half, other) = errors(0.2), errors(0.1)
    assert 5.5 < math.log2(one / half) < 6.6
    assert 4.5 < math.log2(estimate / other) < 5.6
