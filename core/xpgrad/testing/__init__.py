"""Tools that test differentiable functions and backends."""

from xpgrad.testing.arrays import assert_allclose

__all__ = ["assert_allclose"]
