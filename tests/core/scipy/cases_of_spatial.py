"""Cases of `xpgrad.scipy.spatial`."""

import numpy as np
import pytest
from tests.core.scipy.table import cases_of, uniform

from xpgrad.scipy.spatial import distance, transform

of = cases_of("spatial.distance", distance, pytest.importorskip("scipy.spatial.distance"), libraries=False)
rotation = cases_of("spatial.transform", transform, pytest.importorskip("scipy.spatial.transform"), libraries=False)
A, B = uniform(4, 3, low=0.1), uniform(5, 3, low=0.1)
W = np.asarray([0.5, 1.0, 2.0])


def between(metric, label="", **kwargs):
    return of(f"cdist:{metric}{label}", A, B, args=(metric,), libraries=not label and metric == "euclidean", **kwargs)


def rotated(name, call, *inputs):
    """Return a case of ``call(Rotation, *inputs)``."""
    return rotation(f"Rotation:{name}", *inputs, call=lambda m, *xs: call(m.Rotation, *xs), libraries=name == "apply")


CASES = [
    *(between(metric) for metric in distance.METRICS),
    *(between(metric, ":w", w=W) for metric in (
        "braycurtis", "canberra", "cityblock", "correlation", "cosine", "euclidean", "sqeuclidean", "chebyshev",
    )),
    between("sqe", ":alias"),
    between("minkowski", ":p,w", p=3.5, w=W),
    *(of(f"{name}:function", *inputs, args=(lambda u, v: ((u - v) ** 2 * u).sum(),), libraries=True)
      for name, inputs in (("cdist", (A, B)), ("pdist", (B,)))),
    *(of(f"pdist:{metric}", B, args=(metric,), libraries=metric == "euclidean")
      for metric in ("euclidean", "cityblock", "seuclidean")),
    of("squareform", uniform(10), orders=1, libraries=True),
    of("squareform:matrix", uniform(4, 4), call=lambda m, x: m.squareform(x + x.mT, checks=False), orders=1),
    rotated("apply", lambda R, q, v: R.from_quat(q).apply(v), uniform(4), uniform(3)),
    rotated("apply inverse", lambda R, q, v: R.from_quat(q).apply(v, inverse=True), uniform(2, 4), uniform(2, 3)),
    rotated("rotvec", lambda R, v: R.from_rotvec(v).as_matrix(), uniform(2, 3)),
    rotated("small", lambda R, v: R.from_rotvec(v).as_rotvec(), 1e-4 * uniform(3)),
    rotated("as_rotvec", lambda R, q: R.from_quat(q).as_rotvec(degrees=True), uniform(2, 4)),
    rotated("euler", lambda R, a: R.from_euler("xzy", a).as_matrix(), uniform(2, 3)),
    rotated("Euler", lambda R, a: R.from_euler("XY", a, degrees=True).as_matrix(), 90 * uniform(2, 2)),
    rotated("product", lambda R, p, q: (R.from_quat(p) * R.from_quat(q).inv()).as_quat(), uniform(4), uniform(4)),
    rotated("magnitude", lambda R, q: R.from_quat(q).magnitude(), uniform(2, 4)),
    rotated("scalar first", lambda R, q: R.from_quat(q, scalar_first=True).as_quat(scalar_first=True), uniform(4)),
    rotated("Rodrigues", lambda R, v: R.from_mrp(v).as_mrp(), 0.5 * uniform(2, 3)),
    rotated("power", lambda R, q: (R.from_quat(q)[0] ** 0.7).as_matrix(), uniform(2, 4)),
    rotated("mean", lambda R, q: R.concatenate([R.from_quat(q), R.identity()]).mean(np.arange(1.0, 4.0)).as_matrix(),
            uniform(2, 4, low=0.3)),
    rotated("align", lambda R, a, b: R.align_vectors(a, b)[0].as_matrix(), uniform(4, 3), uniform(4, 3)),
    *(rotated(f"as_euler {seq}", lambda R, q, seq=seq: R.from_quat(q).as_euler(seq), uniform(2, 4))
      for seq in ("xyz", "zxz", "YXZ", "XYX")),
    rotated("matrix", lambda R, v: R.from_matrix(R.from_rotvec(v).as_matrix()).as_rotvec(), 2 * uniform(4, 3)),
    rotated("nearest", lambda R, m: R.from_matrix(m).as_quat(), np.eye(3) + uniform(2, 3, 3) / 4),
]  # fmt: skip
