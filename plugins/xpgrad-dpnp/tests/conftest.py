"""Fixtures: the devices that SYCL sees here, and seeds."""

import numpy as np
import pytest

import xpgrad

DEVICES = tuple(map(str, xpgrad.get_device("@dpnp").backend.devices()))


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> xpgrad.Device:
    """Each device that SYCL sees here."""
    return xpgrad.get_device(request.param)


@pytest.fixture
def rng() -> np.random.Generator:
    """A seeded stream of random numbers."""
    return np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _seeded() -> None:
    xpgrad.random.seed(0)
