"""Inputs without a gradient, and numbers, in captured Variables: each transformation reads them when it is called."""

from typing import Any

import numpy as np
import pytest
from tests.core.transforms.batch.batched_cases import MEMBERS, Members
from tests.core.transforms.references import looped
from tests.devices import device_or_skip, lacking

import xpgrad
from xpgrad import Variable, functions, ops
from xpgrad import array_api as xp
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import grad, jacfwd, jvp, vjp, vmap
from xpgrad.transforms.trees import flatten
from xpgrad_conformance.cases import CASES

X = np.asarray([[0.31, -1.27, 0.83], [1.61, 0.47, -0.59], [0.19, 1.07, -0.37], [2.3, 0.4, -0.3]])
CALLS: dict[str, tuple[Any, Any, Any]] = {
    "start of a slice": (lambda x, n: x[n:], 1, 2),
    "slice within an index": (lambda x, n: x[..., : n + 1], 0, 1),
    "index": (lambda x, n: x[n], 1, 2),
    "float": (lambda x, n: x * float(n), 1, 2),
    "item": (lambda x, n: x * n.item(), 1, 2),
    "truth": (lambda x, n: x if n else -x, 0, 1),
    "tolist": (lambda x, n: x * n.tolist()[1], [1, 2], [1, 3]),
    "conversion": (lambda x, n: x * float(np.asarray(n)[1]), [1, 2], [1, 3]),
    "as_array": (lambda x, n: xp.take(x, xpgrad.as_array(n), axis=0), [1, 2], [0, 3]),
    "condition": (lambda x, n: ops.isclose(x, n), 0.31, 0.47),
    "tolerance": (lambda x, n: xp.linalg.pinv(x, rtol=n), 1e-3, 0.9),
    "widths": (lambda x, n: ops.pad(x, n), [1, 0], [0, 1]),
    "filling": (lambda x, n: ops.pad(x, 1, constant_values=n), 0.5, 1.5),
    "number of segments": (lambda x, n: ops.segment_sum(x, np.asarray([0, 2, 1, 0]), n), 3, 4),
    "diagonal": (lambda x, n: xp.linalg.diagonal(x, offset=n), 0, 1),
}


def leaves(y: Any) -> list[Any]:
    return [on_host(each) for each in flatten(y)[0]]


def assert_same(found: Any, expected: Any) -> None:
    for a, b in zip(leaves(found), leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("ignore")  # of numbers that no program depends on, and of numbers that end graphs
@pytest.mark.parametrize("name", CALLS)
def test_numbers_of_captured_variables_are_read_at_each_call(name: str) -> None:
    call, *values = CALLS[name]
    held = Variable(np.asarray(values[0]), requires_grad=False)

    def f(x: Variable) -> Variable:
        return call(x, held)

    compiled = xpgrad.compile(f, executor="python")
    for value in (values[0], values[0], values[1], values[0]):
        held.array = np.asarray(value)
        assert_same(compiled(X), f(Variable(X)))
        assert_same(vmap(f)(np.stack([X, 2 * X])), looped(f)(np.stack([X, 2 * X])))
        assert_same(jvp(f, (X,), (X,), allow_constant=True)[0], f(Variable(X)))


HELD = [case for case in CASES if case.order and {x.kind for x in case.inputs} & {"int", "bool"}]


@pytest.mark.filterwarnings("ignore")  # of shapes that depend on values, for which there is no program
@pytest.mark.parametrize("case", HELD, ids=repr)
def test_captured_indices_and_masks_are_read_at_each_call(case: Any) -> None:
    if (reason := lacking("numpy", case.needs)) is not None:
        pytest.skip(reason)
    members = Members(case, device_or_skip("@numpy"), "float64")
    places = [i for i, x in enumerate(case.inputs) if x.kind in ("int", "bool")]
    held = {i: Variable(members.first.arrays()[i]) for i in places}
    floating = members.first.floating
    xs = [members.first.arrays()[i] for i in floating]

    def f(*given: Any) -> Any:
        arrays: Any = {**held, **dict(zip(floating, given, strict=True))}
        return members.first.call([arrays[i] for i in range(len(case.inputs))])

    compiled = xpgrad.compile(f, executor="python")
    for number in (0, 0, *range(1, MEMBERS)):
        arrays = members.scenarios[number].arrays()
        for i in places:
            held[i].array = arrays[i]
        expected = members.first.call([xs[floating.index(i)] if i in floating else a for i, a in enumerate(arrays)])
        assert_same(compiled(*xs), expected)
        assert_same(jvp(f, xs, xs, allow_constant=True)[0], expected)


def test_regions_are_constants_in_forward_mode_too() -> None:
    rng = np.random.default_rng(0)
    x, rois = rng.normal(size=(2, 2, 6, 5)), np.asarray([[1.1, 2.2, 9.3, 13.1], [0.4, 0.3, 10.3, 6.7]])

    def f(rois: Variable) -> Variable:
        return functions.roi_average_align_2d(x, rois, np.asarray([0, 1]), 2, 0.4, 2)

    assert not np.any(jvp(f, (rois,), (rois,), allow_constant=True)[1])
    y, pullback = vjp(f, rois, allow_constant=True)
    assert not np.any(pullback(y)[0])


def test_moving_averages_are_of_the_innermost_transformation() -> None:
    mean, var = Variable(np.zeros(3)), Variable(np.ones(3))

    def f(gamma: Variable) -> Variable:
        return xp.sum(functions.batch_renormalization(X, gamma, np.ones(3), 2.0, 1.0, 2e-5, mean, var) ** 2)

    with xpgrad.using_config("train", False):
        assert_same(jacfwd(f)(np.ones(3)), grad(f)(np.ones(3)))
