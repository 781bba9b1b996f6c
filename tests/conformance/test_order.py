"""The order in which a plan is run."""

import itertools

import xpgrad
from xpgrad_conformance.order import batches
from xpgrad_conformance.plan import plan

ITEMS = plan([xpgrad.get_device("@strict:cpu"), xpgrad.get_device("@strict:device1")], families=["L", "K", "G"])


def test_each_item_runs_once_in_every_order() -> None:
    for by_value, first in itertools.product((False, True), ((), (ITEMS[700].id,))):
        numbers = sorted(itertools.chain.from_iterable(batches(ITEMS, first=first, by_value=by_value)))
        assert numbers == list(range(len(ITEMS)))


def test_items_of_a_case_share_a_process() -> None:
    groups = [{ITEMS[number].group for number in batch} for batch in batches(ITEMS)]
    assert all(len(group) == 1 for group in groups)
    assert len(groups) == len(set().union(*groups))


def test_earlier_failures_run_first() -> None:
    ids = ITEMS[5000].id, ITEMS[900].id
    order = [ITEMS[number].id for batch in batches(ITEMS, first=ids) for number in batch]
    assert set(order[:2]) == set(ids)


def test_one_check_of_each_kind_and_function_runs_first() -> None:
    order = [ITEMS[number] for batch in batches(ITEMS, by_value=True) for number in batch]
    functions = {item.case.name.partition("-")[0] for item in ITEMS if item.case}
    kinds = {item.check.id for item in ITEMS}
    unseen, needed = functions | kinds, 0
    while unseen:
        item = order[needed]
        unseen -= {item.check.id, *([item.case.name.partition("-")[0]] if item.case else [])}
        needed += 1
    assert needed < len(ITEMS) / 5
    assert {item.device.name for item in order[:needed]} == {"@strict:cpu"}
    assert {item.dtype for item in order[:needed] if item.case} <= {"float64", "complex128"}
