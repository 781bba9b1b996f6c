"""Forward mode for the cases of the table, a half for each commit: agreement with gradients; and linearity."""

import importlib
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from tests.building import assert_near
from tests.devices import device_or_skip, lacking
from tests.turn import half_of, part_of

from xpgrad import Device, Variable, array_api
from xpgrad.backend.kernels import table
from xpgrad.graph.general import plan_for
from xpgrad.testing.arrays import is_floating, on_host
from xpgrad.testing.differences import random_values
from xpgrad.transforms import grad, jvp, linearize, vjp
from xpgrad.transforms.dual import rules
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.table.case import Case
from xpgrad_conformance.table.scenario import Scenario, dtypes_of

DIFFERENTIABLE = [case for case in CASES if case.order]
ONCE = [("@numpy", case) for case in half_of(DIFFERENTIABLE)] + [
    ("@strict:device1", case) for case in part_of(DIFFERENTIABLE, 4)
]
CONSTANT = {"allow_constant": True}
WITH_GRADIENTS = (
    "F.average", "F.convolution", "F.decorrelated_batch_normalization", "F.im2col", "F.layer_normalization",
    "F.log_softmax", "F.max_pooling", "F.softmax", "F.unpooling", "F.upsampling", "linalg.diagonal", "linalg.qr",
    "where",
)  # fmt: skip
"""Cases whose gradients call linear functions that no other case calls."""


class Point:
    """A case as a function of its floating-point inputs, at one point, with a direction and cotangents."""

    def __init__(self, case: Case, device: Device, dtype: str) -> None:
        self.scenario = Scenario(case, device, dtype)
        self.rng = self.scenario.generator()
        arrays = self.scenario.arrays()
        self.xs = tuple(arrays[i] for i in self.scenario.floating)
        self.directions = tuple(self.random(x) for x in self.xs)
        self.seeds = [self.random(y._array) for y in self(*map(Variable, self.xs))]

    def random(self, x: Any) -> Any:
        host = on_host(x)
        values = random_values(host.shape, np.iscomplexobj(host), self.rng)
        return self.scenario.placed(values.astype(host.dtype) if is_floating(host) else np.zeros_like(host))

    def __call__(self, *given: Any) -> tuple[Any, ...]:
        arrays = self.scenario.arrays()
        for i, x in zip(self.scenario.floating, given, strict=True):
            arrays[i] = x
        return tuple(self.scenario.call(arrays))

    def loss(self, *given: Any) -> Any:
        total: Any = 0.0
        for y, seed in zip(self(*given), self.seeds, strict=True):
            if is_floating(y._array):
                product = y * seed
                total = total + array_api.sum(array_api.real(product) if product.node.spec.complex else product)
        return total

    def gradient(self, *given: Any) -> Any:
        return grad(self.loss, tuple(range(len(given))), **CONSTANT)(*given)


def points(case: Case, device: str) -> list[Point]:
    found = device_or_skip(device)
    reason = lacking(found.backend.name, case.needs)
    if reason is not None:
        pytest.skip(reason)
    return [Point(case, found, dtype) for dtype in dtypes_of(case) if dtype in ("float64", "complex128")]


assert_same = partial(assert_near, rtol=1e-6, atol=1e-8)


def paired(a: Sequence[Any], b: Sequence[Any]) -> float:
    return float(sum(np.vdot(on_host(x), on_host(y)).real for x, y in zip(a, b, strict=True)))


@pytest.mark.parametrize(("device", "case"), ONCE, ids=lambda each: getattr(each, "name", each))
def test_the_tangent_is_the_transpose_of_the_gradient(case: Case, device: str) -> None:
    for point in points(case, device):
        outputs, tangents = jvp(point, point.xs, point.directions, **CONSTANT)
        reference, pullback = vjp(point, *point.xs, **CONSTANT)
        assert_same(outputs, reference)
        gradients = pullback(tuple(point.seeds))
        np.testing.assert_allclose(
            paired(point.seeds, tangents), paired(gradients, point.directions), rtol=1e-5, atol=1e-8
        )
        if case.order > 1:
            assert_same(tangents, linearize(point, *point.xs, **CONSTANT)[1](*point.directions))


def test_every_rule_of_tangents_has_a_kernel() -> None:
    for module in ("xpgrad.functions", "xpgrad.linalg", "xpgrad.ops", "xpgrad.special.catalogue"):
        importlib.import_module(module)
    assert rules.ROWS.keys() <= table.declared.keys(), "a row in transforms/dual/rules.py is named as its kernel"


def test_functions_are_linear_in_declared_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    device = device_or_skip("@numpy")
    kind = device.backend.array_types[0]
    calls: dict[str, tuple[Any, Any, tuple[Any, ...], dict[str, Any]]] = {}
    noting: set[str] = set()

    def noted(definition: Any, kernel: Any) -> Any:
        def call(*args: Any, **parameters: Any) -> Any:
            first = args[0][0] if definition.variadic else args[0]
            if is_floating(first):
                calls.setdefault(definition.kernel.name, (definition, kernel, args, parameters))
            return kernel(*args, **parameters)

        return call

    for case in DIFFERENTIABLE:  # which imports their modules
        if lacking(device.backend.name, case.needs) is None:
            point = Point(case, device, dtypes_of(case)[0])
            for name in tuple(table.declared):
                definition: Any = table.definition(name)
                if definition is not None and definition.linear and name not in noting:
                    noting.add(name)
                    plan = plan_for(definition, kind, device.backend)
                    monkeypatch.setattr(plan, "kernel", noted(definition, plan.kernel))
            if case.order > 1 and case.name.startswith(WITH_GRADIENTS):
                for f in point, point.gradient:
                    linearize(f, *point.xs, **CONSTANT)[1](*map(Variable, point.directions))
            else:
                point(*point.xs)
    monkeypatch.undo()
    assert noting == calls.keys()
    rng = np.random.default_rng(0)
    for definition, kernel, args, parameters in calls.values():
        for x in definition.linear:
            _assert_linear(definition, kernel, args, parameters, definition.inputs.index(x), rng)


def _assert_linear(definition: Any, kernel: Any, args: Any, parameters: Any, place: int, rng: Any) -> None:
    def value(of: Any) -> Any:
        if definition.variadic:
            return kernel([of(x) for x in args[0]], **parameters)
        return kernel(*[of(x) if i == place else x for i, x in enumerate(args)], **parameters)

    others: dict[int, Any] = {}

    def other(x: Any) -> Any:
        return others.setdefault(id(x), rng.standard_normal(x.shape).astype(x.dtype))

    combined = value(lambda x: 2.0 * x - 0.5 * other(x))
    expected = 2.0 * value(lambda x: x) - 0.5 * value(other)
    np.testing.assert_allclose(combined, expected, rtol=1e-5, atol=1e-5, err_msg=definition.name)
