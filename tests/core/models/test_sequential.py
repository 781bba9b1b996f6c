"""`Sequential`: links and functions, one after the other."""

import copy
import functools
import pickle

import numpy as np
import pytest
from tests.building import array, values
from tests.core.models.parts import Linear, example

import xpgrad.functions as F
from xpgrad import Sequential


def double(x):
    return x * 2


def test_layers_are_called_in_order(device):
    first, last = Linear(3, 4).to_device(device), Linear(4, 2).to_device(device)
    model = Sequential(first, F.tanh, last, lambda y: y * 2)
    x = example(device)
    np.testing.assert_allclose(values(model(x)), values(last(F.tanh(first(x))) * 2))
    assert [path for path, _ in model.namedparams()] == ["/0/W", "/0/b", "/1/W", "/1/b"]


CALLS = {
    "tuples are arguments": (Sequential(lambda x: (x, x + 1), lambda a, b: a * 10 + b), (1,), {}, 12),
    "dictionaries are keyword arguments": (Sequential(lambda x: {"a": x}, lambda a: a + 1), (1,), {}, 2),
    "the first layer gets all": (Sequential(lambda a, b, *, c: a + b + c), (1, 2), {"c": 3}, 6),
    "none of one": (Sequential(), (1,), {}, 1),
    "none of two": (Sequential(), (1, 2), {}, (1, 2)),
    "none of keywords": (Sequential(), (), {"a": 1}, {"a": 1}),
    "lists are one argument": (Sequential(lambda x: [x, x], len), (1,), {}, 2),
}


@pytest.mark.parametrize("case", CALLS)
def test_sequential_passes_results_between_layers(case):
    model, args, kwargs, expected = CALLS[case]
    assert model(*args, **kwargs) == expected


def test_sequential_is_a_list():
    a, b, c = Linear(3, 3), Linear(3, 3), Linear(3, 3)
    model = Sequential(a, F.relu)
    model.append(b)
    model.insert(1, double)
    assert list(model) == [a, double, F.relu, b]
    assert (model[-1], len(model), model.index(F.relu), model.count(a)) == (b, 4, 2, 1)
    assert F.relu in model
    assert F.tanh not in model
    assert [link.name for link in model.children()] == ["0", "1"]
    model.remove(double)
    assert model.pop(1) is F.relu
    model[0] = c
    assert list(model.children()) == [c, b]
    model.extend(Sequential(F.tanh, a))
    assert [link.name for link in (c, b, a)] == ["0", "1", "2"]
    del model[0]
    assert list(reversed(model)) == [a, F.tanh, b]
    assert list(model + Sequential(double)) == [b, F.tanh, a, double]
    model += Sequential(double)
    assert len(model) == 4
    model.remove_by_layer_type("Linear")
    assert list(model) == [F.tanh, double]
    assert list(model.params()) == []
    model.clear()
    assert len(model) == 0


def test_a_slice_is_a_sequential():
    model = Sequential(Linear(3, 3), F.relu, Linear(3, 2))
    part = model[1:]
    assert type(part) is Sequential
    assert list(part) == [F.relu, model[2]]
    assert len(model) == 3


def test_layers_are_counted_by_type():
    model = Sequential(Linear(3, 3), F.relu, Linear(3, 3), double, functools.partial(F.softmax, axis=1))
    assert model.count_by_layer_type("Linear") == 2
    assert model.count_by_layer_type("relu") == 1
    assert model.count_by_layer_type("double") == 1
    assert model.count_by_layer_type("partial") == 1
    assert model.count_by_layer_type("tanh") == 0


def test_nested_ones_are_flattened():
    a, b = Linear(3, 3), Linear(3, 3)
    model = Sequential(a, Sequential(F.relu, Sequential(b)), double)
    assert list(model.flatten()) == [a, F.relu, b, double]
    assert len(model) == 3


@pytest.mark.parametrize("mode", ["share", "copy", "init"])
def test_copies_keep_functions(mode):
    act = lambda x: x  # noqa: E731
    model = Sequential(Linear(3, 3), act)
    made = model.copy(mode)
    assert made[1] is act
    assert made[0] is not model[0]
    assert list(made.children()) == [made[0]]
    assert copy.deepcopy(model)[1] is act


def test_pickle(device):
    model = Sequential(Linear(3, 3), F.relu, F.tanh, double, functools.partial(F.softmax, axis=1)).to_device(device)
    made = pickle.loads(pickle.dumps(model))
    x = array(device, np.ones((2, 3)))
    assert values(made(x)) == values(model(x))
    with pytest.raises(ValueError, match="pickle: layer 1 of the Sequential is a lambda, which cannot be pickled"):
        pickle.dumps(Sequential(F.relu, lambda x: x))


def test_errors():
    model = Sequential(F.relu)
    with pytest.raises(ValueError, match="remove: there is no layer tanh in it"):
        model.remove(F.tanh)
    with pytest.raises(ValueError, match=r"\+=: expected a Sequential, got list"):
        model += [F.tanh]
    with pytest.raises(TypeError, match="unsupported operand"):
        model + 3
    with pytest.raises(ValueError, match="expected layers that can be called, got 3"):
        model[0] = 3
    with pytest.raises(IndexError):
        model[3] = F.tanh
