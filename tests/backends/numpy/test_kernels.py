"""The kernels of NumPy's backend that are imported late, those of SciPy among them."""

import importlib

import numpy as np
import pytest

from xpgrad import get_device
from xpgrad_numpy.kernels import NETWORKS, network


@pytest.mark.parametrize("module", NETWORKS)
def test_the_names_of_late_kernels_are_those_of_their_module(module: str) -> None:
    kernels = getattr(importlib.import_module(f"xpgrad_numpy.kernels.{module}"), module.upper())
    assert NETWORKS[module].split() == list(kernels)
    assert {name: network(name) for name in kernels} == kernels


@pytest.mark.parametrize("name", ["ber", "bei", "ker", "kei"])
def test_kelvin_functions_of_single_precision_are_right_to_the_last_digit(name: str) -> None:
    special = pytest.importorskip("scipy.special")
    x = np.linspace(0.1, 12, 501, dtype=np.float32)
    kernel = get_device("@numpy").backend.lazy_override(f"special.{name}")
    assert kernel is not None
    y = kernel(x)
    np.testing.assert_allclose(y, getattr(special, name)(x.astype(np.float64)), rtol=1e-7)
    assert y.dtype == np.float32
