"""Copies of Variables: `copy`, `deepcopy` and pickle."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
from tests.building import array, place, values, variable

import xpgrad
from xpgrad import Parameter, Variable


class Tagged(Variable):
    """A subclass with attributes of its own."""


class Slotted(Variable):
    __slots__ = ("__hidden", "tag")

    def hide(self, value):
        self.__hidden = value

    def hidden(self):
        return self.__hidden


def shallow(x):
    return copy.copy(x)


def deep(x):
    return copy.deepcopy(x)


def pickled(x):
    return pickle.loads(pickle.dumps(x))


WAYS = pytest.mark.parametrize("way", [shallow, deep, pickled])
DEEP = pytest.mark.parametrize("way", [deep, pickled])


@WAYS
def test_a_copy_has_everything_but_the_graph(device, way):
    required = device.backend.carries_graphs  # without, such arrays have no gradient
    x = variable(device, [1.0, 2.0], name="x", grad=array(device, [3.0, 4.0]), requires_grad=required)
    y = way(x)
    assert type(y) is Variable
    assert y is not x
    assert y.name == "x"
    assert values(y) == [1.0, 2.0]
    assert values(y.grad) == [3.0, 4.0]
    assert y.requires_grad is required
    assert place(y.array) == place(x.array)
    assert place(y.grad) == place(x.grad)
    assert y.node is not x.node
    assert y.node.get_variable() is y
    assert x.node.get_variable() is x


def test_a_shallow_copy_shares_arrays(device):
    x = variable(device, [1.0], grad=array(device, [2.0]))
    y = shallow(x)
    assert y.array is x.array
    assert y.grad is x.grad
    x.grad_var = g = variable(device, [3.0])
    assert shallow(x).grad_var is g


@DEEP
def test_a_deep_copy_shares_nothing(device, way):
    x = variable(device, [1.0], grad=array(device, [2.0]))
    y = way(x)
    x.array[...] = 5.0
    x.grad[...] = 6.0
    assert values(y) == [1.0]
    assert values(y.grad) == [2.0]


@WAYS
def test_a_copy_is_a_root_of_its_own(device, way):
    x = variable(device, [2.0])
    y = x * x
    z = way(y)
    assert z.creator_node is None
    assert z.rank == 0
    assert z.requires_grad
    assert y.creator_node is not None
    (z * z).backward()
    assert values(z.grad) == [8.0]
    assert x.grad is None
    y.backward()
    assert values(x.grad) == [4.0]


@DEEP
def test_a_recorded_gradient_is_copied_without_its_graph(device, way):
    x = variable(device, [2.0])
    (x * x * x).backward(enable_double_backprop=True)
    y = way(x)
    assert values(y.grad) == [12.0]
    assert y.grad_var.creator_node is None
    assert x.grad_var.creator_node is not None


@WAYS
def test_hooks_stay_behind(device, way):
    x = variable(device, [2.0])
    seen = []
    if way is not pickled:
        x.register_hook(seen.append)
    (way(x) * 2).backward()
    assert seen == []


@WAYS
def test_uninitialised_variables(way):
    y = way(Variable(None, name="x", requires_grad=False))
    assert y.array is None
    assert y.name == "x"
    assert not y.requires_grad


@WAYS
def test_integers_0d_and_empty(device, way):
    n = way(variable(device, 3, "int64"))
    assert n.item() == 3
    assert n.shape == ()
    assert n.requires_grad
    e = way(variable(device, np.zeros((0, 2))))
    assert e.shape == (0, 2)


@WAYS
def test_attributes_of_subclasses(device, way):
    x = Tagged(array(device, [1.0]), name="x")
    x.tag = ["a"]
    y = way(x)
    assert type(y) is Tagged
    assert y.tag == ["a"]
    assert (y.tag is x.tag) == (way is shallow)
    s = Slotted(array(device, [1.0]))
    s.tag = ["b"]
    s.hide(5)
    t = way(s)
    assert type(t) is Slotted
    assert t.tag == ["b"]
    assert t.hidden() == 5
    assert not hasattr(way(Slotted(array(device, [1.0]))), "tag")


def test_a_deep_copy_of_what_holds_a_variable_twice(device):
    x = variable(device, [1.0])
    a, b = deep([x, x])
    assert a is b
    assert a is not x
    t = Tagged(array(device, [1.0]))
    t.own = t
    u = deep(t)
    assert u.own is u


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_every_protocol(device, protocol):
    x = variable(device, [1.0, 2.0], name="x")
    y = pickle.loads(pickle.dumps(x, protocol))
    assert y.name == "x"
    assert values(y) == [1.0, 2.0]
    assert y.device == device


def test_a_pickle_is_read_in_another_process(device, tmp_path):
    path = tmp_path / "x.pickle"
    path.write_bytes(pickle.dumps(variable(device, [1.0, 2.0], grad=array(device, [3.0, 4.0]))))
    code = f"import pickle; x = pickle.load(open({str(path)!r}, 'rb')); print(x.device, x, Variable(x.grad))"
    done = subprocess.run(
        [sys.executable, "-c", f"from xpgrad import Variable; {code}"], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == f"{device} variable([1. 2.]) variable([3. 4.])", done.stderr


def test_devices_are_pickled_by_name(device):
    assert pickled(device) == device
    assert copy.deepcopy(device) == device


# Parameters


@WAYS
def test_an_initialised_parameter(device, way):
    p = Parameter(3.0, name="W").to_device(device)
    p.initialize((2,))
    p.grad = array(device, [1.0, 2.0])
    p.update_rule = ["rule"]
    q = way(p)
    assert type(q) is Parameter
    assert q.name == "W"
    assert q.device == device
    assert values(q) == [3.0, 3.0]
    assert values(q.grad) == [1.0, 2.0]
    assert q.initializer == 3.0
    assert q.update_rule == ["rule"]
    assert (q.update_rule is p.update_rule) == (way is shallow)
    assert (q.array is p.array) == (way is shallow)


@WAYS
def test_an_uninitialised_parameter(device, way):
    p = Parameter(3.0, name="W").to_device(device)
    q = way(p)
    assert not q.is_initialized
    assert q.device == device
    with pytest.raises(RuntimeError):
        _ = q.grad
    p.cleargrad()
    q = way(p)
    assert q.grad is None
    q.initialize((2,))
    assert values(q) == [3.0, 3.0]
    assert q.device == device
    assert q.grad is None
    assert not p.is_initialized


def test_changing_a_shallow_copy_of_a_parameter_leaves_the_original(device):
    p = Parameter(array(device, [1.0]))
    q = shallow(p)
    q.cleargrad()
    q.to_cpu()
    q.array = np.zeros(3, "f")
    assert p.shape == (1,)
    assert p.device == device


def test_a_copy_of_a_graphs_parameter_gets_no_gradient(device):
    p = Parameter(array(device, [2.0]))
    y = p * p
    q = shallow(p)
    y.backward()
    assert q.grad is None
    assert values(p.grad) == [4.0]
    assert xpgrad.grad([y], [q]) == [None]
