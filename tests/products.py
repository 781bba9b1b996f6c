"""Tests of products of parameters: each value of each parameter always runs, and its combinations take turns."""

import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from tests.turn import ALL, commit, has_turn

COMBINATIONS = 4
"""A twelfth of one in so many parts of the combinations runs in addition."""
ALIKE = {"@strict:device1": "@strict:cpu"}
"""By a device, the default device of its library: what runs on the former needs to run on the latter in turns only."""


def left_out(items: Iterable[pytest.Item]) -> set[pytest.Item]:
    """Return the tests of combinations of parameters, and those marked exhaustive, whose turn it is not.

    A test of 20 functions, 4 devices and 3 modes has 240 combinations. Those that run hold each function, each device
    and each mode: some 25 of them, chosen by the commit, and a share of the others. A test of one parameter runs for
    all of its values, unless it is marked: of ``exhaustive(2)``, one in 24 runs. A test that runs on two devices of
    array-api-strict runs on the second one, which is not its default, and takes turns on the first.
    """
    if ALL:
        return set()
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    later = set()
    for item in items:
        if mark := item.get_closest_marker("exhaustive"):
            later |= set() if has_turn(item.nodeid, *mark.args) else {item}
        elif hasattr(item, "callspec"):
            tests[item.nodeid.partition("[")[0]].append(item)
    return later.union(*map(_left_out, tests.values()))


def _left_out(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return those items of one test function that add no value to the ones before, in the order of this commit."""
    every = set[Any]().union(*map(_values, items))
    found, later = {(name, kind, ALIKE[x]) for name, kind, x in every if kind is str and x in ALIKE}, []
    for item in sorted(items, key=lambda each: zlib.crc32(f"{commit()} {each.nodeid}".encode())):
        new = _values(item) - found
        found |= new
        if not new and not has_turn(item.nodeid, COMBINATIONS):
            later.append(item)
    return later


def _values(item: Any) -> set[Any]:
    """Return the name and the value of each parameter of a test; objects by their identity."""
    parameters = item.callspec.params.items()
    return {(name, type(x), x if isinstance(x, (str, int, float)) else id(x)) for name, x in parameters}
