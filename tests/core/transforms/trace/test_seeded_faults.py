"""Faults planted in passes, aliases and source, one at a time: the test of random programs finds each."""

import sys

import pytest
from tests.core.transforms.trace import small_programs
from tests.core.transforms.trace.random_programs import BACKEND
from tests.core.transforms.trace.test_passes import check, check_small

from xpgrad.transforms.trace import aliases, keys, layouts, source
from xpgrad.transforms.trace.calls import Value
from xpgrad.transforms.trace.lifetimes import last_uses
from xpgrad.transforms.trace.passes import PASSES, algebra, buffers, constants, dead_calls, equal_calls

ALGEBRA, BUFFERS, CONSTANTS, DEAD, EQUAL = (
    sys.modules[f.__module__] for f in (algebra, buffers, constants, dead_calls, equal_calls)
)


def without_effects(change):
    """Return a pass that overlooks that calls draw."""
    return lambda p: change(p.replaced(calls=tuple(call.replaced(draws=False) for call in p.calls)))


def first_uses(p):
    """Return for each call the values that it is the first to need, as if it were the last."""
    seen, found = set(), []
    kept = {item for item in p.outputs if isinstance(item, Value)} | set(p.inputs)
    for call in p.calls:
        new = [value for value in dict.fromkeys(call.operands()) if value not in seen | kept]
        seen.update(new)
        found.append(tuple(new))
    return found


def ends_without_views(p, found):
    """Return the ends of memory as if no value were a view of another."""
    ends = {}
    for i, last in enumerate(last_uses(p)):
        for value in last:
            if len(found.roots[value]) == 1 and min(found.roots[value]) > 0:
                ends.setdefault(min(found.roots[value]), i)
    return {**dict.fromkeys(range(10_000), len(p.calls)), **ends}


def zero_plus(found, call):
    x, other = call.args
    same = type(other) is float and other == 0 and ALGEBRA.same_spec(x, call.results[0])
    return x if same and found.has_layout_of_copy(x) else None


def all_as_equal(item):
    """A key for which 1, 1.0 and True are the same, and so are 0.0 and -0.0."""
    if isinstance(item, dict):
        item = tuple(item.items())
    if isinstance(item, tuple):
        return tuple(map(all_as_equal, item))
    return item if isinstance(item, (int, float, str)) else id(item)


def any_layout(*_):
    return ()


TAKING = source.taking


def taking_less(writer, values, last, number):
    return TAKING(writer, values[:-1], last, number)


FAULTS = {
    "a buffer is freed too early": [(BUFFERS, "last_uses", first_uses)],
    "a view counts as new memory": [(BACKEND.programs, "is_fresh", lambda function: True)],
    "a view does not keep memory from being used again": [(BUFFERS, "ends_of_memory", ends_without_views)],
    "a result takes memory of another layout": [
        (layouts.Layouts, "of_result", any_layout),
        (layouts.Layouts, "of", any_layout),
    ],
    "1 * x counts as laid out like x": [(ALGEBRA.Simplifier, "has_layout_of_copy", lambda self, x: True)],
    "equal calls before and after a write are one": [(aliases.Aliases, "of_operands", lambda *_: frozenset())],
    "what is written to counts as what is not": [(aliases.Aliases, "is_written", lambda *_: False)],
    "a write that is seen later is removed": [(DEAD, "seen_later", lambda *_: False)],
    "a draw is merged": [(PASSES, "equal_calls", without_effects(equal_calls))],
    "a draw is removed": [(PASSES, "dead_calls", without_effects(dead_calls))],
    "numbers of other types or signs are equal": [(keys, "key_of", all_as_equal)],
    "x + 0 is x": [(ALGEBRA.RULES, "add", zero_plus)],
    "captured arrays are constants": [(CONSTANTS, "is_array", lambda leaf: False)],
    "outputs share memory": [(source, "to_copy", lambda p: (False,) * len(p.outputs))],
    "scalars are not restored": [(source.SourceWriter, "may_be_scalar", lambda *_: False)],
    "a part loses what a later one needs": [(source, "taking", taking_less)],
}


def compare_all():
    for name in small_programs.PROGRAMS:
        check_small(name)
    for seed in range(300):
        check(seed, (), 40)


@pytest.fixture(autouse=True)
def _small_arrays_and_parts_count(monkeypatch):
    monkeypatch.setattr(BUFFERS, "MIN_ELEMENTS", 2)
    monkeypatch.setattr(source, "KEPT_BYTES", 1)
    monkeypatch.setattr(source, "MAX_LINES", 12)


def test_no_difference_is_found_without_a_fault():
    compare_all()


@pytest.mark.parametrize("title", FAULTS)
def test_a_planted_fault_is_found(title, monkeypatch):
    for place, name, fault in FAULTS[title]:
        change = monkeypatch.setitem if isinstance(place, dict) else monkeypatch.setattr
        change(place, name, fault)
    with pytest.raises((AssertionError, NameError)):
        compare_all()
