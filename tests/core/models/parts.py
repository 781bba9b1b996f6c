"""Small models of the tests."""

import numpy as np
from tests.building import array

import xpgrad
import xpgrad.functions as F
from xpgrad import Chain, Link, Parameter, Sequential


class Filling:
    """An initialiser that returns a rising sequence and counts its calls."""

    def __init__(self, dtype=None):
        self.dtype, self.calls = dtype, 0

    def __deepcopy__(self, memo):
        return self

    def __call__(self, x):
        self.calls += 1
        device = xpgrad.Device.from_array(x)
        rising = np.arange(int(np.prod(x.shape))).reshape(x.shape) * 0.1 + self.calls
        return array(device, rising, device.backend.dtype_name(x.dtype))


class Linear(Link):
    def __init__(self, n_in, n_out, initializer=0.5):
        super().__init__()
        self.n_out = n_out
        with self.init_scope():
            self.W = Parameter(initializer)
            self.b = Parameter(0, n_out)
            if n_in is not None:
                self.W.initialize((n_out, n_in))

    def forward(self, x):
        if self.W.array is None:
            self.W.initialize((self.n_out, x.shape[1]))
        return F.linear(x, self.W, self.b)

    @property
    def printable_specs(self):
        yield from (("n_out", self.n_out), ("nobias", False))


class Net(Chain):
    """A chain with a list and persistent values."""

    def __init__(self, n_in=3):
        super().__init__()
        with self.init_scope():
            self.l1 = Linear(n_in, 4)
            self.rest = Sequential(Linear(4, 4, 0.25), F.tanh, Linear(4, 2, -0.5))
        self.add_persistent("scale", np.ones(2, "float32"))
        self.add_persistent("count", 3)

    def forward(self, x):
        return self.rest(F.tanh(self.l1(x)))


class Tied(Chain):
    """Two links with one parameter, and one link in two places."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.a = Linear(3, 3, Filling())
            self.b = Linear(3, 3)
            self.c = self.b
        with self.b.init_scope():
            self.b.W = self.a.W

    def forward(self, x):
        return self.c(F.tanh(self.b(F.tanh(self.a(x)))))


def loss(model, x):
    return F.sum(model(x) ** 2)


def example(device):
    return array(device, np.linspace(-1, 1, 15).reshape(5, 3))


def example_of(specifier):
    return example(xpgrad.get_device(specifier))
