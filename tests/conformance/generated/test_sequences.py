"""Pairs of samples: two calls of the same shapes, with other values, both with known results."""

import numpy as np
import pytest

from xpgrad import Variable, as_array, get_device
from xpgrad.plugin import Capabilities
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.operation import Operation
from xpgrad_conformance.generated.operations import OPERATIONS
from xpgrad_conformance.generated.sample import Argument, Sample
from xpgrad_conformance.generated.sequences import elements, in_turn, pairs_of, turned_round, with_observed_reference
from xpgrad_conformance.subject import Subject


def _subject(operation: Operation, dtype: str = "float64") -> Subject:
    capabilities = Capabilities()
    return Subject(get_device("@numpy"), capabilities, dtype=dtype, operation=operation, name="here", quick=True)


def _operation(name: str) -> Operation:
    return next(each for each in OPERATIONS if each.name == name and "float64" in each.dtypes)


@pytest.mark.parametrize("name", ["exp", "matmul", "sort", "take", "linalg.inv", "full"])
def test_both_samples_of_a_pair_are_right_and_differ(name: str) -> None:
    s = _subject(_operation(name))
    pairs = pairs_of(s, _operation(name))
    assert len(pairs) > 3
    assert [elements(one) for one, _ in pairs] == sorted(elements(one) for one, _ in pairs)
    for one, two in pairs:
        assert [x.shape for x in one.hosts] == [x.shape for x in two.hosts]
        assert one.written != two.written or any(
            not np.array_equal(*xs) for xs in zip(one.hosts, two.hosts, strict=True)
        )
        assert one.error(s) is None
        assert two.error(s) is None


def test_additions_at_positions_accept_variables() -> None:
    s = _subject(_operation("scatter_add"))
    for sample in _operation("scatter_add").samples(Draw(s)):
        if elements(sample) < 1000:
            arrays = sample.arrays(s)
            y = sample.applied(s.xp, *(Variable(x) if x.dtype.kind == "f" else x for x in arrays))
            assert np.array_equal(y.array, as_array(sample.applied(s.xp, *arrays))), sample.written


def test_every_operation_has_pairs_in_the_quick_profile() -> None:
    without = set()
    for operation in OPERATIONS:
        dtype = next((name for name in operation.quick if in_turn(operation, name, quick=True)), None)
        assert dtype is not None, operation.name
        if not pairs_of(_subject(operation, dtype), operation):
            without.add(operation.name)
    assert not without


def test_positions_are_turned_round_and_tables_stay_sorted() -> None:
    x, positions = Argument(np.arange(4.0), ("n",)), Argument(np.asarray([2, 0]), kept=True)
    turned = turned_round(Sample((x, positions), np.take, name="take"))
    assert turned.hosts[0].tolist() == [3.0, 2.0, 1.0, 0.0]
    assert turned.hosts[1].tolist() == [0, 2]
    table = Argument(np.asarray([1.0, 2.0, 5.0]), kept=True)
    assert turned_round(Sample((table, x), np.searchsorted, name="searchsorted")).hosts[0].tolist() == [1.0, 1.0, 2.0]
    sorter = Argument(np.asarray([0, 2, 1]), kept=True)
    by_positions = Sample((table, x, sorter), np.searchsorted, name="searchsorted")
    assert turned_round(by_positions) is by_positions


def test_exact_samples_become_such_as_show_less_precision() -> None:
    operation = _operation("matmul")
    s = _subject(operation)
    exact = next(sample for sample, _ in pairs_of(s, operation) if sample.units == 0)
    made = with_observed_reference(s, exact)
    results = made.expected[0]
    assert made.difference(s, s.array(results, "float64"), made.expected) is None
    assert (
        made.difference(s, s.array(results.astype("float32").astype("float64"), "float64"), made.expected) is not None
    )
