"""`Link`: calls, copies, gradients, and contents."""

import copy
import pickle

import numpy as np
import pytest
from tests.building import values
from tests.core.models.parts import Filling, Linear, Net, Tied, example, loss

from xpgrad import Link, Parameter, Sequential, Variable
from xpgrad.errors import ShapeError, StructureError


def with_gradients(net, x):
    net.cleargrads()
    loss(net, x).backward()
    return net


def grads(net):
    return {path: values(p.grad) for path, p in net.namedparams()}


def test_a_call_runs_forward(device):
    link = Linear(None, 2, Filling()).to_device(device)
    y = link(example(device))
    assert y.shape == (5, 2)
    assert y.device == device


def test_forward_may_be_the_call_of_a_class_mixed_in():
    class Mixin:
        def __call__(self, x, *, n=1):
            return x * n

    class Both(Link, Mixin):
        pass

    assert Both()(3, n=2) == 6


def test_parameters_are_found_once_and_named_in_each_place():
    net = Tied()
    assert [path for path, _ in net.namedparams()] == ["/a/W", "/a/b", "/b/W", "/b/b", "/c/W", "/c/b"]
    assert len(list(net.params())) == 3
    assert len(list(net.links())) == 3
    assert net.count_params() == 9 + 3 + 3


def test_parameters_of_a_link_that_overrides_namedparams_are_the_parameters_that_it_names():
    class Frozen(Linear):
        def namedparams(self, include_uninit=True):
            return ((path, p) for path, p in super().namedparams(include_uninit) if path != "/W")

    frozen, other = Frozen(2, 2), Linear(2, 2)
    assert list(frozen.params()) == [frozen.b]
    assert list(Sequential(frozen, other, frozen).params()) == [frozen.b, other.W, other.b]


def test_uninitialised_parameters_are_left_out_on_request():
    net = Net(None)
    assert next(path for path, _ in net.namedparams(include_uninit=False)) == "/l1/b"
    assert len(list(net.params(include_uninit=False))) == 5
    with pytest.warns(UserWarning, match="parameters are uninitialised, and do not count: /l1/W"):
        assert net.count_params() == 4 + 20 + 10


def test_a_copy_shares_arrays_but_no_gradients():
    net = with_gradients(Net(), example_on_host())
    shared = net.copy()
    assert type(shared) is Net
    assert shared.name is None
    for (path, a), (other, b) in zip(net.namedparams(), shared.namedparams(), strict=True):
        assert path == other
        assert a is not b
        assert a.array is b.array
        assert b.grad is None
    assert shared.rest[0] is next(shared.rest.children())
    assert shared.rest[1] is net.rest[1]
    assert shared.scale is net.scale
    shared.cleargrads()
    assert net.l1.W.grad is not None
    del shared.l1
    assert "l1" in net._children


def test_a_copy_copies_all_arrays():
    net = with_gradients(Net(), example_on_host())
    for made in (net.copy("copy"), copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        for a, b in zip(net.params(), made.params(), strict=True):
            assert a.array is not b.array
            assert values(a) == values(b)
            assert values(a.grad) == values(b.grad)
        assert made.scale is not net.scale
        assert made.count == 3
        assert values(made(example_on_host())) == values(net(example_on_host()))


def test_a_copy_is_initialised_anew():
    fill = Filling()
    link = Linear(3, 2, fill)
    first = values(link.W)
    made = link.copy("init")
    assert values(link.W) == first
    assert not np.allclose(values(made.W), first)
    given = Link()
    with given.init_scope():
        given.W = Parameter(np.ones(2, "float32"))
        given.u = Parameter(3)
    made = given.copy("init")
    assert values(made.W) == [1, 1]  # without an initialiser
    assert not made.u.is_initialized


@pytest.mark.parametrize("mode", ["share", "copy", "init"])
def test_copies_keep_shared_parameters_shared(mode):
    net = Tied()
    made = net.copy(mode)
    assert made.a.W is made.b.W
    assert made.b is made.c
    assert made.a.W is not net.a.W


def test_copies_follow_references_in_attributes():
    net = Net()
    net.order = [net.l1, {"rest": (net.rest,)}]
    net.named = {"W": net.l1.W}
    net.act = net.l1.forward
    net.other = [1, 2]
    made = net.copy()
    assert made.order[0] is made.l1
    assert made.order[1]["rest"][0] is made.rest
    assert made.named["W"] is made.l1.W
    assert made.act.__self__ is made.l1
    assert made.other is net.other


def test_a_shallow_copy_has_its_own_names():
    net = Net()
    made = copy.copy(net)
    assert made.l1 is net.l1
    del made.l1
    assert "l1" in net._children
    row = copy.copy(net.rest)
    row.pop()
    assert len(net.rest) == 3


def test_repeat_makes_a_sequential_of_copies():
    link = Linear(3, 3, Filling())
    made = link.repeat(3, mode="init")
    assert isinstance(made, Sequential)
    assert len(made) == 3
    assert len({tuple(map(tuple, values(each.W))) for each in [link, *made]}) == 4
    assert all(each.W.array is link.W.array for each in link.repeat(2, "share"))
    assert len(link.repeat(0)) == 0
    assert len(Sequential(link, abs).repeat(2)) == 2
    with pytest.raises(ValueError, match="repeat: expected the mode 'share', 'copy' or 'init', got 'all'"):
        link.repeat(2, "all")
    with pytest.raises(ValueError, match="copy: expected the mode"):
        link.copy("all")


def test_copyparams_copies_values(device):
    source, target = Net().to_device(device), Net(None)
    source.l1.W.array = source.l1.W.array * 2
    source.count = 7
    target.copyparams(source)
    assert [values(p) for p in target.params()] == [values(p) for p in source.params()]
    assert target.l1.W.device.name == "@numpy"
    assert target.count == 7
    source.count = 8
    target.copyparams(source, copy_persistent=False)
    assert target.count == 7
    with pytest.raises(StructureError, match="copyparams: the other link has no parameter /l1/W; it has /W, /b"):
        target.copyparams(Linear(3, 2))


def test_copyparams_copies_all_parameters_or_raises():
    net, other = Net(), Net()
    other.l1.W.array = other.l1.W.array + 1
    other.rest[2].W.array = np.ones((3, 4), "float32")
    with pytest.raises(ShapeError, match=r"copyparams: /rest/1/W has shape \(2, 4\), but \(3, 4\) in the other link"):
        net.copyparams(other)
    assert values(net.l1.W) == values(Net().l1.W)


def test_gradients_are_cleared_and_added(device):
    x = example(device)
    net, other = (with_gradients(Net().to_device(device), x) for _ in range(2))
    before = grads(net)
    net.addgrads(other)
    for path, g in grads(net).items():
        np.testing.assert_allclose(g, 2 * np.asarray(before[path]), rtol=1e-6)
    tied = with_gradients(Tied(), example_on_host())
    before = values(tied.a.W.grad)
    tied.addgrads(with_gradients(Tied(), example_on_host()))
    np.testing.assert_allclose(values(tied.a.W.grad), 2 * np.asarray(before), rtol=1e-6)
    net.cleargrads()
    assert all(p.grad is None for p in net.params())
    with pytest.warns(DeprecationWarning, match="zerograds is deprecated"):
        net.zerograds()
    assert all(not np.any(values(p.grad)) for p in net.params())


class Rule:
    enabled = True

    def update(self, parameter):
        parameter.array = parameter.array * 2


def test_updates_are_switched_for_all_parameters():
    net = Net()
    assert not net.update_enabled
    net.disable_update()
    for parameter in list(net.params())[:2]:
        parameter.update_rule = Rule()
    assert net.update_enabled
    net.disable_update()
    assert not net.update_enabled
    net.enable_update()
    assert net.update_enabled
    made = pickle.loads(pickle.dumps(net))
    assert type(made.l1.W.update_rule) is Rule


def test_text_is_nested():
    assert str(Net()) == repr(Net())
    assert str(Net()) == (
        "Net(\n"
        "  (l1): Linear(n_out=4, nobias=False),\n"
        "  (rest): Sequential(\n"
        "    (0): Linear(n_out=4, nobias=False),\n"
        "    (1): tanh,\n"
        "    (2): Linear(n_out=2, nobias=False),\n"
        "  ),\n"
        ")"
    )
    assert str(Link()) == "Link()"
    assert str(Sequential()) == "Sequential()"


def example_on_host():
    return Variable(np.linspace(-1, 1, 15, dtype="float32").reshape(5, 3))


def test_names_of_copies():
    link = Net().l1
    assert link.copy("share").name is None
    assert link.copy("copy").name == link.copy("init").name == "l1"


def test_result_of_a_serializer_is_stored():
    link = Linear(3, 2)
    link.add_persistent("n", 3)
    seen = []

    def serializer(name, value):
        seen.append((name, value))
        return {"W": np.ones((2, 3), "float32"), "b": None, "n": 4}[name]

    before = link.b.array
    link.serialize(serializer)
    assert [name for name, _ in seen] == ["W", "b", "n"]
    assert values(link.W) == [[1] * 3] * 2
    assert link.b.array is before
    assert link.n == 4
