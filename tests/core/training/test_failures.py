"""A failing call of iterators, reporters, updaters, triggers, extensions and trainers changes no state."""

import io
import tempfile
from pathlib import Path

import numpy as np
import pytest
from tests.core.test_failures import check_failures, net, ready, saved
from tests.core.training.steps import trainer

import xpgrad
from xpgrad import iterators, serializers
from xpgrad.iterators import ShuffleOrderSampler
from xpgrad.reporter import DictSummary, Reporter
from xpgrad.training import StandardUpdater, Trainer, extensions, triggers
from xpgrad.training.lock import locked

DATA = np.arange(21, dtype="float32").reshape(7, 3) / 7
DRAWN = "/_drawn", "/_pending", "/_executor", "/_step", "/_random"
"""Orders and batches that are kept for the next call, streams of random numbers, and a compiled step."""


def order():
    return ShuffleOrderSampler(np.random.RandomState(0))


def updater(compiled=False, kind=iterators.SerialIterator):
    optimizer, iterator = ready("MomentumSGD"), kind(DATA, 3, order_sampler=order())
    for _ in range(2):
        iterator.next()
    made = StandardUpdater(iterator, optimizer, loss_func=optimizer.target.loss, compiled=compiled)
    if compiled:
        for _ in range(3):
            made.update()
    return made


def updating(*args, until="_step"):
    def make(path):
        made = updater(*args)
        return made.update, (made,), until

    return make


def setting_up(path):
    two = ready(), ready("SGD")
    options = {"device": "@strict:cpu", "loss_scale": 4.0}
    return lambda: StandardUpdater([], dict(zip(("main", "other"), two, strict=True)), **options), two, ""


def reading(kind):
    def make(path):
        iterator = kind(DATA, 3, order_sampler=order())
        for _ in range(2):
            iterator.next()
        return iterator.next, (iterator,), ""

    return make


def restarting(path):
    iterator = iterators.SerialIterator(DATA, 3, order_sampler=order())
    iterator.next()
    return iterator.reset, (iterator,), ""


def loop_of(path):
    loop = Trainer(updater(), triggers.EarlyStoppingTrigger((2, "iteration"), "x"), str(path / "out"))
    held_out = iterators.SerialIterator(DATA, 2, repeat=False, order_sampler=order())
    loop.extend(extensions.Evaluator(held_out, loop.updater.get_optimizer("main").target))
    loop.extend(extensions.LogReport(trigger=(2, "iteration")))
    loop.extend(extensions.ExponentialShift("lr", 0.5), trigger=triggers.MinValueTrigger("x"))
    loop.extend(extensions.PrintReport(), trigger=triggers.TimeTrigger(2))
    return loop


def loading(path):
    one, other = loop_of(path), loop_of(path)
    for extension in ("LogReport", "ExponentialShift", "PrintReport"):
        other.get_extension(extension)._t = 3
    other.updater.update()
    other.observation = {"x": 1.0}
    data = saved(other)
    return lambda: serializers.load_npz(io.BytesIO(data), one), (one,), ""


def extending(path):
    loop, extension = trainer(path), extensions.LogReport()
    return lambda: loop.extend(extension, "mine", (3, "epoch")), (loop, extension), ""


def called(make):
    """Return a call of an extension or a trigger at its second iteration."""

    def made(path):
        part, loop = make(), trainer(path)
        (path / "out").mkdir(exist_ok=True)
        model = net()
        loop.updater.get_all_optimizers = lambda: {"main": ready("SGD")}
        getattr(part, "initialize", lambda trainer: None)(loop)
        loop.extend(extensions.LogReport(trigger=(1, "iteration"), filename=None))
        for loop.updater.iteration in (1, 2):
            loop.observation = {"x": float(loop.updater.iteration), "y": model.loss(DATA)}
            loop.get_extension("LogReport")(loop)
            if loop.updater.iteration == 1:
                part(loop)
        loop._seconds = 5.0
        return (lambda: part(loop)), (part, loop.observation, Listing(path)), "_settle"

    return made


class Listing:
    """The names and contents of the files below a path."""

    def __init__(self, path):
        self.path = path

    @property
    def __dict__(self):
        return {str(each): each.read_bytes() for each in sorted(self.path.rglob("*")) if each.is_file()}


def evaluator():
    model = net()
    held_out = iterators.SerialIterator(DATA, 3, repeat=False, order_sampler=order())
    return extensions.Evaluator(held_out, model, eval_func=lambda x: xpgrad.report({"loss": model.loss(x)}, model))


def locking(path):
    lock = locked(str(path))
    return lock.__enter__, (Listing(path),), ""


def reporting(path):
    reporter, model = Reporter(), net()
    reporter.add_observer("main", model)
    reporter.observation = {"before": 1}
    values = {"one": 1, "loss": model.loss(DATA), "two": 2}
    return lambda: reporter.report(values, model), (reporter.observation,), ""


def observing(path):
    reporter, model = Reporter(), net()
    return lambda: reporter.add_observers("main", model.namedlinks()), (reporter,), ""


def adding(path):
    summary, x = DictSummary(), net().loss(DATA)
    summary.add({"x": x})
    return lambda: summary.add({"y": (x, 2), "x": x}), (summary,), ""


EVERY = 2, "iteration"
CALLS = {
    "update": updating(),
    "update, read ahead": updating(False, iterators.MultithreadIterator),
    "update, compiled": updating(True, until="store"),
    "updater": setting_up,
    "next": reading(iterators.SerialIterator),
    "next, read ahead": reading(iterators.MultithreadIterator),
    "reset": restarting,
    "load_npz of a trainer": loading,
    "extend": extending,
    "locked": locking,
    "report": reporting,
    "add_observers": observing,
    "DictSummary.add": adding,
    "Evaluator": called(evaluator),
    "LogReport": called(lambda: extensions.LogReport(trigger=EVERY)),
    "PrintReport": called(lambda: extensions.PrintReport(["x"], out=io.StringIO())),
    "MicroAverage": called(lambda: extensions.MicroAverage("x", "y", "ratio", EVERY)),
    "ExponentialShift": called(lambda: extensions.ExponentialShift("lr", 0.5)),
    "snapshot": called(lambda: extensions.snapshot(filename="at_{.updater.iteration}", target=net())),
    "IntervalTrigger": called(lambda: triggers.IntervalTrigger(*EVERY)),
    "ManualScheduleTrigger": called(lambda: triggers.ManualScheduleTrigger([2], "iteration")),
    "TimeTrigger": called(lambda: triggers.TimeTrigger(3)),
    "MinValueTrigger": called(lambda: triggers.MinValueTrigger("x", EVERY)),
    "EarlyStoppingTrigger": called(lambda: triggers.EarlyStoppingTrigger(EVERY, "x", max_trigger=(3, "iteration"))),
}


@pytest.mark.exhaustive(1)
@pytest.mark.parametrize("name", CALLS)
def test_a_failure_at_each_step_leaves_the_state_unchanged(name, tmp_path) -> None:
    if name == "updater":
        pytest.importorskip("array_api_strict")
    check_failures(lambda: CALLS[name](Path(tempfile.mkdtemp(dir=tmp_path))), DRAWN)
