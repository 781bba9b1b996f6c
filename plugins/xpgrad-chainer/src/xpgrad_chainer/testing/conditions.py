"""Tests that may fail some of the times that they run."""

import functools
import unittest
from collections.abc import Callable
from typing import Any

Test = Callable[..., Any]


class QuietTestRunner:
    """Runs a test suite without output."""

    def run(self, suite: unittest.TestSuite) -> unittest.TestResult:
        """Return the result of the suite."""
        result = unittest.TestResult()
        suite(result)
        return result


def repeat_with_success_at_least(times: int, min_success: int) -> Callable[[Test], Test]:
    """Return a decorator of a test that passes if it does at least `min_success` times of `times`.

    Before each time but the first, ``tearDown`` and ``setUp`` are called.
    """
    if times < min_success:
        raise AssertionError(f"expected min_success of at most times, got {min_success} and {times}")

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def repeated(self: Any, *args: Any, **kwargs: Any) -> None:
            passed = failed = 0
            for i in range(times):
                if i:
                    _call(self, "tearDown")
                    _call(self, "setUp")
                try:
                    test(self, *args, **kwargs)
                except unittest.SkipTest:
                    raise
                except Exception:
                    failed += 1
                    if failed > times - min_success:
                        raise
                else:
                    passed += 1
                    if passed >= min_success:
                        return

        return repeated

    return decorate


def repeat(times: int) -> Callable[[Test], Test]:
    """Return a decorator of a test that must pass each of `times` times."""
    return repeat_with_success_at_least(times, times)


def retry(times: int) -> Callable[[Test], Test]:
    """Return a decorator of a test that must pass once in `times` times."""
    return repeat_with_success_at_least(times, 1)


def _call(instance: Any, method: str) -> None:
    found = getattr(instance, method, None)
    if found is not None:
        found()
