"""A small model and its data for the tests of optimizers, and each optimizer as plain NumPy."""

import numpy as np

import xpgrad
import xpgrad.functions as F
from xpgrad import Link, Parameter, optimizers

OPTIMIZERS = {
    "SGD": {"lr": 0.1},
    "MomentumSGD": {"lr": 0.05, "momentum": 0.8},
    "CorrectedMomentumSGD": {"lr": 0.05, "momentum": 0.8},
    "NesterovAG": {"lr": 0.05, "momentum": 0.8},
    "AdaGrad": {"lr": 0.1, "eps": 1e-6},
    "AdaDelta": {"rho": 0.9, "eps": 1e-4},
    "RMSprop": {"lr": 0.01, "alpha": 0.9, "eps": 1e-6},
    "RMSpropGraves": {"lr": 0.01, "alpha": 0.9, "momentum": 0.5, "eps": 1e-3},
    "SMORMS3": {"lr": 0.05},
    "MSVAG": {"lr": 0.05, "beta": 0.8, "eta": 0.9, "weight_decay_rate": 0.01},
    "Adam": {"alpha": 0.01, "beta1": 0.8, "beta2": 0.95},
    "AdamW": {"alpha": 0.01, "eta": 0.5, "weight_decay_rate": 0.02},
    "AMSGrad": {"alpha": 0.02, "beta2": 0.5},
    "AdaBound": {"alpha": 0.02, "final_lr": 0.1, "gamma": 0.1},
    "AMSBound": {"alpha": 0.02, "final_lr": 0.1, "gamma": 0.1, "beta2": 0.5},
    "Lion": {"lr": 0.01, "weight_decay_rate": 0.1},
}
"""Each optimizer with hyperparameters for the tests."""


class Model(Link):
    """A linear map with a bias, and parameters of other shapes."""

    def __init__(self, dtype="float64", seed=0):
        super().__init__()
        rng = np.random.default_rng(seed)
        with self.init_scope():
            self.W = Parameter(rng.standard_normal((3, 4)).astype(dtype))
            self.b = Parameter(np.zeros(3, dtype))
            self.scale = Parameter(np.ones((), dtype))

    def forward(self, x):
        return F.linear(x, self.W, self.b) * self.scale


def data(dtype="float64", device="@numpy"):
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((8, 4)).astype(dtype), rng.standard_normal((8, 3)).astype(dtype)
    return xpgrad.get_device(device).send((x, y))


def loss_of(model):
    return lambda x, y: F.mean_squared_error(model(x), y)


def made(name, **changes):
    return getattr(optimizers, name)(**{**OPTIMIZERS[name], **changes})


def values(model):
    return {path: np.array(xpgrad.get_device("@numpy").send(p.array)) for path, p in model.namedparams()}


class Plain:
    """An optimizer in NumPy, written from its paper or from Chainer's documentation."""

    def __init__(self, name, hyperparameters, w):
        self.h, self.t, self.w = hyperparameters, 0, w.copy()
        self.rule = getattr(self, name.lower())
        self.a, self.b, self.c = np.zeros_like(w), np.zeros_like(w), np.zeros_like(w)

    def __call__(self, g):
        self.t += 1
        self.rule(g, **self.h)
        return self.w

    def sgd(self, g, lr):
        self.w = self.w - lr * g

    def momentumsgd(self, g, lr, momentum):
        self.a = momentum * self.a - lr * g
        self.w = self.w + self.a

    def correctedmomentumsgd(self, g, lr, momentum):
        self.a = momentum * self.a - g
        self.w = self.w + lr * self.a

    def nesterovag(self, g, lr, momentum):
        before, self.a = self.a, momentum * self.a - lr * g
        self.w = self.w + momentum**2 * before - (1 + momentum) * lr * g

    def adagrad(self, g, lr, eps):
        self.a = self.a + g**2
        self.w = self.w - lr * g / (np.sqrt(self.a) + eps)

    def adadelta(self, g, rho, eps):
        self.a = rho * self.a + (1 - rho) * g**2
        move = np.sqrt(self.b + eps) / np.sqrt(self.a + eps) * g
        self.b = rho * self.b + (1 - rho) * move**2
        self.w = self.w - move

    def rmsprop(self, g, lr, alpha, eps, eps_inside_sqrt=False):
        self.a = alpha * self.a + (1 - alpha) * g**2
        self.w = self.w - lr * g / (np.sqrt(self.a + eps) if eps_inside_sqrt else np.sqrt(self.a) + eps)

    def rmspropgraves(self, g, lr, alpha, momentum, eps):
        self.a = alpha * self.a + (1 - alpha) * g**2
        self.b = alpha * self.b + (1 - alpha) * g
        self.c = momentum * self.c - lr * g / np.sqrt(self.a - self.b**2 + eps)
        self.w = self.w + self.c

    def smorms3(self, g, lr, eps=1e-16):
        memory = self.c + 1  # the state starts from ones
        r = 1 / (memory + 1)
        self.a = (1 - r) * self.a + r * g
        self.b = (1 - r) * self.b + r * g**2
        x = self.a**2 / (self.b + eps)
        self.w = self.w - g * np.minimum(lr, x) / (np.sqrt(self.b) + eps)
        self.c = memory * (1 - x)

    def msvag(self, g, lr, beta, eta, weight_decay_rate):
        self.a = beta * self.a + (1 - beta) * g
        self.b = beta * self.b + (1 - beta) * g**2
        power = beta**self.t
        rho = min((1 - beta) ** 2 * (1 - power**2) / ((1 - power) ** 2 * (1 - beta**2)), 0.9999)
        m, v = self.a / (1 - power), self.b / (1 - power)
        s = (v - m**2) / (1 - rho)
        with np.errstate(invalid="ignore"):
            factor = np.nan_to_num(np.clip(m**2 / (m**2 + rho * s), 0, 1))
        self.w = self.w - eta * (lr * m * factor + weight_decay_rate * self.w)

    def adam(
        self, g, alpha, beta1=0.9, beta2=0.999, eps=1e-8, eta=1.0, weight_decay_rate=0.0, amsgrad=False,
        adabound=False, final_lr=0.1, gamma=0.001,
    ):  # fmt: skip
        self.a = beta1 * self.a + (1 - beta1) * g
        self.b = beta2 * self.b + (1 - beta2) * g**2
        self.c = np.maximum(self.c, self.b) if amsgrad else self.b
        rate = alpha * np.sqrt(1 - beta2**self.t) / (1 - beta1**self.t) / (np.sqrt(self.c) + eps)
        if adabound:
            lower, upper = final_lr * (1 - 1 / (gamma * self.t + 1)), final_lr * (1 + 1 / (gamma * self.t))
            rate = np.clip(rate, lower, upper)
        self.w = self.w - eta * (rate * self.a + weight_decay_rate * self.w)

    adamw = adam

    def amsgrad(self, g, **h):
        self.adam(g, **h, amsgrad=True)

    def adabound(self, g, **h):
        self.adam(g, **h, adabound=True)

    def amsbound(self, g, **h):
        self.adam(g, **h, amsgrad=True, adabound=True)

    def lion(self, g, lr, weight_decay_rate, beta1=0.9, beta2=0.99):
        move = np.sign(beta1 * self.a + (1 - beta1) * g)
        self.w = self.w - lr * (move + weight_decay_rate * self.w)
        self.a = beta2 * self.a + (1 - beta2) * g
