"""Family W: whole programs agree with the same programs on the host, and with finite differences."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

import xpgrad.functions as F
from xpgrad import FunctionNode, Variable, as_variable, no_backprop_mode
from xpgrad.testing.arrays import on_host
from xpgrad.types import Array
from xpgrad_conformance.check import check
from xpgrad_conformance.oracle import differentiates, host, near_gradient, pulled, wide
from xpgrad_conformance.subject import Subject

STEPS = 8


@check("W01")
def training(s: Subject) -> None:
    """A network with softmax cross entropy learns: parameters after each step agree with NumPy, and the loss falls."""
    x, labels = s.values((7, 4)), np.asarray([0, 2, 1, 2, 0, 1, 2])
    hosts = [0.5 * s.values(shape) for shape in ((4, 5), (5,), (5, 3), (3,))]
    parameters = [s.variable(host) for host in hosts]
    own, data, targets = [wide(host) for host in hosts], s.variable(x), s.array(labels)
    losses = []
    for step in range(STEPS):
        w1, b1, w2, b2 = parameters
        hidden = s.xp.tanh(s.xp.matmul(data, w1) + b1)
        loss = F.softmax_cross_entropy(s.xp.matmul(hidden, w2) + b2, targets)
        for p in parameters:
            p.cleargrad()
        loss.backward()
        expected, gradients = _trained(wide(x), labels, own)
        losses.append(float(on_host(loss)))
        assert abs(losses[-1] - expected) <= s.rtol(factor=10) * expected, (
            f"step {step}: the loss is {losses[-1]!r}, on the host {expected!r}"
        )
        for i, (p, gradient) in enumerate(zip(parameters, gradients, strict=True)):
            near_gradient(s, p.grad, p, gradient, f"step {step}: the gradient of parameter {i}", s.rtol(factor=100))
        steps: list[Array] = [p.grad for p in parameters]
        with no_backprop_mode():
            parameters = [Variable((p - 0.5 * as_variable(g)).array) for p, g in zip(parameters, steps, strict=True)]
        own = [p - 0.5 * g for p, g in zip(own, gradients, strict=True)]
    assert all(b < a for a, b in itertools.pairwise(losses)), f"the losses do not fall: {losses}"
    for i, (p, expected) in enumerate(zip(parameters, own, strict=True)):
        near_gradient(s, p, p, expected, f"parameter {i} after {STEPS} steps", s.rtol(factor=1000))


def _trained(x: Any, labels: Any, parameters: list[Any]) -> tuple[float, list[Any]]:
    """Return loss and gradients of the network, derived by hand."""
    w1, b1, w2, b2 = parameters
    h = np.tanh(x @ w1 + b1)
    scores = h @ w2 + b2
    p = np.exp(scores - scores.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    rows = np.arange(len(labels))
    loss = float(-np.mean(np.log(p[rows, labels])))
    p[rows, labels] -= 1
    g = p / len(labels)
    gh = g @ w2.T * (1 - h * h)
    return loss, [x.T @ gh, gh.sum(0), h.T @ g, g.sum(0)]


Program = tuple[Callable[..., Any], tuple[tuple[int, ...], ...], tuple[str, ...]]


def _softmax(xp: Any, x: Any) -> Any:
    e = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return e / xp.sum(e, axis=-1, keepdims=True)


def _recurrent(xp: Any, x: Any, w: Any, u: Any, b: Any) -> Any:
    h = xp.tanh(xp.matmul(x[:, 0, :], w) + b)
    outputs = [h]
    for t in range(1, 8):
        h = xp.tanh(xp.matmul(x[:, t, :], w) + xp.matmul(h, u) + b)
        outputs.append(h)
    return xp.sum(xp.stack(outputs, axis=1), axis=1) * h


def _attention(xp: Any, x: Any, q: Any, k: Any, v: Any) -> Any:
    queries, keys, values = (xp.matmul(x, m) for m in (q, k, v))
    scores = xp.matmul(queries, xp.matrix_transpose(keys)) / 3.0**0.5
    scores = xp.tril(scores) - 1e9 * (1.0 - xp.tril(xp.ones_like(scores)))
    attended = xp.matmul(_softmax(xp, scores), values) + x
    centred = attended - xp.mean(attended, axis=-1, keepdims=True)
    return centred / xp.sqrt(xp.mean(centred * centred, axis=-1, keepdims=True) + 0.1)


def _likelihood(xp: Any, x: Any, y: Any, scale: Any) -> Any:
    """Return the log-likelihood of a Gaussian process, without its constant."""
    distance = xp.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=-1)
    identity = xp.eye(5, dtype=x.dtype) if xp is host else xp.eye(5, dtype=x.dtype, device=x.device)
    covariance = xp.exp(-0.5 * distance / scale**2) + 0.1 * identity
    factor = xp.linalg.cholesky(covariance)
    weights = xp.linalg.solve(covariance, y)
    return -0.5 * xp.sum(y * weights) - xp.sum(xp.log(xp.linalg.diagonal(factor)))


def _filter(xp: Any, x: Any, g: Any) -> Any:
    spectrum = xp.fft.rfft(x, axis=-1)
    return xp.fft.irfft(spectrum * xp.exp(-xp.abs(spectrum) * g), n=9, axis=-1)


def _convolution(xp: Any, x: Any, w: Any) -> Any:
    windows = xp.stack([x[:, i : i + 6] for i in range(3)], axis=-1)
    z = xp.matmul(windows, w)
    return xp.logaddexp(z, 0.01 * z)  # smooth: finite differences would cross the kink of a maximum


def _normalised(xp: Any, x: Any, g: Any, b: Any) -> Any:
    mean, spread = xp.mean(x, axis=0), xp.std(x, axis=0)
    return (x - mean) / (spread + 0.1) * g + b


def _mixture(xp: Any, x: Any, centres: Any) -> Any:
    d = xp.sum((x[:, None, :] - centres[None, :, :]) ** 2, axis=2)
    top = xp.min(d, axis=1, keepdims=True)
    return xp.log(xp.sum(xp.exp(top - d), axis=1)) - top[:, 0]


PROGRAMS: dict[str, Program] = {
    "a recurrent network over 8 steps": (_recurrent, ((2, 8, 3), (3, 4), (4, 4), (4,)), ()),
    "causal attention with a residual and a norm": (_attention, ((2, 5, 3), (3, 3), (3, 3), (3, 3)), ()),
    "the likelihood of a Gaussian process": (
        _likelihood,
        ((5, 2), (5,), ()),
        ("linalg.cholesky", "linalg.solve", "linalg.diagonal"),
    ),
    "a filter by Fourier transforms": (_filter, ((3, 9), (5,)), ("fft", "complex128", "complex64")),
    "a convolution by windows": (_convolution, ((2, 8), (3, 4)), ()),
    "a batch norm": (_normalised, ((7, 3), (3,), (3,)), ()),
    "a mixture's likelihood": (_mixture, ((6, 2), (3, 2)), ()),
}


@check("W02")
def differentiable_programs(s: Subject) -> None:
    """Networks, likelihoods and filters have the values and gradients of the same programs on the host."""
    for name, (program, shapes, needs) in PROGRAMS.items():
        if s.has(*needs):
            sub = s.in_wide(name)
            inputs = [sub.values(shape, 0.4, 1.6) if not shape else 0.7 * sub.values(shape) for shape in shapes]
            inputs = [np.asarray(each, s.wide) for each in inputs]
            differentiates(sub, name, program, *inputs)


class _Cube(FunctionNode):
    """x ** 3 + 2 x, with a rule of the user's own that can be differentiated again."""

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (x,) = inputs
        self.retain_inputs((0,))
        return (x * x * x + 2.0 * x,)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        (x,) = self.get_retained_inputs()
        (gy,) = grad_outputs
        return (gy * (3.0 * x * x + 2.0),)


@check("W06")
def functions_of_the_users(s: Subject) -> None:
    """Users' own functions, and recomputed parts of a program, take part in first and second derivatives."""
    x = s.values((3, 4))
    w, v = wide(x), s.variable(x)
    y = _Cube().apply((s.xp.sin(v),))[0]
    (gx,) = pulled([s.xp.sum(y)], [v], enable_double_backprop=True)
    sine, cosine = np.sin(w), np.cos(w)
    near_gradient(s, gx, v, (3 * sine**2 + 2) * cosine, "the gradient of a FunctionNode of sin(x)")
    (ggx,) = pulled([s.xp.sum(gx)], [v])
    expected = 6 * sine * cosine**2 - (3 * sine**2 + 2) * sine
    near_gradient(s, ggx, v, expected, "the second derivative of a FunctionNode of sin(x)")
    v = s.variable(x)
    y = F.forget(lambda x: s.xp.exp(-x * x) * x, v)
    gy = s.cotangent(y)
    (gx,) = pulled([y], [v], [s.variable(gy)])
    near_gradient(s, gx, v, gy * np.exp(-w * w) * (1 - 2 * w * w), "the gradient of a forgotten part")
