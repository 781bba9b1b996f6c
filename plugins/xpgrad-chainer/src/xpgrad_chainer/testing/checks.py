"""Common code of tests of functions and of links: errors, comparisons, noncontiguous arrays."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from xpgrad import Device, Variable, get_array_types
from xpgrad.backend.plugins import plugins
from xpgrad.testing import assert_allclose
from xpgrad.testing.gradient_check import NondifferentiableError


class TestFailure(AssertionError):
    """A function or a link differs from the expectation of its test."""

    __test__ = False  # for pytest

    @classmethod
    def check(cls, condition: bool, message: str) -> None:
        """Raise unless the condition holds."""
        if not condition:
            raise cls(message)

    @classmethod
    def fail(cls, message: str, error: Exception | None = None) -> None:
        """Raise, caused by `error`."""
        raise cls(message if error is None else f"{message}\n\n{type(error).__name__}: {error}") from error

    @classmethod
    @contextmanager
    def raise_if_fail(cls, message: str, error_types: Any = AssertionError) -> Iterator[None]:
        """Context manager that raises this class where the block raises one of `error_types`."""
        try:
            yield
        except error_types as error:
            cls.fail(message, error)


class FunctionTestError(TestFailure):
    """A function differs from the expectation of its test."""


class LinkTestError(TestFailure):
    """A link differs from the expectation of its test."""


def _as_noncontiguous_array(array: Any) -> Any:
    """Return a noncontiguous copy of an array, or of each array of a sequence, where possible."""
    if isinstance(array, (list, tuple)):
        return type(array)(_as_noncontiguous_array(each) for each in array)
    if not isinstance(array, np.ndarray) or array.size <= 1:
        return array
    wide = np.empty((*array.shape[:-1], 2 * array.shape[-1]) if array.ndim else (2,), dtype=array.dtype)
    view = wide[..., ::2]
    view[...] = array
    return view


def check_arrays(arrays: Any, where: str) -> None:
    """Raise TypeError unless `arrays` is a sequence of arrays on the host, or None."""
    if not isinstance(arrays, (list, tuple)):
        raise TypeError(f"{where}: expected a tuple of arrays, got {type(arrays).__name__}")
    for array in arrays:
        if array is not None and plugins.by_type.get(type(array)) is not plugins.host:
            raise TypeError(f"{where}: expected arrays of NumPy, got {type(array).__name__}")


def check_variables(outputs: Any, device: Device, where: str, failure: type[TestFailure]) -> None:
    """Raise unless `outputs` is a sequence of Variables on the device."""
    failure.check(isinstance(outputs, (list, tuple)), f"{where}: expected a tuple, got {type(outputs).__name__}")
    for y in outputs:
        failure.check(isinstance(y, Variable), f"{where}: expected Variables, got {type(y).__name__}")
        failure.check(isinstance(y.array, device.supported_array_types), f"{where}: {y.device} is not {device}")


def check_equal(actual: Sequence[Any], expected: Sequence[Any], failure: type[TestFailure], **options: Any) -> None:
    """Raise unless arrays have the expected number, shapes, dtypes and values."""
    failure.check(len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}")
    for i, (y, wanted) in enumerate(zip(actual, expected, strict=True)):
        failure.check(tuple(y.shape) == tuple(wanted.shape), f"output {i}: shape {y.shape}, expected {wanted.shape}")
        got = np.dtype(str(y.dtype).rpartition(".")[2])
        failure.check(got == wanted.dtype, f"output {i}: dtype {y.dtype}, expected {wanted.dtype}")
        with failure.raise_if_fail(f"output {i} does not match its expected values"):
            assert_allclose(wanted, y, **options)


def check_types(outputs: Any, expected: Any) -> None:
    """Raise AssertionError unless both are tuples of arrays."""
    for each in (outputs, expected):
        assert isinstance(each, tuple)
        assert all(isinstance(array, get_array_types()) for array in each)


def until_differentiable(check: Callable[[], None], again: bool) -> None:
    """Call `check`, with `again` until it finds no point without a derivative."""
    while True:
        try:
            return check()
        except NondifferentiableError:
            if not again:
                raise


def random_like(arrays: Sequence[Any]) -> tuple[Any, ...]:
    """Return arrays of the same shapes and dtypes with uniform values between -1 and 1."""
    return tuple(np.random.uniform(-1, 1, array.shape).astype(array.dtype) for array in arrays)
