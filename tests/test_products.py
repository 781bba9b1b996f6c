"""The choice of combinations: each value of each parameter runs, and all combinations take turns."""

import itertools
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest
from tests import products, turn

TURNS = products.COMBINATIONS * turn.SHARE
FUNCTIONS, DEVICES = [lambda x, i=i: x + i for i in range(20)], ["@numpy", "@strict:cpu", "native:0"]


@dataclass(frozen=True)
class Item:
    nodeid: str
    callspec: SimpleNamespace = field(compare=False)
    mark: SimpleNamespace | None = field(compare=False, default=None)

    def get_closest_marker(self, name: str) -> SimpleNamespace | None:
        return self.mark


def item(**params: object) -> Item:
    return Item(f"test_sums[{'-'.join(map(str, params.values()))}]", SimpleNamespace(params=params))


ITEMS = [item(f=f, device=d, mode=m) for f, d, m in itertools.product(FUNCTIONS, DEVICES, [None, 1, True])]


def chosen(monkeypatch: pytest.MonkeyPatch, commit: int, items: list[Item] = ITEMS, every: bool = False) -> set[Item]:
    for module in (turn, products):
        monkeypatch.setattr(module, "commit", lambda: commit)
        monkeypatch.setattr(module, "ALL", every)
    return set(items) - products.left_out(items)


def test_each_value_of_each_parameter_runs(monkeypatch):
    few = chosen(monkeypatch, 5)
    assert len(few) < 60
    for name, count in (("f", 20), ("device", 3), ("mode", 3)):
        assert len({(type(each.callspec.params[name]), each.callspec.params[name]) for each in few}) == count


def test_all_runs_all(monkeypatch):
    assert chosen(monkeypatch, 5, every=True) == set(ITEMS) > chosen(monkeypatch, 5)


def test_all_combinations_take_their_turn(monkeypatch):
    assert set.union(*(chosen(monkeypatch, commit) for commit in range(TURNS))) == set(ITEMS)


def test_a_test_of_one_parameter_runs_for_all_of_its_values():
    assert not products.left_out([item(f=f) for f in FUNCTIONS])


def test_of_two_devices_of_a_library_the_first_takes_turns(monkeypatch):
    items = [item(device=d) for d in ("@numpy", "@strict:cpu", "@strict:device1")]
    runs = [{each.callspec.params["device"] for each in chosen(monkeypatch, k, items)} for k in range(TURNS)]
    assert all(devices >= {"@numpy", "@strict:device1"} for devices in runs)
    assert sum("@strict:cpu" in devices for devices in runs) == 1
    assert not products.left_out([item(device=d) for d in ("@numpy", "@strict:cpu")])


def test_of_exhaustive_tests_a_part_runs(monkeypatch):
    items = [Item(f"test_each[{i}]", SimpleNamespace(params={"i": i}), SimpleNamespace(args=(2,))) for i in range(100)]
    assert 1 < len(chosen(monkeypatch, 5, items)) < 13
    assert len(chosen(monkeypatch, 5, items, every=True)) == 100
