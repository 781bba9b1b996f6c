"""The attributes of a link that are its parameters, links and persistent values."""

import numpy as np
import pytest
from tests.core.models.parts import Linear, Net

from xpgrad import Chain, ChainList, Link, Parameter, Sequential, Variable


def scoped(link, **attributes):
    with link.init_scope():
        for name, value in attributes.items():
            setattr(link, name, value)
    return link


def test_parameters_and_links_in_the_scope_are_registered():
    net = Net()
    assert [path for path, _ in net.namedparams()] == [
        "/l1/W", "/l1/b", "/rest/0/W", "/rest/0/b", "/rest/1/W", "/rest/1/b",
    ]  # fmt: skip
    assert [path for path, _ in net.namedlinks()] == ["/", "/l1", "/rest", "/rest/0", "/rest/1"]
    assert next(path for path, _ in net.namedlinks(skipself=True)) == "/l1"
    assert list(net.children()) == [net.l1, net.rest]
    assert net.l1.W.name == "W"
    assert net.l1.name == "l1"
    assert net["l1"] is net.l1
    assert not net.within_init_scope


def test_other_values_in_the_scope_are_plain_attributes():
    link = scoped(Link(), n=3, b=None, x=Variable(np.ones(2)))
    assert list(link.params()) == []
    assert (link.n, link.b) == (3, None)


def test_the_scope_ends_with_an_error_and_may_be_nested():
    link = Link()
    with pytest.raises(ZeroDivisionError), link.init_scope():
        1 / 0  # noqa: B018
    assert not link.within_init_scope
    with link.init_scope():
        with link.init_scope():
            pass
        assert link.within_init_scope


def test_a_parameter_is_assigned_again():
    link = scoped(Link(), W=Parameter(1, 2))
    other = Parameter(2, 3)
    link.W = other
    assert list(link.params()) == [other]
    scoped(link, W=Parameter(3, 1))
    assert link.count_params() == 1
    x = Variable(np.ones(2))
    link.W = x  # as hooks do
    assert link.W is x


def test_deleted_attributes_are_no_more_of_the_link():
    net = Net()
    del net.l1
    assert [name for name, _ in net.namedlinks()] == ["/", "/rest", "/rest/0", "/rest/1"]
    del net.scale
    assert "scale" not in net._persistent
    link = scoped(Link(), W=Parameter(1, 2))
    del link.W
    assert list(link.params()) == []
    link.W = 3
    assert link.W == 3
    scoped(net, l1=Linear(3, 4))
    assert net.count_params() == Net().count_params()


def test_persistent_values_are_registered():
    link = Link()
    link.add_persistent("mean", 0.5)
    link.n = 1
    link.register_persistent("n")
    assert link._persistent == {"mean", "n"}
    scoped(link, n=Parameter(1, 2))
    assert link._persistent == {"mean"}


def test_chainers_old_ways_of_registering():
    link = Link(W=(2, 3), b=((2,), "float64"), s=())
    assert {name: (p.shape, str(p.dtype)) for name, p in link.namedparams()} == {
        "/W": ((2, 3), "float32"), "/b": ((2,), "float64"), "/s": ((), "float32"),
    }  # fmt: skip
    assert np.isnan(link.W.array).all()
    link.add_param("u", initializer=2)
    assert not link.u.is_initialized
    chain = Chain(l1=Linear(2, 2))
    chain.add_link("l2", Linear(2, 3))
    assert [link.name for link in chain.children()] == ["l1", "l2"]


class Late(Chain):
    def __init__(self, what):
        what(self)


WRONG = {
    "a new parameter of a name in use": (
        lambda: Net().add_param("l1"), AttributeError, "cannot register a new parameter 'l1' of Net: attribute exists",
    ),
    "a new persistent value of a name in use": (
        lambda: Net().add_persistent("params", 1), AttributeError,
        "cannot register a new persistent value 'params' of Net: attribute exists",
    ),
    "a new link of a name in use": (
        lambda: scoped(Net(), l1=Linear(3, 4)), AttributeError,
        "cannot register a new link 'l1' of Net: attribute exists; delete it first",
    ),
    "a parameter of the name of a link": (
        lambda: scoped(Net(), l1=Parameter(0, 2)), TypeError, "Net.l1: expected a link in place of a link",
    ),
    "a parameter of the name of a method": (
        lambda: scoped(Net(), forward=Parameter(0, 2)), AttributeError, "the class has 'forward'",
    ),
    "a persistent value that is not there": (
        lambda: Net().register_persistent("mean"), AttributeError, "Net has no attribute 'mean'; assign it first",
    ),
    "an array in place of a parameter": (
        lambda: setattr(Linear(2, 2), "W", np.ones(2)), TypeError,
        "Linear.W: expected a Parameter or Variable, got ndarray; assign link.W.array",
    ),
    "a number in place of a link": (
        lambda: setattr(Net(), "l1", 3), TypeError, "Net.l1: expected a link in place of a link, got int",
    ),
    "what is no link": (lambda: Chain(l1=3), TypeError, "Chain: expected a link called 'l1', got int"),
    "a name for a link of a list": (
        lambda: scoped(ChainList(), l1=Linear(2, 2)), TypeError, "the links of a ChainList have no names; append it",
    ),
    "a function in a list of links": (lambda: ChainList(abs), TypeError, "a Sequential takes any function"),
    "a number as a layer": (lambda: Sequential(3), ValueError, "expected layers that can be called, got 3"),
    "the scope before the constructor": (
        lambda: Late(lambda link: link.init_scope().__enter__()), RuntimeError,
        r"Late: Link.__init__\(\) has not been called; call super",
    ),
    "a parameter before the constructor": (
        lambda: Late(lambda link: setattr(link, "W", Parameter(0, 2))), RuntimeError, "has not been called",
    ),
    "a link before the constructor": (
        lambda: Late(lambda link: setattr(link, "l1", Linear(2, 2))), RuntimeError, "has not been called",
    ),
    "a call before the constructor": (lambda: Late(lambda link: None)(1), RuntimeError, "has not been called"),
    "a call without forward": (lambda: Link()(1), NotImplementedError, "Link: define a method forward"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_use_raises_with_a_remedy(case):
    use, error, text = WRONG[case]
    with pytest.raises(error, match=text):
        use()


@pytest.mark.parametrize("value", [Parameter(0, 2), Linear(2, 2)], ids=["parameter", "link"])
def test_outside_of_the_scope_there_is_a_warning(value):
    net = Net()
    with pytest.warns(UserWarning, match=r"Net.extra: a (Parameter|Linear) assigned outside of init_scope\(\) belongs"):
        net.extra = value
    assert not [path for path, _ in net.namedparams() if "extra" in path]
    net.kept_outside = (value,)
    for registered in (*net.params(), *net.links(skipself=True)):
        net.shared = registered


def test_a_link_outside_of_the_scope_may_serve_overridden_methods():
    class Wrapper(Chain):
        def __init__(self):
            super().__init__()
            with pytest.warns(UserWarning, match=r"Wrapper.model: a Linear assigned outside"):
                self.model = Linear(2, 2)

        def namedparams(self, include_uninit=True):
            return self.model.namedparams(include_uninit)

    assert len(list(Wrapper().params())) == 2
