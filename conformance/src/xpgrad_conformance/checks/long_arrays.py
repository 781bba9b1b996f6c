"""Gradients of elementwise functions on arrays whose size is no multiple of vector lengths or block sizes."""

from typing import Any

import numpy as np

from xpgrad_conformance.check import check
from xpgrad_conformance.oracle import host, named, near_gradient, pulled
from xpgrad_conformance.subject import Subject

SIZES = 37, 1037
SMOOTH = {
    (0.1, 0.9): """abs acos asin asinh atan atanh cos cosh exp expm1 log log10 log1p log2 negative positive reciprocal
        sin sinh sqrt square tan tanh""",
    (1.1, 7.9): "acosh",
}
"""Differentiable functions of one array, by the range of their inputs."""
BINARY = "add atan2 divide hypot logaddexp multiply pow subtract"
STEP = 1e-6  # of the differences in float64: truncation and rounding are both below 1e-9


@check("G15", scope="dtype", dtypes=("float64", "float32"))
def long_gradients(s: Subject) -> None:
    """Gradients of elementwise functions are right up to the last element, and cotangents are unchanged."""
    for size in SIZES:
        for (low, high), names in SMOOTH.items():
            for name in filter(s.has, names.split()):
                _gradients(s, name, s.values((size,), low, high))
        for name in filter(s.has, BINARY.split()):
            _gradients(s, name, s.values((size,), 0.5, 1.5), s.values((size,), 0.5, 1.5))


def _gradients(s: Subject, name: str, *hosts: Any) -> None:
    xs = [s.variable(each) for each in hosts]
    y = named(s.xp, name)(*xs)
    gy = s.cotangent(y)
    seed = s.variable(gy)
    gxs = pulled([y], xs, [seed])
    wide = [each.astype(np.float64) for each in hosts]
    for i, (x, gx) in enumerate(zip(xs, gxs, strict=True)):
        up, down = ([each + sign * STEP * (i == j) for j, each in enumerate(wide)] for sign in (1, -1))
        slope = (named(host, name)(*up) - named(host, name)(*down)) / (2 * STEP)
        what = f"{name} of {len(gy)} elements: the gradient for input {i}"
        near_gradient(s, gx, x, gy * slope, what, rtol=1e-6)
    assert s.host(seed).tobytes() == gy.tobytes(), f"{name} of {len(gy)} elements: the sweep has written to its seed"
