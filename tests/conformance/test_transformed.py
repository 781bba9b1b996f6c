"""The suite on the arrays of transformations: another part for each commit.

Over NumPy, each commit's certificates run the other families.
"""

import itertools
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from tests.turn import commit

import xpgrad
from xpgrad.cli import main
from xpgrad.transforms.batch.batching import Batching
from xpgrad_conformance import conform
from xpgrad_conformance.tangents import TangentsBackend
from xpgrad_conformance.transformed import device_named, is_transformed, within


@pytest.mark.exhaustive(2)
@pytest.mark.parametrize(
    ("name", "families", "parts"),
    [
        ("trace(numpy)", "CDE", None),
        ("@trace(strict):cpu", "LVTX", None),
        ("@trace(strict):cpu", None, 100),
        ("batch(numpy)", "CDE", None),
        ("@batch(strict):cpu", None, 100),
        ("dual(numpy)", "CDE", None),
        ("@dual(strict):cpu", None, 100),
        ("trace(batch(numpy))", None, 100),
    ],
)
def test_a_part_of_the_suite_passes_on_arrays_of_transformations(
    name: str, families: str | None, parts: int | None
) -> None:
    share = None if parts is None else (commit() % parts + 1, parts)
    with xpgrad.using_config("detect_mutation", False):
        report = conform(name, profile="quick", families=families, share=share)
    assert not [f"{each.id}: {each.reason}" for each in report.failures]
    assert not report.mismatches
    assert report.counts().passed > 5


def test_the_devices_of_transformed_arrays_agree_with_the_library() -> None:
    for kind, name in itertools.product(("trace", "batch", "dual"), ("@numpy", "@strict:device1")):
        root, _, index = name.removeprefix("@").partition(":")
        device = device_named(f"@{kind}({root}){':' if index else ''}{index}")
        assert is_transformed(device.backend)
        assert device.handle == xpgrad.get_device(name).handle
        assert within(device.backend, xpgrad.get_device, name) == device


@pytest.mark.parametrize("kind", ["trace", "batch", "dual"])
def test_the_command_takes_a_transformation_over_a_backend(kind: str) -> None:
    run = CliRunner().invoke(main, ["conform", kind, "--over", "numpy", "--jobs", "0", "--family", "load"])
    assert run.exit_code == 0, run.output
    assert f"{kind}(numpy): nothing failed" in run.output


def test_the_command_takes_a_base_for_transformations_only() -> None:
    run = CliRunner().invoke(main, ["conform", "numpy", "--over", "strict"])
    assert run.exit_code == 2
    assert "--over is for trace, batch, dual only, got numpy" in run.output


def test_a_member_that_is_mixed_up_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The suite sees one of three members, and must detect a mix-up."""
    front = Batching.front
    monkeypatch.setattr(Batching, "front", lambda self, x: np.flip(front(self, x), axis=0))
    report = conform("batch(numpy)", families="K", cases=["concat"])
    assert report.failures


def test_a_wrong_tangent_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values and gradients may be right although tangents are wrong."""
    original = TangentsBackend.tangent_on_host
    monkeypatch.setattr(TangentsBackend, "tangent_on_host", lambda self, x: _doubled(original(self, x)))
    report = conform("dual(numpy)", families="K", cases=["multiply"])
    assert [each for each in report.failures if "tangent of output 0" in each.reason]


def _doubled(t: Any) -> Any:
    return None if t is None else t * np.linspace(1, 2, t.size).reshape(t.shape)
