"""`import autograd` of these tests finds xpgrad's modules."""

import pytest

import xpgrad_autograd


@pytest.fixture(autouse=True)
def served():
    xpgrad_autograd.install()
    yield
    xpgrad_autograd.uninstall()
