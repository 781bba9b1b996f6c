"""The examples at their quick sizes: results on real data, on two devices, and detection of a wrong gradient."""

import argparse
import functools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples import gaussian_process, maximum_likelihood, pde_adjoint, phase_retrieval
from tests.devices import device_or_skip
from tests.docs.documents import ROOT

import xpgrad
from xpgrad.transforms import stop_gradient

pytestmark = pytest.mark.exhaustive(1)

EXAMPLES = (gaussian_process, maximum_likelihood, pde_adjoint, phase_retrieval)
DEVICES = "@numpy", "@strict:device1", "native:0", "@torch"
"""With JAX they run in 32 bits, below. On dask each of hundreds of steps would make the lazy graph longer."""
ON_DEVICES = pytest.mark.parametrize("device", DEVICES)


def quick(example: Any, device: str = "@numpy", **smaller: int) -> Any:
    with xpgrad.using_device(device_or_skip(device)):  # as with XPGRAD_DEVICE
        return example.run(**{**example.QUICK, **smaller})


def wrong(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` with a gradient that is one percent too long."""

    def g(*args: Any, **kwargs: Any) -> Any:
        y = f(*args, **kwargs)
        return 1.01 * y - 0.01 * stop_gradient(y)

    return g


@ON_DEVICES
def test_gaussian_process_forecasts_three_years_within_two_ppm(device: str) -> None:
    result = quick(gaussian_process, device)
    assert len(result.held_back) == 36
    assert result.rmse < 1.5  # the seasonal cycle is ±3 ppm, and the trend contributes 4 in these years
    assert 0.7 < result.coverage <= 1
    assert result.gradient_error < 1e-5
    assert 2 < result.hyperparameters["season"] < 5


@pytest.mark.parametrize("device", [*DEVICES, "@dask"])
def test_maximum_likelihood_agrees_with_statsmodels(device: str) -> None:
    result = quick(maximum_likelihood, device)
    assert result.disagreement < 1e-5  # statsmodels stops there
    assert result.log_likelihood == pytest.approx(result.peer_log_likelihood, rel=1e-12)
    assert result.log_likelihood > result.poisson_log_likelihood + 1000
    z = (result.profile[:, 0] - result.estimates[1]) / result.errors[1]
    np.testing.assert_allclose(result.profile[:, 1], -(z**2) / 2, atol=0.2)
    assert result.profile[:, 1].max() < 1e-8


@ON_DEVICES
def test_phase_retrieval_recovers_the_picture_to_the_noise(device: str) -> None:
    result = quick(phase_retrieval, device)
    assert result.error(result.recovered) < 1e-3
    assert 0.2 < result.error(result.start) < 0.8
    assert result.gradient_error < 1e-6
    assert result.misfits[-1] < 1e-5 * result.misfits[0]


def test_pde_adjoint_finds_the_source_and_predicts_the_gauge_held_back() -> None:
    result = quick(pde_adjoint)
    assert result.taylor_order == pytest.approx(2, abs=0.01)
    assert result.error < 0.5
    assert result.held_back_rmse < 0.4 * result.held_back_rms
    assert result.peak < 0.5 * result.plain_peak


@pytest.mark.parametrize("device", ["@strict:device1", "native:0", "@torch"])
def test_pde_adjoint_is_the_same_on_another_device(device: str) -> None:
    device_or_skip(device)
    size = {**pde_adjoint.QUICK, "minutes": 4, "iterations": 3}
    result, expected = pde_adjoint.run(device, **size), pde_adjoint.run("@numpy", **size)
    assert result.taylor_order == pytest.approx(2, abs=0.01)
    np.testing.assert_allclose(result.found, expected.found, atol=1e-6)


def same(one: Any, other: Any) -> bool:
    """Whether two results have the same figures, without times and memory of gradients."""
    skipped = ("Timed", "plain_peak", "peak")
    return all(
        np.array_equal(a, b) if isinstance(a, np.ndarray) else bool(a == b)
        for name, a, b in zip(one._fields, one, other, strict=True)
        if name not in skipped and type(a).__name__ not in (*skipped, "Sea")
    )


@pytest.mark.filterwarnings("error::xpgrad.CompileWarning")
@pytest.mark.parametrize("device", ["@numpy", "@strict:device1"])
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda module: module.__name__.split(".")[-1])
def test_every_example_finds_the_same_when_it_runs_compiled(
    example: Any, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xpgrad, "compile", functools.partial(xpgrad.compile, exact=True))
    smaller = {
        gaussian_process: {"first": 1988, "last": 1993},
        maximum_likelihood: {"rows": 500, "points": 1},
        pde_adjoint: {"minutes": 4, "iterations": 4},
        phase_retrieval: {"steps": 20},
    }[example]
    device_or_skip(device)
    size = {**example.QUICK, **smaller}
    compiled, eager = example.run(device, **size, compiled=True), example.run(device, **size)
    assert same(compiled, eager)


IN_32_BITS = """
from examples import gaussian_process, maximum_likelihood, pde_adjoint, phase_retrieval
result = gaussian_process.run("{device}", **gaussian_process.QUICK)
assert result.rmse < 1.5 and result.coverage > 0.7 and result.gradient_error < 0.1, result
result = maximum_likelihood.run("{device}", **maximum_likelihood.QUICK | {"points": 1})
assert result.disagreement < 1e-2, result
result = phase_retrieval.run("{device}", **phase_retrieval.QUICK)
assert result.error(result.recovered) < 1e-3 and result.gradient_error < 1e-2, result.gradient_error
result = pde_adjoint.run("{device}", **pde_adjoint.QUICK | {"minutes": 10, "iterations": 2})
assert abs(result.taylor_order - 2) < 0.05, result
"""


@pytest.mark.slow
@pytest.mark.parametrize("device", ["@jax", "@strict:no_float64"])
def test_every_example_runs_with_32_bits(device: str) -> None:
    device_or_skip(device)
    environment = {**os.environ, "JAX_ENABLE_X64": "0", "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    command = [sys.executable, "-c", IN_32_BITS.replace("{device}", device)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, env=environment)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda module: module.__name__.split(".")[-1])
@pytest.mark.parametrize("name", ["nowhere/picture.png", "picture.nonsense"])
def test_an_unwritable_image_raises_immediately(example: Any, name: str, tmp_path: Path) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=f"{name} cannot be written"):
        example.picture(str(tmp_path / name))
    assert example.picture(str(tmp_path / "picture.png")) == tmp_path / "picture.png"


@pytest.mark.parametrize(
    ("example", "name", "seen"),
    [
        (gaussian_process, "exp", lambda result: result.gradient_error > 1e-3),
        (maximum_likelihood, "log1p", lambda result: result.disagreement > 1e-3),
        (phase_retrieval, "abs", lambda result: result.gradient_error > 1e-3),
        (pde_adjoint, "take", lambda result: result.taylor_order < 1.9),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_wrong_gradient_is_seen(
    monkeypatch: pytest.MonkeyPatch, example: Any, name: str, seen: Callable[[Any], bool]
) -> None:
    monkeypatch.setattr(example.xp, name, wrong(getattr(example.xp, name)))
    assert seen(quick(example, **({"minutes": 4, "iterations": 1} if example is pde_adjoint else {})))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda module: module.__name__.split(".")[-1])
def test_every_example_runs_as_a_program_and_draws(example: Any, tmp_path: Path) -> None:
    plot = tmp_path / "picture.png"
    command = [sys.executable, str(ROOT / example.__file__), "--quick", "--plot", str(plot)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) >= 4
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_out_of_core_agrees_with_numpy_and_stays_within_its_memory() -> None:
    pytest.importorskip("distributed")
    script = Path(gaussian_process.__file__).with_name("out_of_core.py")
    done = subprocess.run([sys.executable, str(script), "--quick"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith(("least squares", "logistic"))]
    assert len(rows) == 2
    for row in rows:
        assert float(row.split()[-3]) < 1e-12  # the difference from NumPy
