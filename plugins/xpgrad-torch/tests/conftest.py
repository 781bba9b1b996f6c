"""Fixtures: PyTorch's devices on this machine, and fixtures of every test of xpgrad."""

import random

import numpy as np
import pytest

import xpgrad

xpgrad.global_config.detect_mutation = True

DEVICES = tuple(map(str, xpgrad.get_device("@torch").backend.devices()))


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> xpgrad.Device:
    """Each device that PyTorch sees here."""
    return xpgrad.get_device(request.param)


@pytest.fixture
def rng() -> np.random.Generator:
    """A seeded stream of random numbers."""
    return np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _seeded() -> None:
    random.seed(0)
    xpgrad.random.seed(0)
