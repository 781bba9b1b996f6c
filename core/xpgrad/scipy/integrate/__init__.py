"""`scipy.integrate` of Variables: integrals of functions with parameters, and of sampled values."""

from typing import TYPE_CHECKING

from xpgrad.listing import listed as _listed
from xpgrad.ops.interpolation import trapezoid
from xpgrad.scipy.integrate.boundary_values import solve_bvp
from xpgrad.scipy.integrate.quadrature import fixed_quad, quad
from xpgrad.scipy.integrate.samples import cumulative_simpson, cumulative_trapezoid, simpson

__all__ = ["cumulative_simpson", "cumulative_trapezoid", "fixed_quad", "quad", "simpson", "solve_bvp", "trapezoid"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
