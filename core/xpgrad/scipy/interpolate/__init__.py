"""`scipy.interpolate` of Variables: splines and other interpolants, with gradients by values, knots and arguments."""

from typing import TYPE_CHECKING

from xpgrad.listing import listed as _listed
from xpgrad.scipy.interpolate.bsplines import BSpline, make_interp_spline
from xpgrad.scipy.interpolate.cubic import Akima1DInterpolator, CubicHermiteSpline, CubicSpline, PchipInterpolator
from xpgrad.scipy.interpolate.polynomials import PPoly
from xpgrad.scipy.interpolate.scattered import RBFInterpolator, RegularGridInterpolator

__all__ = [
    "Akima1DInterpolator", "BSpline", "CubicHermiteSpline", "CubicSpline", "PPoly", "PchipInterpolator",
    "RBFInterpolator", "RegularGridInterpolator", "make_interp_spline",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
