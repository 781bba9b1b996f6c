"""Cases of `xpgrad.scipy.spatial`."""

import numpy as np
import pytest
from tests.core.scipy.table import ScipyCase, uniform

from xpgrad.scipy.spatial import distance

ref = pytest.importorskip("scipy.spatial.distance")
A, B = uniform(4, 3, low=0.1), uniform(5, 3, low=0.1)
W = np.asarray([0.5, 1.0, 2.0])


def between(metric, label="", libraries=False, **kwargs):
    return ScipyCase(
        f"spatial.distance.cdist:{metric}{label}",
        lambda a, b: distance.cdist(a, b, metric, **kwargs),
        lambda a, b: ref.cdist(a, b, metric, **kwargs),
        (A, B),
        libraries=libraries,
    )


CASES = [
    *(between(metric, libraries=metric == "euclidean") for metric in distance.METRICS if metric != "mahalanobis"),
    *(
        between(metric, ":w", w=W)
        for metric in ("braycurtis", "canberra", "cityblock", "correlation", "cosine", "euclidean", "sqeuclidean")
    ),
    between("mahalanobis"),
    between("minkowski", ":p,w", p=3.5, w=W),
    *(
        ScipyCase(
            f"spatial.distance.pdist:{metric}",
            lambda x, metric=metric: distance.pdist(x, metric),
            lambda x, metric=metric: ref.pdist(x, metric),
            (B,),
            libraries=metric == "euclidean",
        )
        for metric in ("euclidean", "cityblock", "seuclidean")
    ),
    ScipyCase("spatial.distance.squareform", distance.squareform, ref.squareform, (uniform(10),), orders=1),
    ScipyCase(
        "spatial.distance.squareform:matrix",
        lambda x: distance.squareform(x + x.mT),
        lambda x: ref.squareform(x + x.T, checks=False),
        (uniform(4, 4),),
        orders=1,
        libraries=False,
    ),
]
