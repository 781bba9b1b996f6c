"""Fixtures of the tests of plugins."""

from tests.core.backend.strangers import strangers

__all__ = ["strangers"]
