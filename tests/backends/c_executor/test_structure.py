"""Inputs of a group's source, as text: equal texts mean equal source, and any change is a different text."""

import dataclasses

import numpy as np
import pytest
from tests.backends.c_executor.groups_to_compile import multiply_add
from tests.backends.c_executor.written_groups import random_group

from xpgrad_c.generator import generate
from xpgrad_c.structure import structure_of


@pytest.mark.parametrize("seed", range(20))
def test_the_same_structure_has_the_same_source(seed):
    first, second = (random_group(np.random.default_rng(seed), 5, 7, 30)[0] for _ in range(2))
    assert structure_of(first) == structure_of(second)
    assert generate(first, "f") == generate(second, "f")


def changed(group, number, **changes):
    """Return the group with changes of one of its statements."""
    found = {}
    for i, item in enumerate(group.statements):
        operands = tuple(found[operand] for operand in item.operands)
        new = changes if i == number else {}
        if "operands" in new:
            new = {"operands": tuple(found[operand] for operand in new["operands"])}
        found[item] = dataclasses.replace(item, **{"operands": operands} | new)
    results = tuple(found[item] for item in group.results)
    return dataclasses.replace(group, statements=tuple(found.values()), results=results)


CHANGES = {
    "the space": lambda group: dataclasses.replace(group, columns=group.columns + 1),
    "its other axis": lambda group: dataclasses.replace(group, rows=group.rows + 1),
    "an input": lambda group: dataclasses.replace(group, inputs=(*group.inputs, group.inputs[0])),
    "the output": lambda group: dataclasses.replace(group, results=(group.statements[-2],)),
    "its level": lambda group: dataclasses.replace(group, levels=group.levels | {group.outputs[0]: "row"}),
    "an operation": lambda group: changed(group, 3, op="subtract"),
    "an operand": lambda group: changed(group, 4, operands=group.statements[:2]),
    "a dtype": lambda group: changed(group, 0, dtype="float64"),
    "a level": lambda group: changed(group, 0, level="row"),
    "which input": lambda group: changed(group, 0, value=2),
    "the sign of a zero": lambda group: multiply_add(constant=-0.0),
    "the type of a constant": lambda group: multiply_add(constant=0),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_another_structure(name):
    group = multiply_add(constant=0.0)
    assert structure_of(group) == structure_of(multiply_add(constant=0.0)) == structure_of(changed(group, 0))
    assert structure_of(CHANGES[name](group)) != structure_of(group)
