"""Faults planted in batches and forward mode, one at a time: the tests must fail for each, and pass without faults."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.core.transforms.batch.batched_cases import WITHOUT_BATCH, differences
from tests.core.transforms.levels import by_reverse_mode, difference
from tests.core.transforms.references import looped
from tests.core.transforms.test_one_derivative import POINTS
from tests.fuzz.batched import batched
from tests.fuzz.forward import forward

import xpgrad
from xpgrad import Parameter, Variable, random, transforms
from xpgrad import array_api as xp
from xpgrad.array_api.linalg.spectral import Spectral
from xpgrad.errors import XpgradError
from xpgrad.transforms import implicit
from xpgrad.transforms.batch import ports
from xpgrad.transforms.batch.array import BatchArray
from xpgrad.transforms.batch.batching import Batching
from xpgrad.transforms.batch.level import BatchLevel
from xpgrad.transforms.batch.rows import products
from xpgrad.transforms.dual.level import DualLevel
from xpgrad.transforms.enclosing.level import EnclosingLevel
from xpgrad.transforms.enclosing.port import Port
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.table.one_derivative import disagreements

BATCH_PROGRAMS, FORWARD_PROGRAMS = 120, 80
FOUND = AssertionError, XpgradError, ValueError, IndexError, AttributeError, RecursionError
"""Silent errors, and errors raised by xpgrad, the library, or Python."""


def batches() -> None:
    """Random programs of batches."""
    device = xpgrad.get_device("@numpy")
    for seed in range(BATCH_PROGRAMS):
        assert batched(np.random.default_rng(seed), device) is None


def tangents() -> None:
    """Random programs in forward mode."""
    device = xpgrad.get_device("@numpy")
    for seed in range(FORWARD_PROGRAMS):
        assert forward(np.random.default_rng(seed), device) is None


def cases() -> None:
    """Cases of products and indices, with all members and with single members."""
    for case in CASES:
        if case.name.startswith(("getitem", "matmul", "vecdot")) and case.name not in WITHOUT_BATCH:
            assert not list(differences(case, xpgrad.get_device("@numpy"), (0, 1), every=False))


def nested() -> None:
    """Levels within levels."""
    device = xpgrad.get_device("@numpy")
    for chosen in (("vmap", "vmap"), ("vmap", "jvp"), ("jvp", "vmap"), ("jvp", "jvp"), ("grad", "vmap", "grad")):
        for number in range(10):
            assert difference(chosen, number, device, number, by_reverse_mode) is None


def draws() -> None:
    """Each member draws different numbers."""
    a, b = transforms.vmap(lambda x: x * 0 + random.uniform((50,), x.dtype, "@numpy"))(np.zeros((2, 50)))
    assert not np.array_equal(a, b)


def shared_cotangents() -> None:
    """Gradients of shared values accumulate the contribution of each member."""

    def swept(vmap: Callable[..., Any]) -> Any:
        w = Parameter(np.ones(3))

        def member(x: Any) -> Any:
            xp.sum(w * w).backward()
            return x * w

        vmap(member)(Variable(np.ones((4, 3)), requires_grad=False))
        return w.grad

    assert np.array_equal(swept(transforms.vmap), swept(looped))


def modes() -> None:
    """All modes give one derivative at special points."""
    for name in "eigh of equal values", "nuclear norm at 0", "norm at 0", "root by bisection", "tangent of a constant":
        f, x = POINTS[name]
        assert not list(disagreements(f, [x], [np.cos(np.arange(x.size)).reshape(x.shape)], 1e-6))


PROBES: tuple[Callable[[], None], ...] = (batches, tangents, cases, nested, draws, shared_cotangents, modes)


@pytest.mark.parametrize("probe", PROBES)
def test_probes_pass_without_a_fault(probe: Callable[[], None]) -> None:
    probe()


# The faults

ALIGNED, FRONT, MATRICES, SHARED = Batching.aligned, Batching.front, products._as_matrices, ports.shared
INIT = BatchLevel.__init__


def _zipped(self: Batching, x: Any, ndim: int) -> Any:
    return x.values if type(x) is self.kind else x


def _port(outward: Callable[[Any, Any], Any]) -> Callable[[BatchLevel], Port]:
    def shared(level: BatchLevel) -> Port:
        right = SHARED(level)
        return Port(right.inward, lambda inner: [outward(right, inner)])

    return shared


def _first_member(right: Port, inner: BatchArray) -> Any:
    return inner.values[0] if inner.batched else right.outward(inner)[0]


def _once(right: Port, inner: BatchArray) -> Any:
    return right.outward(inner)[0] if inner.batched else inner.values


def _axis(self: Batching, axis: int, ndim: int) -> int:
    return axis + 1 if axis >= 0 else axis + ndim


def _axis_of_the_library(self: Batching, axis: int, ndim: int) -> int:
    return axis if axis > 0 else axis % (ndim + 1)


def _same_draws(self: BatchLevel, title: str, size: int, randomness: str, *more: Any) -> None:
    INIT(self, title, size, "same", *more)


def _swapped(self: DualLevel) -> Port:
    return Port(lambda given: self.dual(given[0], given[1]), lambda g: [g.primal, g.tangent])


def _tangent_only(self: DualLevel) -> Port:
    return Port(lambda given: self.dual(given[0], given[1]), lambda g: [None, g.primal])


def _columns_for_rows(b: Batching, x: Any, ndim: int, *, first: bool) -> Any:
    return MATRICES(b, x, ndim, first=not first)


FAULTS: dict[str, tuple[Any, str, Any, Callable[[], None]]] = {
    "members are aligned by their first axes, with a captured array": (Batching, "aligned", _zipped, batches),
    "the sum over members is forgotten when a gradient leaves": (ports, "shared", _port(_first_member), batches),
    "a cotangent that all members share counts once": (ports, "shared", _port(_once), shared_cotangents),
    "negative axes are off by one": (Batching, "axis", _axis, batches),
    "axes are those with the hidden one": (Batching, "axis", _axis_of_the_library, batches),
    "axes of indexed members are left where the library puts them": (
        Batching, "permuted", lambda self, values, axes: values, cases,
    ),
    "vectors are columns where they are rows": (products, "_as_matrices", _columns_for_rows, cases),
    "arrays of all batches are of one level": (
        BatchLevel, "holds", lambda self, array: isinstance(array, BatchArray), nested,
    ),
    "all tangents are of one level": (DualLevel, "holds", lambda self, array: hasattr(array, "tangent"), nested),
    "members draw the same numbers": (BatchLevel, "__init__", _same_draws, draws),
    "gradients by primal and tangent are swapped": (DualLevel, "argument_port", _swapped, tangents),
    "the gradient by the primal is lost": (DualLevel, "argument_port", _tangent_only, tangents),
    "a decomposition has tangents of its own at equal values": (Spectral, "has_tangents", lambda self, ys: True, modes),
    "a solution has the tangents of one level": (implicit, "forward_levels", lambda level: LEVELS(level)[:1], modes),
    "an absent primal is refused": (
        DualLevel, "_argument", lambda self, given: self.dual(given[0], given[1]), modes,
    ),
    "captured Variables that need a gradient are constants": (
        EnclosingLevel, "entered",
        lambda self, outside, array, port: ENTERED(self, tuple(_cut(x) for x in outside), array, port), batches,
    ),
}  # fmt: skip
ENTERED, LEVELS = EnclosingLevel.entered, implicit.forward_levels


def _cut(x: Any) -> Any:
    return x if x is None else x.detach()


@pytest.mark.parametrize("title", FAULTS)
def test_a_planted_fault_is_found(title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place, name, fault, probe = FAULTS[title]
    monkeypatch.setattr(place, name, fault)
    with pytest.raises(FOUND):
        probe()
