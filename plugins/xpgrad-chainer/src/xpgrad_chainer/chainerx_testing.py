"""Dtypes and comparisons for tests with arrays of ChainerX (`chainerx.testing`)."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pytest

import xpgrad_chx
from xpgrad.testing import assert_allclose as assert_allclose

float_dtypes = "float16", "float32", "float64"
integral_dtypes = "uint8", "int8", "int16", "int32", "int64"
signed_integral_dtypes = "int8", "int16", "int32", "int64"
unsigned_dtypes = ("uint8",)
signed_dtypes = signed_integral_dtypes + float_dtypes
numeric_dtypes = integral_dtypes + float_dtypes
nonfloat_dtypes = ("bool_", *integral_dtypes)
all_dtypes = ("bool_", *numeric_dtypes)


def parametrize_dtype_specifier(
    argname: str, *, dtypes: Sequence[str] | None = None, additional_args: Iterable[Any] = (), ids: Any = None
) -> Callable[[Any], Any]:
    """Return a decorator of tests that get each dtype as a string, NumPy dtype, scalar type and ChainerX dtype."""
    found: list[Any] = []
    for name in all_dtypes if dtypes is None else dtypes:
        plain = name.rstrip("_")
        found += [plain, np.dtype(plain), np.dtype(plain).type, getattr(xpgrad_chx, name)]
    return pytest.mark.parametrize(argname, [*found, *additional_args], ids=ids)


def assert_array_equal(x: Any, y: Any, err_msg: str = "", verbose: bool = True) -> None:
    """Raise AssertionError unless two arrays have the same shape and elements."""
    np.testing.assert_array_equal(_on_host(x), _on_host(y), err_msg, verbose)


def assert_array_equal_ex(x: Any, y: Any, *args: Any, **kwargs: Any) -> None:
    """Raise AssertionError unless two arrays have the same dtype, shape and elements."""
    left, right = _on_host(x), _on_host(y)
    assert left.dtype == right.dtype or not kwargs.pop("dtype_check", True)
    kwargs.pop("strides_check", None)
    assert_array_equal(left, right, *args, **kwargs)


def assert_allclose_ex(x: Any, y: Any, *args: Any, **kwargs: Any) -> None:
    """Raise AssertionError unless two arrays have the same dtype and shape, and close elements."""
    left, right = _on_host(x), _on_host(y)
    assert left.dtype == right.dtype or not kwargs.pop("dtype_check", True)
    kwargs.pop("strides_check", None)
    np.testing.assert_allclose(left, right, *args, **kwargs)


def _on_host(x: Any) -> Any:
    return xpgrad_chx.to_numpy(x) if isinstance(x, xpgrad_chx.ndarray) else np.asarray(x)
