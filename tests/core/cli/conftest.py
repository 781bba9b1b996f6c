"""Fixtures of the tests of commands that look at plugins."""

from tests.core.backend.third_party import third_party

__all__ = ["third_party"]
