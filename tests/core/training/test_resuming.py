"""Training resumed from a snapshot equals uninterrupted training to the bit, for any interruption."""

import io
import os
import random
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from tests.core.test_failures import Injector
from tests.devices import device_or_skip

import xpgrad
import xpgrad.functions as F
import xpgrad.links as L
from xpgrad import iterators, optimizer_hooks, optimizers
from xpgrad.training import StandardUpdater, Trainer, extensions, make_extension, triggers
from xpgrad.training import trainer as module
from xpgrad.training.extensions.pictures import PlotReport

STEPS = 8
DATA = np.random.default_rng(0).standard_normal((7, 3)).astype("float32")


class Net(xpgrad.Chain):
    """A size that is not known before the first batch, running averages, and random numbers."""

    def __init__(self, dtype=None):
        super().__init__()
        with self.init_scope(), xpgrad.using_config("dtype", np.dtype(dtype or "float32")):
            self.l1, self.bn, self.l2 = L.Linear(None, 4), L.BatchNormalization(4), L.Linear(4, 1)

    def forward(self, x):
        loss = F.mean(F.square(self.l2(F.dropout(F.tanh(self.bn(self.l1(x))), 0.3)) - 1))
        xpgrad.report({"loss": loss, "weighted": (loss, 0.5), "seen": 2.0}, self)
        return loss


class Remembering(xpgrad.Chain):
    """A link with a state, whose graph is cut after each step."""

    def __init__(self, dtype=None):
        super().__init__()
        with self.init_scope():
            self.l1, self.rnn, self.l2 = L.Linear(3, 4), L.LSTM(4, 4), L.Linear(4, 1)

    def forward(self, x):
        if xpgrad.config.train and self.rnn.h is not None:
            self.rnn.h.unchain_backward()
            self.rnn.c.unchain_backward()
        loss = F.mean(F.square(self.l2(self.rnn(F.concat([self.l1(x)] * 2, 0)[:2])) - 1))
        xpgrad.report({"loss": loss, "weighted": (loss, 0.5), "seen": 2.0}, self)
        return loss


class InThreads(iterators.MultiprocessIterator):
    """`MultiprocessIterator` without the time that processes take to start."""

    def _start(self):
        return ThreadPoolExecutor(1)

    _read = iterators.MultithreadIterator._read


def sampled(make):
    return lambda x: iterators.SerialIterator(x, 3, order_sampler=iterators.ShuffleOrderSampler(make()))


def drifting(order, position):
    """Return the order of a sweep whose length differs from the previous length."""
    return np.random.permutation(7)[: 3 + position % 5]  # noqa: NPY002


ITERATORS = {
    "in order": lambda x: iterators.SerialIterator(x, 3, shuffle=False),
    "RandomState": sampled(lambda: np.random.RandomState(random.randrange(99))),
    "Generator": sampled(lambda: np.random.default_rng(random.randrange(99))),
    "lengths": lambda x: iterators.SerialIterator(x, 3, order_sampler=drifting),
    "many sweeps": lambda x: iterators.SerialIterator(x, 20),
    "threads": lambda x: iterators.MultithreadIterator(x, 3),
    "ahead": lambda x: InThreads(x, 3, n_prefetch=5),
}
SHIFTS = {
    "ExponentialShift": partial(extensions.ExponentialShift, "lr", 0.9),
    "InverseShift": partial(extensions.InverseShift, "lr", 0.1, 0.5),
    "LinearShift": partial(extensions.LinearShift, "lr", (0.1, 0.01), (1, 5)),
    "MultistepShift": partial(extensions.MultistepShift, "lr", 0.5, [2, 4]),
    "PolynomialShift": partial(extensions.PolynomialShift, "lr", 0.5, 9),
    "StepShift": partial(extensions.StepShift, "lr", 0.5, 2, target=0.02),
    "WarmupShift": partial(extensions.WarmupShift, "lr", 0.01, 4, 0.1),
}
TRIGGERS = {
    "iterations": lambda: (3, "iteration"),
    "epochs": lambda: (0.8, "epoch"),
    "ManualScheduleTrigger": lambda: triggers.ManualScheduleTrigger([0.5, 2], "epoch"),
    "OnceTrigger": triggers.OnceTrigger,
    "TimeTrigger": lambda: triggers.TimeTrigger(2.5),
    "BestValueTrigger": lambda: triggers.BestValueTrigger("main/loss", lambda a, b: b < a, (2, "iteration")),
    "MaxValueTrigger": lambda: triggers.MaxValueTrigger("main/weighted", (0.5, "epoch")),
    "MinValueTrigger": lambda: triggers.MinValueTrigger("main/loss", triggers.TimeTrigger(1.5)),
    "EarlyStoppingTrigger": lambda: triggers.EarlyStoppingTrigger((2, "iteration"), patience=1),
}
STOPS = {
    "early": lambda: triggers.EarlyStoppingTrigger((1, "iteration"), patience=2, max_trigger=(STEPS, "iteration")),
    "weighted": lambda: triggers.EarlyStoppingTrigger((1, "iteration"), "main/weighted", 2,
                                                      max_trigger=triggers.TimeTrigger(STEPS)),
}  # fmt: skip
HOOKS = (optimizer_hooks.GradientNoise(0.1), optimizer_hooks.WeightDecay(0.1), optimizer_hooks.GradientClipping(0.5),
         optimizer_hooks.GradientLARS(), optimizer_hooks.Lasso(0.01))  # fmt: skip
OPTIMIZERS = [name for name in optimizers.__all__ if isinstance(getattr(optimizers, name), type) and name != "Rule"]
SCHEDULES = {
    name: getattr(optimizers.schedules, name)(0.1, *more)
    for name, more in {"exponential": (0.9,), "cosine": (6,), "polynomial": (6,), "inverse_sqrt": (2,)}.items()
}


def scaled():
    made = optimizers.MomentumSGD(0.1)
    made.use_fp32_update()
    made.loss_scaling(interval=3)
    made.set_loss_scale(8.0)
    return made


CASES = {
    **{f"iterator: {name}": {"iterator": name} for name in ITERATORS},
    **{name: {"shift": name, "trigger": trigger} for name, trigger in zip(SHIFTS, TRIGGERS, strict=False)},
    **{f"trigger: {name}": {"trigger": name} for name in TRIGGERS},
    **{f"stop: {name}": {"stop": name} for name in STOPS},
    **{name: {"optimizer": getattr(optimizers, name)} for name in OPTIMIZERS},
    **{f"schedule: {name}": {"optimizer": partial(optimizers.SGD, rate)} for name, rate in SCHEDULES.items()},
    **{device: {"device": device} for device in ("@strict:cpu", "native:0", "@torch:cpu", "@jax:cpu")},
    "float16": {"optimizer": scaled, "dtype": "float16"},
    "LSTM": {"net": Remembering, "iterator": "in order"},
    "compiled": {"compiled": True},
    "compiled with options": {"compiled": {"exact": True}, "stop": "early"},
    "snapshot first": {"priority": 1000, "stop": "early"},
}


def changed(param):
    param.array = param.array + random.random()


def seed(value):
    np.random.seed(value)  # noqa: NPY002
    random.seed(value)
    xpgrad.random.seed(value)


def made(out, iterator="ahead", shift="ExponentialShift", trigger="iterations", stop=None, optimizer=optimizers.SGD,
         net=Net, dtype=None, compiled=False, device="@numpy", priority=None, saves=True):  # fmt: skip
    data, model = DATA.astype(dtype or "float32"), net(dtype)
    rule = optimizer().setup(model)
    for hook in HOOKS if optimizer is optimizers.MomentumSGD else ():
        rule.add_hook(hook)
    updater = StandardUpdater(ITERATORS[iterator](data), rule, device=device, compiled=compiled)
    loop = Trainer(updater, (STEPS, "iteration") if stop is None else STOPS[stop](), str(out))
    rate = rule.hyperparam.get_dict().get("lr")
    if isinstance(rate, float):
        loop.extend(SHIFTS[shift](), trigger=TRIGGERS[trigger]())
    held_out = iterators.SerialIterator(
        data, 2, repeat=False, order_sampler=iterators.ShuffleOrderSampler(np.random.RandomState(random.randrange(99)))
    )
    loop.extend(extensions.Evaluator(held_out, model, device=device), trigger=TRIGGERS[trigger](),
                call_before_training=True)  # fmt: skip
    if dtype is None:
        loop.extend(extensions.FailOnNonNumber())
    loop.extend(extensions.LogReport(trigger=TRIGGERS[trigger]()), call_before_training=True)
    loop.extend(extensions.PrintReport(out=io.StringIO()), call_before_training=True)
    loop.extend(extensions.MicroAverage("main/loss", "main/seen", "ratio", TRIGGERS[trigger]()))
    loop.extend(extensions.PlotReport("main/loss", trigger=TRIGGERS[trigger]()))
    loop.extend(extensions.ProgressBar((STEPS, "iteration"), out=io.StringIO()))
    if not compiled:
        loop.extend(extensions.DumpGraph("main/loss"))
    loop.extend(extensions.observe_value("drawn", lambda _: random.random() + np.random.rand()),  # noqa: NPY002
                trigger=TRIGGERS[trigger]())  # fmt: skip
    loop.extend(extensions.observe_lr() if rate is not None else extensions.observe_value("none", lambda _: 0))
    loop.extend(extensions.unchain_variables())
    if shift == "ExponentialShift":  # called after the snapshot was taken
        last = make_extension((2, "iteration"), "last", -200)(lambda _: changed(model.l2.b))
        loop.extend(last)
    saving = {"condition": lambda: saves}
    loop.extend(extensions.snapshot_object(model, "model", **saving), trigger=(2, "iteration"))
    loop.extend(extensions.snapshot(autoload=True, **saving), trigger=(1, "iteration"), priority=priority)
    return loop


def printed(loop):
    return loop.get_extension("PrintReport")._out.getvalue()


def state(loop, train, monkeypatch):
    """Train, while a second passes in each iteration, and return the state."""
    with monkeypatch.context() as patched:
        patched.setattr(module.time, "perf_counter", lambda: float(loop.updater.iteration))
        train()
    saved = xpgrad.serializers.DictionarySerializer()
    saved.save(loop)
    return {name: (x.dtype, x.tobytes()) for name, x in saved.target.items()}


@pytest.mark.exhaustive(2)
@pytest.mark.parametrize("name", CASES)
def test_training_broken_off_at_each_iteration_resumes_to_the_bit(name, tmp_path, monkeypatch) -> None:
    options = CASES[name]
    device_or_skip(options.get("device", "@numpy"))
    monkeypatch.setattr(PlotReport, "_draw", lambda self, path: None)  # takes a tenth of a second
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    seed(1)
    loop = made(tmp_path / "whole", **options)
    whole, log = state(loop, loop.run, monkeypatch), printed(loop)
    snapshots = sorted(tmp_path.glob("whole/snapshot_iter_*"))
    assert len(snapshots) > (2 if "stop" in options else STEPS - 1)
    for i, snapshot in enumerate(snapshots):
        (out := tmp_path / str(i)).mkdir()
        seed(i + 2)
        loop = made(out, **options, saves=False)
        if i == 1:
            xpgrad.serializers.load_npz(snapshot, loop)
        else:
            shutil.copy(snapshot, out)
        found = state(loop, loop.run, monkeypatch)
        assert [key for key in whole if found.get(key) != whole[key]] == [], snapshot.name
        assert found.keys() == whole.keys()
        assert log.endswith(printed(loop))


class Interrupting(Injector):
    """Raises nowhere between the first change of a parameter and the end of the update."""

    def __call__(self, frame, event, arg):
        name = frame.f_code.co_qualname
        if event == "call" and name in ("GradientMethod._step", "Trainer._extend"):
            self.updates = name == "GradientMethod._step"
        if not getattr(self, "updates", False):
            super().__call__(frame, event, arg)


def interrupted(out):
    model = Net()
    rule = optimizers.MomentumSGD(0.1).setup(model)
    loop = Trainer(StandardUpdater(ITERATORS["ahead"](DATA), rule), STOPS["early"](), str(out))
    loop.extend(extensions.Evaluator(iterators.SerialIterator(DATA, 2, repeat=False, shuffle=False), model))
    loop.extend(extensions.LogReport(trigger=(2, "iteration")))
    loop.extend(extensions.MicroAverage("main/loss", "main/seen", "ratio", (2, "iteration")))
    loop.extend(extensions.ExponentialShift("lr", 0.9), trigger=TRIGGERS["MinValueTrigger"]())
    loop.extend(extensions.snapshot(snapshot_on_error=True, autoload=True), trigger=(3, "iteration"))
    return loop


@pytest.mark.slow
def test_training_interrupted_at_any_call_resumes_to_the_bit(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    seed(1)
    whole = state(loop := interrupted(tmp_path / "whole"), loop.run, monkeypatch)
    seed(1)
    counting = Interrupting(sys.maxsize, "")
    state(loop := interrupted(tmp_path / "counted"), lambda: counting.run(loop.run), monkeypatch)
    for place in range(0, counting.count, -(-counting.count // 60)):
        out = tmp_path / str(place)
        seed(1)
        loop = interrupted(out)
        training = partial(loop.run, show_loop_exception_msg=False)
        state(loop, partial(Interrupting(place, "").run, training), monkeypatch)
        seed(place if list(out.glob("snapshot_iter_*")) else 1)
        found = state(loop := interrupted(out), loop.run, monkeypatch)
        assert [key for key in whole if found[key] != whole[key]] == [], f"call {place} of {counting.count}"
