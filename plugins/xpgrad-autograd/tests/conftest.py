"""`import autograd` of these tests finds xpgrad's modules."""

import pytest

import xpgrad_autograd


@pytest.fixture(autouse=True)
def served():
    xpgrad_autograd.install()
    yield
    xpgrad_autograd.uninstall()


@pytest.fixture
def ag():
    import autograd

    return autograd


@pytest.fixture
def np():
    import autograd.numpy

    return autograd.numpy


@pytest.fixture
def check():
    from autograd.test_util import check_grads

    return check_grads
