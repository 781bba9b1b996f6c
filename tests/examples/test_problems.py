"""The programs of examples/problems: short, and what each finds."""

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.devices import device_or_skip
from tests.turn import part_of

import xpgrad

FOLDER = Path(__file__).parents[2] / "examples" / "problems"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "picture")
pytest.importorskip("sklearn")


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function from the name of a program to its module and what it finds."""
    monkeypatch.syspath_prepend(FOLDER)

    def run(name: str) -> Any:
        program = importlib.import_module(name)
        return program, program.run()

    return run


@pytest.mark.parametrize("device", ["@torch", "@jax", "@strict", "native:0", "@dask", "@mlx"])
@pytest.mark.parametrize("name", part_of(NAMES, 4))
def test_a_program_runs_on_the_device_that_is_chosen(found: Any, name: str, device: str) -> None:
    """Their data are NumPy's, from SciPy and scikit-learn: the device is that of arrays made without `device=`."""
    with xpgrad.using_device(device_or_skip(device)):
        found(name)


def test_programs_have_at_most_forty_lines() -> None:
    lines = {name: len((FOLDER / f"{name}.py").read_text().splitlines()) for name in NAMES}
    assert max(lines.values()) <= 40, lines


def test_registration_finds_the_motion(found: Any) -> None:
    program, (_, _, p) = found("registration")
    np.testing.assert_allclose(p, program.TRUE, atol=0.02)


def test_regression_forecasts_and_finds_the_features_that_matter(found: Any) -> None:
    _, (y, mean, p) = found("regression")
    assert np.sqrt(np.mean((y - mean) ** 2)) < 0.72
    assert {2, 8} < set(np.argsort(-p["rates"])[:4])  # body mass, triglycerides


def test_heat_finds_the_conductivity(found: Any) -> None:
    program, conductivity = found("heat")
    assert np.abs(conductivity - program.TRUE)[2:-2].max() < 0.05


def test_filtering_finds_the_coefficients(found: Any) -> None:
    program, (b, a) = found("filtering")
    np.testing.assert_allclose(b, program.B, atol=0.01)
    np.testing.assert_allclose(a, program.A, atol=0.01)


def test_only_the_constrained_spline_rises(found: Any) -> None:
    _, (_, _, rising, free) = found("monotone")
    at = np.linspace(0, 10, 300)
    assert np.diff(rising(at)).min() > -1e-12
    assert np.diff(free(at)).min() < -1e-3
