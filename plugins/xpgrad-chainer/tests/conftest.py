"""Chainer's names, served by xpgrad while these tests run."""

import pytest

import xpgrad_chainer


@pytest.fixture(autouse=True)
def served():
    """Serve ``import chainer``, and end it after the test."""
    xpgrad_chainer.install()
    yield
    xpgrad_chainer.uninstall()


def pytest_configure(config):
    """Register the marks of `chainer.testing.attr`."""
    for name in ("chainerx", "cudnn", "gpu", "ideep", "slow"):
        config.addinivalue_line("markers", f"{name}: a mark of chainer.testing.attr")
