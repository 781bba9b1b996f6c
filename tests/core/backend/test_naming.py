"""Errors name the function that the user called: where arrays of two libraries meet, in every case of the table."""

import re
from typing import Any

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
from xpgrad import Variable, ops
from xpgrad import array_api as xp
from xpgrad.testing.arrays import placed
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.table.scenario import Scenario, dtypes_of

OTHERWISE = {"convolve": "Convolve"}  # a FunctionNode has the name of its class, as in Chainer
COMBINED = {"F.broadcast", "F.forget", "F.gaussian", "F.identity", "F.roi_", "broadcast_arrays", "meshgrid"}
COMBINED |= {"arithmetic-operators", "bitwise-bool", "linalg.pinv-rank"}
"""Beginnings of the names of cases whose arrays meet in another function that the case itself calls."""
PAIRS = [case for case in CASES if len(case.inputs) > 1 and not case.name.startswith(tuple(COMBINED))]


@pytest.mark.filterwarnings("ignore:You are comparing a array_api_strict dtype")
def test_arrays_of_two_libraries_are_an_error_of_the_function() -> None:
    wrong = {}
    for case in PAIRS:
        scenario = Scenario(case, xpgrad.get_device("@numpy"), dtypes_of(case)[0])
        arrays = scenario.arrays()
        name = OTHERWISE.get(case.function.removeprefix("F."), case.function).rpartition(".")[2]
        for place, array in enumerate(arrays):
            xs: list[Any] = list(scenario.variables(arrays))
            xs[place] = Variable(placed(np.asarray(array), xpgrad.get_device("@strict:cpu")))
            try:
                scenario.call(xs)
            except (TypeError, ValueError) as error:
                if not re.search(rf"(^|^\w+\.|in: |\(){name}\b", str(error)):
                    wrong[case.name] = str(error)
    assert wrong == {}


def test_integer_out_of_range_is_an_index_error_of_the_function(device: xpgrad.Device) -> None:
    def of(values: Any) -> Variable:
        return Variable(placed(np.asarray(values), device))

    x, five = of(np.ones((2, 3))), of([0, 5])
    calls = {
        "getitem": [lambda: x[:, 5], lambda: x[:, five]],
        "get_item": [lambda: F.get_item(x, (0, 5))],
        "take": [lambda: xp.take(x, five, axis=1)],
        "take_along_axis": [lambda: xp.take_along_axis(x, five[:, None], axis=1)],
        "select_item": [lambda: F.select_item(x, five)],
        "embed_id": [lambda: F.embed_id(five, x), lambda: F.embed_id(of([-3]), x)],
        "scatter_add": [lambda: ops.scatter_add(x, (0, five), 1.0), lambda: F.scatter_add(x, (0, five), x[0, :2])],
        "index_add": [lambda: ops.index_add(x, five, 1.0, axis=1)],
        "segment_sum": [lambda: ops.segment_sum(x, five, 2)],
        "hinge": [lambda: F.hinge(x, five)],
        "softmax_cross_entropy": [lambda: F.softmax_cross_entropy(x, five)],
        "negative_sampling": [
            lambda: F.negative_sampling(x, five, x, lambda shape: np.zeros(shape, int), 2),
            lambda: F.negative_sampling(x, of([0, 1]), x, lambda shape: np.full(shape, 5), 2),
        ],
        "black_out": [lambda: F.black_out(x, of([0, 1]), x, five[:, None])],
        "connectionist_temporal_classification": [
            lambda: F.connectionist_temporal_classification([x, x, x], five[:, None], 0),
            lambda: F.connectionist_temporal_classification([x, x, x], of([[1], [-5]]), 0),
        ],
        "crf1d": [lambda: F.crf1d(of(np.ones((3, 3))), [x], [five])],
    }
    for name, several in calls.items():
        for call in several:
            with pytest.raises(IndexError, match=rf"^{name}: ") as caught:
                call()
            assert type(caught.value) is IndexError
