"""The kernels of NumPy's backend that are imported late."""

import importlib

import pytest

from xpgrad_numpy.kernels import NETWORKS, network


@pytest.mark.parametrize("module", NETWORKS)
def test_the_names_of_late_kernels_are_those_of_their_module(module: str) -> None:
    kernels = getattr(importlib.import_module(f"xpgrad_numpy.kernels.{module}"), module.upper())
    assert NETWORKS[module].split() == list(kernels)
    assert {name: network(name) for name in kernels} == kernels
