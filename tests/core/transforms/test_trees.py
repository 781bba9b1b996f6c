"""Trees: flattening, rebuilding, comparison."""

from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass, field
from typing import Any

import pytest

from xpgrad.errors import StructureError
from xpgrad.transforms.trees import flatten, leaves_in, map_leaves, where

Pair = namedtuple("Pair", ["left", "right"])


@dataclass(frozen=True)
class Layer:
    w: Any
    b: Any
    name: str = field(default="layer", metadata={"static": True})


@dataclass
class Slotted:
    __slots__ = ("x",)
    x: Any


TREE = {"a": [1, (2, 3)], "b": Layer(4, Pair(5, None)), "c": OrderedDict(z=6, y=[]), "d": Slotted(7)}


def test_leaves_come_in_order_and_go_back():
    leaves, structure = flatten(TREE)
    assert leaves == [1, 2, 3, 4, 5, 6, 7]
    built = structure.build(leaf * 10 for leaf in leaves)
    assert built["a"] == [10, (20, 30)]
    assert built["b"] == Layer(40, Pair(50, None))
    assert built["b"].name == "layer"
    assert type(built["b"].b) is Pair
    assert type(built["c"]) is OrderedDict
    assert list(built["c"].items()) == [("z", 60), ("y", [])]
    assert built["d"].x == 70
    assert TREE["d"].x == 7
    assert sorted(leaves_in(TREE)) == leaves


@pytest.mark.parametrize(("tree", "leaves"), [(3, [3]), (None, [])])
def test_a_leaf_and_none_are_trees(tree, leaves):
    found, structure = flatten(tree)
    assert found == leaves
    assert structure.build(leaves) == tree
    assert list(structure.paths()) == [()] * len(leaves)


def test_a_defaultdict_keeps_its_factory():
    built = map_leaves(lambda leaf: -leaf, defaultdict(list, a=1))
    assert built == {"a": -1}
    assert built["new"] == []


def test_paths_lead_to_the_leaves():
    _, structure = flatten(TREE)
    texts = [where(path) for path in structure.paths()]
    assert texts[1] == " at ['a'][1][0]"
    assert texts[3] == " at ['b']['w']"
    assert where(()) == ""


def test_the_structure_keeps_no_leaf():
    _, structure = flatten({"a": Layer([1], 2)})
    assert structure.empty == {"a": None}
    assert structure.children[0].empty == Layer(None, None)


def test_leaves_of_a_fellow_come_in_the_order_of_the_structure():
    _, structure = flatten({"a": 1, "b": [2, 3]})
    assert structure.leaves_of({"b": (5, 6), "a": 4}, "fellow") == [4, 5, 6]


@pytest.mark.parametrize(
    ("fellow", "text"),
    [
        ({"a": 1}, r"fellow: expected dict with 'a', 'b'; got 'a'"),
        ({"a": 1, "b": [2]}, r"fellow at \['b'\]: expected list with 0, 1; got 0"),
        ({"a": 1, "b": 2}, r"fellow at \['b'\]: expected a list, got int"),
        ({"a": 1, "b": None}, r"fellow at \['b'\]: expected a list, got None"),
        ([1, 2], r"fellow: expected a dict, got list"),
    ],
)
def test_another_structure_raises_with_its_path(fellow, text):
    _, structure = flatten({"a": 1, "b": [2, 3]})
    with pytest.raises(StructureError, match=text):
        structure.leaves_of(fellow, "fellow")
    with pytest.raises(StructureError, match="expected None, got int"):
        flatten([None])[1].leaves_of([3], "fellow")
