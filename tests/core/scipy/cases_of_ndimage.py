"""Cases of `xpgrad.scipy.ndimage`."""

import numpy as np
import pytest
from tests.core.scipy.table import cases_of, complex_uniform, uniform

from xpgrad.scipy import ndimage

cases = cases_of("ndimage", ndimage, pytest.importorskip("scipy.ndimage"), orders=1)


def of(name, *inputs, **options):
    """Return a case; those with a label are not for all libraries by default."""
    return cases(name, *inputs, **{"libraries": ":" not in name} | options)


X = uniform(5, 6)
MODES = ("reflect", "constant", "nearest", "mirror", "wrap", "grid-wrap", "grid-constant")
POINTS = np.asarray([[0.3, 2.7, 3.6, -0.4, 4.3, -7.2], [1.2, 4.4, 0.7, 2.6, 5.3, 9.1]])
WEIGHTS = uniform(2, 3)
CROSS = np.asarray([[0, 1, 0], [1, 1, 1], [0, 1, 0]])
LABELS = np.asarray([[0, 1, 1, 2, 2, 0]] * 4 + [[2, 2, 0, 0, 1, 1]])


def _stacked(found):
    return np.asarray(found) if isinstance(found, list) else found


CASES = [
    of("correlate1d", X, uniform(3), orders=2),
    *(of(f"correlate1d:{mode}", X, uniform(4), mode=mode, cval=1.5, axis=0) for mode in MODES),
    of("convolve1d:origin", X, uniform(4), origin=1, libraries=True),
    of("convolve1d:long", uniform(3), uniform(5), origin=-1, mode="mirror", libraries=True),
    of("correlate", X, WEIGHTS, orders=2),
    of("correlate:fft", X, uniform(9, 9), mode="wrap"),
    of("convolve:origins", X, WEIGHTS, mode="constant", cval=2.0, origin=[0, 1], libraries=True),
    of("convolve:complex", complex_uniform(4, 4), WEIGHTS),
    of("gaussian_filter", X, sigma=1.1),
    of("gaussian_filter:orders", X, sigma=(0.8, 1.3), order=(1, 2), mode=("wrap", "mirror"), truncate=3.0),
    of("gaussian_filter:axes", uniform(2, 3, 4), sigma=0.7, axes=(0, 2), radius=2),
    of("gaussian_filter1d:sigma", X, np.asarray(1.1), order=1, batched=False, orders=2, libraries=True),
    of("uniform_filter", X, size=3),
    of("uniform_filter:even", X, size=(2, 4), origin=(0, -1), mode="nearest"),
    of("uniform_filter1d:long", X, size=70, libraries=True),
    of("sobel", X),
    of("prewitt", uniform(3, 4, 2), axis=1, mode="wrap"),
    of("laplace", X, mode=("wrap", "nearest")),
    of("gaussian_laplace", X, sigma=0.9),
    of("gaussian_gradient_magnitude", X, sigma=0.9, orders=2),
    of("gaussian_gradient_magnitude:0 at corners", X, sigma=0.9, mode="mirror"),
    of("maximum_filter", X, size=3),
    of("minimum_filter", X, size=(2, 3), mode="constant", cval=0.1),
    of("maximum_filter:footprint", X, footprint=CROSS),
    of("maximum_filter1d", X, size=3),
    of("minimum_filter1d", X, size=4, axis=0, origin=1, mode="mirror"),
    of("rank_filter", X, rank=-2, size=(2, 3)),
    of("percentile_filter", X, percentile=30, footprint=CROSS, mode="wrap"),
    of("median_filter", uniform(3, 4, 2), size=3, axes=(0, 1)),
    of("grey_erosion", X, size=3),
    of("grey_dilation", X, size=(2, 3), mode="constant", cval=0.1),
    of("grey_dilation:structure", X, uniform(3, 3), libraries=True,
       call=lambda m, x, s: m.grey_dilation(x, structure=s, footprint=CROSS)),
    of("grey_erosion:structure", X, 0.3 * X[:2, :3], libraries=True,
       call=lambda m, x, s: m.grey_erosion(x, structure=s)),
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
    of("mean:all regions", X, labels=LABELS),
    of("center_of_mass", uniform(5, 6, low=0.5), orders=2,
       call=lambda m, x: _stacked(m.center_of_mass(x, LABELS, [1, 2]))),
    *(of(name, complex_uniform(4, 5), np.asarray([0.7, 1.2]), orders=2)
      for name in ("fourier_gaussian", "fourier_uniform", "fourier_shift")),
    of("fourier_gaussian:half", complex_uniform(4, 3), sigma=0.8, n=5),
    of("generic_laplace", X,
       call=lambda m, x: m.generic_laplace(x, lambda x, axis, *args: m.gaussian_filter1d(x, 1.0, axis, 2, *args))),
    of("generic_gradient_magnitude", X, call=lambda m, x: m.generic_gradient_magnitude(x, m.sobel), orders=2),
    of("generic_filter", X, orders=2,
       call=lambda m, x: m.generic_filter(x, lambda v, k: (v**k).sum(), size=(2, 3), extra_arguments=(3,))),
    of("geometric_transform", X, np.asarray(0.4), orders=2,
       call=lambda m, x, k: m.geometric_transform(x, lambda c: (c[0] - 0.5, c[1] - k * c[0]), (4, 5))),
    of("spline_filter1d", X, order=4, axis=0),
    of("spline_filter", X, order=3, mode="grid-wrap"),
    *(
        of(f"map_coordinates:{order},{mode}", X, POINTS, order=order, mode=mode, cval=0.7,
           orders=2 if order > 2 else 1, libraries=order == 3 and mode == "constant")
        for order in (0, 1, 2, 3)
        for mode in MODES
    ),
    of("map_coordinates:5,one axis", uniform(7), uniform(1, 2, 3, low=0.1, high=5.8), order=5),
    of("map_coordinates:complex", complex_uniform(4, 4), POINTS / 3, order=1, mode="mirror"),
    of("shift", X, np.asarray([0.4, -1.3]), orders=2),
    of("shift:grid-constant", X, np.asarray([0.4, -1.3]), order=1, mode="grid-constant", cval=0.6),
    of("zoom", X, zoom=(1.7, 0.6)),
    of("zoom:grid", X, zoom=2.0, order=1, mode="nearest", grid_mode=True),
    of("affine_transform", X, np.asarray([[0.8, 0.3], [-0.2, 1.1]]), np.asarray([0.45, 0.23]), orders=2),
    of("affine_transform:diagonal", X, np.asarray([0.8, 1.1]), np.asarray([0.4, 0.2]), mode="reflect"),
    of("affine_transform:homogeneous", X, np.asarray([[0.8, 0.3, 0.13], [-0.2, 1.1, 0.71]]), output_shape=(4, 3),
       order=2, mode="mirror"),
    of("rotate", X, args=(30.0,)),
    *(of(f"rotate:{angle}", X, args=(angle,), order=1) for angle in (90, -180, 630.0)),
    *(
        of(f"shift:{order},nearest", X, np.asarray([0.4, -7.3]), order=order, mode="nearest",
           prefilter=False)
        for order in (2, 3)
    ),
    *(of(f"{name}:complex weights", X, complex_uniform(3)) for name in ("correlate1d", "convolve1d")),
    *(of(f"{name}:complex weights", X, complex_uniform(2, 3)) for name in ("correlate", "convolve")),
    of("mean:one label", X, labels=LABELS, index=np.int64(2)),
    of("maximum:array of labels", X, labels=LABELS, index=[[1, 2], [2, 0]]),
    of("rotate:angle", uniform(4, 2, 5), np.asarray(20.0), reshape=False, axes=(0, 2), mode="nearest", libraries=True),
    *(
        of(f"{name}:cval", X, np.asarray(2.3),
           call=lambda m, x, c, name=name, args=args, mode=mode: getattr(m, name)(x, *args, mode=mode, cval=c))
        for name, args, mode in (
            ("gaussian_filter", (1.1,), "constant"), ("correlate", (WEIGHTS,), "constant"),
            ("maximum_filter", (3,), "constant"), ("map_coordinates", (POINTS,), "grid-constant"),
            ("shift", (1.5,), "grid-constant"),
        )
    ),
    of("affine_transform:numbers and Variables", X, np.asarray(0.9), np.asarray(0.23), libraries=True,
       call=lambda m, x, a, b: m.affine_transform(x, [[a, 0.1], [-0.2, 1.1]], [0.45, b])),
]  # fmt: skip
