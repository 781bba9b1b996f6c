"""Fixtures of the tests of commands that look at plugins."""

from tests.core.backend.strangers import strangers

__all__ = ["strangers"]
