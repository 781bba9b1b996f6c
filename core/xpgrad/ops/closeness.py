"""Comparisons with tolerances."""

from typing import Any

from xpgrad.array_api.elementwise.logical import isfinite, isnan
from xpgrad.array_api.elementwise.magnitude import abs as abs_
from xpgrad.array_api.searching import where
from xpgrad.array_api.utility import all as all_
from xpgrad.backend.plugins import plugins
from xpgrad.graph.variable import Variable, as_array, as_variable
from xpgrad.types import Operand


def isclose(a: Operand, b: Operand, /, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Variable:
    """Whether ``abs(a - b) <= atol + rtol * abs(b)``, elementwise; no gradient.

    Parameters
    ----------
    a, b : Variable, array or scalar
        At least one is an array; they broadcast. Infinities are close only to equal infinities.
    rtol, atol : float
    equal_nan : bool
        Whether NaNs are close to each other.
    """
    a, b = (_inexact(x, y) for x, y in ((a, b), (b, a)))
    finite = isfinite(a) & isfinite(b)
    distance = abs_(where(finite, a, 0.0) - where(finite, b, 0.0))
    near = where(finite, distance <= rtol * abs_(where(finite, b, 0.0)) + atol, a == b)
    return near | (isnan(a) & isnan(b)) if equal_nan else near


def _inexact(x: Any, other: Any) -> Variable:
    """Return `x`, an array or a scalar to compare with the array `other`, as a floating-point constant."""
    if plugins.is_scalar(x) or not hasattr(x, "shape"):
        spec = as_variable(other).node.spec
        dtype = spec.dtype if spec.differentiable else None
        x = spec.backend.asarray(x, dtype=dtype, device=spec.device)
    x = as_variable(as_array(x))
    return x if x.node.spec.differentiable else x * 1.0  # type: ignore[no-any-return]  # as above


def allclose(a: Operand, b: Operand, /, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Variable:
    """Whether all elements are close, as in `isclose`; a 0-d boolean."""
    return all_(isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan))
