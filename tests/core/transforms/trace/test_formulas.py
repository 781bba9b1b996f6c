"""The formulas of the benchmarks, written as people write them: each becomes a program, and changes are noticed."""

import dataclasses
import functools
import warnings
from typing import Any

import numpy as np
import pytest
from tests.building import assert_near

import xpgrad
from xpgrad import Variable, compile
from xpgrad import functions as F
from xpgrad.transforms import hvp
from xpgrad.transforms.trees import flatten


def normal(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape)


W1, W2, U, K1, K2 = normal(5, 4), normal(4, 3), normal(4, 4), normal(2, 3, 3, 3), normal(2, 2, 3, 3)


def chain(rate: Any, x: Any, steps: int = 20) -> Any:
    for _ in range(steps):
        x = x * rate
        x = x + rate
    return x


def mlp(rate: Any, x: Any) -> Any:
    return F.softmax_cross_entropy(F.tanh(x @ W1) @ W2 * rate, np.asarray([0, 2]))


def rnn(rate: Any, x: Any) -> Any:
    h = x[0]
    for each in x:
        h = F.tanh(each + h @ U * rate)
    return h


def gathered(rate: Any, x: Any) -> Any:
    total = x[0] * 0.0
    for i in range(10):
        total = total + x[2 * i] ** 2 * rate
    return total


def attention(rate: Any, x: Any) -> Any:
    return F.softmax(x @ x.transpose(0, 2, 1) * rate, axis=2) @ x


FORMULAS: dict[str, tuple[Any, Any]] = {
    "P1": (chain, normal(1)),
    "P2": (lambda rate, x: chain(x[1] * rate, x[0]), normal(2, 3)),
    "P3": (mlp, normal(2, 5)),
    "P4": (lambda rate, x: (F.tanh(x * rate + rate) * F.exp(-x * x) + F.sigmoid(x)).sum(), normal(50)),
    "P5": (lambda rate, x: (F.softmax(F.layer_normalization(x, W1[0], W1[1]), axis=1) * rate).sum(0), normal(3, 4)),
    "P6": (lambda rate, x: F.relu(F.convolution_2d(F.relu(F.convolution_2d(x, K1)) * rate, K2)), normal(2, 3, 6, 6)),
    "P7": (rnn, normal(6, 2, 4)),
    "P8": (functools.partial(chain, steps=500), normal(1)),
    "P9": (lambda rate, x: hvp(lambda y: mlp(rate, y), (x,), (x * 2.0,)), normal(2, 5)),
    "P10": (gathered, normal(20)),
    "P11": (lambda rate, x: sum((x * (rate * i) for i in range(10)), x), normal(9)),
    "P12": (attention, normal(2, 4, 4)),
}


class Base:
    rate = 1.5

    def __init__(self, formula: Any) -> None:
        self.formula = formula

    def __call__(self, x: Any) -> Any:
        return self.formula(self.rate, x)


class Derived(Base):
    rate = 0.5


@dataclasses.dataclass
class Record:
    formula: Any
    rate: float = 0.5

    def step(self, x: Any) -> Any:
        return self.formula(self.rate, x)


def closure(formula: Any) -> Any:
    rate = 0.5
    return lambda x: formula(rate, x)


WAYS = {
    "class": lambda formula: Derived(formula).__call__,
    "object": Derived,
    "dataclass": lambda formula: Record(formula).step,
    "closure": closure,
    "partial": lambda formula: functools.partial(formula, 0.5),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas_of_every_way_run_as_programs(name: str) -> None:
    formula, array = FORMULAS[name]
    for way in WAYS.values():
        eager = way(formula)
        compiled = compile(eager)
        for i in range(4):
            x, y = Variable(array + i), Variable(array + i)
            with warnings.catch_warnings(action="error"):
                found, expected = (flatten(f(each))[0][0] for f, each in ((compiled, x), (eager, y)))
                gradients = (xpgrad.grad([z], [each])[0].array for z, each in ((found, x), (expected, y)))
            assert_near(found.array, expected.array)
            assert_near(*gradients)
        assert compiled.cache_info().hits == 2
