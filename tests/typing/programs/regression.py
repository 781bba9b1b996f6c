"""Fits a line by gradient descent, with its own loop and with `value_and_grad`."""

import numpy as np
from numpy.typing import NDArray

import xpgrad
import xpgrad.array_api as xp
import xpgrad.functions as F
from xpgrad import Parameter, Variable
from xpgrad.transforms import value_and_grad

Rows = NDArray[np.float64]


class Line:
    def __init__(self, inputs: int) -> None:
        self.w = Parameter(np.zeros((1, inputs)))
        self.b = Parameter(np.zeros(1))

    def __call__(self, x: Variable | Rows) -> Variable:
        return F.linear(x, self.w, self.b)

    def parameters(self) -> list[Parameter]:
        return [self.w, self.b]


def step(model: Line, x: Rows, t: Rows, rate: float) -> float:
    loss = F.mean_squared_error(model(x), t)
    for p in model.parameters():
        p.cleargrad()
    loss.backward()
    with xpgrad.no_backprop_mode():
        for p in model.parameters():
            p.array -= rate * p.grad_var.array if p.grad_var is not None else 0.0
    return float(loss.array)


def penalised(w: Variable, x: Rows, t: Rows) -> Variable:
    residual = xp.matmul(x, w) - t
    return xp.mean(residual**2) + 0.01 * xp.sum(xp.abs(w))


rng = np.random.default_rng(0)
x = rng.normal(size=(64, 2))
t = x @ np.array([[2.0], [-1.0]]) + 0.5
model = Line(2)
losses = [step(model, x, t, 0.1) for _ in range(50)]
assert losses[-1] < 1e-3 < losses[0]

weights = Variable(np.zeros((2, 1)))
value, gradient = value_and_grad(penalised)(weights, x, t)
assert value.shape == ()
assert gradient.shape == weights.shape
