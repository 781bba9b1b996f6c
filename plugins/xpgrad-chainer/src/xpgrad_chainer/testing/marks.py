"""Marks of tests for devices and libraries that may be missing; tests of missing ones are skipped."""

import importlib
import unittest
from collections.abc import Callable
from typing import Any

import pytest

from xpgrad.backend.plugins import plugins
from xpgrad.backends import cuda, intel64

__all__ = [
    "chainerx",
    "check_available",
    "cudnn",
    "get_error",
    "gpu",
    "ideep",
    "is_available",
    "multi_gpu",
    "skipif",
    "skipif_not_enough_cuda_devices",
    "skipif_requires_satisfied",
    "slow",
]  # fmt: skip


class Marks:
    """A decorator that applies several marks."""

    def __init__(self, *marks: Any) -> None:
        self.marks = marks

    def __call__(self, test: Any) -> Any:
        for mark in self.marks:
            test = mark(test)
        return test


def multi_gpu(gpu_num: int) -> Marks:
    """Return the mark of tests that need `gpu_num` GPUs."""
    enough = bool(cuda.available) and len(plugins.backend_of_prefix("gpu").devices()) >= gpu_num
    return Marks(pytest.mark.gpu, unittest.skipIf(not enough, f"needs {gpu_num} GPU"))


slow = pytest.mark.slow
gpu = multi_gpu(1)
cudnn = Marks(pytest.mark.cudnn, gpu)
chainerx = pytest.mark.chainerx
ideep = Marks(pytest.mark.ideep, unittest.skipIf(not intel64.is_ideep_available(), "needs iDeep"))


def is_available() -> bool:
    """Return whether pytest is installed: always, since this module imports it."""
    return True


def check_available() -> None:
    """Raise nothing: pytest is installed."""


def get_error() -> None:
    """Return why pytest cannot be imported: None."""


def skipif(condition: bool) -> Callable[[Any], Any]:
    """Return the mark of tests that are skipped under a condition."""
    return unittest.skipIf(condition, "the condition of the test is not met")


def skipif_requires_satisfied(*modules: str) -> Callable[[Any], Any]:
    """Return the mark of tests that are skipped where all of these modules are installed."""
    return skipif(all(map(_is_installed, modules)))


def skipif_not_enough_cuda_devices(device_count: int) -> Marks:
    """Return the mark of tests that need `device_count` GPUs."""
    return multi_gpu(device_count)


def _is_installed(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True
