"""Chainer's introductory programs: each runs for some steps on two devices, learns, and resumes from its snapshot."""

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xpgrad

pytestmark = pytest.mark.exhaustive(1)

FOLDER = Path(__file__).parents[2] / "examples" / "chainer" / "introductory"
ON_DEVICES = pytest.mark.parametrize("device", ["@numpy", "native:0"])
pytest.importorskip("sklearn")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """A program's `main` with these options, and its results below the test's directory."""
    monkeypatch.syspath_prepend(FOLDER)
    before = set(sys.modules)

    def call(name: str, device: str, *options: object) -> Any:
        np.random.seed(0)  # noqa: NPY002 - the programs draw from it
        xpgrad.random.seed(0, xpgrad.get_device(device))
        return importlib.import_module(name).main([*map(str, options), "--device", device, "--out", str(tmp_path)])

    with xpgrad.using_device("@numpy"):  # the programs change the thread's device
        yield call
    for name in set(sys.modules) - before:
        if Path(getattr(sys.modules[name], "__file__", None) or "").parent == FOLDER:
            del sys.modules[name]


@ON_DEVICES
def test_mnist_with_a_trainer_reads_four_of_five_digits_and_resumes(run: Any, device: str, tmp_path: Path) -> None:
    run("train_mnist", device, "--unit", 50, "--epoch", 4, "--frequency", 2)
    log = json.loads((tmp_path / "log").read_text())
    assert [record["epoch"] for record in log] == [0, 1, 2, 3, 4]
    assert log[-1]["validation/main/accuracy"] > 0.8 > 0.3 > log[0]["validation/main/accuracy"]
    assert (tmp_path / "cg.dot").read_text().startswith("digraph")
    (snapshot,) = [path for path in tmp_path.glob("snapshot_iter_*") if path.name != "snapshot_iter_58"]
    trainer = run("train_mnist", device, "--unit", 50, "--epoch", 4, "--resume", snapshot)
    resumed = trainer.get_extension("LogReport").log[-1]
    assert resumed["epoch"] == 4
    assert resumed["validation/main/accuracy"] == pytest.approx(log[-1]["validation/main/accuracy"], abs=0.05)


@ON_DEVICES
def test_mnist_with_a_loop_reads_four_of_five_digits_and_resumes(run: Any, device: str, tmp_path: Path) -> None:
    first = run("train_mnist_custom_loop", device, "--unit", 50, "--epoch", 3)
    second = run("train_mnist_custom_loop", device, "--unit", 50, "--epoch", 2, "--resume", tmp_path)
    assert 0.5 < first < second
    assert second > 0.8


@ON_DEVICES
def test_ptb_with_a_trainer_finds_words_that_are_frequent(run: Any, device: str, tmp_path: Path) -> None:
    trainer, perplexity = run(
        "train_ptb", device, "--test", "--unit", 16, "--batchsize", 5, "--bproplen", 5, "--epoch", 3
    )
    assert perplexity < 600  # of 801 words
    assert trainer.updater.epoch == 3
    (record,) = trainer.get_extension("LogReport").log
    assert record["perplexity"] < 801
    assert len(list(tmp_path.glob("model_iter_*"))) == 3
    model = np.load(tmp_path / "model.npz")
    assert model["predictor/l1/upward/W"].shape == (64, 16)


@ON_DEVICES
def test_ptb_with_a_loop_finds_words_that_are_frequent(run: Any, device: str) -> None:
    options = "--test", "--unit", 16, "--batchsize", 5, "--bproplen", 5, "--epoch", 2
    assert run("train_ptb_custom_loop", device, *options) < 600


@ON_DEVICES
@pytest.mark.parametrize(("model", "out_type"), [("skipgram", "ns"), ("cbow", "hsm"), ("skipgram", "original")])
def test_word2vec_learns_and_writes_its_vectors(
    run: Any, device: str, model: str, out_type: str, tmp_path: Path
) -> None:
    options = "--test", "--unit", 10, "--batchsize", 20, "--epoch", 4, "--model", model, "--out-type", out_type
    trainer = run("train_word2vec", device, *options)
    losses = [record["main/loss"] for record in trainer.get_extension("LogReport").log]
    assert len(losses) == 4
    if out_type == "original":  # the other types are sums over windows of random sizes
        assert losses == sorted(losses, reverse=True)
    lines = (tmp_path / "word2vec.model").read_text().splitlines()
    assert lines[0].split()[1] == "10"
    assert len(lines) == int(lines[0].split()[0]) + 1
    assert (tmp_path / "snapshot_epoch_4").exists()
