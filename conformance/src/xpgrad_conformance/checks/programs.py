"""Family W: whole programs agree with the same programs on the host, and with finite differences."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

import xpgrad.functions as F
import xpgrad.ops as ops
from xpgrad import FunctionNode, Variable, as_variable, no_backprop_mode
from xpgrad.testing.arrays import on_host
from xpgrad.testing.differences import derivative
from xpgrad.types import Array
from xpgrad_conformance.check import check
from xpgrad_conformance.oracle import differentiates, gradients_of, host, near_gradient, pulled, wide
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
    for t in range(1, 20):
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
    "a recurrent network over 20 steps": (_recurrent, ((2, 20, 3), (3, 4), (4, 4), (4,)), ()),
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
            if len(shapes[0]) == 3 and shapes[0][1] == 20:  # finite differences for every element would take too long
                _directional(sub, name, program, inputs)
            else:
                differentiates(sub, name, program, *inputs)


def _directional(s: Subject, name: str, program: Any, inputs: list[Any]) -> None:
    """Compare the gradients along a random direction only."""
    xs = [s.variable(each) for each in inputs]
    y = program(s.xp, *xs)
    s.expect(y, program(host, *map(wide, inputs)), name)
    gy = s.cotangent(y)
    gxs = pulled([y], xs, [s.variable(gy)])
    for i, x in enumerate(inputs):
        v = wide(s.values(x.shape))
        others = [wide(each) for each in inputs]

        def moved(t: float, i: int = i, v: Any = v, others: list[Any] = others) -> float:
            return float(np.sum(gy * program(host, *others[:i], others[i] + t * v, *others[i + 1 :])))

        expected, got = derivative(moved), float(np.sum(v * on_host(gxs[i])))
        scale = float(np.sum(np.abs(v * on_host(gxs[i])))) + abs(expected)
        assert abs(got - expected) <= max(1e-7, s.rtol(factor=10)) * scale, (
            f"{name}: along a direction of input {i} the gradient gives {got!r}, differences {expected!r}"
        )


@check("W03")
def newton_step(s: Subject) -> None:
    """Newton's step for linear least squares, with a Hessian built of products, lands on the solution."""
    a, b = s.values((7, 3)), s.values((7,))
    va, vb, w = s.variable(a), s.variable(b), s.variable(np.zeros(3))
    residual = s.xp.matmul(va, w) - vb
    (g,) = pulled([0.5 * s.xp.sum(residual * residual)], [w], enable_double_backprop=True)
    hessian = np.zeros((3, 3))
    for i in range(3):
        (row,) = pulled([g[i]], [w])
        hessian[i] = on_host(row)
    wa, wb = wide(a), wide(b)
    near_gradient(s, s.array(hessian), s.variable(np.zeros((3, 3))), wa.T @ wa, "the Hessian", s.rtol(factor=100))
    step = -np.linalg.solve(hessian, wide(on_host(g)))
    solution = np.linalg.lstsq(wa, wb, rcond=None)[0]
    near_gradient(s, s.array(step), w, solution, "Newton's step", s.rtol(factor=1000))


@check("W04")
def embeddings(s: Subject) -> None:
    """Gathering rows from a table, with repeats, and scattering their gradients trains exactly the used rows."""
    words = np.asarray([[3, 0, 3], [5, 3, 0]])
    table, weights = s.values((7, 4)), s.values((4, 2))
    vt, vw = s.variable(table), s.variable(weights)
    rows = s.xp.reshape(s.xp.take(vt, s.array(words.reshape(-1)), axis=0), (2, 3, 4))
    pooled = s.xp.mean(rows, axis=1)
    y = s.xp.tanh(s.xp.matmul(pooled, vw))
    gy = s.cotangent(y)
    gt, gw = pulled([y], [vt, vw], [s.variable(gy)])
    wt, ww = wide(table), wide(weights)
    average = wt[words].mean(1)
    inner = gy * (1 - np.tanh(average @ ww) ** 2)
    expected = np.zeros((7, 4))
    np.add.at(expected, words, np.broadcast_to((inner @ ww.T)[:, None, :] / 3, (2, 3, 4)))
    near_gradient(s, gt, vt, expected, "the gradient of the table")
    near_gradient(s, gw, vw, average.T @ inner, "the gradient of the weights")
    if s.has("data_dependent_shapes"):
        idle = on_host(gt)[[1, 2, 4, 6]]
        assert not idle.any(), f"rows of the table that were not gathered have the gradient {idle.tolist()}"


@check("W05", scope="dtype", dtypes=("complex128", "complex64"))
def phase_retrieval(s: Subject) -> None:
    """A step of phase retrieval, a real loss of complex numbers, descends along the gradient computed by NumPy."""
    a, z = s.values((6, 3)), s.values((3,))
    real = "float64" if s.dtype == "complex128" else "float32"
    seen = np.abs(s.values((6,), 0.5, 2.0, real))

    def loss(xp: Any, z: Any, a: Any, seen: Any) -> Any:
        return xp.sum((xp.abs(xp.matmul(a, z)) ** 2 - seen) ** 2)

    va, vs = s.variable(a), s.variable(seen, real)
    vz = s.variable(z)
    before = loss(s.xp, vz, va, vs)
    before.backward()
    wa, wz = wide(a), wide(z)
    b = wa @ wz
    expected = 4 * np.conj(wa).T @ ((np.abs(b) ** 2 - seen) * b)
    near_gradient(s, vz.grad, vz, expected, "the gradient of the loss", s.rtol(factor=100))
    step = 1e-3 / float(np.max(np.abs(expected)))
    gradient: Array = vz.grad
    after = loss(s.xp, Variable(vz.array) - step * as_variable(gradient), va, vs)
    assert float(on_host(after)) < float(on_host(before)), "a small step against the gradient does not lower the loss"


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


@check("W07")
def gradient_penalty(s: Subject) -> None:
    """A loss on the norm of a gradient has the gradients that differences say: double backward through a network."""
    x, w1, w2 = (0.7 * s.values(shape) for shape in ((3, 4), (4, 5), (5, 1)))
    parameters = [s.variable(each) for each in (w1, w2)]
    inputs = s.variable(x)
    out = s.xp.sum(s.xp.matmul(s.xp.tanh(s.xp.matmul(inputs, parameters[0])), parameters[1]))
    (gx,) = pulled([out], [inputs], enable_double_backprop=True)
    penalty = s.xp.sum((s.xp.sqrt(s.xp.sum(gx * gx, axis=1)) - 1.0) ** 2)
    gws = pulled([penalty], parameters)

    def loss(w1: Any, w2: Any) -> float:
        t = np.tanh(wide(x) @ w1)
        slope = ((1 - t * t) * w2[:, 0]) @ w1.T
        return float(np.sum((np.sqrt(np.sum(slope**2, 1)) - 1) ** 2))

    for i, (p, gw, expected) in enumerate(zip(parameters, gws, gradients_of(loss, [w1, w2]), strict=True)):
        assert gw is not None, f"the penalty has no gradient for the parameter {i}"
        near_gradient(s, gw, p, expected, f"the gradient of the penalty for the parameter {i}")


@check("W09")
def losses(s: Subject) -> None:
    """Chainer's losses and xpgrad's own functions, chained, have the gradients that differences say."""
    sub = s.in_wide("losses")

    def program(xp: Any, x: Any, t: Any) -> Any:
        if xp is host:
            shifted = np.log(np.sum(np.exp(x), axis=1))
            return np.mean((np.tanh(x) - t) ** 2) + np.sum(np.logaddexp(0.0, x)) + np.sum(shifted)
        return F.mean_squared_error(xp.tanh(x), t) + xp.sum(F.softplus(x)) + xp.sum(ops.logsumexp(x, axis=1))

    x, t = sub.values((3, 4)), sub.values((3, 4))
    differentiates(sub, "mean_squared_error, softplus and logsumexp", program, x, t)
