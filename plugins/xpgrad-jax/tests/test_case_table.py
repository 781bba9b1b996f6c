"""Every case of the table on the second device.

jax compiles each operation for each shape and dtype, some ten milliseconds each, so gradients, and equal bits in raw
and recorded sweeps, are checked in float32, which has few variants, for the first case of each function.
XPGRAD_JAX_EVERYTHING=1 runs all checks of all cases in all dtypes, in about half an hour.
"""

import os
from collections.abc import Iterator

import jax
import pytest

import xpgrad
from xpgrad.testing.case import Case
from xpgrad.testing.cases import CASES
from xpgrad.testing.scenario import dtypes_of
from xpgrad.testing.table import checks_of, run

EVERYTHING = bool(os.environ.get("XPGRAD_JAX_EVERYTHING"))
CHOSEN = "gradient", "recorded"
NOISE = {
    "linalg.det-rank-1": "the gradient is 0 but for rounding, 2e-7, and the table expects 1e-9 of NumPy in float32"
}
MOST_COMPILED = 150
"""Cases after which what jax has compiled is dropped: all of it takes gigabytes."""


def _runs() -> Iterator[object]:
    seen = set[str]()
    for number, case in enumerate(CASES):
        function = case.name.partition("-")[0]
        if function in seen and not EVERYTHING:
            continue
        seen.add(function)
        dtypes = dtypes_of(case)
        for dtype in dtypes:
            for check in checks_of(case, dtype):
                if EVERYTHING or (check in CHOSEN and (dtype == "float32" or len(dtypes) == 1)):
                    yield pytest.param(number, case, dtype, check, id=f"{case.name}-{dtype}-{check}")


@pytest.mark.parametrize(("number", "case", "dtype", "check"), tuple(_runs()))
def test_case(number: int, case: Case, dtype: str, check: str) -> None:
    device = xpgrad.get_device("@jax:cpu:1")
    reason = device.backend.capabilities.lacking(case.needs, "cpu:1")
    if reason is not None:
        pytest.skip(reason)
    if case.name in NOISE and dtype == "float32" and check == "gradient":
        pytest.xfail(NOISE[case.name])
    if number % MOST_COMPILED == MOST_COMPILED - 1:
        jax.clear_caches()
    run(case, device, dtype, check)
