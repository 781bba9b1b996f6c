"""Links as trees: models as arguments of the transforms."""

import copy
import functools
import gc
import pickle
import weakref

import numpy as np
import pytest
from tests.building import values
from tests.core.models.parts import Filling, Linear, Net, Tied, example, loss

import xpgrad
import xpgrad.functions as F
from xpgrad import Chain, ChainList, Link, Parameter, Sequential, Variable
from xpgrad.errors import StructureError, UnknownArray
from xpgrad.models import stack
from xpgrad.transforms import checkpoint, grad, jvp, value_and_grad, vmap
from xpgrad.transforms.trees import flatten, map_leaves

DELTA = 0.01


def backward(model, x):
    """Return the gradients from `backward`, by path."""
    model.cleargrads()
    loss(model, x).backward()
    return {path: values(p.grad) for path, p in model.namedparams()}


def assert_gradients(found, expected):
    assert [path for path, _ in found.namedparams()] == list(expected)
    for path, g in found.namedparams():
        np.testing.assert_allclose(values(g), expected[path], rtol=1e-5, atol=1e-6)


MODELS = {
    "chain": Net,
    "link": functools.partial(Linear, 3, 2, Filling()),
    "sequential": lambda: Sequential(Linear(3, 3, Filling()), F.tanh, Linear(3, 2)),
    "tied": Tied,
}
WAYS = {
    "grad": lambda model, x: grad(loss)(model, x),
    "compiled": lambda model, x: xpgrad.compile(grad(loss))(model, x),
    "checkpointed": lambda model, x: grad(checkpoint(loss))(model, x),
    "in a dictionary": lambda model, x: grad(lambda t: loss(t["m"][0], t["x"]))({"m": (model,), "x": x})["m"][0],
    "of a batch": lambda model, x: grad(lambda m, x: F.sum(vmap(loss, in_axes=(None, 0))(m, x)))(model, x[:, None, :]),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", MODELS)
def test_gradients_are_a_link(device, kind, way):
    model = MODELS[kind]().to_device(device)
    x = example(device)
    expected = backward(model, x)
    found = WAYS[way](model, x)
    assert type(found) is type(model)
    assert_gradients(found, expected)
    assert all(type(p) is Parameter for p in model.params())


def test_a_parameter_in_two_places_is_one_leaf():
    model = Tied()
    leaves, structure = flatten(model)
    assert structure.paths() == [("/a/W",), ("/a/b",), ("/b/b",)]
    assert leaves[0] is model.a.W
    made = structure.build(leaves)
    assert made.b.W is made.a.W is model.a.W
    assert made.c is made.b
    again, other = flatten(structure.build([1, None, None]))
    assert (again, other.paths()) == ([1], [("/a/W",)])
    found = grad(loss)(model, example_on_host())
    assert found.a.W is found.b.W
    assert len(flatten(found)[0]) == 3
    twice = grad(lambda m: F.sum(grad(loss)(m, example_on_host()).a.W))(model)
    assert twice.a.W is twice.b.W


def test_equal_gradients_of_two_parameters_stay_two_leaves():
    class Two(Link):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.a, self.b = Parameter(1, 2), Parameter(1, 2)

    found = grad(lambda m: F.sum(m.a + m.b))(Two())
    assert len(flatten(found)[0]) == 2
    model = Two()
    new = map_leaves(lambda p: p * 2, model)
    assert (values(new.a), values(new.b)) == ([2, 2], [2, 2])


def test_training_in_the_style_of_functions(device):
    def step(model, x):
        value, gradient = value_and_grad(loss)(model, x)
        leaves, structure = flatten(model)
        return value, structure.build(
            [p - DELTA * g for p, g in zip(leaves, structure.leaves_of(gradient, "step"), strict=True)]
        )

    losses = {}
    for name, run in (("eager", step), ("compiled", xpgrad.compile(step))):
        model, x, losses[name] = Net().to_device(device), example(device), []
        for _ in range(5):
            value, model = run(model, x)
            model = map_leaves(lambda p: Variable(p.array), model)
            losses[name].append(float(value.array))
    assert losses["eager"] == sorted(losses["eager"], reverse=True)
    np.testing.assert_allclose(losses["compiled"], losses["eager"], rtol=1e-4)


def test_training_as_in_chainer_with_a_compiled_gradient():
    model, x = Net(), example_on_host()
    step = xpgrad.compile(value_and_grad(loss))
    found = []
    for _ in range(6):
        value, gradient = step(model, x)
        for p, g in zip(model.params(), gradient.params(), strict=True):
            p.array = p.array - DELTA * g.array
        found.append(float(value.array))
    assert found == sorted(found, reverse=True)
    info = step.cache_info()
    assert (info.size, info.hits) == (1, 4)


def test_changes_of_a_model_make_another_program():
    class Scaled(Chain):
        def __init__(self):
            super().__init__()
            self.factor, self.parts, self.act = 2.0, ["a"], F.tanh
            with self.init_scope():
                self.l1 = Linear(3, 2)

        def forward(self, x):
            return self.act(self.l1(x)) * self.factor

    model, x = Scaled(), example_on_host()
    f = xpgrad.compile(loss)
    for change in ({}, {"factor": 3.0}, {"act": F.relu}, {"act": functools.partial(F.softmax, axis=1)}):
        vars(model).update(change)
        for _ in range(3):
            np.testing.assert_allclose(values(f(model, x)), values(loss(model, x)), rtol=1e-6)
    assert f.cache_info().size == 4
    with model.l1.init_scope():
        model.l1.extra = Parameter(0, 2)
    f(model, x)
    assert f.cache_info().size == 5


def test_a_batch_of_models(device):
    models = [Net().to_device(device) for _ in range(3)]
    for i, model in enumerate(models):
        model.l1.b.array = model.l1.b.array + 0.1 * i
    batch, x = stack(models), example(device)
    assert batch.l1.W.shape == (3, 4, 3)
    expected = [values(model(x)) for model in models]
    np.testing.assert_allclose(values(vmap(lambda m, x: m(x), in_axes=(0, None))(batch, x)), expected, rtol=1e-5)
    found = vmap(grad(loss), in_axes=(0, None))(batch, x)
    for i, model in enumerate(models):
        assert_gradients(map_leaves(lambda g: g[i], found), backward(model, x))  # noqa: B023
    with pytest.raises(StructureError, match="stack: expected one link or more"):
        stack([])
    with pytest.raises(StructureError, match="stack: link 1"):
        stack([models[0], Linear(3, 3)])


def test_axes_of_a_batch_by_parameter():
    model, x = Linear(3, 2, Filling()), example_on_host()
    batch = stack([model, model])
    batch.b = model.b
    axes = map_leaves(lambda p: p.ndim - 2 if p.ndim == 3 else None, batch)
    assert (axes.W, axes.b) == (1, None)
    batch.W = F.moveaxis(batch.W, 0, 1)
    for given in (axes, {"/W": 1, "/b": None}):
        y = vmap(lambda m, x: m(x), in_axes=(given, None))(batch, x)
        np.testing.assert_allclose(values(y), [values(model(x))] * 2, rtol=1e-6)


def test_forward_mode():
    model, x = Net(), example_on_host()
    direction = map_leaves(lambda p: Variable(np.ones_like(p.array)), model)
    value, tangent = jvp(lambda m: loss(m, x), (model,), (direction,))
    expected = sum(np.sum(g) for g in backward(model, x).values())
    np.testing.assert_allclose(values(tangent), expected, rtol=1e-5)
    np.testing.assert_allclose(values(value), values(loss(model, x)))


def test_gradients_go_on_from_a_rebuilt_model():
    model, x = Net(), example_on_host()
    model.cleargrads()
    loss(map_leaves(lambda p: p * 1, model), x).backward()
    got = {path: values(p.grad) for path, p in model.namedparams()}
    for path, g in backward(model, x).items():
        np.testing.assert_allclose(got[path], g, rtol=1e-6)


def test_references_in_attributes_are_followed():
    class Ordered(Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.l1, self.l2 = Linear(3, 3, Filling()), Linear(3, 2)
            self.order = [self.l1, F.tanh, self.l2]
            self.bias = (self.l2.b,)

        def forward(self, x):
            for layer in self.order:
                x = layer(x)
            return x + self.bias[0]

    model, x = Ordered(), example_on_host()
    assert_gradients(grad(loss)(model, x), backward(model, x))
    f = xpgrad.compile(grad(loss))
    for _ in range(3):
        assert_gradients(f(model, x), backward(model, x))
    assert f.cache_info().size == 1


USES = {
    "grad": lambda f, m, x: grad(f)(m, x),
    "compile": lambda f, m, x: xpgrad.compile(f)(m, x),
    "checkpoint": lambda f, m, x: checkpoint(f)(m, x),
    "vmap": lambda f, m, x: vmap(f, in_axes=(None, 0))(m, x),
    "jvp": lambda f, m, x: jvp(f, (m, x), (m, x)),
}


@pytest.mark.parametrize("use", USES)
def test_uninitialised_parameters_are_an_error(use):
    with pytest.raises(UnknownArray, match="Net: the Parameter /l1/W is uninitialised; call the model once"):
        USES[use](loss, Net(None), example_on_host())


def test_structures_are_compared():
    _, structure = flatten(Net())
    with pytest.raises(StructureError, match="what: expected a Net, got Linear"):
        structure.leaves_of(Linear(3, 4), "what")
    other = Net()
    del other.l1
    with pytest.raises(StructureError, match="what: expected Net with '/l1/W'"):
        structure.leaves_of(other, "what")


def example_on_host():
    return np.linspace(-1, 1, 15, dtype="float32").reshape(5, 3)


class Half(Link):
    """Like a link of a library, described only by its attributes."""

    def __init__(self, factor=0.5):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        return x * self.factor


Half.__module__ = Sequential.__module__


class Rows(ChainList):
    def forward(self, x):
        for link in self:
            x = link(x)
        return x


CHANGES = {
    "an attribute": lambda model: setattr(model[0], "factor", 3.0),
    "a layer": lambda model: model.__setitem__(0, Half(4.0)),
    "another layer": lambda model: model.append(Half(4.0)),
    "no layer": lambda model: model.pop(),
}


@pytest.mark.parametrize("kind", [Sequential, Rows])
@pytest.mark.parametrize("change", CHANGES)
def test_changes_of_a_captured_model_make_another_program(kind, change):
    model, x = kind(Half(), Half(), Linear(3, 2)), example_on_host()
    f = xpgrad.compile(lambda x: model(x))
    for _ in range(4):
        np.testing.assert_allclose(values(f(x)), values(model(x)), rtol=1e-6)
    assert f.cache_info().hits == 2
    CHANGES[change](model)
    for _ in range(3):
        np.testing.assert_allclose(values(f(x)), values(model(x)), rtol=1e-6)
    if isinstance(model, Sequential):
        model.append(F.tanh)
        np.testing.assert_allclose(values(f(x)), values(model(x)), rtol=1e-6)
    assert f.cache_info().size == 2 + isinstance(model, Sequential)


def made_of(model):
    """Return the result of a model after it was flattened and rebuilt."""
    leaves, structure = flatten(model)
    return values(structure.build(leaves)(example_on_host()))


EDITS = {
    "nothing": lambda net: None,
    "a parameter": lambda net: setattr(net.l1, "W", Parameter(np.ones((4, 3), "float32"))),
    "a layer": lambda net: net.rest.insert(1, F.relu),
    "a link": lambda net: setattr(net, "rest", Linear(4, 5)),
    "a name": lambda net: setattr(net, "forward", lambda x: x + 1),
    "a tie": lambda net: setattr(net.rest[0], "b", net.l1.b),
    "a hook": lambda net: net.l1.add_hook(xpgrad.LinkHook()),
    "less": lambda net: net.rest.pop(),
}
MADE = {"new": Net, "rebuilt": lambda: map_leaves(lambda p: Parameter(p.array * 2), Net()), "copied": Net().copy}


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("edit", EDITS)
def test_changes_of_a_model_are_seen(edit, made):
    net = MADE[made]()
    before = flatten(net)[1].empty
    assert flatten(net)[1].empty is before  # kept
    EDITS[edit](net)
    assert (flatten(net)[1].empty is before) == (edit in ("nothing", "a parameter"))
    assert made_of(net) == values(net(example_on_host()))
    assert len(flatten(net)[0]) == len(list(net.params()))


def test_a_tie_in_a_rebuilt_model_is_undone():
    net = map_leaves(lambda p: p * 2, Tied())
    assert len(flatten(net)[0]) == 3
    net.b.W = net.b.W + 1
    leaves, structure = flatten(net)
    assert [path for (path,) in structure.paths()] == ["/a/W", "/a/b", "/b/W", "/b/b"]
    assert structure.build(leaves).b.W is net.b.W


@pytest.mark.usefixtures("few_objects")
def test_a_model_and_its_graphs_are_not_kept_alive():
    net = Net()
    f = xpgrad.compile(loss)
    for _ in range(3):
        f(net, example_on_host())
        grad(loss)(net, example_on_host())
    net.h = F.tanh(net.l1.W)
    flatten(net)
    links = [weakref.ref(x) for x in (net, net.l1, net.l1.W, net.h)]
    del net.h
    assert links[3]() is None
    del net
    gc.collect()
    assert [ref() for ref in links] == [None] * 4


def test_pickle_and_copies_do_not_share_the_plan():
    net = Net()
    flatten(net)
    for made in (pickle.loads(pickle.dumps(net)), copy.copy(net), copy.deepcopy(net), net.copy()):
        assert getattr(made, "_plan", None) is not net._plan
        assert made_of(made) == values(net(example_on_host()))


def test_attributes_may_share_names_with_the_library():
    model = Linear(3, 2)
    model._children = np.arange(3)
    model._layers = [np.arange(3), 1]
    for _ in range(2):
        found = grad(loss)(model, example_on_host())
        assert found._children is model._children
        assert found._layers[0] is model._layers[0]
        assert found.copy()._children is model._children
