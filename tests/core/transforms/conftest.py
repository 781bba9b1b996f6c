"""Points of the tests of transformations, on each device."""

from typing import Any

import pytest
from tests.building import array
from tests.core.transforms.references import T, X

import xpgrad


@pytest.fixture
def point(device: xpgrad.Device) -> Any:
    """A point and a direction."""
    return array(device, X, "float64"), array(device, T, "float64")


@pytest.fixture
def primals(device: xpgrad.Device) -> Any:
    """A vector and a tree."""
    return array(device, X, "float64"), {"a": array(device, [2.0, 3.0], "float64")}
