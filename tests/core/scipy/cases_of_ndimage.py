"""Cases of `xpgrad.scipy.ndimage`."""

import numpy as np
import pytest
from tests.core.scipy.table import ScipyCase, complex_uniform, of_both, uniform

from xpgrad.scipy import ndimage

ref = pytest.importorskip("scipy.ndimage")
both = of_both(ndimage, ref)


def of(name, *inputs, args=(), orders=1, libraries=None, batched=True, label="", **kwargs):
    """Return a case whose first arguments are arrays."""
    found, expected = getattr(ndimage, name), getattr(ref, name)
    return ScipyCase(
        f"ndimage.{name}{label}",
        lambda *xs: found(*xs, *args, **kwargs),
        lambda *xs: expected(*xs, *args, **kwargs),
        inputs,
        rtol=1e-8,
        orders=orders,
        libraries=not label if libraries is None else libraries,
        batched=batched,
    )


X = uniform(5, 6)
MODES = ("reflect", "constant", "nearest", "mirror", "wrap", "grid-wrap", "grid-constant")
POINTS = np.asarray([[0.3, 2.7, 3.6, -0.4, 4.3, -7.2], [1.2, 4.4, 0.7, 2.6, 5.3, 9.1]])
WEIGHTS = uniform(2, 3)
CROSS = np.asarray([[0, 1, 0], [1, 1, 1], [0, 1, 0]])
LABELS = np.asarray([[0, 1, 1, 2, 2, 0]] * 4 + [[2, 2, 0, 0, 1, 1]])

CASES = [
    of("correlate1d", X, uniform(3), orders=2),
    *(of("correlate1d", X, uniform(4), mode=mode, cval=1.5, axis=0, label=f":{mode}") for mode in MODES),
    of("convolve1d", X, uniform(4), origin=1, label=":origin", libraries=True),
    of("convolve1d", uniform(3), uniform(5), origin=-1, mode="mirror", label=":long", libraries=True),
    of("correlate", X, WEIGHTS, orders=2),
    of("correlate", X, uniform(9, 9), mode="wrap", label=":fft"),
    of("convolve", X, WEIGHTS, mode="constant", cval=2.0, origin=[0, 1], label=":origins", libraries=True),
    of("convolve", complex_uniform(4, 4), WEIGHTS, label=":complex"),
    of("gaussian_filter", X, sigma=1.1),
    of("gaussian_filter", X, sigma=(0.8, 1.3), order=(1, 2), mode=("wrap", "mirror"), truncate=3.0, label=":orders"),
    of("gaussian_filter", uniform(2, 3, 4), sigma=0.7, axes=(0, 2), radius=2, label=":axes"),
    ScipyCase(
        "ndimage.gaussian_filter1d:sigma",
        lambda x, s: ndimage.gaussian_filter1d(x, s, order=1),
        lambda x, s: ref.gaussian_filter1d(x, float(s), order=1),
        (X, np.asarray(1.1)),
        batched=False,
    ),
    of("uniform_filter", X, size=3),
    of("uniform_filter", X, size=(2, 4), origin=(0, -1), mode="nearest", label=":even"),
    of("uniform_filter1d", X, size=70, label=":long", libraries=True),
    of("sobel", X),
    of("prewitt", uniform(3, 4, 2), axis=1, mode="wrap"),
    of("laplace", X, mode=("wrap", "nearest")),
    of("gaussian_laplace", X, sigma=0.9),
    of("gaussian_gradient_magnitude", X, sigma=0.9, orders=2),
    of("gaussian_gradient_magnitude", X, sigma=0.9, mode="mirror", label=":0 at corners"),
    of("maximum_filter", X, size=3),
    of("minimum_filter", X, size=(2, 3), mode="constant", cval=0.1),
    of("maximum_filter", X, footprint=CROSS, label=":footprint"),
    of("maximum_filter1d", X, size=3),
    of("minimum_filter1d", X, size=4, axis=0, origin=1, mode="mirror"),
    of("rank_filter", X, rank=-2, size=(2, 3)),
    of("percentile_filter", X, percentile=30, footprint=CROSS, mode="wrap"),
    of("median_filter", uniform(3, 4, 2), size=3, axes=(0, 1)),
    of("grey_erosion", X, size=3),
    of("grey_dilation", X, size=(2, 3), mode="constant", cval=0.1),
    both("ndimage.grey_dilation:structure", lambda m, x, s: m.grey_dilation(x, structure=s, footprint=CROSS),
         (X, uniform(3, 3)), orders=1),
    both("ndimage.grey_erosion:structure", lambda m, x, s: m.grey_erosion(x, structure=s), (X, 0.3 * X[:2, :3]),
         orders=1),
    *(
        of(name, X, size=(2, 3))
        for name in (
            "grey_opening", "grey_closing", "morphological_gradient", "morphological_laplace", "white_tophat",
            "black_tophat",
        )
    ),
    *(of(name, X, labels=LABELS, index=[2, 1], orders=1 + (name == "variance")) for name in (
        "sum_labels", "mean", "variance", "standard_deviation", "maximum", "minimum", "median",
    )),
    of("mean", X, labels=LABELS, label=":all regions"),
    ScipyCase(
        "ndimage.center_of_mass",
        lambda x: ndimage.center_of_mass(x, LABELS, [1, 2]),
        lambda x: np.asarray(ref.center_of_mass(x, LABELS, [1, 2])),
        (uniform(5, 6, low=0.5),),
    ),
    *(
        ScipyCase(
            f"ndimage.{name}",
            getattr(ndimage, name),
            getattr(ref, name),
            (complex_uniform(4, 5), np.asarray([0.7, 1.2])),
            rtol=1e-8,
        )
        for name in ("fourier_gaussian", "fourier_uniform", "fourier_shift")
    ),
    of("fourier_gaussian", complex_uniform(4, 3), sigma=0.8, n=5, label=":half"),
    ScipyCase(
        "ndimage.generic_laplace",
        lambda x: ndimage.generic_laplace(x, lambda x, *args: ndimage.gaussian_filter1d(x, 1.0, args[0], 2, *args[1:])),
        lambda x: ref.generic_laplace(x, lambda x, axis, *args: ref.gaussian_filter1d(x, 1.0, axis, 2, *args)),
        (X,),
        orders=1,
    ),
    both("ndimage.generic_gradient_magnitude", lambda m, x: m.generic_gradient_magnitude(x, m.sobel), (X,)),
    both("ndimage.generic_filter",
         lambda m, x: m.generic_filter(x, lambda v, k: (v**k).sum(), size=(2, 3), extra_arguments=(3,)), (X,)),
    ScipyCase(
        "ndimage.geometric_transform",
        lambda x, k: ndimage.geometric_transform(x, lambda c: (c[0] - 0.5, c[1] - k * c[0]), (4, 5)),
        lambda x, k: ref.geometric_transform(x, lambda c: (c[0] - 0.5, c[1] - float(k) * c[0]), (4, 5)),
        (X, np.asarray(0.4)),
        rtol=1e-8,
    ),
    of("spline_filter1d", X, order=4, axis=0),
    of("spline_filter", X, order=3, mode="grid-wrap"),
    *(
        of("map_coordinates", X, POINTS, order=order, mode=mode, cval=0.7, label=f":{order},{mode}",
           orders=2 if order > 2 else 1, libraries=order == 3 and mode == "constant")
        for order in (0, 1, 2, 3)
        for mode in MODES
    ),
    of("map_coordinates", uniform(7), uniform(1, 2, 3, low=0.1, high=5.8), order=5, label=":5,one axis"),
    of("map_coordinates", complex_uniform(4, 4), POINTS / 3, order=1, mode="mirror", label=":complex"),
    of("shift", X, np.asarray([0.4, -1.3]), orders=2),
    of("shift", X, np.asarray([0.4, -1.3]), order=1, mode="grid-constant", cval=0.6, label=":grid-constant"),
    of("zoom", X, zoom=(1.7, 0.6)),
    of("zoom", X, zoom=2.0, order=1, mode="nearest", grid_mode=True, label=":grid"),
    of("affine_transform", X, np.asarray([[0.8, 0.3], [-0.2, 1.1]]), np.asarray([0.45, 0.23]), orders=2),
    of("affine_transform", X, np.asarray([0.8, 1.1]), np.asarray([0.4, 0.2]), mode="reflect", label=":diagonal"),
    of("affine_transform", X, np.asarray([[0.8, 0.3, 0.13], [-0.2, 1.1, 0.71]]), output_shape=(4, 3), order=2,
       mode="mirror", label=":homogeneous"),
    of("rotate", X, args=(30.0,)),
    *(of("rotate", X, args=(angle,), order=1, label=f":{angle}") for angle in (90, -180, 630.0)),
    *(
        of("shift", X, np.asarray([0.4, -7.3]), order=order, mode="nearest", prefilter=False, label=f":{order},nearest")
        for order in (2, 3)
    ),
    *(of(name, X, complex_uniform(3), label=":complex weights") for name in ("correlate1d", "convolve1d")),
    *(of(name, X, complex_uniform(2, 3), label=":complex weights") for name in ("correlate", "convolve")),
    of("mean", X, labels=LABELS, index=np.int64(2), label=":one label"),
    of("maximum", X, labels=LABELS, index=[[1, 2], [2, 0]], label=":array of labels"),
    ScipyCase(
        "ndimage.rotate:angle",
        lambda x, angle: ndimage.rotate(x, angle, reshape=False, axes=(0, 2), mode="nearest"),
        lambda x, angle: ref.rotate(x, float(angle), reshape=False, axes=(0, 2), mode="nearest"),
        (uniform(4, 2, 5), np.asarray(20.0)),
        rtol=1e-8,
        orders=1,
    ),
    *(
        ScipyCase(
            f"ndimage.{name}:cval",
            lambda x, c, name=name, args=args, mode=mode: getattr(ndimage, name)(x, *args, mode=mode, cval=c),
            lambda x, c, name=name, args=args, mode=mode: getattr(ref, name)(x, *args, mode=mode, cval=float(c)),
            (X, np.asarray(2.3)),
            rtol=1e-8,
            orders=1,
            libraries=False,
        )
        for name, args, mode in (
            ("gaussian_filter", (1.1,), "constant"),
            ("correlate", (WEIGHTS,), "constant"),
            ("maximum_filter", (3,), "constant"),
            ("map_coordinates", (POINTS,), "grid-constant"),
            ("shift", (1.5,), "grid-constant"),
        )
    ),
    ScipyCase(
        "ndimage.affine_transform:numbers and Variables",
        lambda x, a, b: ndimage.affine_transform(x, [[a, 0.1], [-0.2, 1.1]], [0.45, b]),
        lambda x, a, b: ref.affine_transform(x, [[float(a), 0.1], [-0.2, 1.1]], [0.45, float(b)]),
        (X, np.asarray(0.9), np.asarray(0.23)),
        rtol=1e-8,
        orders=1,
    ),
]  # fmt: skip
