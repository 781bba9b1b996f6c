"""Values of every kind."""

import numpy as np
import pytest

from xpgrad_conformance.generated.values import KINDS, extreme_numbers, near, special_numbers, values

DTYPES = "float32", "float64", "complex64", "complex128", "int8", "int64", "uint64", "bool"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_values_have_the_dtype_and_the_shape(kind: str, dtype: str) -> None:
    for shape in ((), (0, 3), (2, 5)):
        made = values(kind, np.random.default_rng(0), shape, dtype)
        assert (made.shape, made.dtype.name) == (shape, dtype)


def test_an_unknown_kind_raises() -> None:
    with pytest.raises(ValueError, match="expected a kind among ordinary"):
        values("odd", np.random.default_rng(0), (3,), "float32")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_special_values_are_all_there(dtype: str) -> None:
    made = values("specials", np.random.default_rng(0), (500,), dtype)
    for number in special_numbers(dtype):
        same = np.isnan(made) if np.isnan(number) else (made == number) & (np.signbit(made) == np.signbit(number))
        assert np.any(same), number


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_extremes_are_finite_and_reach_both_ends(dtype: str) -> None:
    made = values("extremes", np.random.default_rng(0), (2000,), dtype)
    assert np.all(np.isfinite(made))
    assert {*np.asarray(extreme_numbers(dtype), dtype).tolist()} <= {*made.tolist()}
    assert np.finfo(dtype).max == np.max(made) == -np.min(made)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint64"])
def test_extremes_of_integers_are_both_ends(dtype: str) -> None:
    made = values("extremes", np.random.default_rng(0), (500,), dtype)
    assert (np.min(made), np.max(made)) == (np.iinfo(dtype).min, np.iinfo(dtype).max)


def test_subnormal_numbers_are_left_out_where_they_are_missing() -> None:
    made = values("specials", np.random.default_rng(0), (500,), "float32", subnormal=False)
    kept = made[np.isfinite(made) & (made != 0)]
    assert np.min(np.abs(kept)) >= np.finfo("float32").smallest_normal


def test_small_integers_are_exact_in_any_order() -> None:
    made = values("integers", np.random.default_rng(0), (10_000,), "float32")
    assert np.array_equal(made, np.round(made))
    assert np.sum(made, dtype="float32") == np.sum(made[::-1], dtype="float64")


def test_ordered_and_equal_values() -> None:
    rng = np.random.default_rng(0)
    assert np.all(np.diff(values("sorted", rng, (50,), "float64")) >= 0)
    assert np.all(np.diff(values("reversed", rng, (50,), "float64")) <= 0)
    assert len(set(values("equal", rng, (50,), "float64").tolist())) == 1
    assert 1 < len(set(values("ties", rng, (50,), "float64").tolist())) < 5


def test_spread_values_span_decades() -> None:
    sizes = np.abs(values("spread", np.random.default_rng(0), (1000,), "float64"))
    assert np.log10(np.max(sizes) / np.min(sizes)) > 25


def test_near_numbers_are_the_neighbours() -> None:
    found = near([1.0], "float32")
    one = np.float32(1)
    assert found == [1.0, float(np.nextafter(one, np.float32(0))), float(np.nextafter(one, np.float32(2)))]
