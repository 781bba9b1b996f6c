"""Several threads that share an object get the results of one thread."""

import os
import subprocess
import sys
import threading
from collections import Counter

import numpy as np
import pytest
from tests.core.training.steps import trainer
from tests.threads import at_once, in_thread, switching_often

import xpgrad
import xpgrad.functions as F
import xpgrad.links as L
from xpgrad import Sequential, Variable, iterators, optimizers, reporter

THREADS, CALLS = 8, 5
X = np.arange(6, dtype="float32").reshape(2, 3) / 7


@pytest.fixture(autouse=True)
def _frequent_switches():
    with switching_often(1e-5):
        yield


def in_threads(call):
    """Return the results of the calls in all threads."""
    return [result for found in at_once(*[lambda: [call() for _ in range(CALLS)]] * THREADS) for result in found]


def of_optimizer(make):
    """Return steps of a model, and its parameters and number of steps after them."""
    model = Sequential(L.Linear(3, 4, initialW=0.1), F.tanh, L.Linear(4, 1, initialW=0.2))
    optimizer = optimizers.Adam().setup(model)
    step = make(optimizer, lambda x: F.sum(F.square(model(x) - 1)))
    return lambda: step(X), lambda results: (optimizer.t, [p.array.tobytes() for p in model.params()])


def eager_step():
    return of_optimizer(lambda optimizer, loss: lambda x: optimizer.update(loss, x))


def compiled_step():
    return of_optimizer(lambda optimizer, loss: optimizer.compile(loss, exact=True))


def both_steps():
    def make(optimizer, loss):
        compiled = optimizer.compile(loss, exact=True)
        return lambda x: compiled(x) if threading.get_ident() % 2 else optimizer.update(loss, x)

    return of_optimizer(make)


def compiled_that_writes():
    w, count = Variable(np.ones(3, "float32")), Variable(np.zeros(1, "int64"))

    @xpgrad.compile(exact=True)
    def step(x):
        w.cleargrad()
        loss = F.sum(F.square(x * w))
        loss.backward()
        w.array = w.array - 0.01 * w.grad
        count.array = count.array + 1
        return loss

    return lambda: step(X), lambda results: (count.array.tolist(), w.array.tolist())


def compiled_that_reads():
    model = Sequential(L.Linear(None, 4), F.tanh, L.Linear(4, 1))
    model(X)
    loss = xpgrad.compile(lambda x: F.sum(model(x)), exact=True, strict=True, verify=3)
    return lambda: loss(X).array.tobytes(), lambda results: (len(results), len(set(results)), loss.cache_info().size)


def compiled_with_gradients():
    square = xpgrad.compile(lambda x: F.sum(x * x), exact=True)

    def call():
        x = Variable(X)
        square(x).backward()
        return x.grad.tobytes()

    return call, lambda results: (len(results), set(results))


def iterating(kind):
    def make():
        iterator = kind(range(7), 3)
        counts = lambda results: sorted(Counter(i for batch in results for i in batch).values())  # noqa: E731
        return lambda: tuple(iterator.next()), lambda results: (iterator.epoch_detail, counts(results))

    return make


def summing():
    summary = reporter.DictSummary()

    def call():
        summary.add({"x": 2.0, "weighted": (np.float32(3), 0.5)})

    return call, lambda results: (summary.compute_mean(), summary._summaries["x"].count)


def reporting():
    shared = reporter.Reporter()

    def call():
        with shared.scope(seen := {}):
            xpgrad.report({"x": threading.get_ident()})
            xpgrad.report({"y": threading.get_ident()})
        return seen == dict.fromkeys("xy", threading.get_ident())

    return call, all


def drawing():
    def call():
        xpgrad.random.seed(3)
        return xpgrad.random.normal((3,)).tobytes()

    return call, lambda results: set(results)


def configuring():
    def call():
        with xpgrad.using_config("train", False), xpgrad.no_backprop_mode():
            return xpgrad.config.train or (Variable(X) * 2).requires_grad

    return call, any


OBJECTS = {
    "optimizer.update": eager_step,
    "optimizer.compile": compiled_step,
    "both": both_steps,
    "compiled, writes": compiled_that_writes,
    "compiled, reads": compiled_that_reads,
    "compiled, gradients": compiled_with_gradients,
    "SerialIterator": iterating(iterators.SerialIterator),
    "MultithreadIterator": iterating(iterators.MultithreadIterator),
    "DictSummary": summing,
    "Reporter": reporting,
    "random": drawing,
    "config": configuring,
}


@pytest.mark.parametrize("name", OBJECTS)
def test_one_object_in_several_threads_gives_the_results_of_one_thread(name) -> None:
    call, state = OBJECTS[name]()
    expected = state([call() for _ in range(THREADS * CALLS)])
    call, state = OBJECTS[name]()
    assert state(in_threads(call)) == expected


def test_a_trainer_is_run_by_one_thread(tmp_path) -> None:
    loop, errors = trainer(tmp_path, (3, "iteration")), []

    def again(_):
        def run():
            try:
                loop.run()
            except RuntimeError as error:
                errors.append(str(error))

        in_thread(run)

    loop.extend(again, name="again")
    loop.run()
    text = "Trainer.run: it is running in this thread or another; make a trainer for each thread"
    assert errors == [text] * 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_process_forked_during_a_step_of_another_thread_can_step() -> None:
    program = """
import os, signal, threading, warnings
import numpy as np
from xpgrad import functions as F, links as L, optimizers
warnings.simplefilter("ignore", DeprecationWarning)
model, begun, ends = L.Linear(3, 2), threading.Event(), threading.Event()
optimizer = optimizers.SGD().setup(model)
def loss(x):
    begun.set()
    ends.wait()
    return F.sum(model(x))
thread = threading.Thread(target=optimizer.update, args=(loss, np.ones((2, 3), "f")))
thread.start()
begun.wait()
child = os.fork()
ends.set()
if not child:
    signal.alarm(20)
    optimizer.update(loss, np.ones((2, 3), "f"))
    os._exit(0 if optimizer.t == 1 else 1)
thread.join()
assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
