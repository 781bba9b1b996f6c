"""Cases of `xpgrad.functions`: losses other than cross entropies, and embeddings."""

from functools import partial
from typing import Any

import numpy as np

from xpgrad_conformance.table.case import Input, of_functions

Host = Any  # a NumPy array
_f = partial(of_functions, order=2)
PAIR, TRIPLE = (Input(), Input()), (Input(), Input(), Input())
CUBES = ((2, 3, 2), (2, 3, 2))
CLASSES = Input((3,), kind="int", values=[2, 0, 3])
SAME = Input((3,), kind="int", values=[1, 0, 0])


def _huber(x: Host, t: Host) -> Host:
    d = abs(x - t)
    return np.where(d < 0.7, d * d / 2, 0.7 * (d - 0.35))


def _hinge(x: Host, t: Host) -> Host:
    signs = np.ones_like(x)
    signs[range(len(t)), t] = -1
    return np.maximum(0, 1 + signs * x)


def _contrastive(x0: Host, x1: Host, y: Host) -> Host:
    d = np.linalg.norm(x0 - x1, axis=1)
    return np.where(y == 1, d**2, np.maximum(0, 4.5 - d) ** 2) / 2


def _triplet(a: Host, p: Host, n: Host) -> Host:
    return np.maximum(0, np.linalg.norm(a - p, axis=1) ** 2 - np.linalg.norm(a - n, axis=1) ** 2 + 5)


def _covariance(y: Host, z: Host) -> Host:
    return np.einsum("ni,nj->ij", y, z) / len(y) - np.outer(y.mean(0), z.mean(0))


def _bernoulli(x: Host, y: Host) -> Host:
    p = 1 / (1 + np.exp(-y))
    return -(x * np.log(p) + (1 - x) * np.log(1 - p))


def _gaussian(x: Host, mean: Host, ln_var: Host) -> Host:
    return -np.log(np.exp(-((x - mean) ** 2) / (2 * np.exp(ln_var))) / np.sqrt(2 * np.pi * np.exp(ln_var)))


def _divergence(mean: Host, ln_var: Host) -> Host:
    return (mean**2 + np.exp(ln_var) - 1 - ln_var) / 2


PROBABILITIES = (Input(low=0.1, high=0.9), Input())

REGRESSION = (
    _f("huber_loss", (0.7,), lambda x, t: _huber(x, t).sum(1), CUBES),
    _f("huber_loss-no_reduce", (0.7, "no"), _huber, PAIR),
    _f("squared_difference", {}, lambda x, t: x * x - 2 * x * t + t * t, PAIR),
)
LIKELIHOOD = (
    _f("bernoulli_nll", {}, lambda x, y: _bernoulli(x, y).sum(), PROBABILITIES),
    _f("bernoulli_nll-no_reduce", ("no",), _bernoulli, PROBABILITIES),
    _f("gaussian_kl_divergence", {}, lambda m, v: _divergence(m, v).sum(), PAIR),
    _f("gaussian_kl_divergence-no_reduce", ("no",), _divergence, PAIR),
    _f("gaussian_nll", {}, lambda x, m, v: _gaussian(x, m, v).sum(), TRIPLE),
    _f("gaussian_nll-mean", {"reduce": "mean"}, lambda x, m, v: _gaussian(x, m, v).mean(), TRIPLE),
    _f("gaussian_nll-broadcast", {}, lambda x, m, v: _gaussian(x, m, v).sum(), ((2, 3), (3,), (2, 1))),
    _f("gaussian_nll-no_reduce", ("no",), _gaussian, TRIPLE),
)
MARGIN = (
    _f("hinge", {}, lambda x, t: _hinge(x, t).sum() / max(len(x), 1), (Input(), CLASSES)),
    _f("hinge-L2", ("L2",), lambda x, t: (_hinge(x, t) ** 2).sum() / max(len(x), 1), (Input(), CLASSES)),
    _f("hinge-no_reduce", {"reduce": "no"}, _hinge, (Input(), CLASSES)),
    _f("contrastive", {"margin": 4.5}, lambda x0, x1, y: _contrastive(x0, x1, y).sum() / max(len(y), 1), (*PAIR, SAME)),
    _f("contrastive-no_reduce", {"margin": 4.5, "reduce": "no"}, _contrastive, (*PAIR, SAME)),
    _f("triplet", (5.0,), lambda a, p, n: _triplet(a, p, n).sum() / max(len(a), 1), TRIPLE),
    _f("triplet-no_reduce", lambda F, a, p, n: F.triplet(a, p, n, 5.0, reduce="no"), _triplet, TRIPLE),
)
CORRELATION = (
    _f("cross_covariance", {}, lambda y, z: (_covariance(y, z) ** 2).sum() / 2, ((4, 3), (4, 2))),
    _f("cross_covariance-no_reduce", ("no",), _covariance, ((4, 3), (4, 2))),
    _f("decov", {}, lambda h: (np.triu(_covariance(h, h), 1) ** 2).sum(), ((4, 3),)),
    _f("decov-no_reduce", ("no",), lambda h: _covariance(h, h) * (np.eye(h.shape[1]) == 0), ((4, 3),)),
)
NUMBERS = Input((2, 3), kind="int", values=[[1, 0, 1], [3, 1, 0]])
EMBEDDING = (
    _f("embed_id", {}, lambda x, W: np.eye(4)[x] @ W, (NUMBERS, (4, 2))),
    _f("embed_id-ignore", {"ignore_label": 3}, lambda x, W: np.eye(4, 3)[x] @ W, (NUMBERS, (3, 2))),
)

CASES = REGRESSION + LIKELIHOOD + MARGIN + CORRELATION + EMBEDDING
