"""A classifier of handwritten digits in one page: the program behind ``xpgrad demo digits``, to be copied and changed.

It runs on every device that xpgrad knows: the data are prepared on the host, `device.send` takes them to where the work
is done, and from there on only operators, methods and functions of xpgrad touch them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

import xpgrad
import xpgrad.functions as F
from xpgrad import Variable

SIZES = (64, 256, 128, 10)  # pixels, two hidden layers, digits
NOISE = 0.2  # added to the pixels in training, so that the network does not learn the scans by heart


@dataclass(frozen=True)
class Epoch:
    """What one pass over the training scans came to."""

    loss: float
    accuracy: float
    test_accuracy: float


def load_digits() -> tuple[Any, ...]:
    """Return scans and labels to train with, and a fifth of all, held back, to test with: NumPy arrays.

    The 1,797 scans of 8 by 8 pixels come with scikit-learn. It is always the same fifth, so that runs can be compared.
    """
    from sklearn.datasets import load_digits  # the one thing here that xpgrad does not depend on

    scans, labels = load_digits(return_X_y=True)
    scans = (scans / 16).astype(np.float32)
    order = np.random.default_rng(0).permutation(len(labels))
    train, test = np.split(order, [4 * len(order) // 5])
    return scans[train], labels[train], scans[test], labels[test]


def initial_parameters(device: xpgrad.Device, rng: np.random.Generator) -> list[Variable]:
    """Return a weight of shape (out, in) and a bias for each layer (He and others, 2015)."""
    parameters = []
    for fan_in, fan_out in pairwise(SIZES):
        W = rng.standard_normal((fan_out, fan_in), np.float32) * np.float32((2 / fan_in) ** 0.5)
        parameters += [Variable(device.send(W)), Variable(device.send(np.zeros(fan_out, np.float32)))]
    return parameters


def network(x: Any, parameters: list[Variable]) -> Variable:
    """Return the score of each digit for each scan."""
    *hidden, last = zip(parameters[::2], parameters[1::2], strict=True)
    for W, b in hidden:
        x = F.relu(F.linear(x, W, b))
    return F.linear(x, *last)


class Adam:
    """Kingma and Ba: Adam, a method for stochastic optimization, 2015."""

    def __init__(self, parameters: list[Variable]) -> None:
        self.parameters, self.steps = parameters, 0
        self.means = [0 * p.array for p in parameters]
        self.squares = [0 * p.array for p in parameters]

    def step(self, rate: float) -> None:
        """Move each parameter against its gradient, in steps of about `rate`."""
        self.steps += 1
        rate = rate * (1 - 0.999**self.steps) ** 0.5 / (1 - 0.9**self.steps)
        for i, p in enumerate(self.parameters):
            self.means[i] = 0.9 * self.means[i] + 0.1 * p.grad
            self.squares[i] = 0.999 * self.squares[i] + 0.001 * p.grad * p.grad
            p.array = p.array - rate * self.means[i] / (self.squares[i] ** 0.5 + 1e-8)


def train(device: xpgrad.Device, epochs: int = 40, seed: int = 0, batch: int = 64) -> Iterator[Epoch]:
    """Train a network on `device`, and yield after each epoch how good it is."""
    scans, labels, test_scans, test_labels = load_digits()
    test_scans, test_labels = device.send((test_scans, test_labels))
    rng = np.random.default_rng(seed)
    xpgrad.random.seed(seed, device)
    parameters = initial_parameters(device, rng)
    optimizer = Adam(parameters)
    for epoch in range(epochs):
        order = rng.permutation(len(labels))
        losses, hits = 0.0, 0.0
        for start in range(0, len(order), batch):
            rows = order[start : start + batch]
            x, t = device.send((scans[rows], labels[rows]))
            y = network(x + NOISE * xpgrad.random.normal(x.shape, x.dtype, device), parameters)
            loss = F.softmax_cross_entropy(y, t)
            for p in parameters:
                p.cleargrad()
            loss.backward()
            optimizer.step(rate=3e-3 * (1 - epoch / epochs))
            losses += float(loss) * len(rows)
            hits += float(F.accuracy(y, t)) * len(rows)
        with xpgrad.no_backprop_mode():
            test_accuracy = float(F.accuracy(network(test_scans, parameters), test_labels))
        yield Epoch(losses / len(order), hits / len(order), test_accuracy)
