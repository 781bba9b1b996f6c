"""Cases of `xpgrad.functions`: noise, with the same numbers at each call."""

from functools import partial
from typing import Any

import numpy as np

from xpgrad_conformance.table.case import Input, of_functions

Host = Any  # a NumPy array
MATRIX = (3, 4)
X, W, B = (2, 2, 2), (3, 4), (3,)
MASKS = Input((2, 3, 4), kind="bool")
MASK = Input((3, 4), kind="bool")
HOST = ("random_numbers_of_the_host",)
_f = partial(of_functions, order=2)


def seeded(call: Any) -> Any:
    """Return `call` with random numbers that follow from the seed 3."""

    def called(F: Any, *xs: Any) -> Any:
        import xpgrad

        device = xpgrad.as_variable(xs[0]).device
        state = xpgrad.random.get_state(device)
        xpgrad.random.seed(3, device)
        y = call(F, *xs)
        xpgrad.random.set_state(state, device)
        return y

    return called


def _uniform(*shape: int) -> Host:
    return np.random.default_rng(3).random(shape)


def _softmax(x: Host, axis: int) -> Host:
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


CASES = (
    _f("gaussian", lambda F, m, v, eps: F.gaussian(m, v, eps=F.cast(eps, m.dtype)),
       lambda m, v, eps: m + np.sqrt(np.exp(v)) * eps, (Input(), Input(), Input(kind="int"))),
    _f("gaussian-eps", seeded(lambda F, m, v: F.gaussian(m, v, eps=F.gaussian(m, v, return_eps=True)[1])),
       lambda m, v: m + np.sqrt(np.exp(v)) * np.random.default_rng(3).standard_normal(m.shape), (Input(), Input()),
       needs=HOST),
    _f("gumbel_softmax", seeded(lambda F, x: F.gumbel_softmax(x, tau=0.8)),
       lambda x: _softmax((x - np.log(-np.log(_uniform(*x.shape)))) / 0.8, 1), (MATRIX,), needs=HOST),
    _f("gumbel_softmax-temperature", seeded(lambda F, x, tau: F.gumbel_softmax(x, tau, axis=0)),
       lambda x, tau: _softmax((x - np.log(-np.log(_uniform(*x.shape)))) / tau, 0), (MATRIX, Input((), low=0.5)),
       needs=HOST),
    _f("gumbel_softmax-one", {}, lambda x: np.ones(()), ((),), order=0),
    _f(
        "simplified_dropconnect",
        seeded(lambda F, x, W, b: F.simplified_dropconnect(x, W, b, ratio=0.25)),
        lambda x, W, b: (
            np.einsum("nk,nmk->nm", x.reshape(len(x), -1), W * (_uniform(len(x), *W.shape) >= 0.25)) / 0.75 + b
        ),
        (X, W, B),
        needs=HOST,
    ),
    _f("simplified_dropconnect-one_mask",
       seeded(lambda F, x, W: F.simplified_dropconnect(x, W, ratio=0.25, use_batchwise_mask=False)),
       lambda x, W: np.einsum("nk,mk->nm", x.reshape(len(x), -1), W * (_uniform(*W.shape) >= 0.25)) / 0.75, (X, W),
       needs=HOST),
    _f("simplified_dropconnect-mask", lambda F, x, W, b, mask: F.simplified_dropconnect(x, W, b, mask=mask),
       lambda x, W, b, mask: np.einsum("nk,nmk->nm", x.reshape(len(x), -1), 2 * W * mask) + b, (X, W, B, MASKS)),
    _f("simplified_dropconnect-given_mask",
       lambda F, x, W, mask: F.simplified_dropconnect(x, W, mask=mask, use_batchwise_mask=False),
       lambda x, W, mask: np.einsum("nk,mk->nm", x.reshape(len(x), -1), 2 * W * mask), (X, W, MASK)),
    _f("simplified_dropconnect-no_train", {"train": False},
       lambda x, W, b: np.einsum("nk,mk->nm", x.reshape(len(x), -1), W) + b, (X, W, B)),
    _f("zoneout", seeded(lambda F, h, x: F.zoneout(h, x, ratio=0.25)),
       lambda h, x: np.where(_uniform(*x.shape) >= 0.25, x, h), (Input(), Input()), needs=HOST),
    _f("zoneout-all", (1.0,), lambda h, x: h, (Input(), Input())),
)  # fmt: skip
