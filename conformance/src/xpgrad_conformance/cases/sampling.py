"""Cases of `xpgrad.functions`: losses by sampling and of clustering, and cross entropies of probabilities."""

import itertools
from functools import partial
from typing import Any

import numpy as np

from xpgrad_conformance.table.case import Case, Input, of_functions

Host = Any  # a NumPy array
DRAWN = np.asarray([[0, 1, 4, 1], [2, 0, 3, 3], [1, 2, 2, 0]], "int32")
SAMPLES = Input(kind="int", values=[[1, 4], [0, 3], [2, 0]])
ROWS, VECTORS = (3, 4), (5, 4)
IGNORED, LABELS = Input(kind="int", values=[2, -1, 4]), Input(kind="int", values=[2, 0, 4])
IMAGES = (2, 3, 2, 3)
INSTANCES = Input(kind="int", values=[[[1, 2, 1], [0, 2, 2]], [[3, 3, 1], [7, 1, 3]]])
_f = partial(of_functions, order=2)


def _negative(x: Host, t: Host, W: Host) -> Host:
    losses = np.zeros(len(x))
    for n, label in enumerate(t):
        if label >= 0:
            others = sum(np.log1p(np.exp(W[k] @ x[n])) for k in DRAWN[n, 1:])
            losses[n] = np.log1p(np.exp(-W[label] @ x[n])) + others
    return losses


def _sampled(F: Any, x: Any, t: Any, W: Any, **options: Any) -> Any:
    return F.negative_sampling(x, t, W, lambda shape: DRAWN[: shape[0], : shape[1]], 3, **options)


def _black_out(x: Host, t: Host, W: Host, samples: Host) -> Host:
    losses = []
    for row, label, others in zip(x, t, samples, strict=True):
        p = np.exp(W[[label, *others]] @ row)
        p /= p.sum()
        losses.append(-np.log(p[0]) - sum(np.log(1 - q) for q in p[1:]))
    return np.asarray(losses)


def _clustering(x: Host, labels: Host, order: int) -> tuple[Host, Host, Host]:
    """Return the terms for margins 0.2 and 1.3, pixel by pixel."""

    def norm(v: Host) -> Host:
        return (abs(v) ** order).sum() ** (1 / order)

    count, k = x.shape[:2]
    means = np.zeros((count, k, k))
    near = [0.0] * k
    for c in range(k):
        for n in range(count):
            own = x[n][:, labels[n] == c + 1]
            means[n, c] = own.mean(axis=1) if own.size else 0
            near[c] += sum(max(0, norm(pixel - means[n, c]) - 0.2) ** 2 for pixel in own.T)
        near[c] /= max(1, (labels == c + 1).sum())
    pairs = list(itertools.combinations(range(k), 2))
    apart = [max(0, 2.6 - norm(means[n, a] - means[n, b])) ** 2 for n in range(count) for a, b in pairs]
    size = sum(norm(means[:, c]) for c in range(k)) / max(count * k, 1)
    return 2 * np.mean(near), 0.5 * sum(apart) / max(len(apart), 1), 0.1 * size


def _clustered(F: Any, x: Any, labels: Any, **options: Any) -> Any:
    return F.discriminative_margin_based_clustering_loss(
        x, labels, 0.2, 1.3, 3, alpha=2.0, beta=0.5, gamma=0.1, **options
    )


def _soft(kind: str, reduce: str, cache_score: bool, double: bool) -> Case:
    def reference(x: Host, t: Host) -> Host:
        log_p = x - np.log(np.exp(x).sum(axis=1, keepdims=True))
        losses = (t * ((np.log(t) if kind[0] == "k" else 0.0) - log_p)).sum(axis=1)
        return losses if reduce == "no" else losses.sum() / max(len(losses), 1)

    options = {"cache_score": cache_score, "reduce": reduce, "enable_double_backprop": double}
    return _f(
        f"softmax_cross_entropy-{kind}-{reduce}-{'' if cache_score else 'no_'}cache{'-double' if double else ''}",
        lambda F, x, t: F.softmax_cross_entropy(x, t, soft_target_loss=kind, **options),
        reference,
        ((4, 3), Input((4, 3), low=0.1, high=0.6)),
    )


CASES = (
    _f("negative_sampling", _sampled, lambda x, t, W: _negative(x, t, W).sum(), (ROWS, IGNORED, VECTORS)),
    _f("negative_sampling-no_reduce", lambda F, x, t, W: _sampled(F, x, t, W, reduce="no"), _negative,
       (ROWS, IGNORED, VECTORS)),
    _f("negative_sampling-samples", lambda F, x, t, W: F.identity(*_sampled(F, x, t, W, return_samples=True)),
       lambda x, t, W: (_negative(x, t, W).sum(), np.hstack((t[:, None], DRAWN[:, 1:]))), (ROWS, LABELS, VECTORS),
       dtype=(None, "int")),
    _f("black_out", {}, lambda *xs: _black_out(*xs).sum() / max(len(xs[0]), 1), (ROWS, LABELS, VECTORS, SAMPLES)),
    _f("black_out-no_reduce", {"reduce": "no"}, _black_out, (ROWS, LABELS, VECTORS, SAMPLES)),
    _f("discriminative_margin_based_clustering_loss", _clustered, lambda x, labels: _clustering(x, labels, 1),
       (IMAGES, INSTANCES)),
    _f("discriminative_margin_based_clustering_loss-L2", lambda F, x, labels: _clustered(F, x, labels, norm=2),
       lambda x, labels: _clustering(x, labels, 2), (IMAGES, INSTANCES)),
    *(
        _soft(*options)
        for options in itertools.product(
            ("cross-entropy", "kl-divergence"), ("mean", "no"), (True, False), (True, False)
        )
    ),
)  # fmt: skip
