"""Kernels of several calls that jax compiles to one: a call takes some ten microseconds, and passes over memory."""

import functools
from typing import Any

import jax

from xpgrad.types import Kernel

NAMES = frozenset((
    "clipped_relu", "cross_entropy", "elu", "gate", "hard_sigmoid", "inverse_std", "leaky_relu", "log_softmax",
    "log_softmax_backward", "logsumexp", "max_pool", "max_pool_backward", "moments", "normal_weighted",
    "normal_weighted_slope", "normalized", "normalized_backward", "normalized_gamma_backward", "relu",
    "scale_and_shift", "sigmoid_weighted", "sigmoid_weighted_slope", "softmax", "softmax_backward", "softplus",
    "special.expit", "special.log_expit", "standardize", "standardize_backward", "std", "sum_pool", "tanh_backward",
    "tanh_slope", "var",
))  # fmt: skip
"""Bodies that do not look at values."""


def fused(body: Kernel) -> Kernel:
    """Return the body of a kernel, compiled for each shape and dtype, and for the values of other arguments."""

    @functools.lru_cache(1024)
    def compiled(places: tuple[int, ...], args: tuple[Any, ...], parameters: tuple[tuple[str, Any], ...]) -> Any:
        def run(*arrays: Any) -> Any:
            given = list(args)
            for place, array in zip(places, arrays, strict=True):
                given[place] = array
            return body(*given, **dict(parameters))

        return jax.jit(run)

    @functools.wraps(body)
    def call(*args: Any, **parameters: Any) -> Any:
        places = tuple([i for i, x in enumerate(args) if isinstance(x, jax.Array)])
        others = tuple([None if isinstance(x, jax.Array) else x for x in args])
        return compiled(places, others, tuple(parameters.items()))(*[args[i] for i in places])

    return call
