"""Every case of xpgrad's table on tensors, in every dtype, through every check."""

from collections.abc import Iterator

import pytest

import xpgrad
from xpgrad.testing.case import Case
from xpgrad.testing.cases import CASES
from xpgrad.testing.scenario import dtypes_of
from xpgrad.testing.table import checks_of, run


def _runs() -> Iterator[object]:
    for case in CASES:
        for dtype in dtypes_of(case):
            for check in checks_of(case, dtype):
                yield pytest.param(case, dtype, check, id=f"{case.name}-{dtype}-{check}")


@pytest.mark.parametrize(("case", "dtype", "check"), tuple(_runs()))
def test_case(case: Case, dtype: str, check: str, device: xpgrad.Device) -> None:
    capabilities = device.backend.capabilities
    reason = capabilities.lacking(case.needs, device.name.partition(":")[2]) or capabilities.lacking((dtype,))
    if reason is not None:
        pytest.skip(f"torch lacks {reason}")
    run(case, device, dtype, check)
