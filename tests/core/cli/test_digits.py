"""`xpgrad demo digits`, and the page of training code behind it."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.devices import DEVICES, device_or_skip
from threadpoolctl import threadpool_limits

import xpgrad
from xpgrad.cli import main
from xpgrad.cli.digits import HELD_OUT, Epoch, train


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """As the command does: threads that wait for each other on a busy machine take twenty times as long."""
    with threadpool_limits(1):
        yield


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_demo_learns_to_97_percent_on_unseen_scans(seed: int) -> None:
    *_, last = train("@numpy", epochs=30, seed=seed)
    assert last.accuracy >= 0.97
    assert last.loss < 0.3


def test_the_same_seed_trains_the_same_model() -> None:
    assert list(train("@numpy", epochs=2, seed=3)) == list(train("@numpy", epochs=2, seed=3))


@pytest.fixture(scope="module")
def on_the_host() -> list[Epoch]:
    """Results of the first epochs with NumPy."""
    with threadpool_limits(1):
        return list(train("@numpy", epochs=2))


@pytest.mark.parametrize("specifier", [*DEVICES, "@strict:device2", "@torch", "@cupy:0", "cuda:0"])
def test_demo_learns_equally_on_every_device(specifier: str, on_the_host: list[Epoch]) -> None:
    for there, here in zip(train(device_or_skip(specifier), epochs=2), on_the_host, strict=True):
        assert there.loss == pytest.approx(here.loss, rel=1e-3)
        assert abs(there.accuracy - here.accuracy) <= 3 / HELD_OUT


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("specifier", ["@numpy", "@strict:device2"])
def test_compiled_it_learns_the_same_from_programs(specifier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    def compiled(step: Callable[..., Any]) -> Any:
        made.append(compile_(step, exact=True))
        return made[0]

    compile_ = xpgrad.compile
    monkeypatch.setattr(xpgrad, "compile", compiled)
    device = device_or_skip(specifier)
    assert list(train(device, epochs=3, compiled=True)) == list(train(device, epochs=3))
    hits, misses, kinds, _ = made[0].cache_info()
    assert (hits + misses, kinds) == (3 * 22, 3)  # the first step, when there is no gradient; batches of 65 and of 66
    assert misses <= 6


def test_the_command_trains_compiled() -> None:
    result = CliRunner().invoke(main, ["demo", "digits", "--epochs", "1", "--compile"])
    assert result.exit_code == 0, result.output
    assert "Test accuracy 9" in result.output


@pytest.mark.slow
def test_demo_runs_on_jax_with_default_32_bits() -> None:
    device_or_skip("@jax")
    command = [sys.executable, "-m", "xpgrad", "demo", "digits", "--epochs", "1", "--device", "@jax"]
    environment = {**os.environ, "JAX_ENABLE_X64": "0", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "Test accuracy 9" in done.stdout


@pytest.mark.parametrize(
    ("name", "words"),
    [("nowhere/curve.png", "does not exist"), ("curve.nonsense", "Matplotlib cannot write .nonsense")],
)
def test_an_unwritable_image_raises_before_the_training(tmp_path: Path, name: str, words: str) -> None:
    result = CliRunner().invoke(main, ["demo", "digits", "--plot", str(tmp_path / name)])
    assert result.exit_code == 2
    assert words in " ".join(result.output.split())
    assert "epoch" not in result.output


def test_the_command_prints_each_epoch_and_draws_the_curve(tmp_path: Path) -> None:
    picture = tmp_path / "curve.png"
    result = CliRunner().invoke(main, ["demo", "digits", "--epochs", "2", "--plot", str(picture)])
    assert result.exit_code == 0, result.output
    assert "epoch   2  loss" in result.output
    assert "Test accuracy" in result.output
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("device", "words"),
    [("@nowhere", "unknown device '@nowhere'"), ("native:7", "got native:7"), ("", "unknown device ''")],
)
def test_a_device_that_cannot_be_used_is_one_clear_line(device: str, words: str) -> None:
    result = CliRunner().invoke(main, ["demo", "digits", "--device", device])
    assert result.exit_code == 2
    assert words in result.output
    assert "Traceback" not in result.output
