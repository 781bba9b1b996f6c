"""Inputs without a gradient, and numbers, in captured Variables: each transformation reads them when it is called."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from tests.building import assert_near
from tests.core.transforms.batch.batched_cases import MEMBERS, Members
from tests.core.transforms.references import looped
from tests.devices import device_or_skip, lacking

import xpgrad
from xpgrad import BatchError, Variable, functions, ops
from xpgrad import array_api as xp
from xpgrad.special.modified_bessel import ive_of
from xpgrad.transforms import grad, jacfwd, jvp, scan, vjp, vmap
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
    "axis": (lambda x, n: xp.sum(xp.concat([x, x], axis=n), axis=n), 0, 1),
    "shape": (lambda x, n: xp.reshape(x, (n, -1)), 2, 6),
    "order of a norm": (lambda x, n: xp.linalg.vector_norm(x, ord=n), 3, 1),
    "correction": (lambda x, n: xp.var(x, correction=n), 0, 1),
    "repetitions": (lambda x, n: xp.repeat(x, n, axis=0), [1, 2, 1, 1], [2, 1, 3, 1]),
    "classes": (lambda x, n: x[0, 0] * ops.one_hot(np.asarray([0, 1]), n), 2, 3),
    "width of a new diagonal": (lambda x, n: ops.create_diagonal(x[0], offset=n), 0, 1),
    "order of a Bessel function": (lambda x, n: grad(lambda x: xp.sum(_slope(x, n)))(x), 1, 2),
}
RAW: dict[str, tuple[Any, Any, Any]] = {
    "nested widths": (lambda x, n: np.pad(x, [(k, 0) for k in n]), [1, 2], [2, 1]),
    "period": (lambda x, n: np.interp(x, [0.0, 1.0, 2.0], [3.0, 1.0, 5.0], period=n), 2.5, 3.5),
    "period of jumps": (lambda x, n: np.unwrap(3 * x, period=n), 2.0, 3.0),
    "deleted rows": (lambda x, n: np.delete(x, n, axis=0), [1, 2], [2, 3]),
    "places of new rows": (lambda x, n: np.insert(x, n, 5.0, axis=0), 1, 2),
    "sections": (lambda x, n: np.split(x, n)[0], [1, 2], [2, 3]),
    "fractions": (lambda x, n: np.quantile(x, n), 0.25, 0.5),
    "decimals": (lambda x, n: np.round(x, n), 0, 1),
    "power of a matrix": (lambda x, n: np.linalg.matrix_power(x[:3], n), 2, 3),
    "shifts": (lambda x, n: np.roll(x, n, axis=(0, 1)), [1, 1], [2, 0]),
    "length of a loop": (lambda x, n: scan(lambda c, _: (c * 2, None), x, None, n)[0], 1, 2),
    "slice in an argument": (lambda x, n: functions.get_item(x, slice(n, None)), 1, 2),
    "threshold": (lambda x, n: functions.huber_loss(x, np.zeros((4, 3)), n), 1.0, 0.2),
}
"""Of arrays of NumPy only."""


def _slope(x: Variable, n: Any) -> Variable:
    return jvp(lambda x: ive_of(x, n=n), (x,), (xp.ones_like(x),))[1]


assert_same = partial(assert_near, rtol=1e-9, atol=1e-12)


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


@pytest.mark.filterwarnings("ignore:vmap")
@pytest.mark.filterwarnings("error::xpgrad.StaleProgramWarning")
@pytest.mark.parametrize("name", {**CALLS, **RAW})
def test_numbers_in_arrays_that_are_written_to_are_read_at_each_call(name: str) -> None:
    call, *values = {**CALLS, **RAW}[name]
    held = np.asarray(values[0])

    def f(x: Variable) -> Variable:
        return call(x, held)

    compiled = xpgrad.compile(f, executor="python")
    for value in (values[0], values[0], values[0], values[1], values[0]):
        held[...] = value
        assert_same(compiled(X), f(Variable(X)))


@pytest.mark.parametrize("name", ["axis", "classes", "width of a new diagonal", "shape", "correction"])
def test_numbers_that_differ_between_elements_are_rejected_by_name(name: str) -> None:
    words = {"axis": "axis of concat", "classes": "num_classes of one_hot", "shape": "shape of reshape"}
    words |= {"width of a new diagonal": "offset of create_diagonal", "correction": "correction of var"}
    with pytest.raises(BatchError, match=f"it was the parameter {words[name]}, at .*; values differ"):
        vmap(CALLS[name][0])(np.stack([X, X]), np.asarray([0, 1]))


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


def test_items_of_new_containers_are_no_state() -> None:
    def f(x: Variable) -> Variable:
        rows: Any = [[1.0, 2.0], {"a": [0.0]}, ([0.0],)]
        rows[0][0], rows[1]["a"][0], rows[2][0][0] = x, 2 * x, x
        return rows[0][0] * rows[0][1] + rows[1]["a"][0] + rows[2][0][0]

    for g in (f, vmap(f), vmap(grad(f))):
        compiled = xpgrad.compile(g)
        for x in (X[0] if g is not f else X[0, 0]) + np.arange(4.0).reshape(-1, *[1] * (g is not f)):
            assert_same(compiled(np.asarray(x)), g(Variable(np.asarray(x))))
        assert compiled.cache_info().hits == 2


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
