"""Every case of xpgrad's table on dask, in chunks smaller than its arrays: value and gradient, in float64.

The variants and the other checks and dtypes run on cases that go through each kernel of this plugin.
"""

from collections.abc import Iterator

import pytest

import xpgrad
from xpgrad.testing.case import Case
from xpgrad.testing.cases import CASES
from xpgrad.testing.scenario import Scenario, dtypes_of
from xpgrad.testing.table import CHECKS, checks_of, run

LACKS = {
    "data_dependent_shapes": "dask does not know the shape of x[mask] before it computes",
    "random_numbers_of_the_host": "random numbers are drawn where their chunks are computed",
}
THROUGH_AND_THROUGH = (
    "multiply", "sum-axis", "mean", "matmul", "tensordot", "getitem-slices", "getitem-array", "take", "sort",
    "linalg.det-batch", "linalg.svd", "reshape", "broadcast_to", "fft",
)  # fmt: skip


def _runs() -> Iterator[object]:
    for case in CASES:
        dtype = dtypes_of(case)[0]
        yield pytest.param(case, dtype, "gradient" if case.order else "value", id=case.name)


def _full_runs() -> Iterator[object]:
    for case in CASES:
        if case.name in THROUGH_AND_THROUGH:
            for check in checks_of(case, "float64"):
                if check not in ("third_order", "second_order"):
                    yield pytest.param(case, "float64", check, id=f"{case.name}-{check}")
            if case.complex:
                yield pytest.param(case, "complex64", "value", id=f"{case.name}-complex64-value")


def _skip(case: Case) -> None:
    for need in case.needs:
        if need in LACKS:
            pytest.skip(f"dask lacks {need}: {LACKS[need]}")


@pytest.mark.parametrize(("case", "dtype", "check"), tuple(_runs()))
def test_case(case: Case, dtype: str, check: str) -> None:
    _skip(case)
    CHECKS[check](Scenario(case, xpgrad.get_device("@dask"), dtype))


@pytest.mark.parametrize(("case", "dtype", "check"), tuple(_full_runs()))
def test_case_through_and_through(case: Case, dtype: str, check: str) -> None:
    _skip(case)
    run(case, xpgrad.get_device("@dask"), dtype, check)


def test_the_cases_that_are_run_through_and_through_exist() -> None:
    assert set(THROUGH_AND_THROUGH) <= {case.name for case in CASES}
