"""SciPy's statistics and p-values are differentiable when they are handed Variables, on any backend."""

import functools
import json
from pathlib import Path

import pytest
from tests.interop.scipy_statistics import PROGRAMS
from tests.processes import output_of

pytestmark = pytest.mark.exhaustive(1)

PROGRAM = Path(__file__).parent / "scipy_statistics.py"


@functools.cache
def differences(device: str) -> dict[str, str]:
    return json.loads(output_of(PROGRAM, device))  # type: ignore[no-any-return]  # a dict of strings


@pytest.mark.parametrize("device", ["@numpy", "@strict:cpu"])
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_value_and_gradients_are_scipys(name: str, device: str) -> None:
    assert not differences(device)[name]
