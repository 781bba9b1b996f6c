"""Gradient checks whose results are Chainer's."""

from typing import Any

from xpgrad.testing import gradient_check


def numerical_grad(*args: Any, **kwargs: Any) -> list[Any]:
    """Return gradients by finite differences as a list; see `xpgrad.testing.gradient_check.numerical_grad`."""
    return list(gradient_check.numerical_grad(*args, **kwargs))
