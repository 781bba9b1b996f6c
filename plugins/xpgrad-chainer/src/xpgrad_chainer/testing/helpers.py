"""Decorators and contexts of tests."""

import pkgutil
import sys
import unittest
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import metadata
from typing import Any
from unittest import mock

import pytest

__all__ = ["assert_warns", "patch", "run_module", "with_requires", "without_requires"]


def run_module(name: str, file: str) -> None:
    """Run the tests of a file by pytest, if it is the main module."""
    if name == "__main__":
        sys.exit(pytest.main([file, "-vvs", "-x", "--pdb"]))


def with_requires(*requirements: str) -> Callable[[Any], Any]:
    """Return the mark of tests that need these distributions, each of which may have a version: ``numpy>=1.10``."""
    missing = [each for each in requirements if not _is_met(each)]
    return unittest.skipIf(bool(missing), f"requires: {', '.join(missing)}")


def without_requires(*requirements: str) -> Callable[[Any], Any]:
    """Return the mark of tests that require at least one of the distributions to be missing."""
    return unittest.skipIf(all(map(_is_met, requirements)), f"requires absence of: {', '.join(requirements)}")


def _is_met(requirement: str) -> bool:
    from packaging.requirements import InvalidRequirement, Requirement  # pytest depends on it

    try:
        parsed = Requirement(requirement)
        return parsed.specifier.contains(metadata.version(parsed.name), prereleases=True)
    except (InvalidRequirement, metadata.PackageNotFoundError):
        return False


@contextmanager
def assert_warns(*expected: type[Warning]) -> Iterator[None]:
    """Context manager that fails unless each class of warning occurs; it reissues other warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    missing = [each.__name__ for each in expected if not any(issubclass(w.category, each) for w in caught)]
    if missing:
        raise AssertionError(f"{', '.join(missing)} not triggered")
    for each in caught:
        if not issubclass(each.category, expected):
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


def patch(target: str, *args: Any, **kwargs: Any) -> Any:
    """Return ``unittest.mock.patch``; with ``autospec=True`` the mock calls the replaced object, or `wraps`."""
    if kwargs.pop("autospec", None) is not True:
        return mock.patch(target, *args, **kwargs)
    module, _, name = target.rpartition(".")
    original = kwargs.pop("wraps", None) or getattr(pkgutil.resolve_name(module), name)
    if not kwargs.keys() & {"return_value", "side_effect"}:
        kwargs["side_effect"] = original
    return mock.patch(target, mock.create_autospec(original, **kwargs))
