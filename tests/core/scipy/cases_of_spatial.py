"""Cases of `xpgrad.scipy.spatial`."""

import numpy as np
import pytest
from tests.core.scipy.table import ScipyCase, of_both, uniform

from xpgrad.scipy.spatial import distance
from xpgrad.scipy.spatial.transform import Rotation

ref = pytest.importorskip("scipy.spatial.distance")
both = of_both(distance, ref)
transform = pytest.importorskip("scipy.spatial.transform")
A, B = uniform(4, 3, low=0.1), uniform(5, 3, low=0.1)
W = np.asarray([0.5, 1.0, 2.0])


def between(metric, label="", libraries=False, **kwargs):
    return both(
        f"spatial.distance.cdist:{metric}{label}",
        lambda m, a, b: m.cdist(a, b, metric, **kwargs),
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
    between("chebyshev", ":w", w=W),
    between("sqe", ":alias"),
    *(
        both(
            f"spatial.distance.{name}:function",
            lambda m, *xs, name=name: getattr(m, name)(*xs, lambda u, v: ((u - v) ** 2 * u).sum()),
            inputs,
        )
        for name, inputs in (("cdist", (A, B)), ("pdist", (B,)))
    ),
    between("minkowski", ":p,w", p=3.5, w=W),
    *(
        both(
            f"spatial.distance.pdist:{metric}",
            lambda m, x, metric=metric: m.pdist(x, metric),
            (B,),
            libraries=metric == "euclidean",
        )
        for metric in ("euclidean", "cityblock", "seuclidean")
    ),
    ScipyCase("spatial.distance.squareform", distance.squareform, ref.squareform, (uniform(10),), orders=1),
    ScipyCase(
        "spatial.distance.squareform:matrix",
        lambda x: distance.squareform(x + x.mT, checks=False),
        lambda x: ref.squareform(x + x.T, checks=False),
        (uniform(4, 4),),
        orders=1,
        libraries=False,
    ),
    *(
        ScipyCase(
            f"spatial.transform.Rotation:{name}",
            lambda *xs, function=function: function(Rotation, *xs),
            lambda *xs, function=function: function(transform.Rotation, *xs),
            inputs,
            rtol=1e-9,
            libraries=name == "apply",
        )
        for name, function, inputs in (
            ("apply", lambda R, q, v: R.from_quat(q).apply(v), (uniform(4), uniform(3))),
            ("apply inverse", lambda R, q, v: R.from_quat(q).apply(v, inverse=True), (uniform(2, 4), uniform(2, 3))),
            ("rotvec", lambda R, v: R.from_rotvec(v).as_matrix(), (uniform(2, 3),)),
            ("small", lambda R, v: R.from_rotvec(v).as_rotvec(), (1e-4 * uniform(3),)),
            ("as_rotvec", lambda R, q: R.from_quat(q).as_rotvec(degrees=True), (uniform(2, 4),)),
            ("euler", lambda R, a: R.from_euler("xzy", a).as_matrix(), (uniform(2, 3),)),
            ("Euler", lambda R, a: R.from_euler("XY", a, degrees=True).as_matrix(), (90 * uniform(2, 2),)),
            ("product", lambda R, p, q: (R.from_quat(p) * R.from_quat(q).inv()).as_quat(), (uniform(4), uniform(4))),
            ("magnitude", lambda R, q: R.from_quat(q).magnitude(), (uniform(2, 4),)),
            ("scalar first", lambda R, q: R.from_quat(q, scalar_first=True).as_quat(scalar_first=True), (uniform(4),)),
            ("Rodrigues", lambda R, v: R.from_mrp(v).as_mrp(), (0.5 * uniform(2, 3),)),
            ("power", lambda R, q: (R.from_quat(q)[0] ** 0.7).as_matrix(), (uniform(2, 4),)),
            (
                "mean",
                lambda R, q: R.concatenate([R.from_quat(q), R.identity()]).mean(np.arange(1.0, 4.0)).as_matrix(),
                (uniform(2, 4, low=0.3),),
            ),
            ("align", lambda R, a, b: R.align_vectors(a, b)[0].as_matrix(), (uniform(4, 3), uniform(4, 3))),
            *(
                (f"as_euler {seq}", lambda R, q, seq=seq: R.from_quat(q).as_euler(seq), (uniform(2, 4),))
                for seq in ("xyz", "zxz", "YXZ", "XYX")
            ),
            ("matrix", lambda R, v: R.from_matrix(R.from_rotvec(v).as_matrix()).as_rotvec(), (2 * uniform(4, 3),)),
            ("nearest", lambda R, m: R.from_matrix(m).as_quat(), (np.eye(3) + uniform(2, 3, 3) / 4,)),
        )
    ),
]
