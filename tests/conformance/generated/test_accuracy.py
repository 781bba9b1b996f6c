"""Errors in units in the last place: accepted errors, and the description of the first wrong element."""

from typing import Any

import numpy as np
import pytest

from xpgrad_conformance.generated.accuracy import PERIOD, WIDER, error_of, repeated, widened

LARGEST = {name: float(np.finfo(name).max) for name in ("float32", "float64")}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("start", [1.0, -3.0, 1e-30, 1e30])
def test_an_error_is_counted_in_units_in_the_last_place(dtype: str, start: float) -> None:
    exact = np.asarray([start], dtype)
    got = exact + 3 * np.finfo(dtype).eps * np.abs(exact)
    assert error_of(got, widened(exact), units=4) is None
    assert error_of(got, widened(exact), units=1) is not None


def test_without_units_results_must_be_equal() -> None:
    exact = np.asarray([1.0, 2.0, 3.0])
    assert error_of(exact, widened(exact), units=0) is None
    wrong = error_of(np.nextafter(exact, 9), widened(exact), units=0)
    assert wrong is not None
    assert wrong.endswith("; 3 of 3 are wrong")


def test_the_first_wrong_element_is_described() -> None:
    got = np.zeros((2, 3), "float32")
    expected = np.zeros((2, 3))
    expected[1, 2] = 0.5
    assert error_of(got, expected, units=4) == "element 1, 2 of (2, 3) is 0.0, expected 0.5"
    assert error_of(np.float32(1), np.asarray(2.0), units=4) == "it is 1.0, expected 2.0"


def test_another_shape_is_an_error() -> None:
    assert error_of(np.zeros(3), np.zeros((3, 1)), units=4) == "it has shape (3,), expected (3, 1)"


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_special_results_must_be_equal(value: float) -> None:
    special = np.asarray([value], "float32")
    assert error_of(special, np.asarray([value]), units=4) is None
    for other in (np.nan, np.inf, -np.inf, 1.0):
        wrong = error_of(np.asarray([other], "float32"), np.asarray([value]), units=4)
        assert (wrong is None) == (other == value or (np.isnan(other) and np.isnan(value)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_at_the_largest_number_rounding_decides_about_infinity(dtype: str) -> None:
    largest, infinite = np.asarray([LARGEST[dtype]], dtype), np.asarray([np.inf], dtype)
    exact = widened(largest)
    assert error_of(infinite, exact, units=2) is None
    assert error_of(infinite, exact / 2, units=2) is not None
    assert error_of(largest, exact * WIDER[np.dtype(dtype)](1.5), units=2) is not None
    assert error_of(infinite, exact * WIDER[np.dtype(dtype)](1.5), units=2) is None


def test_signs_of_zeros_count_if_requested() -> None:
    zero, negative = np.asarray([0.0]), np.asarray([-0.0])
    assert error_of(zero, negative, units=0) is None
    assert error_of(zero, negative, units=0, signs=True) is not None
    assert error_of(negative, negative, units=0, signs=True) is None


def test_subnormal_numbers_may_be_zero_only_where_that_is_declared() -> None:
    exact = np.asarray([1e-40])
    flushed = np.zeros(1, "float32")
    assert error_of(flushed, exact, units=4) is not None
    assert error_of(flushed, exact, units=4, subnormal=False) is None
    assert error_of(flushed, np.asarray([1e-30]), units=4, subnormal=False) is not None


def test_the_error_of_a_complex_number_uses_its_absolute_value() -> None:
    exact = np.asarray([1 + 1e-9j])
    assert error_of(np.asarray([1 + 0j], "complex64"), exact, units=4) is None
    assert error_of(np.asarray([1 + 1e-3j], "complex64"), exact, units=4) is not None
    assert error_of(np.asarray([complex(np.nan, 0)]), np.asarray([complex(0, np.nan)]), units=4) is None


def test_a_scale_replaces_the_magnitude_of_the_result() -> None:
    got, exact = np.asarray([1e-7], "float32"), np.asarray([0.0])
    assert error_of(got, exact, units=4) is not None
    assert error_of(got, exact, units=4, scale=1.0) is None


def test_integers_must_be_equal() -> None:
    assert error_of(np.asarray([2**53]), np.asarray([2**53 + 1]), units=100) is not None


def test_repeated_references_agree_with_the_whole_vector() -> None:
    calls: list[int] = []

    def reference(x: Any) -> Any:
        calls.append(x.size)
        return np.exp(x)

    long = np.resize(np.linspace(0, 1, PERIOD), 3 * PERIOD + 5)
    assert np.array_equal(repeated(reference)(long), np.exp(long))
    assert calls == [PERIOD]
    long[-1] = 2
    assert np.array_equal(repeated(reference)(long), np.exp(long))
    assert calls == [PERIOD, long.size]
