"""Tools to test differentiable functions; xpgrad-conformance tests backends."""

from typing import TYPE_CHECKING

from xpgrad.listing import listed as _listed
from xpgrad.testing import gradient_check
from xpgrad.testing.arrays import assert_allclose

__all__ = ["assert_allclose", "gradient_check"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
