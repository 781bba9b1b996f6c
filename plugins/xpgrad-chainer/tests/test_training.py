"""Training, iterators and data sets under Chainer's names."""

import os
from types import SimpleNamespace

import numpy as np
import pytest

pytestmark = pytest.mark.filterwarnings(r"ignore:os\.fork\(\) was called:RuntimeWarning")  # by JAX, after its tests


def trainer_of(chainer, out, updater=None, length=(4, "iteration")):
    model = chainer.links.Classifier(chainer.links.Linear(2, 3))
    optimizer = chainer.optimizers.SGD().setup(model)
    data = chainer.datasets.TupleDataset(np.arange(16, dtype="f").reshape(8, 2), np.zeros(8, "i"))
    iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
    updater = updater or chainer.training.updaters.StandardUpdater
    return chainer.training.Trainer(updater(iterator, optimizer), length, out=str(out))


@pytest.mark.parametrize("name", ["SimpleWriter", "ThreadWriter", "ThreadQueueWriter", "ProcessWriter"])
def test_snapshot_writers_keep_the_newest_files(name, tmp_path) -> None:
    import chainer
    from chainer.training import extensions

    trainer = trainer_of(chainer, tmp_path)
    writer = getattr(extensions.snapshot_writers, name)()
    trainer.extend(extensions.snapshot(writer=writer, n_retains=2), trigger=(1, "iteration"))
    trainer.run()
    assert sorted(os.listdir(tmp_path)) == ["snapshot_iter_3", "snapshot_iter_4"]
    again = trainer_of(chainer, tmp_path, length=(5, "iteration"))
    again.extend(extensions.snapshot(autoload=True), trigger=(100, "iteration"))
    again.run()
    assert again.updater.iteration == 5


def test_parallel_updater_makes_the_steps_of_one_device(tmp_path) -> None:
    import chainer

    def parallel(iterator, optimizer):
        return chainer.training.updaters.ParallelUpdater(iterator, optimizer, devices={"main": "@numpy", "b": "@numpy"})

    trainers = trainer_of(chainer, tmp_path / "a"), trainer_of(chainer, tmp_path / "b", parallel)
    main, other = (trainer.updater.get_optimizer("main").target for trainer in trainers)
    for model in trainers[1].updater._models.values():
        model.copyparams(main)
    for trainer, factor in zip(trainers, (2.0, 1.0), strict=True):  # two losses of half a batch each are added
        trainer.updater.get_optimizer("main").lr *= factor
        trainer.run()
    np.testing.assert_allclose(main.predictor.W.array, other.predictor.W.array, rtol=1e-5)


def test_elapsed_time_before_training_is_an_error(tmp_path) -> None:
    import chainer

    trainer = trainer_of(chainer, tmp_path)
    with pytest.raises(RuntimeError, match="has not been started"):
        trainer.elapsed_time  # noqa: B018 - a property
    trainer.run()
    assert trainer.elapsed_time > 0


def test_old_names_of_arguments(tmp_path) -> None:
    from chainer import testing, training
    from chainer.training import extensions, triggers

    trainer = testing.get_trainer_with_mock_updater((4, "iteration"))
    trainer.out = str(tmp_path)
    trainer.extend(extensions.LogReport(trigger=(2, "iteration"), log_name="other"))
    trainer.run()
    assert os.listdir(tmp_path) == ["other"]
    assert extensions.dump_graph("main/loss", None, {"shape": "box"}, {"shape": "box"}).name is None
    with pytest.raises(ValueError, match="invoke_before_training was removed in Chainer 2"):
        trainer.extend(print, invoke_before_training=True)
    with pytest.raises(ValueError, match="invoke_before_training was removed in Chainer 2"):
        training.make_extension(invoke_before_training=False)
    with testing.assert_warns(DeprecationWarning):
        assert triggers.EarlyStoppingTrigger(patients=5).patience == 5
    stop = triggers.EarlyStoppingTrigger((1, "iteration"), "absent", max_trigger=(4, "iteration"))
    trainer = testing.get_trainer_with_mock_updater(stop)
    with pytest.warns(UserWarning, match="'absent' is not reported"):
        trainer.run()
    assert trainer.updater.iteration == 4


def test_best_value_of_early_stopping() -> None:
    from chainer import testing
    from chainer.training import triggers

    stop = triggers.EarlyStoppingTrigger((1, "iteration"), "loss", patience=2)
    trainer = testing.get_trainer_with_mock_updater(stop)
    trainer.extend(lambda trainer: trainer.observation.update(loss=[3, 1, 4, 5][trainer.updater.iteration - 1]))
    bests = [stop.best, triggers.EarlyStoppingTrigger(monitor="main/accuracy").best]
    trainer.run()
    assert (bests, stop.best, trainer.updater.iteration) == ([np.inf, -np.inf], 1, 4)


@pytest.mark.parametrize("kind", ["SerialIterator", "MultithreadIterator", "MultiprocessIterator"])
def test_iterators_read_rows_of_tabular_datasets(kind) -> None:
    from chainer import iterators
    from chainer.dataset import tabular

    dataset = tabular.from_data((("a", np.arange(5)), ("b", [0, 10, 20, 30, 40])))
    iterator = getattr(iterators, kind)(dataset, 3, shuffle=False)
    first = next(iterator)
    iterator.finalize()
    assert first == [(0, 0), (1, 10), (2, 20)]


def test_tabular_datasets_are_sliced_joined_and_transformed() -> None:
    from chainer.dataset import tabular

    a = tabular.from_data(("a", np.arange(5)))
    b = tabular.from_data((("b", "c"), lambda i: (i * i, -i)), size=5)
    both = a.join(b)
    assert (both.keys, both[2]) == (("a", "b", "c"), (2, 4, -2))
    assert both.slice[::-2, ("c", "a")].asdict().slice[1:, "a"][0] == 2
    assert [*both.concat(both).slice[[9, 0], "b"]] == [16, 0]
    assert both.transform("s", lambda a, b, c: a + b + c).slice[[1, 3]].fetch() == [1, 9]
    with pytest.raises(KeyError):
        both.slice[:, "d"]
    rows: list[slice] = []
    spy = tabular.DelegateDataset(a)
    spy.get_examples = lambda own, columns: rows.append(own) or a.get_examples(own, columns)
    assert spy.concat(spy).get_examples(slice(8, 2, -2), None) == ([3, 1, 4],)
    assert rows == [slice(4, 2, -2), slice(3, None, -2)]


def test_dataset_without_a_network_names_the_place_of_its_file(tmp_path, monkeypatch) -> None:
    from chainer import datasets
    from chainer.dataset import download

    monkeypatch.setattr("urllib.request.urlretrieve", lambda *_: (_ for _ in ()).throw(download_error()))
    root = download.get_dataset_root()
    download.set_dataset_root(str(tmp_path))
    try:
        with pytest.raises(OSError, match=r"put train.npz into .*mnist"):
            datasets.get_mnist()
        directory = download.get_dataset_directory("pfnet/chainer/mnist")
        for part in ("train", "test"):
            np.savez(os.path.join(directory, f"{part}.npz"), x=np.full((3, 784), 255, "u1"), y=np.arange(3))
        train, test = datasets.get_mnist(ndim=3)
        assert (train[1][0].shape, float(train[1][0].max()), int(test[2][1])) == ((1, 28, 28), 1.0, 2)
    finally:
        download.set_dataset_root(root)


def test_lines_of_one_file_are_no_tuples(tmp_path) -> None:
    from chainer.datasets import TextDataset

    path = tmp_path / "lines.txt"
    path.write_text("a\nb\n")
    data = TextDataset([str(path)])
    assert (data[:], TextDataset([str(path)] * 2)[1]) == (["a\n", "b\n"], ("b\n", "b\n"))
    data.close()
    with pytest.raises(ValueError, match="closed"):
        data[0]


def test_updater_counts_the_epochs_of_its_optimizer() -> None:
    import chainer
    from chainer import training

    optimizer = chainer.optimizers.SGD().setup(chainer.links.Linear(1, 1))
    iterator = chainer.iterators.SerialIterator([np.ones(1, "f")], 1)
    training.StandardUpdater(iterator, optimizer, loss_func=lambda x: chainer.functions.sum(x)).update()
    with pytest.raises(RuntimeError, match="an updater counts epochs"):
        optimizer.new_epoch()
    assert optimizer.epoch == 1


def test_vocabulary_of_the_treebank_is_that_of_its_training_text(tmp_path, monkeypatch) -> None:
    from chainer import datasets
    from chainer.dataset import download

    def text(url, path):
        words = "a b\nc a" if "train" in url else "c b"
        with open(path, "w", encoding="utf-8") as file:
            file.write(words)

    monkeypatch.setattr("urllib.request.urlretrieve", text)
    root = download.get_dataset_root()
    download.set_dataset_root(str(tmp_path))
    try:
        assert [x.tolist() for x in datasets.get_ptb_words()] == [[0, 1, 2, 3, 0, 2], [3, 1, 2], [3, 1, 2]]
        assert datasets.get_ptb_words_vocabulary() == {"a": 0, "b": 1, "<eos>": 2, "c": 3}
    finally:
        download.set_dataset_root(root)


def download_error():
    from urllib.error import URLError

    return URLError("no network")


def test_snapshot_has_what_chainer_loads(tmp_path) -> None:
    import chainer
    from chainer.training import extensions

    trainer = trainer_of(chainer, tmp_path)
    trainer.extend(extensions.DumpGraph("main/loss"))
    trainer.extend(extensions.PlotReport(["main/loss"], trigger=(1, "iteration"), filename="loss.png"))
    trainer.run()
    serializer = chainer.serializers.DictionarySerializer()
    serializer.save(trainer)
    assert not serializer.target["extensions/dump_graph/_original_flag"]
    assert "main/loss" in str(serializer.target["extensions/PlotReport/_plot_loss.png"])


def test_classes_that_derive_from_a_log_write_records(tmp_path) -> None:
    import chainer
    from chainer.training import extensions, updaters

    class Log(extensions.LogReport):
        def __call__(self, trainer):
            self._summary.add(trainer.observation)
            if self._trigger(trainer):
                self._log.append({key: float(value) for key, value in self._summary.compute_mean().items()})
                self._init_summary()

        @property
        def log(self):
            return tuple(self._log)

    trainer, log = trainer_of(chainer, tmp_path, length=(4, "iteration")), Log(trigger=(2, "iteration"))
    trainer.extend(log)
    trainer.run()
    assert [sorted(record) for record in log.log] == [["main/accuracy", "main/loss"]] * 2
    assert log._log_name == "log"
    updater = updaters.StandardUpdater(iter(()), chainer.optimizers.SGD().setup(chainer.Link()), loss_scale=2)
    assert updater.loss_scale == 2


def test_table_of_a_log_that_the_trainer_does_not_have(tmp_path) -> None:
    import chainer
    from chainer.training import extensions

    trainer, written = trainer_of(chainer, tmp_path, length=(2, "iteration")), []
    out = SimpleNamespace(write=written.append)
    log = extensions.LogReport(trigger=(1, "iteration"))
    trainer.extend(extensions.PrintReport(["iteration"], log, out), trigger=(1, "iteration"))
    trainer.extend(extensions.observe_lr())
    trainer.run()
    assert "".join(written).split() == ["iteration", "1", "2"]
    saved = chainer.serializers.DictionarySerializer()
    saved.save(trainer)
    resumed, rows = trainer_of(chainer, tmp_path, length=(3, "iteration")), []
    report = extensions.PrintReport(
        ["iteration"], extensions.LogReport(trigger=(1, "iteration")), SimpleNamespace(write=rows.append)
    )
    resumed.extend(report, trigger=(1, "iteration"))
    resumed.extend(extensions.observe_lr())
    chainer.serializers.NpzDeserializer(saved.target).load(resumed)
    resumed.run()
    assert "".join(rows).split() == ["iteration", "1", "2", "3"]
    assert list(trainer._extensions) == ["PrintReport", "_observe_value"]


def test_sums_of_a_micro_average_are_saved_as_by_chainer() -> None:
    from chainer import serializers, testing
    from chainer.training import extensions

    trainer = testing.get_trainer_with_mock_updater((9, "iteration"))
    trainer.observation = {"a": 3, "b": np.array(4, "i")}
    average = extensions.MicroAverage("a", "b", "c", trigger=(2, "iteration"))
    for start, total in ((2, 5), (0.5, 3.5)):
        serializers.NpzDeserializer({"_numerator": np.array(start), "_denominator": np.array(1)}).load(average)
        average(trainer)
        saved = serializers.DictionarySerializer()
        saved.save(average)
        found = [saved.target[name] for name in ("_numerator", "_denominator")]
        assert found == [total, 5]
        assert [np.asarray(x).dtype.kind for x in found] == ["f" if start == 0.5 else "i", "i"]


def test_number_of_values_of_a_summary_is_saved_as_by_chainer() -> None:
    from chainer import DictSummary, serializers

    summary, saved, loaded = DictSummary(), serializers.DictionarySerializer(), DictSummary()
    summary.add({"a": 1.5, "b": (2.5, 0.5)})
    saved.save(summary)
    assert [np.asarray(saved.target[f"_summaries/{i}/_n"]).dtype.kind for i in range(2)] == ["i", "f"]
    serializers.NpzDeserializer({name: np.asarray(value) for name, value in saved.target.items()}).load(loaded)
    assert loaded.compute_mean() == {"a": 1.5, "b": 2.5}


def test_order_of_sequences_by_length() -> None:
    from chainer.links.rnn.n_step_rnn import NStepRNNBase, argsort_list_descent, permutate_list

    sequences = ["a", "bcd", "ef"]
    order = argsort_list_descent(sequences)
    ordered = permutate_list(sequences, order, inv=False)
    assert (order.tolist(), ordered) == ([1, 2, 0], ["bcd", "ef", "a"])
    assert permutate_list(ordered, order, inv=True) == sequences
    import chainer

    assert issubclass(chainer.links.NStepLSTM, NStepRNNBase)


def test_order_of_a_multithread_iterator_is_saved_for_chainer() -> None:
    import chainer

    iterator = chainer.iterators.MultithreadIterator([1, 2, 3], 2)
    saved = chainer.serializers.DictionarySerializer()
    saved.save(iterator)
    assert sorted(saved.target["_order"]) == [0, 1, 2]
    np.testing.assert_array_equal(saved.target["_order"], saved.target["order"])
    iterator.finalize()


def test_padded_examples_have_the_dtype_of_the_first() -> None:
    from chainer.dataset import concat_examples

    batch = [(np.array([1, 2]), 0), (np.array([3]), 1), (np.array([]), 2)]
    x, t = concat_examples(batch, padding=100)
    np.testing.assert_array_equal(x, [[1, 2], [3, 100], [100, 100]])
    assert (x.dtype, t.tolist()) == (np.array([1]).dtype, [0, 1, 2])
