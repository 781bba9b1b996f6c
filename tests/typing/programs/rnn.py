"""A recurrent network over sequences, with truncated backpropagation and a cell from the catalogue."""

from collections.abc import Iterable, Sequence

import numpy as np

import xpgrad.array_api as xp
import xpgrad.functions as F
from xpgrad import Parameter, Variable, get_device, using_config
from xpgrad.types import AnyArray, Array


class Cell:
    def __init__(self, width: int, hidden: int) -> None:
        rng = np.random.default_rng(0)
        self.inner = Parameter(rng.normal(scale=0.1, size=(hidden, hidden)))
        self.outer = Parameter(rng.normal(scale=0.1, size=(hidden, width)))
        self.bias = Parameter(np.zeros(hidden))

    def __call__(self, h: Variable, x: AnyArray) -> Variable:
        pre = F.linear(x, self.outer, self.bias) + F.linear(h, self.inner)
        return F.dropout(xp.tanh(pre), ratio=0.2)


def run(cell: Cell, h: Variable, xs: Iterable[AnyArray]) -> tuple[Variable, list[Variable]]:
    states: list[Variable] = []
    for x in xs:
        h = cell(h, x)
        states.append(h)
    return h, states


def loss_of(states: Sequence[Variable], labels: Array) -> Variable:
    scores = F.concat([s[:, None, :] for s in states], axis=1)
    flat = xp.reshape(scores, (-1, scores.shape[-1]))
    return F.softmax_cross_entropy(flat, labels.reshape(-1), ignore_label=-1)


device = get_device("@numpy")
sequences = np.random.default_rng(1).normal(size=(6, 4, 3))
labels = np.zeros((4, 6), dtype=np.int32)
cell = Cell(3, 5)
h = xp.zeros((4, 5), dtype=xp.float64, device=device)
with using_config("train", False):
    h, states = run(cell, h, list(sequences))
loss = loss_of(states, labels)
loss.backward(retain_graph=False)
h.unchain_backward()
assert cell.inner.grad is not None
assert loss.ndim == 0

c, y = F.lstm(xp.zeros((4, 2), dtype=xp.float64), Variable(np.ones((4, 8))))
assert c.shape == y.shape == (4, 2)
