"""Threads sweep side by side: results are exact, and no lock is held while rules run."""

import threading

import numpy as np
from tests.building import values, variable
from tests.threads import at_once, for_each

import xpgrad
import xpgrad.array_api as xp
from xpgrad import FunctionNode, primitive

COUNT, SWEEPS = 8, 25


def test_eight_threads_sweep_separate_graphs_and_a_shared_graph(device):
    w = variable(device, [3.0, 5.0])
    shared = xp.sum(w * w * w)

    def work(number):
        for turn in range(SWEEPS):
            a = float(number + turn)
            x = variable(device, [a, 2 * a])
            (gx,) = xpgrad.grad([xp.sum(x * x * x)], [x], enable_double_backprop=turn % 2 == 1)
            assert values(gx) == [3 * a * a, 12 * a * a]
            if turn % 2:
                assert values(xpgrad.grad([xp.sum(gx)], [x])[0]) == [6 * a, 12 * a]
            shared.backward()

    for_each(work, range(1, COUNT + 1))
    assert values(w.grad) == [27.0 * COUNT * SWEEPS, 75.0 * COUNT * SWEEPS]


def test_rules_of_eight_threads_run_at_the_same_time(device):
    forward, backward = threading.Barrier(COUNT), threading.Barrier(COUNT)

    class Meeting(FunctionNode):  # each waits for all other threads: with a lock around them, this would never end
        def forward(self, inputs):
            forward.wait(60)
            return (inputs[0] * 2,)

        def backward(self, target_input_indexes, grad_outputs):
            backward.wait(60)
            return (grad_outputs[0] * 2,)

    def work():
        x = variable(device, [1.0, 2.0])
        y = xp.sum(Meeting().apply((x,))[0])
        y.backward()
        assert values(x.grad) == [2.0, 2.0]

    at_once(*[work] * COUNT)


def test_formulas_of_eight_threads_over_one_graph_run_at_the_same_time(device):
    meeting = threading.Barrier(COUNT)

    def together(xp, gy):
        meeting.wait(60)
        return gy * 3

    @primitive(x=together)
    def triple(xp, x, /):
        return x * 3

    x = variable(device, np.ones(2).tolist())
    y = xp.sum(triple(x))
    at_once(*[lambda: [y.backward(enable_double_backprop=recorded) for recorded in (False, True)]] * COUNT)
    assert values(x.grad) == [6.0 * COUNT] * 2
