"""`scipy.ndimage` of Variables: filters, and splines that are evaluated at moved places.

The modes that continue images beyond their edges follow SciPy. There is no argument `output`: results are returned.
"""

from typing import TYPE_CHECKING

from xpgrad.listing import listed as _listed

# fmt: off
# isort: off
from xpgrad.scipy.ndimage.filters import (
    convolve, convolve1d, correlate, correlate1d, prewitt, sobel, uniform_filter, uniform_filter1d,
)
from xpgrad.scipy.ndimage.gaussian import fourier_gaussian, fourier_shift, fourier_uniform
from xpgrad.scipy.ndimage.gaussian import (
    gaussian_filter, gaussian_filter1d, gaussian_gradient_magnitude, gaussian_laplace, generic_gradient_magnitude,
    generic_laplace, laplace,
)
from xpgrad.scipy.ndimage.interpolation import (
    affine_transform, geometric_transform, map_coordinates, rotate, shift, zoom,
)
from xpgrad.scipy.ndimage.ranks import (
    black_tophat, generic_filter, grey_closing, grey_dilation, grey_erosion, grey_opening, maximum_filter,
    maximum_filter1d, median_filter, minimum_filter, minimum_filter1d, morphological_gradient, morphological_laplace,
    percentile_filter, rank_filter, white_tophat,
)
from xpgrad.scipy.ndimage.regions import (
    center_of_mass, maximum, mean, median, minimum, standard_deviation, sum_labels, variance,
)
from xpgrad.scipy.ndimage.splines import spline_filter, spline_filter1d
# isort: on
# fmt: on

__all__ = [
    "affine_transform", "black_tophat", "center_of_mass", "convolve", "convolve1d", "correlate", "correlate1d",
    "fourier_gaussian", "fourier_shift", "fourier_uniform", "gaussian_filter", "gaussian_filter1d",
    "gaussian_gradient_magnitude", "gaussian_laplace", "generic_filter", "generic_gradient_magnitude",
    "generic_laplace", "geometric_transform", "grey_closing", "grey_dilation", "grey_erosion", "grey_opening",
    "laplace", "map_coordinates", "maximum", "maximum_filter", "maximum_filter1d", "mean", "median", "median_filter",
    "minimum", "minimum_filter", "minimum_filter1d", "morphological_gradient", "morphological_laplace",
    "percentile_filter", "prewitt", "rank_filter", "rotate", "shift", "sobel", "spline_filter", "spline_filter1d",
    "standard_deviation", "sum_labels", "uniform_filter", "uniform_filter1d", "variance", "white_tophat", "zoom",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
