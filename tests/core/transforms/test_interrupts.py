"""A call of a user's function leaves no state behind, even if it is interrupted anywhere."""

import sys
from contextvars import ContextVar

import pytest
from tests.building import array, values, variable
from tests.interrupts import interrupted

import xpgrad
import xpgrad_chx as chx
from xpgrad import array_api as xp
from xpgrad import transforms, using_config
from xpgrad.config import config, switches
from xpgrad.transforms.call import Mode

# From Python 3.12 on an interrupt may come while a generator is closed, where the interpreter only reports it.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

# Files that change a thread's state, and files that call these.
FILES = (
    "xpgrad/config.py", "transforms/call.py", "transforms/capture.py", "transforms/surroundings.py",
    "backend/current.py", "backend/random.py", "graph/hooked.py",
)  # fmt: skip


def state():
    """The per-thread state, and the global state."""
    return (
        dict(config._entries()), xpgrad.get_function_hooks(), xpgrad.get_device(None), Mode().variables,
        str(xpgrad.random.get_state()),
    )  # fmt: skip


class Twice(xpgrad.FunctionNode):
    def forward(self, inputs):
        return (inputs[0] * 2,)

    def backward(self, target_input_indexes, grad_outputs):
        return (grad_outputs[0] * 2,)


@transforms.custom_vjp
def custom(x):
    return x * 2


custom.defvjp(lambda x: (x * 2, x), lambda x, gy: (gy * 2,))


def hooked(x):
    y = x * 1
    y.register_hook(lambda g: g * 2)
    return y


def root(x):
    # The root of u - 2x.
    return transforms.custom_root(lambda u: u - 2 * x, x * 0, lambda f, u: u - f(u), lambda f, b: b / (f(b * 0 + 1)))


FUNCTIONS = {
    "a primitive": lambda x: x * 2,
    "FunctionNode": lambda x: Twice().apply((x,))[0],
    "checkpoint": transforms.checkpoint(lambda x: x * 2),
    "custom_vjp": custom,
    "a hook": hooked,
    "custom_root": root,
}


def swept_without_graph(f, x):
    y = xp.sum(f(xpgrad.Variable(x)))
    with xpgrad.no_backprop_mode():
        y.backward(enable_double_backprop=True)


REGIONS = {
    "grad": lambda f, x: transforms.grad(lambda x: xp.sum(f(x)))(x),
    "jacobian": lambda f, x: transforms.jacobian(f)(x),
    "hessian": lambda f, x: transforms.hessian(lambda x: xp.sum(f(x)))(x),
    "backward": lambda f, x: xp.sum(f(xpgrad.Variable(x))).backward(),
    "backward in no_backprop_mode": swept_without_graph,
}


@pytest.mark.parametrize(
    ("region", "name"),
    [
        *(("grad", name) for name in FUNCTIONS),
        ("jacobian", "custom_vjp"),
        ("backward", "a hook"),
        ("hessian", "a primitive"),
    ],
)
@pytest.mark.exhaustive(1)
def test_an_interrupt_anywhere_leaves_the_thread_state_unchanged(region, name):
    x = array(xpgrad.get_device("@numpy"), [2.0])
    before = state()
    for place in interrupted(lambda: REGIONS[region](FUNCTIONS[name], x), *FILES, checked=True):
        assert state() == before, place
    assert place > 1


MANAGERS = {
    "using_config": lambda: using_config("debug", True),
    "no_backprop_mode": xpgrad.no_backprop_mode,
    "an entry for all threads": lambda: using_config("train", False, config=xpgrad.global_config),
    "using_device": lambda: xpgrad.using_device("@strict:device1"),
    "anomaly_detection": lambda: xpgrad.anomaly_detection(),
    "a function hook": xpgrad.FunctionHook,
    "chx.no_backprop_mode": chx.no_backprop_mode,
    "chx.context_scope": lambda: chx.context_scope(chx.Context()),
}


@pytest.mark.parametrize("name", MANAGERS)
def test_an_interrupt_in_a_context_manager_leaves_the_thread_state_unchanged(name, monkeypatch):
    def entered():
        with MANAGERS[name]():
            pass

    def now():
        return (state(), chx.is_backprop_required(), chx.get_default_context(), xpgrad.global_config.train)

    # An entry for all threads visits the settings of every transformation that was not collected.
    module = sys.modules[using_config.__module__]
    monkeypatch.setattr(module, "_every_switches", {each for each in module._every_switches if each() is switches()})
    files = ("config.py", "current.py", "anomaly.py", "function_hook.py", "backprop.py", "xpgrad_chx/device.py")
    before = now()
    for place in interrupted(entered, *files, checked=True):
        assert now() == before, place
    assert place > 1


@pytest.mark.parametrize("region", REGIONS)
def test_an_error_leaves_the_thread_state_unchanged(device, region):
    def failing(x):
        config.train = False
        raise ZeroDivisionError

    before = state()
    with pytest.raises(ZeroDivisionError), using_config("train", True):
        REGIONS[region](failing, array(device, [2.0]))
    assert state() == before


def test_settings_made_by_the_function_are_kept(device):
    mine: ContextVar[int] = ContextVar("mine")

    def function(x):
        mine.set(3)
        config.keep_graph_on_report = True
        return xp.sum(x)

    transforms.grad(function)(variable(device, [2.0]))
    try:
        assert mine.get() == 3
        assert config.keep_graph_on_report
        assert "enable_backprop" not in config._entries() or config.enable_backprop
        with xpgrad.no_backprop_mode():
            transforms.grad(function)(array(device, [2.0]))
            assert not config.enable_backprop
        assert config.enable_backprop
    finally:
        del config.keep_graph_on_report


def test_random_streams_of_a_thread_are_left_by_an_interrupted_repetition(device):
    dropped = transforms.checkpoint(lambda x: xpgrad.functions.dropout(x, 0.5))
    x = variable(device, [2.0] * 8)
    xpgrad.random.seed(1, device)
    expected = values(dropped(x))
    xpgrad.random.seed(1, device)
    y = xp.sum(dropped(x))
    before = state()
    for place in interrupted(lambda: y.backward(), "transforms/surroundings.py", "backend/random.py", checked=True):
        assert state() == before, place
    xpgrad.random.seed(1, device)
    assert values(dropped(x)) == expected
