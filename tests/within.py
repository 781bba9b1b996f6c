"""Transforms of a function of another framework, compiled: each runs without a program, with the same results."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xpgrad
from xpgrad import array_api as xp
from xpgrad.errors import TraceError
from xpgrad.transforms import grad, hessian, hvp, jvp

WITHIN: dict[str, Callable[[Any], Any]] = {
    "value": lambda f: lambda x: xp.sum(f(x)),
    "grad": lambda f: grad(lambda x: xp.sum(f(x))),
    "jvp": lambda f: lambda x: jvp(f, (x,), (x,))[1],
    "hvp": lambda f: lambda x: hvp(lambda x: xp.sum(f(x)), (x,), (x,))[0],
    "hessian": lambda f: hessian(lambda x: xp.sum(f(x))),
}


def assert_runs_without_a_program(f: Callable[[Any], Any], x: Any) -> None:
    """Call a transform compiled, and eagerly."""
    step = xpgrad.compile(f)
    for _ in range(3):
        np.testing.assert_allclose(step(x), f(x))
    with pytest.raises(TraceError, match="has no program"):
        step.program(x)
