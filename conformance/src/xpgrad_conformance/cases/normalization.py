"""Cases of normalizations, whose references compute moments from sums."""

from typing import Any

import numpy as np

from xpgrad_conformance.cases.windows import Host
from xpgrad_conformance.table.case import Input
from xpgrad_conformance.table.case import of_functions as case


def _standardized(x: Host, axes: tuple[int, ...], eps: float) -> Host:
    """Return `x` with mean 0 and variance 1, the variance from the mean of squares."""
    mean = np.average(x, axes, keepdims=True)
    return (x - mean) / np.sqrt(np.average(x**2, axes, keepdims=True) - mean**2 + eps)


def _along(values: Host, ndim: int, axis: int = 1) -> Host:
    """Return a vector along one axis."""
    return values.reshape([-1 if i == axis else 1 for i in range(ndim)])


def _batch(x: Host, gamma: Host, beta: Host, axes: tuple[int, ...] = (0, 2, 3), axis: int = 1) -> Host:
    return _standardized(x, axes, 2e-5) * _along(gamma, x.ndim, axis) + _along(beta, x.ndim, axis)


def _groups(x: Host, gamma: Host, beta: Host) -> Host:
    parts = [_standardized(part, (1, 2, 3), 1e-5) for part in np.split(x, 2, 1)]
    return np.concatenate(parts, 1) * _along(gamma, 4) + _along(beta, 4)


def _responses(x: Host, n: int = 5, k: float = 2, alpha: float = 1e-4, beta: float = 0.75) -> Host:
    y = np.empty_like(x)
    for i in range(x.shape[1]):
        near = x[:, max(0, i - n // 2) : i + n // 2 + 1]
        y[:, i] = x[:, i] * np.exp(-beta * np.log(k + alpha * (near * near).sum(axis=1)))
    return y


PICTURES, ROWS = (2, 4, 3, 2), (5, 4)
FEATURES = ((4,), (4,))
MOMENTS = ((4,), Input((4,), low=0.5, high=2.0))


def _fixed(F: Any, *args: Any) -> Any:
    return F.fixed_batch_normalization(*args, eps=0.1)


CASES = (
    case("batch_normalization", {}, _batch, (PICTURES, *FEATURES)),
    case("batch_normalization-rows", {}, lambda x, gamma, beta: _batch(x, gamma, beta, (0,)), (ROWS, *FEATURES)),
    case(
        "batch_normalization-axis",
        {"axis": (0, 1, 2)},
        lambda x, gamma, beta: _batch(x, gamma, beta, (0, 1, 2), 3),
        ((2, 3, 2, 4), *FEATURES),
    ),
    case(
        "batch_normalization-map",
        {"eps": 0.1},
        lambda x, gamma, beta: _standardized(x, (0,), 0.1) * gamma + beta,
        ((4, 3, 2), (3, 2), (3, 2)),
    ),
    case(
        "fixed_batch_normalization",
        _fixed,
        lambda x, gamma, beta, mean, var: (
            _along((var + 0.1) ** -0.5 * gamma, 4) * (x - _along(mean, 4)) + _along(beta, 4)
        ),
        (PICTURES, *FEATURES, *MOMENTS),
    ),
    case(
        "layer_normalization", {}, lambda x, gamma, beta: _standardized(x, (1,), 1e-5) * gamma + beta, (ROWS, *FEATURES)
    ),
    case("group_normalization", lambda F, x, *args: F.group_normalization(x, 2, *args), _groups, (PICTURES, *FEATURES)),
    case("normalize", {}, lambda x: x / (np.einsum("ijkl,ijkl->ikl", x, x) ** 0.5 + 1e-5)[:, None], (PICTURES,)),
    case(
        "normalize-axes",
        {"eps": 0.1, "axis": (1, 3)},
        lambda x: x / (np.einsum("ijkl,ijkl->ik", x, x) ** 0.5 + 0.1)[:, None, :, None],
        (PICTURES,),
    ),
    case("local_response_normalization", {}, _responses, ((2, 7, 2, 2),)),
    case(
        "local_response_normalization-options",
        {"n": 3, "k": 1, "alpha": 0.5, "beta": 0.6},
        lambda x: _responses(x, 3, 1, 0.5, 0.6),
        (ROWS,),
    ),
)
