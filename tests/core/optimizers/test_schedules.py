"""Schedules: their values, as numbers and in programs, and errors."""

import math
import pickle

import numpy as np
import pytest

import xpgrad
from xpgrad.optimizers import schedules

CASES = {
    "constant": (schedules.constant(0.3), lambda t: 0.3),
    "exponential": (schedules.exponential(2.0, 0.5, 3), lambda t: 2 * 0.5 ** (t / 3)),
    "cosine": (schedules.cosine(1.0, 6, 0.2), lambda t: 0.2 + 0.4 * (1 + math.cos(math.pi * min(t / 6, 1)))),
    "polynomial": (schedules.polynomial(1.0, 6, 0.1, 2.0), lambda t: 0.1 + 0.9 * (1 - min(t / 6, 1)) ** 2),
    "piecewise": (schedules.piecewise(1.0, {5: 0.1, 2: 0.5}), lambda t: 1.0 if t < 2 else 0.5 if t < 5 else 0.05),
    "inverse_sqrt": (schedules.inverse_sqrt(1.0, 4), lambda t: min((t + 1) / 4, (4 / (t + 1)) ** 0.5)),
    "linear_warmup": (
        schedules.linear_warmup(4, schedules.exponential(1.0, 0.5)),
        lambda t: (t + 1) / 4 if t < 4 else 0.5 ** (t - 4),
    ),
    "linear_warmup to a number": (schedules.linear_warmup(4, 3.0), lambda t: 3 * min((t + 1) / 4, 1)),
}


@pytest.mark.parametrize("case", CASES)
def test_values(case):
    schedule, expected = CASES[case]
    compiled = xpgrad.compile(lambda t: xpgrad.as_variable(t) * 0.0 + schedule(t))
    for t in range(10):
        assert schedule(t) == pytest.approx(expected(t), rel=1e-12, abs=1e-15)
        assert float(compiled(np.asarray(float(t)))) == pytest.approx(expected(t), rel=1e-12, abs=1e-15)
    assert compiled.cache_info().misses == 2


@pytest.mark.parametrize("case", CASES)
def test_schedules_can_be_pickled(case):
    schedule, expected = CASES[case]
    assert pickle.loads(pickle.dumps(schedule))(3) == pytest.approx(expected(3))


def test_lengths_that_are_not_positive_raise():
    with pytest.raises(ValueError, match="cosine: steps must be positive, got 0"):
        schedules.cosine(1.0, 0)
    with pytest.raises(ValueError, match="exponential: rate must be positive, got -1"):
        schedules.exponential(1.0, -1.0)


def test_every_schedule_is_tested():
    assert {name.partition(" ")[0] for name in CASES} == set(schedules.__all__)
