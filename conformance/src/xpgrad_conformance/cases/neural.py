"""Cases of `xpgrad.functions`: neural network layers."""

import math
from typing import Any

import numpy as np

from xpgrad_conformance.cases.noise import seeded
from xpgrad_conformance.table.case import Case, Input
from xpgrad_conformance.table.case import of_functions as _f

Host = Any  # a NumPy array


def _activation(name: str, reference: Any, keeps: tuple[str, ...] | None, **rest: Any) -> Case:
    return _f(name, {}, reference, keeps=keeps, elementwise=True, **rest)


def _sigmoid(x: Host) -> Host:
    return 0.5 * (1 + np.tanh(x / 2))


def _softmax(x: Host, axis: int = 1) -> Host:
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


WIDE = (Input(low=-4.0, high=4.0),)
IMAGES = ((2, 3, 2, 2),)

ACTIVATIONS = (
    _activation("relu", lambda x: (x + abs(x)) / 2, ("y",)),
    _activation("leaky_relu", lambda x: 0.6 * x + 0.4 * abs(x), ("x",)),
    _activation("elu", lambda x: np.where(x > 0, x, np.exp(x) - 1), ("x",)),
    _activation("selu", lambda x: 1.05070098 * np.where(x > 0, x, 1.67326324 * (np.exp(x) - 1)), None,
        # the reference's constants have nine digits
        rtol={"float64": 1e-8}),
    _activation("sigmoid", _sigmoid, ("x", "y")),
    _activation("softplus", lambda x: np.logaddexp(0, x), ("y",)),
    _activation("tanh", lambda x: 1 - 2 / (1 + np.exp(2 * x)), ("x", "y"), complex=True),
    _f("gelu", {}, lambda x: x * np.vectorize(math.erfc)(-x / 2**0.5) / 2, WIDE),
    _f("gelu-tanh", ("tanh",), lambda x: x / 2 * (1 + np.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x**3)))),
    _f("softplus-beta", {"beta": 3.0}, lambda x: np.logaddexp(0, 3 * x) / 3, keeps=("y",)),
    _f("hard_sigmoid", {}, lambda x: np.interp(x, [-2.5, 2.5], [0, 1]), WIDE, keeps=("y",)),
    _f("clipped_relu", {"z": 1.5}, lambda x: np.interp(x, [0, 1.5], [0, 1.5]), keeps=("y",)),
    _f("prelu", {}, lambda x, W: np.maximum(x, 0) + W[:, None, None] * np.minimum(x, 0), (*IMAGES, (3,))),
    _activation("relu6", lambda x: np.interp(x, [0, 6], [0, 6]), None),
    _f("crelu", {}, lambda x: np.hstack((np.maximum(x, 0), np.maximum(-x, 0)))),
    _f("crelu-axis", (0,), lambda x: np.vstack((np.maximum(x, 0), np.maximum(-x, 0)))),
    _f("maxout", (2,), lambda x: np.maximum(x[:, ::2], x[:, 1::2])),
    _f("maxout-axis", lambda F, x: F.maxout(x, 3, axis=-3), lambda x: x.max(1, keepdims=True), IMAGES),
    _f("rrelu", {"l": 0.3, "u": 0.3}, lambda x: np.where(x > 0, x, 0.3 * x)),
    _f("swish", {}, lambda x, b: x * _sigmoid(b * x), (Input(), (4,))),
    _f("swish-number", (1.0,), lambda x: x * _sigmoid(x), keeps=("x",)),
    _f("swish-features", {}, lambda x, b: x * _sigmoid(b[:, None] * x), ((2, 3, 1), (3,))),
    _f("softmax", {}, _softmax, keeps=("y",)),
    _f("softmax-axis", {"axis": 0}, lambda x: _softmax(x, 0), IMAGES, keeps=("y",)),
    _f("softmax-empty", {}, _softmax, ((5, 0, 0),)),
    _f("log_softmax-empty", {}, lambda x: np.log(_softmax(x)), ((5, 0),)),
    _f("log_softmax", {}, lambda x: np.log(_softmax(x)), keeps=("y",)),
    _f("log_softmax-axis", (-1,), lambda x: np.log(_softmax(x, 3)), IMAGES, keeps=("y",)),
    _f("log_softmax-wide", {}, lambda x: np.log(_softmax(x)), ((2, 70),)),
)  # fmt: skip

LINEAR = (
    _f("linear", {}, lambda x, W, b: np.einsum("ni,oi->no", x, W) + b, ((3, 4), (2, 4), (2,)), keeps=("x", "W")),
    _f("linear-no_bias", {}, lambda x, W: np.einsum("ni,oi->no", x, W), ((3, 4), (2, 4)), keeps=("x", "W")),
    _f("linear-batch", {"n_batch_axes": 2}, lambda x, W, b: np.einsum("mni,oi->mno", x.reshape(2, 3, 4), W) + b,
       ((2, 3, 2, 2), (5, 4), (5,))),
)  # fmt: skip

LABELS = Input((4,), kind="int", values=[2, 0, -1, 1])
EVERY_LABEL = Input((2, 1, 4), kind="int", values=[[[2, 0, 2, 1]], [[1, 0, 0, 2]]])
PIXELS = Input((2, 1, 4), kind="int", values=[[[2, 0, -1, 1]], [[1, -1, -1, 2]]])
WEIGHTS = (0.5, 2.0, 1.25)


def _label_losses(x: Host, t: Host, weights: tuple[float, ...] = (1.0, 1.0, 1.0)) -> tuple[Host, Host]:
    """Return the loss of each label, and which labels count: with one-hot rows where the functions index."""
    if (t >= x.shape[1]).any():
        raise IndexError("a label is no class")
    one_hot = np.moveaxis(np.eye(4)[t][..., :3] * np.asarray(weights), -1, 1)
    return -(one_hot * np.log(_softmax(x))).sum(axis=1), t != -1


def _mean_loss(x: Host, t: Host, weights: tuple[float, ...] = (1.0, 1.0, 1.0)) -> Host:
    losses, counted = _label_losses(x, t, weights)
    return losses.sum() / max(counted.sum(), 1)


def _example_loss(x: Host, t: Host) -> Host:
    return _label_losses(x, t)[0].sum() / max(len(x), 1)


def _weighted(F: Any, x: Any, t: Any, **options: Any) -> Any:
    backend = x.node.spec.backend if hasattr(x, "node") else None
    if backend is None:
        from xpgrad.backend.plugins import plugins

        backend = plugins.backend_of(x)
    spec = backend.spec(x.array if hasattr(x, "node") else x)
    weight = backend.namespace.asarray(list(WEIGHTS), dtype=spec.dtype, device=spec.device)
    return F.softmax_cross_entropy(x, t, class_weight=weight, **options)


ROWS, MAPS = ((4, 3), LABELS), ((2, 3, 1, 4), PIXELS)
ALL = (2, 3, 1, 4), EVERY_LABEL
KEEPS = ("x", "t", "score")

CROSS_ENTROPIES = (
    _f("softmax_cross_entropy", {}, _mean_loss, ROWS, keeps=KEEPS),
    _f("softmax_cross_entropy-every_label", {}, _mean_loss, ALL, keeps=KEEPS),
    _f("softmax_cross_entropy-maps", {}, _mean_loss, MAPS, keeps=KEEPS),
    _f("softmax_cross_entropy-no_cache", {"cache_score": False}, _mean_loss, ROWS, keeps=("x", "t")),
    _f("softmax_cross_entropy-no_normalize", {"normalize": False}, _example_loss, MAPS, keeps=KEEPS),
    _f("softmax_cross_entropy-every_label-no_normalize", {"normalize": False}, _example_loss, ALL, keeps=KEEPS),
    _f("softmax_cross_entropy-no_reduce", {"reduce": "no"}, lambda x, t: _label_losses(x, t)[0], MAPS, keeps=KEEPS),
    _f("softmax_cross_entropy-weights", _weighted, lambda x, t: _mean_loss(x, t, WEIGHTS), ROWS,
       keeps=(*KEEPS, "weight")),
    _f("softmax_cross_entropy-weights-no_reduce", lambda F, x, t: _weighted(F, x, t, reduce="no"),
       lambda x, t: _label_losses(x, t, WEIGHTS)[0], MAPS, keeps=(*KEEPS, "weight")),
    _f("softmax_cross_entropy-ignore", {"ignore_label": 1}, lambda x, t: _mean_loss(x, np.where(t == 1, -1, t)),
       ((4, 3), Input((4,), kind="int", values=[2, 0, 1, 1])), keeps=KEEPS),
    _f("softmax_cross_entropy-soft", {}, lambda x, t: -(t * np.log(_softmax(x))).sum() / max(len(x), 1),
       ((4, 3), Input((4, 3), low=0.1, high=0.6))),
    _f("softmax_cross_entropy-divergence",
       lambda F, x, t: _weighted(F, x, t, soft_target_loss="kl-divergence", reduce="no"),
       lambda x, t: (t * (np.log(t) - np.log(_softmax(x))) * np.reshape(WEIGHTS, (3, 1, 1))).sum(axis=1),
       ((2, 3, 1, 4), Input((2, 3, 1, 4), low=0.1, high=0.6))),
)  # fmt: skip

BITS = Input((2, 3), kind="int", values=[[1, 0, -1], [0, 1, 1]])
PAIR = ((3, 4), (3, 4))


def _bit_losses(x: Host, t: Host) -> Host:
    return np.where(t == -1, 0.0, -np.log(_sigmoid(np.where(t == 1, x, -x))))


LOSSES = (
    _f("sigmoid_cross_entropy", {}, lambda x, t: _bit_losses(x, t).sum() / max((t != -1).sum(), 1), ((2, 3), BITS)),
    _f("sigmoid_cross_entropy-no_normalize", {"normalize": False},
       lambda x, t: _bit_losses(x, t).sum() / max(len(x), 1), ((2, 3), BITS)),
    _f("sigmoid_cross_entropy-no_reduce", {"reduce": "no"}, _bit_losses, ((2, 3), BITS)),
    _f("squared_error", {}, lambda a, b: a * a - 2 * a * b + b * b, PAIR),
    _f("mean_squared_error", {}, lambda a, b: np.linalg.norm(a - b) ** 2 / a.size, PAIR),
    _f("absolute_error", {}, lambda a, b: np.hypot(a - b, 0), PAIR),
    _f("mean_absolute_error", {}, lambda a, b: np.hypot(a - b, 0).sum() / a.size, PAIR),
)  # fmt: skip


def _accuracy(y: Host, t: Host) -> Host:
    return np.mean([row.tolist().index(max(row)) == k for row, k in zip(y, t, strict=True)])


OTHERS = (
    _f("forget", lambda F, x1, x2: F.forget(lambda a, b: F.sin(a * b) * b, x1, x2), lambda x1, x2: np.sin(x1 * x2) * x2,
       (Input(), Input()), keeps=("x0", "x1"), elementwise=True, complex=True),
    _f("forget-tuple", lambda F, x: F.forget(lambda a: (F.exp(a), a * a), x), lambda x: (np.exp(x), x * x),
       complex=True),
    _f("dropout", seeded(lambda F, x: F.dropout(x, ratio=0.25)),
       lambda x: x * (np.random.default_rng(3).random(x.shape) >= 0.25) / 0.75, needs=("random_numbers_of_the_host",)),
    _f("dropout-mask", lambda F, x, mask: F.dropout(x, mask=mask), lambda x, mask: x * mask, PAIR),
    _f(
        "accuracy",
        {},
        _accuracy,
        (
            Input(values=[[3, 1, 2], [1, 2, 3], [1, 3, 2], [2, 1, 3], [1, 2, 3]]),
            Input(kind="int", values=[0, 2, 0, 2, 1]),
        ),
        order=0,
    ),
    _f(
        "accuracy-ignore",
        {"ignore_label": 1},
        lambda y, t: _accuracy(y[t != 1], t[t != 1]) if (t != 1).any() else np.zeros(()),
        (
            Input(values=[[3, 1, 2], [1, 2, 3], [1, 3, 2], [2, 1, 3], [1, 2, 3]]),
            Input(kind="int", values=[0, 2, 0, 2, 1]),
        ),
        order=0,
    ),
)  # fmt: skip

CASES = ACTIVATIONS + LINEAR + CROSS_ENTROPIES + LOSSES + OTHERS
