"""Cases of batch renormalization and decorrelated batch normalization, with batch statistics and fixed statistics."""

from collections.abc import Callable
from typing import Any

import numpy as np

from xpgrad_conformance.cases.windows import Host
from xpgrad_conformance.table.case import Input
from xpgrad_conformance.table.case import of_functions as case

MEANS = Input(values=[9.0, -9.0, 8.0, -7.0])
VARIANCES = Input(values=[0.01, 90.0, 0.02, 70.0])
"""Moving averages far from the batch statistics, so that all corrections are at their limits, where they are
constant."""
EQUAL = [[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
"""Columns with mean 0, variance 1 and no correlation: all eigenvalues of the covariance are equal."""


def _renormalized(rmax: float, dmax: float) -> Callable[..., Host]:
    """Return the reference for corrections at these limits; the features are in axis 1 of `x`."""

    def reference(x: Host, gamma: Host, beta: Host, mean: Host, var: Host) -> Host:
        rows = np.moveaxis(x, 1, -1)
        axes = tuple(range(x.ndim - 1))
        centred = rows - np.average(rows, axes)
        normalized = centred / np.sqrt(np.average(centred**2, axes) + 2e-5)
        y = (normalized * np.where(var < 1, rmax, 1 / rmax) - np.sign(mean) * dmax) * gamma + beta
        return np.moveaxis(y, -1, 1)

    return reference


def _renormalize(F: Any, *args: Any, **options: Any) -> Any:
    *parameters, mean, var = args
    return F.batch_renormalization(*parameters, running_mean=mean, running_var=var, **options)


def _whitened(x: Host, groups: int, eps: float) -> Host:
    """Return the reference: projections from the singular values of the centred channels of each group."""
    found = []
    for part in np.split(x, groups, 1):
        rows = np.moveaxis(part, 1, 0).reshape(part.shape[1], -1)
        centred = rows - np.average(rows, 1)[:, None]
        u, s, _ = np.linalg.svd(centred, full_matrices=False)
        projection = np.einsum("ij,j,kj->ik", u, (s * s / rows.shape[1] + eps) ** -0.5, u)
        found.append((projection @ centred).reshape(np.moveaxis(part, 1, 0).shape))
    return np.moveaxis(np.concatenate(found), 0, 1)


def _projected(x: Host, mean: Host, projection: Host) -> Host:
    groups, size = mean.shape
    parts = x.reshape(len(x), groups, size, -1) - mean[:, :, None]
    return np.einsum("gij,ngjd->ngid", projection, parts).reshape(x.shape)


PICTURES, ROWS = (2, 4, 3, 2), (7, 4)
FEATURES = ((4,), (4,))

CASES = (
    case("batch_renormalization", lambda F, *args: _renormalize(F, *args[:3], 1.5, 0.5, *args[3:]),
         _renormalized(1.5, 0.5), (PICTURES, *FEATURES, MEANS, VARIANCES)),
    case("batch_renormalization-rows", lambda F, *args: _renormalize(F, *args[:3], 3.0, 0.25, *args[3:]),
         _renormalized(3.0, 0.25), (ROWS, *FEATURES, MEANS, VARIANCES)),
    case("batch_renormalization-uncorrected", lambda F, *args: _renormalize(F, *args[:3], 1.0, 0.0, *args[3:]),
         _renormalized(1.0, 0.0), (ROWS, *FEATURES, MEANS, VARIANCES)),
    case("batch_renormalization-map", lambda F, *args: _renormalize(F, *args[:3], 1.0, 0.0, *args[3:], eps=0.1),
         lambda x, gamma, beta, *_: (x - x.mean(0)) / np.sqrt(x.var(0) + 0.1) * gamma + beta,
         ((4, 3, 2), *[(3, 2)] * 3, Input((3, 2), low=0.5))),
    case("fixed_batch_renormalization", {"eps": 0.1},
         lambda x, gamma, beta, mean, var: (x - mean) / np.sqrt(var + 0.1) * gamma + beta,
         (ROWS, *FEATURES, (4,), Input((4,), low=0.5))),
    case("decorrelated_batch_normalization", {"groups": 2}, lambda x: _whitened(x, 2, 2e-5), ((3, 4, 2, 2),)),
    case("decorrelated_batch_normalization-rows", {"groups": 1, "eps": 0.1}, lambda x: _whitened(x, 1, 0.1), (ROWS,)),
    case("decorrelated_batch_normalization-ties", {"groups": 1}, lambda x: _whitened(x, 1, 2e-5),
         (Input(values=EQUAL),)),
    case("fixed_decorrelated_batch_normalization", {"groups": 2}, _projected, ((3, 4, 2), (2, 2), (2, 2, 2))),
)  # fmt: skip
