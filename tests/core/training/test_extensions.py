"""Evaluation, logs, plots, bars and snapshots."""

import io
import json
import re

import numpy as np
import pytest
from tests.core.stores import Store
from tests.core.training.steps import Steps, trainer

import xpgrad as chainer
from xpgrad import links as L
from xpgrad.errors import NotANumber
from xpgrad.training import Trainer, extensions


class Model(chainer.Chain):
    """Reports the sum of a batch, whether it trains, and whether a graph is recorded."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.part = L.Linear(1, 1)

    def forward(self, x):
        y = self.part(x)
        chainer.report(
            {"sum": chainer.functions.sum(x).item(), "train": chainer.config.train, "graph": y.requires_grad}, self
        )
        chainer.report({"deep": 1}, self.part)


def batches(n=4):
    x = np.arange(n, dtype=np.float32)[:, None]
    return chainer.iterators.SerialIterator(x, 2, repeat=False, shuffle=False)


def test_an_evaluator_reports_means_without_training_and_without_a_graph(device) -> None:
    model = Model().to_device(device)
    evaluator = extensions.Evaluator(batches(), model, device=device)
    assert evaluator() == {"main/sum": 3.0, "main/train": 0, "main/graph": 0, "main/part/deep": 1}
    evaluator.name = evaluator.default_name
    with chainer.Reporter() as _, chainer.report_scope(seen := {}):
        evaluator()
    assert seen["validation/main/sum"] == 3.0
    assert chainer.config.train


def test_an_evaluator_knows_its_parts_and_shows_a_bar(capsys) -> None:
    model, iterator = Model(), batches()
    evaluator = extensions.Evaluator(iterator, model, progress_bar=True)
    assert (evaluator.get_all_iterators(), evaluator.get_all_targets()) == ({"main": iterator}, {"main": model})
    assert evaluator()["main/sum"] == 3.0
    shown = capsys.readouterr().out
    assert "validation" in shown
    assert "100%" in shown


def test_an_evaluator_copies_an_iterator_that_cannot_start_again_and_calls_a_hook() -> None:
    class Once(chainer.dataset.Iterator):
        left = 2

        def __next__(self):
            if not self.left:
                raise StopIteration
            self.left -= 1
            return [np.ones(1, np.float32)]

    hooked: list = []
    iterator = Once()
    evaluator = extensions.Evaluator(iterator, {"main": Model()}, eval_hook=hooked.append)
    assert evaluator() == evaluator()
    assert (iterator.left, hooked) == (2, [evaluator, evaluator])
    evaluator = extensions.Evaluator({"main": batches()}, Model(), eval_func=lambda x: chainer.report({"n": len(x)}))
    assert evaluator() == {"n": 2}


def test_a_log_has_the_means_of_intervals_and_is_a_file(tmp_path) -> None:
    loop = trainer(tmp_path)
    loop.extend(extensions.LogReport(trigger=(3, "iteration"), postprocess=lambda record: record.update(more=1)))
    loop.run()
    log = json.loads((tmp_path / "out" / "log").read_text())
    assert [(r["x"], r["epoch"], r["iteration"], r["more"]) for r in log] == [(2, 0, 3, 1), (5, 1, 6, 1)]
    assert all(record["elapsed_time"] > 0 for record in log)


def test_rows_are_printed_once_under_their_heads(tmp_path) -> None:
    loop, out = trainer(tmp_path), io.StringIO()
    loop.extend(extensions.LogReport())
    loop.extend(extensions.PrintReport(["epoch", "x", "a_very_long_name"], out=out))
    loop.run()
    assert [line.split() for line in out.getvalue().splitlines()] == [["epoch", "x", "a_very_long_name"], ["1", "2.5"],
                                                                     ["2", "6.5"]]  # fmt: skip
    assert len({len(line) for line in out.getvalue().splitlines()}) == 1


def test_name_of_a_log_has_values_of_the_record(tmp_path) -> None:
    loop = trainer(tmp_path, (2, "epoch"))
    loop.extend(extensions.LogReport(filename="log_{epoch}_{.updater.epoch}"))
    loop.run()
    assert {path.name for path in tmp_path.glob("out/log*")} == {"log_1_1", "log_2_2"}


def test_evaluator_warns_of_an_iterator_that_repeats() -> None:
    with pytest.warns(UserWarning, match="iterator 'main' repeats, so the evaluation may not end"):
        extensions.Evaluator(chainer.iterators.SerialIterator([1], 1), {})


def test_a_micro_average_is_a_ratio_of_sums(tmp_path) -> None:
    loop = trainer(tmp_path, (4, "iteration"))
    loop.extend(lambda t: t.observation.update(hits=t.updater.iteration, all=2), name="count", priority=300)
    loop.extend(extensions.MicroAverage("hits", "all", "ratio", (2, "iteration")))
    loop.extend(extensions.LogReport(["ratio"], (2, "iteration")))
    loop.run()
    assert [record["ratio"] for record in loop.get_extension("LogReport").log] == [3 / 4, 7 / 4]


def test_interval_of_a_micro_average_ends_at_an_observation(tmp_path) -> None:
    loop = trainer(tmp_path, (8, "iteration"))
    loop.extend(lambda t: t.observation.update(hits=1, all=4), name="count", priority=300, trigger=(3, "iteration"))
    loop.extend(extensions.MicroAverage("hits", "all", "ratio", (4, "iteration")))
    found = []
    loop.extend(lambda t: found.append(t.observation.get("ratio")), name="found", trigger=(1, "iteration"))
    loop.run()
    assert found == [None] * 5 + [1 / 4, None, None]


@pytest.mark.parametrize(
    ("optimizer", "rate"),
    [(chainer.optimizers.SGD(lr=0.5), 0.5), (chainer.optimizers.Adam(alpha=0.5), 0.5 * (1 - 0.999) ** 0.5 / (1 - 0.9))],
)
def test_learning_rates_and_other_values_are_observed(tmp_path, optimizer, rate) -> None:
    loop = trainer(tmp_path, (1, "epoch"))
    optimizer.t = 1
    loop.updater.get_optimizer = {"main": optimizer}.get
    loop.extend(extensions.observe_lr())
    loop.extend(extensions.observe_value("twice", lambda t: 2 * t.updater.iteration))
    loop.run()
    assert loop.observation == {"x": 4, "lr": pytest.approx(rate), "twice": 8}


def test_the_bars_end_full_and_know_their_length(tmp_path) -> None:
    out = io.StringIO()
    for length in (None, (8, "iteration")):
        loop = trainer(tmp_path)
        loop.extend(extensions.ProgressBar(length, update_interval=3, out=out))
        loop.run()
    assert re.findall(r"total .* (\d+\.\d) %.* 8 it, 2 epochs", out.getvalue()) == ["100.0", "100.0"]
    loop = trainer(tmp_path, lambda t: True)
    loop.extend(extensions.ProgressBar())
    with pytest.raises(TypeError, match=r"^ProgressBar: the stop trigger has no length; pass training_length="):
        loop.run()


def test_curves_are_saved_as_a_picture_also_after_loading(tmp_path) -> None:
    pytest.importorskip("matplotlib")
    assert extensions.PlotReport.available()
    seen, store = [], Store()

    def lines(figure, axes, summary):
        seen.append(axes.lines[0].get_xydata().tolist())

    loops = [trainer(tmp_path, (1, "epoch")), trainer(tmp_path, (2, "epoch"))]
    for loop in loops:
        loop.extend(extensions.PlotReport(["x", "absent"], "epoch", postprocess=lines, filename="x.png"))
    loops[0].run()
    loops[0].serialize(store)
    loops[1].serialize(store.loaded())
    loops[1].run()
    assert seen == [[[1.0, 2.5]], [[1.0, 2.5], [2.0, 6.5]]]
    assert (tmp_path / "out" / "x.png").read_bytes()[:4] == b"\x89PNG"


def test_the_graph_of_the_first_iteration_is_dumped(tmp_path) -> None:
    class Graphs(Steps):
        def update(self):
            self.iteration += 1
            x = chainer.Variable(np.ones((), np.float32))
            chainer.report({"y": chainer.functions.exp(x)})

    loop = Trainer(Graphs(), (2, "iteration"), out=str(tmp_path))
    loop.extend(extensions.DumpGraph("y"))
    loop.run()
    text = (tmp_path / "cg.dot").read_text()
    assert text.startswith("digraph graphname{rankdir=TB;")
    assert "exp" in text
    assert loop.observation["y"].creator_node is None
    assert not chainer.config.keep_graph_on_report
    loop = Trainer(Graphs(), (2, "iteration"), out=str(tmp_path))
    loop.extend(extensions.DumpGraph("z"))
    with pytest.raises(KeyError, match="DumpGraph: 'z' was not reported; got"):
        loop.run(show_loop_exception_msg=False)


def test_snapshots_are_counted_kept_and_loaded(tmp_path) -> None:
    loop = trainer(tmp_path, (5, "iteration"))
    loop.extend(extensions.snapshot(n_retains=2), trigger=(1, "iteration"))
    loop.run()
    out = tmp_path / "out"
    assert sorted(path.name for path in out.iterdir()) == ["snapshot_iter_4", "snapshot_iter_5"]
    other = trainer(tmp_path, (7, "iteration"))
    other.extend(extensions.snapshot(autoload=True), trigger=(7, "iteration"))
    iterations: list = []
    other.extend(lambda t: iterations.append(t.updater.iteration), name="iterations")
    with pytest.warns(UserWarning, match=r"the file has no 'extension_triggers/iterations/.*: this value starts anew"):
        other.run()
    assert iterations == [6, 7]
    assert (out / "snapshot_iter_7").exists()


def test_a_snapshot_is_taken_at_an_error_if_requested(tmp_path) -> None:
    loop = trainer(tmp_path, fails_at=3)
    loop.extend(extensions.snapshot(snapshot_on_error=True), name="one")
    loop.extend(extensions.snapshot(filename="never"), name="two")
    with pytest.raises(ZeroDivisionError):
        loop.run(show_loop_exception_msg=False)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["snapshot_iter_3"]


def test_objects_are_saved_by_a_function_of_file_and_object(tmp_path) -> None:
    saved = []
    loop = trainer(tmp_path, (1, "epoch"))
    loop.extend(extensions.snapshot_object("target", "object_{.updater.epoch}", lambda file, obj: saved.append(obj)))
    loop.extend(extensions.snapshot_object(L.Linear(2, 1), lambda t: "linear"))
    loop.run()
    assert saved == ["target"]
    assert set(np.load(tmp_path / "out" / "linear")) == {"W", "b"}
    with pytest.raises(TypeError, match=r"^snapshot_object: snapshot: autoload finds files by the text of filename"):
        extensions.snapshot_object(None, len, autoload=True)


def test_training_fails_when_a_parameter_is_not_finite(device, tmp_path) -> None:
    model = Model().to_device(device)
    loop = trainer(tmp_path, (3, "iteration"))
    loop.updater.get_all_optimizers = lambda: {"main": chainer.optimizers.SGD().setup(model)}
    loop.extend(extensions.FailOnNonNumber())
    loop.run()
    model.part.W.array = model.part.W.array * float("nan")
    with pytest.raises(NotANumber, match=r"^FailOnNonNumber: parameter /part/W of optimizer 'main' is not finite$"):
        extensions.FailOnNonNumber()(loop)


def test_graphs_that_were_kept_are_cut(tmp_path) -> None:
    x = chainer.Variable(np.ones(3))
    y = chainer.functions.exp(x)
    loop = trainer(tmp_path, (1, "iteration"))
    loop.extend(lambda t: t.observation.update(y=y), name="y", priority=300)
    loop.extend(extensions.unchain_variables())
    loop.run()
    assert y.creator_node is None
