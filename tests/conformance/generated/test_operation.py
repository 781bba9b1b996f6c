"""Operations in the plan: their ids are permanent and unique, can be run again, and are shared out."""

from collections import Counter

import numpy as np
import pytest
from tests.faults.testbed import Testbed

from xpgrad import get_device
from xpgrad_conformance import reproduce
from xpgrad_conformance.generated.operations import OPERATIONS
from xpgrad_conformance.plan import plan
from xpgrad_conformance.workers import Order

NUMPY = get_device("@numpy")
SAMPLE_OPERATIONS = tuple(each for each in OPERATIONS if each.name in ("exp", "matmul", "sort", "linalg.inv"))


def test_ids_of_operations_are_unique() -> None:
    counted = Counter(item.id for item in plan([NUMPY], cases=()))
    assert [id for id, count in counted.items() if count > 1] == []


def test_a_chosen_operation_is_planned_without_the_checks_of_the_backend() -> None:
    items = Order((NUMPY.name,), operations=("exp",), cases=()).plan(NUMPY.backend.capabilities)
    assert {item.check.family.letter for item in items} > {"K", "G", "H", "P"}
    assert {item.operation.name for item in items if item.operation} == {"exp"}
    assert all(item.operation for item in items)


def test_an_operation_has_an_item_for_each_dtype() -> None:
    [exp] = [each for each in OPERATIONS if each.name == "exp" and "float32" in each.dtypes]
    for quick, dtypes in ((True, exp.quick), (False, exp.dtypes)):
        found = [item.id for item in plan([NUMPY], families="K", quick=quick, cases=(), operations=[exp])]
        assert [id for id in found if id.startswith("K50")] == [f"K50[exp,{dtype},@numpy]" for dtype in dtypes]


def test_quick_dtypes_are_among_all_dtypes() -> None:
    for operation in OPERATIONS:
        assert set(operation.quick) <= set(operation.dtypes), operation.name


def test_the_check_of_an_operation_can_be_run_again() -> None:
    reproduce("K50[signbit,float32,@numpy]", seed=3, quick=True)


def test_a_fault_is_seen_again_with_the_same_seed() -> None:
    bed = Testbed()
    bed.replace("exp", lambda original, x, /: np.where(np.isinf(x), 1, original(x)).astype(x.dtype))
    device = bed.devices()[1]
    texts = []
    for _ in range(2):
        with pytest.raises(AssertionError, match=r"xp\.exp\(x0\): ") as caught:
            reproduce(f"K50[exp,float32,{device.name}]", seed=3, quick=True)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_parts_of_a_plan_have_all_operations_once() -> None:
    whole = plan([NUMPY], quick=True, cases=(), operations=SAMPLE_OPERATIONS)
    parts = [plan([NUMPY], quick=True, cases=(), operations=SAMPLE_OPERATIONS, share=(k, 3)) for k in (1, 2, 3)]
    assert Counter(item.id for part in parts for item in part) == Counter(item.id for item in whole)
    named = [{(item.operation.name, item.dtype) for item in part if item.operation is not None} for part in parts]
    assert sum(map(len, named)) == len(set().union(*named))
