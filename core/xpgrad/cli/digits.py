"""Handwritten digits: trains a multilayer perceptron on real scans. A program to copy and to change.

The data are the 1,797 scans of 8 x 8 pixels included in scikit-learn, so no download is needed. The program runs
unchanged on every device that has a backend: only data and parameters are sent to the device explicitly.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

import xpgrad
import xpgrad.functions as F
from xpgrad import Parameter, Variable, no_backprop_mode, using_config
from xpgrad.types import Array

HELD_OUT = 360  # scans for the test only
BATCH, RATE, DECAY = 64, 3e-3, 0.92
SIZES = (64, 256, 128, 10)


class Epoch(NamedTuple):
    """Results of one epoch: mean training loss, and accuracy on the held-out scans."""

    number: int
    loss: float
    accuracy: float


def load() -> tuple[Array, Array, Array, Array]:
    """Return training images and labels, then test images and labels, in a fixed split for comparable runs."""
    from sklearn.datasets import load_digits  # an extra

    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(labels))
    x, t = (images[order] / 16).astype(np.float32), labels[order].astype(np.int32)
    return x[HELD_OUT:], t[HELD_OUT:], x[:HELD_OUT], t[:HELD_OUT]


def shifted(x: Array, rng: np.random.Generator) -> Array:
    """Return the images, most of them shifted by up to one pixel, to augment the 180 scans per digit."""
    framed = np.pad(x.reshape(-1, 8, 8), ((0, 0), (1, 1), (1, 1)))
    down, right = rng.integers(0, 3, (2, len(x), 1, 1))
    rows, columns = np.arange(8)[:, None] + down, np.arange(8) + right
    moved = framed[np.arange(len(x))[:, None, None], rows, columns]
    return np.where(rng.random((len(x), 1, 1)) < 0.3, moved, x.reshape(-1, 8, 8)).reshape(x.shape)


class Perceptron:
    """Three linear layers, with rectified linear units and dropout between them."""

    def __init__(self, rng: np.random.Generator, device: Any) -> None:
        self.weights, self.biases = [], []
        for fan_in, fan_out in pairwise(SIZES):
            scale = (2 / fan_in) ** 0.5
            self.weights.append(Parameter((rng.standard_normal((fan_out, fan_in)) * scale).astype(np.float32)))
            self.biases.append(Parameter(np.zeros(fan_out, np.float32)))
        for parameter in self.parameters():
            parameter.to_device(device)

    def parameters(self) -> list[Parameter]:
        """Return the weights and biases."""
        return self.weights + self.biases

    def __call__(self, x: Any) -> Variable:
        """Return the logits of a batch of images."""
        h = x
        for w, b in zip(self.weights[:-1], self.biases[:-1], strict=True):
            h = F.dropout(F.relu(F.linear(h, w, b)), ratio=0.1)
        return F.linear(h, self.weights[-1], self.biases[-1])


class DigitsAdam:
    """Adam (Kingma and Ba, 2015), written with operators only, so that it runs on any array.

    State that changes from step to step is in Variables, which a compiled function reads and stores at each call.
    """

    def __init__(self, parameters: list[Parameter]) -> None:
        self.parameters, self.step = parameters, 0
        with xpgrad.using_device(parameters[0].device):
            self.rate = xpgrad.array_api.asarray(0.0, dtype=parameters[0].dtype)
            self.means = [Variable(0.0 * p.array, requires_grad=False) for p in parameters]
            self.squares = [Variable(0.0 * p.array, requires_grad=False) for p in parameters]

    def advance(self, rate: float) -> None:
        """Begin a step with this learning rate."""
        self.step += 1
        rate *= (1 - 0.999**self.step) ** 0.5 / (1 - 0.9**self.step)
        with xpgrad.using_device(self.rate.device):
            self.rate.array = xpgrad.array_api.asarray(rate, dtype=self.rate.dtype).array

    def update(self) -> None:
        """Move each parameter against its gradient."""
        with xpgrad.using_device(self.parameters[0].device):
            for p, mean, square in zip(self.parameters, self.means, self.squares, strict=True):
                g: Array = p.grad
                mean.array = 0.9 * mean.array + 0.1 * g
                square.array = 0.999 * square.array + 0.001 * g * g
                p.array = p.array - self.rate.array * mean.array / (square.array**0.5 + 1e-8)


def train(device: Any = "@numpy", epochs: int = 30, seed: int = 0, *, compiled: bool = False) -> Iterator[Epoch]:
    """Train a perceptron, and yield the results of each epoch.

    Parameters
    ----------
    device : as `xpgrad.get_device` takes it
    epochs : int
    seed : int
        Seed of the initial weights, the order of the scans, their shifts and the dropout.
    compiled : bool
        Whether a training step is compiled; the results are the same.
    """
    device, rng = xpgrad.get_device(device), np.random.default_rng(seed)
    xpgrad.random.seed(seed, device)
    x, t, x_test, t_test = load()
    model = Perceptron(rng, device)
    optimizer = DigitsAdam(model.parameters())
    x_held, t_held = device.send((x_test, t_test))

    def step(images: Any, labels: Any) -> Any:
        loss = F.softmax_cross_entropy(model(images), labels)
        for parameter in model.parameters():
            parameter.cleargrad()
        loss.backward()
        optimizer.update()
        return loss.array

    run = xpgrad.compile(step) if compiled else step
    for epoch in range(1, epochs + 1):
        losses = []
        for batch in np.array_split(rng.permutation(len(t)), len(t) // BATCH):
            images, labels = device.send((shifted(x[batch], rng), t[batch]))
            optimizer.advance(RATE * DECAY ** (epoch - 1))
            losses.append(run(images, labels))  # taking its value would wait for the device at each step
        with no_backprop_mode(), using_config("train", False):
            accuracy = F.accuracy(model(x_held), t_held).item()
        yield Epoch(epoch, sum(map(float, losses)) / len(losses), accuracy)
