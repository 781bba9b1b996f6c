"""Faults planted in batches and forward mode, one at a time: random programs find each, and none in tests/fuzz."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.fuzz.batched import batched
from tests.fuzz.forward import forward

import xpgrad
from xpgrad.errors import XpgradError
from xpgrad.transforms.batch import ports
from xpgrad.transforms.batch.array import BatchArray
from xpgrad.transforms.batch.batching import Batching
from xpgrad.transforms.batch.level import BatchLevel
from xpgrad.transforms.dual.level import DualLevel
from xpgrad.transforms.enclosing.level import EnclosingLevel, Port

Random = Callable[[np.random.Generator, xpgrad.Device], str | None]
COUNTS: dict[Random, int] = {batched: 60, forward: 50}
FOUND = XpgradError, ValueError, IndexError, AttributeError, RecursionError
"""Errors raised by xpgrad, the library, or Python, where a fault is not silent."""
SHARED, ENTERED = ports.shared, EnclosingLevel.entered


def differs(random: Random) -> bool:
    """Return whether a random program differs from its reference, or raises."""
    device = xpgrad.get_device("@numpy")
    try:
        return any(random(np.random.default_rng(seed), device) for seed in range(COUNTS[random]))
    except FOUND:
        return True


def _zipped(self: Batching, x: Any, ndim: int) -> Any:
    return x.values if type(x) is self.kind else x


def _first_member(level: BatchLevel) -> Port:
    right = SHARED(level)

    def outward(inner: BatchArray) -> Any:
        return inner.values[0] if inner.batched else right.outward(inner)[0]

    return Port(right.inward, lambda inner: [outward(inner)])


def _axis(self: Batching, axis: int, ndim: int) -> int:
    return axis + 1 if axis >= 0 else axis + ndim


def _axis_of_the_library(self: Batching, axis: int, ndim: int) -> int:
    return axis if axis > 0 else axis % (ndim + 1)


def _swapped(self: DualLevel) -> Port:
    return Port(lambda given: self.dual(given[0], given[1]), lambda g: [g.primal, g.tangent])


def _tangent_only(self: DualLevel) -> Port:
    return Port(lambda given: self.dual(given[0], given[1]), lambda g: [None, g.primal])


def _detached(self: EnclosingLevel, outside: Any, array: Any, port: Port) -> Any:
    return ENTERED(self, tuple(x if x is None else x.detach() for x in outside), array, port)


FAULTS: dict[str, tuple[Any, str, Any, Random]] = {
    "members are aligned by their first axes, with a captured array": (Batching, "aligned", _zipped, batched),
    "the sum over members is forgotten when a gradient leaves": (ports, "shared", _first_member, batched),
    "negative axes are off by one": (Batching, "axis", _axis, batched),
    "axes are those with the hidden one": (Batching, "axis", _axis_of_the_library, batched),
    "gradients by primal and tangent are swapped": (DualLevel, "argument_port", _swapped, forward),
    "the gradient by the primal is lost": (DualLevel, "argument_port", _tangent_only, forward),
    "captured Variables that need a gradient are constants": (EnclosingLevel, "entered", _detached, batched),
}


@pytest.mark.parametrize("title", FAULTS)
def test_a_planted_fault_is_found(title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place, name, fault, random = FAULTS[title]
    monkeypatch.setattr(place, name, fault)
    assert differs(random)
