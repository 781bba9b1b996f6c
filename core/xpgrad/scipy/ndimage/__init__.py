"""`scipy.ndimage` of Variables: filters, and splines that are evaluated at moved places.

The modes that continue images beyond their edges follow SciPy. There is no argument `output`: results are returned.
"""

from typing import TYPE_CHECKING

from xpgrad.listing import listed as _listed
from xpgrad.scipy.ndimage.filters import (
    convolve,
    convolve1d,
    correlate,
    correlate1d,
    maximum_filter,
    minimum_filter,
    prewitt,
    sobel,
    uniform_filter,
    uniform_filter1d,
)
from xpgrad.scipy.ndimage.gaussian import (
    gaussian_filter,
    gaussian_filter1d,
    gaussian_gradient_magnitude,
    gaussian_laplace,
    laplace,
)
from xpgrad.scipy.ndimage.interpolation import affine_transform, map_coordinates, rotate, shift, zoom
from xpgrad.scipy.ndimage.splines import spline_filter, spline_filter1d

__all__ = [
    "affine_transform", "convolve", "convolve1d", "correlate", "correlate1d", "gaussian_filter", "gaussian_filter1d",
    "gaussian_gradient_magnitude", "gaussian_laplace", "laplace", "map_coordinates", "maximum_filter", "minimum_filter",
    "prewitt", "rotate", "shift", "sobel", "spline_filter", "spline_filter1d", "uniform_filter", "uniform_filter1d",
    "zoom",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
