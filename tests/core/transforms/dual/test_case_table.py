"""Forward mode for every case of the table, compared with the gradient of its gradient."""

import numpy as np
import pytest
from tests.devices import DEVICES, device_or_skip, lacking

from xpgrad.backend.kernels import table
from xpgrad.testing.arrays import on_host
from xpgrad.testing.differences import random_values
from xpgrad.transforms import jvp, linearize, vjp
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.table.case import Case
from xpgrad_conformance.table.scenario import Scenario, dtypes_of

PLACES = [device for device in DEVICES if device != "@strict:cpu"]
DIFFERENTIABLE = [case for case in CASES if case.order]


def tangent_of(scenario, xs, directions):
    return jvp(lambda *xs: call(scenario, xs), xs, directions, allow_constant=True)[1]


def call(scenario, given):
    arrays = scenario.arrays()
    for i, x in zip(scenario.floating, given, strict=True):
        arrays[i] = x
    return tuple(scenario.call(arrays))


@pytest.mark.parametrize("device", PLACES, ids=lambda each: each.removeprefix("@"))
@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=lambda each: each.name)
def test_case(case: Case, device: str) -> None:
    found = device_or_skip(device)
    reason = lacking(found.backend.name, case.needs)
    if reason is not None:
        pytest.skip(reason)
    wide = [dtype for dtype in dtypes_of(case) if dtype in ("float64", "complex128")]
    for dtype in wide:
        scenario = Scenario(case, found, dtype)
        rng = scenario.generator()
        arrays = scenario.arrays()
        xs = tuple(arrays[i] for i in scenario.floating)
        directions = tuple(
            found.send(random_values(h.shape, np.iscomplexobj(h), rng).astype(h.dtype))
            for h in (scenario.inputs[i] for i in scenario.floating)
        )
        tangents = tangent_of(scenario, xs, directions)
        assert_pairing(scenario, xs, directions, tangents, rng)
        if case.order > 1:
            _, push = linearize(lambda *xs, s=scenario: call(s, xs), *xs, allow_constant=True)
            for tangent, expected in zip(tangents, push(*directions), strict=True):
                np.testing.assert_allclose(on_host(tangent), on_host(expected), rtol=1e-6, atol=1e-8)


def assert_pairing(scenario, xs, directions, tangents, rng):
    """The gradient is the adjoint of the derivative."""
    outputs, pullback = vjp(lambda *xs: call(scenario, xs), *xs, allow_constant=True)
    hosts = [on_host(y) for y in outputs]
    seeds = [random_values(h.shape, np.iscomplexobj(h), rng).astype(h.dtype) for h in hosts]
    gradients = pullback(tuple(scenario.placed(s) for s in seeds))
    left = sum(np.vdot(s, on_host(t)).real for s, t in zip(seeds, tangents, strict=True))
    right = sum(np.vdot(on_host(g), on_host(t)).real for g, t in zip(gradients, directions, strict=True))
    np.testing.assert_allclose(left, right, rtol=1e-5, atol=1e-8)


def test_every_linear_function_is_linear_in_each_input_that_says_so() -> None:
    """Each primitive that declares inputs as linear is called by a case with sums of arrays."""
    assert {"sum", "reshape", "matmul", "getitem", "fft.rfft"} <= {
        name for name in table.declared if getattr(table.definition(name), "linear", ())
    }
