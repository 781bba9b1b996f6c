"""A failing call changes no state: each public call that changes state, with a failure at each of its steps."""

import io
import os
import sys
import types

import numpy as np
import pytest
from tests.core.graph.nodes import node

import xpgrad
import xpgrad.functions as F
import xpgrad.links as L
from xpgrad import (
    Chain,
    ChainList,
    Parameter,
    Sequential,
    Variable,
    optimizer_hooks,
    optimizers,
    serializers,
)
from xpgrad.backend.plugins import plugins
from xpgrad.errors import ShapeError

MAX_PLACES = 40
"""Of a call with more steps so many are chosen, evenly."""
CORE = os.path.dirname(xpgrad.__file__) + os.sep
SPARED = tuple(CORE + name for name in ("graph/undo.py", "optimizers/undo.py", "config.py"))
"""Code that restores state, and code that no exception can interrupt."""
UNFAILING = "read", "__exit__", "__del__", "<", "_undone_by_errors", "_gradient_arrived"
CACHES = {"_plan", "_packs", "_ties", "programs", "states"}
X = np.arange(12, dtype="float32").reshape(4, 3) / 7


class Injected(Exception):
    """The failure."""


class Injector:
    """Raises at the `place`-th call of a function of the core, until the function `until` is called.

    Parameters
    ----------
    place : int
        A large number counts the calls only.
    until : str
    """

    def __init__(self, place, until):
        self.place, self.until, self.count, self.active = place, until, 0, True

    def __call__(self, frame, event, arg):
        code = frame.f_code
        if not self.active or event != "call" or not code.co_filename.startswith(CORE):
            return
        if code.co_name == self.until:
            self.active = False
        elif not code.co_filename.startswith(SPARED) and not code.co_name.startswith(UNFAILING):
            self.count += 1
            if self.count > self.place:
                self.active = False
                raise Injected

    def run(self, function):
        """Return whether the function raised."""
        sys.setprofile(self)
        try:
            function()
        except Injected:
            return True
        finally:
            sys.setprofile(None)
        return False


def snapshot(*objects):
    """Return the state of objects as nested tuples that can be compared."""
    seen = {}

    def of(x):
        if x is None or isinstance(x, (bool, int, float, complex, str, bytes)):
            return repr(x)
        if type(x) in plugins.by_type:
            host = xpgrad.get_device("@numpy").send(x)
            return str(xpgrad.get_device_from_array(x)), str(host.dtype), host.shape, host.tobytes()
        if id(x) in seen:
            return str(seen[id(x)][0])
        seen[id(x)] = len(seen), x  # which stays alive, so that no other object gets its identity
        if isinstance(x, Variable):
            names = ("_array", "_grad", "_grad_valid", "_zero_grad", "update_rule")
            more = {name: str(getattr(x._node.extra, name, None)) for name in ("device", "loss_scale")}
            state = {name: getattr(x, name, None) for name in names}
            state["_grad"] = getattr(x._grad, "_array", x._grad)  # which `grad_var` makes a Variable
            return *((name, of(value)) for name, value in state.items()), *more.items()
        if isinstance(x, dict):
            return tuple((key, of(value)) for key, value in x.items() if key not in CACHES)
        if isinstance(x, (list, tuple)):
            return tuple(map(of, x))
        if isinstance(x, (set, frozenset)):
            return tuple(sorted(map(str, x)))
        if isinstance(x, (types.FunctionType, types.MethodType, type)) or not hasattr(x, "__dict__"):
            return str(type(x))
        return type(x).__name__, of(x.__dict__)

    return tuple(map(of, objects))


def changes(before, after, path=""):
    """Yield the paths at which two snapshots differ."""
    if isinstance(before, tuple) and isinstance(after, tuple) and len(before) == len(after):
        named = len(before) == 2 and isinstance(before[0], str)
        for i, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from changes(one, other, f"{path}/{before[0]}" if named and i else path)
    elif before != after:
        yield f"{path}: {str(before)[:200]} -> {str(after)[:200]}"


class Net(Chain):
    """Parameters of several shapes, one not initialised, running averages, and a persistent number."""

    def __init__(self, size=3, seed=0):
        super().__init__()
        rng = np.random.default_rng(seed)
        with self.init_scope():
            self.l1 = L.Linear(3, 4, initialW=rng.standard_normal((4, 3)).astype("f"))
            self.bn = L.BatchNormalization(4)
            self.l2 = ChainList(L.Linear(4, size), L.Linear(size, 2))
            self.late = Parameter(0.5)
        self.add_persistent("count", seed)

    def loss(self, x):
        y = self.l1(x)
        for link in self.l2:
            y = link(F.tanh(y))
        return F.sum(y * y)


def net(seed=0, *, gradients=True, size=3):
    made = Net(size, seed)
    made.cleargrads()
    if gradients:
        made.loss(X * (1 + seed)).backward()
    return made


def ready(name="Adam", hooks=(), steps=1, **options):
    model = net()
    optimizer = getattr(optimizers, name)(**options).setup(model)
    for hook in hooks:
        optimizer.add_hook(hook)
    for _ in range(steps):
        optimizer.update(model.loss, X)
    return optimizer


HOOKS = optimizer_hooks.WeightDecay(0.1), optimizer_hooks.GradientClipping(0.1), optimizer_hooks.GradientLARS()


def saved(obj, kind="npz"):
    file = io.BytesIO()
    getattr(serializers, f"save_{kind}")(file, obj)
    return file.getvalue()


def of_models(call, until=""):
    """Return a call of two models."""

    def make():
        one, other = net(0), net(1)
        return (lambda: call(one, other)), (one, other), until

    return make


def of_optimizer(call, until="_step", **options):
    def make():
        optimizer = ready(**options)
        return (lambda: call(optimizer)), (optimizer, optimizer.target), until

    return make


def loading(kind, obj, other):
    data = saved(other, kind)
    return (lambda: getattr(serializers, f"load_{kind}")(io.BytesIO(data), obj)), (obj,), ""


def setting_up():
    optimizer, model = ready(), net(1)
    return (lambda: optimizer.setup(model)), (optimizer, model), ""


def inserting():
    model, link = net(), L.Linear(2, 3)
    return (lambda: model.l2.insert(1, link)), (model, link), ""


def replacing():
    model, link = net(), L.Linear(2, 3)

    def call():
        model.l2[0:1] = [link]

    return call, (model, link), ""


def in_copies():
    optimizer = ready(hooks=HOOKS)
    optimizer.target.l1.W.array = optimizer.target.l1.W.array.astype("float16")
    optimizer.target.l1.W.grad = np.ones((4, 3), "float16")
    optimizer.use_fp32_update()
    return optimizer.update, (optimizer, optimizer.target), "_step"


def updating_states():
    """An update of running averages, by a link and of an array, of states, and of parameters not yet initialised."""
    model = net()
    with model.init_scope():
        model.rnn, model.last = L.LSTM(4, 4), L.Linear(None, 1)
    optimizer, mean, var = optimizers.SGD().setup(model), np.zeros(4, "float32"), np.ones(4, "float32")

    def loss(x):
        model.count += 1
        y = F.batch_normalization(model.bn(model.l1(x)), model.bn.gamma, model.bn.beta, 0.1, mean, var)
        return F.sum(model.last(model.rnn(y)))

    return (lambda: optimizer.update(loss, X)), (optimizer, model, mean, var), "_step"


def seeding():
    xpgrad.random.seed(3)
    xpgrad.random.normal((3,))

    class State:
        @property
        def __dict__(self):
            return {"state": repr(xpgrad.random.held_states())}

    return (lambda: xpgrad.random.seed(4)), (State(),), ""


CALLS = {
    "addgrads": of_models(lambda one, other: one.addgrads(other)),
    "copyparams": of_models(lambda one, other: one.copyparams(other)),
    "to_device": of_models(lambda one, other: one.to_device("@strict:cpu")),
    "copydata": of_models(lambda one, other: one.l1.W.copydata(other.l1.W)),
    "addgrad": of_models(lambda one, other: one.l1.W.addgrad(other.l1.W)),
    "initialize": of_models(lambda one, other: one.late.initialize((2,))),
    "backward": of_models(lambda one, other: one.loss(X).backward()),
    "load_npz": lambda: loading("npz", net(0), net(1)),
    "load_safetensors": lambda: loading("safetensors", net(0), net(1)),
    "load_npz of an optimizer": lambda: loading("npz", ready(), ready(steps=2)),
    "load_npz of a new optimizer": lambda: loading("npz", ready(steps=0), ready(steps=2)),
    "setup": setting_up,
    "update of a loss": of_optimizer(lambda optimizer: optimizer.update(optimizer.target.loss, X)),
    "first update": of_optimizer(lambda optimizer: optimizer.update(optimizer.target.loss, X), steps=0),
    "update": of_optimizer(lambda optimizer: optimizer.update(), hooks=HOOKS),
    "update of states": updating_states,
    "update, hooks": of_optimizer(lambda optimizer: optimizer.update(optimizer.target.loss, X), hooks=HOOKS),
    "update in copies": in_copies,
    "L-BFGS": of_optimizer(lambda optimizer: optimizer.update(optimizer.target.loss, X), "", name="LBFGS", steps=0),
    "insert": inserting,
    "replace": replacing,
    "seed": seeding,
}  # fmt: skip


def test_a_list_with_a_wrong_item_is_not_appended():
    for made in (Sequential(F.relu), ChainList(L.Linear(2, 2))):
        before = snapshot(made)
        with pytest.raises((TypeError, ValueError)):
            made.extend([L.Linear(2, 3), 3.0])
        with pytest.raises((TypeError, ValueError)):
            made += [L.Linear(2, 3), 3.0]
        assert snapshot(made) == before


def test_gradients_that_do_not_fit_are_not_added():
    one, other = net(0), net(1, size=5)
    before = snapshot(one, other)
    with pytest.raises(ShapeError):
        one.addgrads(other)
    assert snapshot(one, other) == before


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("fails", ["function", "backward"])
def test_a_step_whose_loss_fails_keeps_gradients(fails, compiled):
    def fail(self, indexes, grads):
        raise Injected

    def loss(x):
        y = optimizer.target.loss(x) + F.sum(optimizer.target.bn(optimizer.target.l1(x)))
        if failing and fails == "function":
            raise Injected
        return node(backward=fail).apply((y,))[0] if failing else y

    optimizer, failing = ready(), False
    step = optimizer.compile(loss) if compiled else lambda x: optimizer.update(loss, x)
    for failing in (False, True):
        for size in (3, 4):
            for param in optimizer.target.params(False):
                param.grad = param.array.copy()
            before = snapshot(optimizer.target, optimizer)
            if not failing:
                step(X[:size])
                continue
            with pytest.raises(Injected):
                step(X[: size - 2])
            assert list(changes(before, snapshot(optimizer.target, optimizer))) == []


def check_failures(make, left=()):
    """Raise if a failing call changes an object, except below `left`; `make` makes the call and its objects."""
    call, objects, until = make()
    before = snapshot(*objects)
    counting = Injector(sys.maxsize, until)
    assert not counting.run(call)
    assert snapshot(*objects) != before  # the call must change the state
    for place in range(0, counting.count, -(-counting.count // MAX_PLACES)):
        call, objects, until = make()
        before = snapshot(*objects)
        if Injector(place, until).run(call):
            found = [path for path in changes(before, snapshot(*objects)) if not any(each in path for each in left)]
            assert found == [], f"step {place} of {counting.count}"


@pytest.mark.exhaustive(1)
@pytest.mark.parametrize("name", CALLS)
def test_a_failure_at_each_step_leaves_the_state_unchanged(name):
    if "device" in name:
        pytest.importorskip("array_api_strict")
    check_failures(CALLS[name])
