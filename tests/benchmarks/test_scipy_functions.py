"""The benchmark of SciPy's functions: ours compute what SciPy's do."""

import numpy as np
import pytest

pytest.importorskip("scipy")
from benchmarks.scipy_functions import rows

from xpgrad.testing.arrays import on_host


@pytest.mark.parametrize("name", rows())
def test_both_functions_of_a_row_agree(name):
    row = rows()[name]
    expected = row.reference(*row.inputs)
    expected = expected[0] if isinstance(expected, tuple) else expected
    np.testing.assert_allclose(on_host(row.function(*row.inputs)), expected, rtol=1e-8, atol=1e-10)
