"""The calls of a trainer, their order, and resuming from a snapshot."""

import numpy as np
import pytest
from tests.core.stores import Store
from tests.core.training.steps import trainer
from tests.devices import device_or_skip

import xpgrad as chainer
from xpgrad import links as L
from xpgrad import training
from xpgrad.training import Extension, extensions, make_extension


def test_extensions_are_called_by_priority_and_trigger(tmp_path) -> None:
    calls = []
    loop = trainer(tmp_path, (1, "epoch"))
    loop.extend(lambda t: calls.append(("reader", t.updater.iteration)), name="reader")
    loop.extend(lambda t: calls.append(("writer", t.updater.iteration)), name="writer", priority=300,
                trigger=(2, "iteration"), call_before_training=True)  # fmt: skip
    loop.run()
    assert calls == [("writer", 0), ("reader", 1), ("writer", 2), ("reader", 2), ("reader", 3), ("writer", 4),
                     ("reader", 4)]  # fmt: skip
    assert loop.observation == {"x": 4}
    with pytest.raises(RuntimeError, match=r"^Trainer.run: it has run; make another trainer to go on$"):
        loop.run()


def test_names_are_made_unique_and_looked_up(tmp_path) -> None:
    loop, first, second = trainer(tmp_path), extensions.LogReport(), extensions.LogReport()
    loop.extend(first)
    loop.extend(second)
    assert (loop.get_extension("LogReport"), loop.get_extension("LogReport_1")) == (first, second)
    assert second.name == "LogReport_1"
    with pytest.raises(ValueError, match=r"no extension is named 'no'; known: LogReport, LogReport_1"):
        loop.get_extension("no")
    with pytest.raises(ValueError, match="must not be named 'training'"):
        loop.extend(first, name="training")
    with pytest.raises(TypeError, match="the extension has no name; pass name="):
        trainer(tmp_path).extend(type("Nameless", (), {"__call__": lambda self, t: None})())


def test_an_error_is_passed_to_extensions_which_are_finalized(tmp_path, capsys) -> None:
    events = []

    class Watch(Extension):
        def __call__(self, trainer):
            events.append("call")

        def initialize(self, trainer):
            events.append("initialize")

        def on_error(self, trainer, exc, tb):
            events.append(type(exc).__name__)

        def finalize(self):
            events.append("finalize")

    loop = trainer(tmp_path, fails_at=3)
    loop.extend(Watch())
    with pytest.raises(ZeroDivisionError, match="the third step"):
        loop.run()
    assert events == ["initialize", "call", "call", "ZeroDivisionError", "finalize"]
    assert loop.updater.finalized == 1
    assert "Trainer.run: ZeroDivisionError: the third step" in capsys.readouterr().err


def test_a_decorated_function_has_the_attributes_of_an_extension(tmp_path) -> None:
    calls = []

    @make_extension(trigger=(1, "epoch"), default_name="mine", priority=7, initializer=lambda t: calls.append("first"),
                    finalizer=lambda: calls.append("last"))  # fmt: skip
    def extension(trainer):
        calls.append(trainer.updater.iteration)

    loop = trainer(tmp_path)
    loop.extend(extension)
    loop.run()
    assert calls == ["first", 4, 8, "last"]
    assert loop.get_extension("mine").priority == 7


def test_elapsed_time_counts_the_runs_before_a_snapshot(tmp_path) -> None:
    first, second, store = trainer(tmp_path), trainer(tmp_path), Store()
    first.run()
    first._seconds = 10.0
    first.serialize(store)
    second.serialize(store.loaded())
    assert (first.elapsed_time, second.elapsed_time, second.updater.iteration) == (10.0, 10.0, 8)


class Regression(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1, self.l2 = L.Linear(3, 4, initialW=0.3), L.Linear(4, 1, initialW=0.2)

    def forward(self, x, t):
        loss = chainer.functions.mean_squared_error(self.l2(chainer.functions.tanh(self.l1(x))), t)
        chainer.report({"loss": loss}, self)
        return loss


def regression(tmp_path, epochs, seed, device="@numpy", compiled=False):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(16, 3)).astype(np.float32)
    data = chainer.datasets.TupleDataset(x, x.sum(axis=1, keepdims=True))
    np.random.seed(seed)  # noqa: NPY002 - iterators draw from it
    optimizer = chainer.optimizers.MomentumSGD(0.05).setup(Regression())
    iterator = chainer.iterators.SerialIterator(data, 6)
    updater = training.StandardUpdater(iterator, optimizer, device=device, compiled=compiled)
    loop = training.Trainer(updater, (epochs, "epoch"), out=str(tmp_path))
    held_out = chainer.iterators.SerialIterator(data, 8, repeat=False, shuffle=False)
    loop.extend(extensions.Evaluator(held_out, optimizer.target, device=device))
    loop.extend(extensions.LogReport(trigger=(1, "iteration")))
    loop.extend(extensions.ExponentialShift("lr", 0.9), trigger=(1, "iteration"))
    return loop


def test_a_snapshot_names_states_as_chainer_does(tmp_path) -> None:
    loop = regression(tmp_path, 1, 1)
    loop.run()
    saved = chainer.serializers.DictionarySerializer()
    saved.save(loop)
    assert {
        "stop_trigger/previous_epoch_detail", "extension_triggers/LogReport/previous_iteration",
        "extensions/ExponentialShift/_t", "updater/iterator:main/order", "updater/optimizer:main/t",
        "updater/model:main/l1/W", "updater/iteration",
    } <= set(saved.target)  # fmt: skip
    assert saved.target["extension_triggers/LogReport/previous_iteration"].dtype.kind == "i"
    del saved.target["extensions/ExponentialShift/_init"]  # Chainer saves none
    rest = regression(tmp_path, 2, 1)
    chainer.serializers.NpzDeserializer(saved.target).load(rest)
    assert rest.get_extension("ExponentialShift")._t == loop.get_extension("ExponentialShift")._t > 0


def test_a_model_learns_on_each_device_and_reports(device, tmp_path) -> None:
    loop = regression(tmp_path, 4, 0, device)
    loop.run()
    log = loop.get_extension("LogReport").log
    assert log[-1]["main/loss"] < 0.5 * log[0]["main/loss"]
    assert any("validation/main/loss" in record for record in log)
    assert loop.updater.get_optimizer("main").target.device == device
    assert loop.updater.get_optimizer("main").epoch == 4


@pytest.mark.parametrize("device", ["@numpy", "@strict:cpu"])
def test_compiled_steps_learn_and_report_the_same(device, tmp_path) -> None:
    device_or_skip(device)
    logs = []
    for compiled in (False, True):
        loop = regression(tmp_path, 4, 0, device, compiled)
        loop.run()
        logs.append([record["main/loss"] for record in loop.get_extension("LogReport").log])
    np.testing.assert_allclose(logs[1], logs[0], rtol=1e-4)
