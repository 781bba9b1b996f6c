"""Several threads that change one graph lose no update."""

import os
import subprocess
import sys

import pytest
from tests.building import array, values, variable
from tests.core.graph.nodes import node
from tests.threads import at_once, in_thread, switching_often

import xpgrad
from xpgrad import FunctionHook, Parameter
from xpgrad import array_api as xp
from xpgrad.graph import backward as deposits
from xpgrad.graph.exchange import exchange
from xpgrad.graph.methods import moving

COUNT, REPEATS = 4, 60


@pytest.fixture(autouse=True)
def _switching_often():
    with switching_often():
        yield


def run_concurrently(*functions):
    """Run each function several times in a separate thread."""
    at_once(*[lambda f=f: [f() for _ in range(REPEATS)] for f in functions])


@pytest.mark.parametrize("options", [{}, {"enable_double_backprop": True}], ids=["raw", "recorded"])
@pytest.mark.parametrize("make", [lambda a: xpgrad.Variable(a), lambda a: Parameter(a)], ids=["Variable", "Parameter"])
def test_sweeps_of_several_threads_into_one_leaf_add_up(device, make, options):
    w = make(array(device, [0.0, 0.0]))
    run_concurrently(*[lambda: xp.sum(w * 3).backward(**options)] * COUNT)
    assert values(w.grad) == [3.0 * COUNT * REPEATS] * 2


@pytest.mark.parametrize("options", [{}, {"enable_double_backprop": True}, {"retain_grad": True}], ids=str)
def test_sweeps_of_one_graph_by_several_threads_add_up(device, options):
    w = variable(device, [1.0, 2.0])
    y = w * 2
    z = xp.sum(y * y + y[1])
    run_concurrently(*[lambda: z.backward(**options)] * COUNT)
    assert values(w.grad) == [8.0 * COUNT * REPEATS, 20.0 * COUNT * REPEATS]
    assert y.grad is None or values(y.grad) == [4.0, 10.0]


def test_sums_of_gradients_by_several_threads_add_up(device):
    target, source = variable(device, [1.0]), variable(device, [1.0], grad=array(device, [5.0]))
    run_concurrently(*[lambda: target.addgrad(source)] * COUNT)
    assert values(target.grad) == [5.0 * COUNT * REPEATS]


def test_reading_a_gradient_as_a_variable_loses_no_update(device):
    w = variable(device, [0.0])
    run_concurrently(*[lambda: (w * 3).backward()] * 2, *[lambda: w.grad_var] * 2)
    assert values(w.grad) == [3.0 * 2 * REPEATS]


def zero(x):
    with pytest.warns(DeprecationWarning, match="cleargrad"):
        x.zerograd()


MEANWHILE = {
    "a sweep": (lambda x: (x * 10).backward(), 100.0 + 10.0),
    "a recorded sweep": (lambda x: (x * 10).backward(enable_double_backprop=True), 100.0 + 10.0),
    "cleargrad": (lambda x: x.cleargrad(), 0.0),
    "zerograd": (zero, 0.0),
    "another gradient": (lambda x: setattr(x, "grad", x.grad * 3), 300.0),
    "addgrad": (lambda x: x.addgrad(xpgrad.Variable(x.array, grad=x.array * 0 + 7)), 107.0),
    "grad_var": (lambda x: x.grad_var, 100.0),
}


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("name", MEANWHILE)
def test_what_happens_to_a_gradient_while_a_sweep_adds_to_it_is_not_lost(device, monkeypatch, name, recorded):
    meanwhile, left = MEANWHILE[name]
    x = variable(device, [2.0], grad=array(device, [100.0]))
    y, added, done = x * 1, deposits._added, []

    def late(held, g, recorded):
        if not done:
            done.append(None)
            total = added(held, g, recorded)
            in_thread(lambda: meanwhile(x))
            return total
        return added(held, g, recorded)

    monkeypatch.setattr(deposits, "_added", late)
    y.backward(enable_double_backprop=recorded)
    assert values(x.grad) == [left + 1.0]


@pytest.mark.parametrize("move", ["to_device", "to_chx"])
def test_a_gradient_that_arrives_during_a_move_is_moved(monkeypatch, move):
    x = variable(xpgrad.get_device("@strict:cpu" if move == "to_device" else "@numpy"), [2.0])
    x.grad = x.array
    y, settle, done = x * 5, moving._settle, []

    def late(x, array, node, moved):
        def slowly(grad):
            result = moved(grad)
            if not done:
                done.append(None)
                in_thread(lambda: y.backward())
            return result

        settle(x, array, node, slowly)

    monkeypatch.setattr(moving, "_settle", late)
    x.to_device("@strict:device1") if move == "to_device" else x.to_chx()
    assert values(x.grad) == [7.0]
    assert xpgrad.Variable(x.grad).device == x.device


def test_a_hook_that_waits_for_another_threads_sweep_is_no_deadlock(device):
    def wait(self, function, in_data):
        if not waited and function.label == "_ + _":
            waited.append(None)
            in_thread(lambda: (x * 10).backward())

    waited = []
    x = variable(device, [2.0], grad=array(device, [100.0]))
    y = x * x
    with node(base=FunctionHook, forward_preprocess=wait):
        y.backward(enable_double_backprop=True)  # the sum with the old gradient is a function as well
    assert waited
    assert values(x.grad) == [114.0]


def test_an_error_in_one_sum_stores_no_gradient(device, monkeypatch):
    a, b = (variable(device, [1.0], grad=array(device, [5.0])) for _ in range(2))
    y, added, calls = (a * 2 + b * 3), deposits._added, []

    def failing(*args):
        calls.append(None)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return added(*args)

    monkeypatch.setattr(deposits, "_added", failing)
    with pytest.raises(KeyboardInterrupt):
        y.backward()
    assert (values(a.grad), values(b.grad)) == ([5.0], [5.0])


def test_exchange_does_not_change_another_gradient(device):
    x, old, new = variable(device, [1.0]), array(device, [2.0]), array(device, [3.0])
    x.grad = old
    assert not exchange(x, new, None)
    assert exchange(x, x._grad, None)
    assert x.grad is None


@pytest.mark.parametrize("made", ["Variable", "primitive", "FunctionNode"])
def test_hooks_that_several_threads_register_are_all_there(device, made):
    for _ in range(REPEATS):
        x = variable(device, [1.0])
        hooks = [FunctionHook() for _ in range(COUNT)]
        if made == "Variable":
            at_once(*[lambda x=x: x.register_hook(print)] * COUNT)
            assert len(x.node.extra.hooks) == COUNT
            continue
        f = (x * 1 if made == "primitive" else node().apply((x,))[0]).creator_node
        at_once(*[lambda f=f, h=h: f.add_hook(h, str(id(h))) for h in hooks])
        assert len(f.local_function_hooks) == COUNT


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.skipif(
    not getattr(sys, "_is_gil_enabled", lambda: True)(),
    reason="without the GIL, a child of fork waits for a dict of any program that another thread was writing to",
)
def test_a_forked_process_can_sweep_while_other_threads_did():
    program = """
import os, signal, sys, threading, warnings
import numpy as np
import xpgrad
warnings.simplefilter("ignore", DeprecationWarning)
sys.setswitchinterval(1e-6)
x, done = xpgrad.Variable(np.ones(1)), False
def sweep():
    while not done:
        with xpgrad.using_config("debug", False):
            (x * 2).backward()
threads = [threading.Thread(target=sweep) for _ in range(3)]
for thread in threads:
    thread.start()
for _ in range(20):
    child = os.fork()
    if not child:
        signal.alarm(20)
        with xpgrad.using_config("debug", False):
            (x * 2).backward()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
done = True
for thread in threads:
    thread.join()
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
