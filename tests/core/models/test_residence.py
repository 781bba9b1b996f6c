"""A link moves with all its contents."""

import numpy as np
import pytest
from tests.building import values
from tests.core.models.parts import Filling, Linear, Net, example, loss
from tests.core.models.test_running import Averaging

import xpgrad
from xpgrad import Link, Parameter, Variable


def test_parameters_and_persistent_values_move(device):
    net = Net()
    assert net.device.name == "@numpy"
    assert net.to_device(device) is net
    assert net.device == device
    assert net.xp is device.xp
    assert {p.device for p in net.params()} == {device}
    assert {link.device for link in net.links()} == {device}
    assert xpgrad.get_device_from_array(net.scale) == device
    assert net.count == 3
    loss(net, example(device)).backward()
    assert net.l1.W.grad_var.device == device
    assert net.to_cpu().device.name == "@numpy"
    assert isinstance(net.scale, np.ndarray)
    assert isinstance(net.l1.W.grad, np.ndarray)


def test_an_array_in_a_variable_moves(device):
    link = Averaging()
    x = link.__dict__["mean"]
    link.to_device(device)
    assert link.__dict__["mean"] is x
    assert x.device == device


def test_uninitialised_parameters_are_drawn_where_they_were_sent(device):
    net = Net(None).to_device(device)
    net(example(device))
    assert net.l1.W.device == device
    dtype = "float32" if "jax" in device.name else "float64"
    late = Linear(None, 2, Filling(dtype)).to_device(device)
    late.W.initialize((2, 3))
    assert late.W.device == device
    assert device.backend.dtype_name(late.W.dtype) == dtype
    np.testing.assert_allclose(values(late.W), np.arange(6).reshape(2, 3) * 0.1 + 1, rtol=1e-3)


def test_later_parameters_are_created_on_the_device_of_the_link(device):
    link = Link().to_device(device)
    with link.init_scope():
        link.W = Parameter(1, 2)
        link.u = Parameter(1)
    link.u.initialize(2)
    assert link.W.device == link.u.device == device


def test_an_unmoved_link_is_on_the_device_of_its_parameters(device):
    link = Link()
    with link.init_scope():
        link.W = Parameter(xpgrad.get_device(device).send(np.ones(2, "float32")))
    assert link.device == device


def test_links_show_other_attributes_to_the_visitor(device):
    class Stateful(Link):
        def __init__(self):
            super().__init__()
            self.h = Variable(np.ones(2, "float32"))
            self.a = np.ones(2, "float32")

        def device_resident_accept(self, visitor):
            super().device_resident_accept(visitor)
            visitor.visit_variable(self.h)
            self.a = visitor.visit_array(self.a)

    link = Stateful().to_device(device)
    assert link.h.device == device
    assert xpgrad.get_device_from_array(link.a) == device


def test_to_chx_and_back():
    net = Net().to_chx()
    assert net.device.name == "native:0"
    assert net.l1.W.device.name == "native:0"
    assert xpgrad.get_device_from_array(net.scale).name == "native:0"
    late = Linear(None, 2).to_chx()
    late.W.initialize((2, 2))
    assert late.W.device.name == "native:0"
    assert net.from_chx().device.name == "@numpy"
    assert isinstance(net.l1.W.array, np.ndarray)
    assert net.to_intel64().device.name == "@numpy"


def test_to_gpu_without_one_raises_a_clear_error():
    try:
        xpgrad.get_device(0)
    except xpgrad.BackendUnavailable as error:
        with pytest.raises(xpgrad.BackendUnavailable, match=str(error).removeprefix("get_device: ")[:10]):
            Net().to_gpu()
    else:
        assert Net().to_gpu().device.name == "@cupy:0"
