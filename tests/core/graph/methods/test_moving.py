"""Moving Variables between devices, and exchanging data and gradients across them."""

import numpy as np
import pytest
from tests.building import array, place, values, variable

import xpgrad
from xpgrad import Parameter, Variable
from xpgrad.errors import BackendUnavailable, DtypeError, ShapeError, SpecifierError
from xpgrad_cupy import detection

MOVES = [("@numpy", "@strict:device1"), ("@strict:cpu", "@strict:device1"), ("@strict:device2", "@numpy")]


@pytest.fixture(params=MOVES, ids=lambda pair: " to ".join(pair))
def move(request):
    return tuple(map(xpgrad.get_device, request.param))


def missing(role):
    """Return whether this machine lacks the device for a role."""
    try:
        xpgrad.get_device(role)
    except BackendUnavailable:
        return True
    return False


# to_device


def test_to_the_same_device_leaves_the_state_unchanged(device):
    x = variable(device, [1.0])
    a, node = x.array, x.node
    assert x.to_device(device) is x
    assert x.array is a
    assert x.node is node


def test_a_variable_that_requires_no_gradient_stays_so(move):
    first, second = move
    x = variable(first, [1.0], requires_grad=False).to_device(second)
    assert not x.requires_grad
    n = variable(first, [1], "int32").to_device(second)
    assert n.requires_grad
    assert not (n * 2).requires_grad


def test_a_variable_in_a_graph_stays_connected_in_no_backprop_mode(move):
    first, second = move
    x = variable(first, [2.0])
    y = x * x
    y.name = "y"
    y.retain_data()
    with xpgrad.no_backprop_mode():
        y.to_device(second)
    assert (y.name, y.node.data) == ("y", y.array)
    assert "copy" in y.creator_node.label
    y.backward(retain_grad=True)
    assert place(y.grad) == place(y.array)
    assert values(x.grad) == [4.0]


def test_a_recorded_gradient_moves_with_its_graph(move):
    first, second = move
    x = variable(first, [2.0])
    (x * x * x).backward(enable_double_backprop=True)
    x.to_device(second)
    gx = x.grad_var
    assert gx.device == second
    x.cleargrad()
    gx.backward()
    assert values(x.grad) == [12.0]
    assert x.grad_var.device == second


def test_a_failing_move_leaves_the_state_unchanged(device):
    x = variable(device, [1.0], grad=array(device, [2.0]))
    y = x * x
    for v in (x, y):
        a, g, node, creator = v.array, v.grad, v.node, v.creator_node
        for specifier, error in (
            ("@nowhere", SpecifierError),
            ("@strict:nowhere", SpecifierError),
            ("", SpecifierError),
            (("@numpy",), TypeError),
        ):
            with pytest.raises(error):
                v.to_device(specifier)
        assert v.array is a
        assert v.grad is g
        assert v.node is node
        assert v.creator_node is creator


def test_an_uninitialised_variable_does_not_move(device):
    x = Variable(None)
    assert x.to_device(device) is x
    assert x.array is None


# The named moves


def test_to_cpu(device):
    x = variable(device, [1.0, 2.0], grad=array(device, [3.0, 4.0]))
    assert x.to_cpu() is x
    assert type(x.array) is np.ndarray
    assert type(x.grad) is np.ndarray
    assert x.grad.tolist() == [3, 4]


@pytest.mark.parametrize("device_number", [None, 0, "@cupy:0"])
def test_to_gpu_without_one_raises_and_leaves_the_state_unchanged(device, device_number):
    if not missing(0):
        pytest.skip("there is a GPU here")
    leaf = variable(device, [1.0], grad=array(device, [2.0]))
    for x in (leaf, leaf * leaf, Parameter(1.0).to_device(device)):
        before = x._array, x._grad, x.node, x.creator_node
        with pytest.raises(BackendUnavailable) as caught:
            x.to_gpu(device_number)
        assert str(caught.value) == detection.why_unavailable()
        assert all(a is b for a, b in zip(before, (x._array, x._grad, x.node, x.creator_node), strict=True))
        assert x.device == device
    assert issubclass(BackendUnavailable, RuntimeError)


def test_to_chx_without_it_raises_and_leaves_the_state_unchanged(device):
    if not missing("native:0"):
        pytest.skip("the chx backend is here")
    x = variable(device, [1.0])
    a, node = x.array, x.node
    with pytest.raises(BackendUnavailable, match="chx"):
        x.to_chx()
    assert x.array is a
    assert x.node is node


def test_from_chx_leaves_other_arrays(device):
    if str(device).startswith("native"):
        pytest.skip("it is a chx array")
    x = variable(device, [1.0])
    a = x.array
    assert x.from_chx() is x
    assert x.array is a
    assert Variable(None).from_chx().array is None


def test_to_intel64_without_plugin_moves_to_the_host(device):
    x = variable(device, [1.0], grad=array(device, [2.0]))
    assert x.to_intel64() is x
    assert x.device == xpgrad.get_device(-1)
    assert x.grad.tolist() == [2]


# copydata


def test_copydata_writes_into_the_array(move):
    first, second = move
    x, source = variable(first, [1.0, 2.0]), variable(second, [3.0, 4.0])
    a, node = x.array, x.node
    x.copydata(source)
    assert x.array is a
    assert x.node is node
    assert values(a) == [3.0, 4.0]
    assert values(source) == [3.0, 4.0]
    assert source.device == second


def test_copydata_casts_within_a_kind_or_to_a_wider_kind(device):
    x = variable(device, [1.0, 2.0])
    x.copydata(variable(device, [3.5, 4.5], "float64"))
    assert values(x) == [3.5, 4.5]
    x.copydata(variable(device, [3, 4], "int32"))
    assert values(x) == [3.0, 4.0]
    assert x.label == "(2,), float32"
    n = variable(device, [1, 2], "int32")
    with pytest.raises(DtypeError, match=r"copydata: float32 \(2,\) cannot be copied to int32 \(2,\)"):
        n.copydata(variable(device, [3.5, 4.5]))
    assert values(n) == [1, 2]


def test_copydata_of_another_shape_raises(device):
    x = variable(device, [[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(ShapeError, match=r"copydata: expected an array of shape \(2, 2\), got \(2,\)"):
        x.copydata(variable(device, [1.0, 2.0]))
    assert values(x) == [[1.0, 2.0], [3.0, 4.0]]


def test_copydata_from_itself(device):
    x = variable(device, [1.0])
    x.copydata(x)
    assert values(x) == [1.0]


def test_copydata_initialises_an_uninitialised_parameter(move):
    first, second = move
    p = Parameter(7.0).to_device(first)
    p.copydata(variable(second, [3.0, 4.0]))
    assert p.device == first
    assert values(p) == [3.0, 4.0]
    assert np.isnan(values(p.grad)).all()
    q = Parameter(7.0)
    q.cleargrad()
    q.copydata(p)
    assert q.grad is None


def test_copydata_from_an_uninitialised_parameter_uses_its_own_initialiser(move):
    first, second = move
    x, p = variable(first, [1.0, 2.0]), Parameter(7.0).to_device(second)
    a = x.array
    x.copydata(p)
    assert p.is_initialized
    assert p.device == second
    assert p.shape == (2,)
    assert values(p) == [7.0, 7.0]
    assert x.array is a
    assert values(x) == [7.0, 7.0]


def test_copydata_between_uninitialised_variables_has_no_effect():
    p, q = Parameter(1.0), Parameter(2.0)
    p.copydata(q)
    assert not p.is_initialized
    assert not q.is_initialized
    x = Variable(None)
    x.copydata(Variable(None))
    assert x.array is None


def test_copydata_to_and_from_an_uninitialised_variable(device):
    x, source = Variable(None), variable(device, [1.0])
    x.copydata(source)
    assert values(x) == [1.0]
    assert x.array is not source.array
    y = Variable(None)
    x.copydata(y)
    assert values(y) == [1.0]


# addgrad


def test_addgrad_adds_across_devices(move):
    first, second = move
    x = variable(first, [1.0, 2.0], grad=array(first, [10.0, 20.0]))
    source = variable(second, [0.0, 0.0], grad=array(second, [3.0, 4.0]))
    held = x.grad
    x.addgrad(source)
    assert values(x.grad) == [13.0, 24.0]
    assert place(x.grad) == place(x.array)
    assert values(held) == [10.0, 20.0]
    assert x.grad is not held
    assert values(source.grad) == [3.0, 4.0]


def test_addgrad_to_none_copies(move):
    first, second = move
    for device in (first, second):
        x, source = variable(first, [1.0]), variable(device, [0.0], grad=array(device, [3.0]))
        x.addgrad(source)
        assert values(x.grad) == [3.0]
        assert x.grad is not source.grad
        assert place(x.grad) == place(x.array)


def test_addgrad_of_none_has_no_effect(device):
    x = variable(device, [1.0], grad=array(device, [2.0]))
    g = x.grad
    x.addgrad(variable(device, [1.0]))
    assert x.grad is g
    x.addgrad(Variable(None))
    x.addgrad(Parameter())
    assert x.grad is g


def test_addgrad_initialises(move):
    first, second = move
    source = variable(second, [1.0, 2.0], grad=array(second, [3.0, 4.0]))
    p = Parameter(7.0).to_device(first)
    p.addgrad(source)
    assert p.device == first
    assert values(p) == [7.0, 7.0]
    assert values(p.grad) == [3.0, 4.0]
    x = Variable(None)
    x.addgrad(source)
    assert x.shape == (2,)
    assert values(x.grad) == [3.0, 4.0]


def test_addgrad_of_another_shape_raises(device):
    x = variable(device, [1.0, 2.0], grad=array(device, [1.0, 1.0]))
    source = variable(device, [[1.0, 2.0]], grad=array(device, [[1.0, 1.0]]))
    with pytest.raises(ShapeError):
        x.addgrad(source)
    assert values(x.grad) == [1.0, 1.0]


def test_addgrad_keeps_recorded_gradients_connected(move):
    first, second = move
    x, z = variable(first, [2.0]), variable(second, [3.0])
    (x * x).backward(enable_double_backprop=True)
    (z * z).backward(enable_double_backprop=True)
    x.addgrad(z)
    g = x.grad_var
    assert values(g) == [10.0]
    x.cleargrad()
    z.cleargrad()
    g.backward()
    assert values(x.grad) == [2.0]
    assert values(z.grad) == [2.0]
