"""The suite on the arrays that compiled functions record: a part in each run of the tests, all on demand."""

import pytest
from click.testing import CliRunner

import xpgrad
from xpgrad.cli import main
from xpgrad_conformance import conform
from xpgrad_conformance.traced import device_named, is_traced, within


@pytest.mark.parametrize(
    ("name", "families", "share"),
    [
        ("trace(numpy)", "LCDEVTRX", None),
        ("trace(numpy)", None, (1, 60)),
        ("@trace(strict):cpu", "LVTX", None),
        ("@trace(strict):cpu", None, (1, 300)),
    ],
)
def test_a_part_of_the_suite_passes_on_traced_arrays(
    name: str, families: str | None, share: tuple[int, int] | None
) -> None:
    with xpgrad.using_config("detect_mutation", False):
        report = conform(name, profile="quick", families=families, share=share)
    assert not [f"{each.id}: {each.reason}" for each in report.failures]
    assert not report.mismatches
    assert report.counts().passed > 5


def test_the_devices_of_traced_arrays_are_those_of_the_library() -> None:
    for name in ("@numpy", "@strict:device1"):
        root, _, index = name.removeprefix("@").partition(":")
        device = device_named(f"@trace({root}){':' if index else ''}{index}")
        assert is_traced(device.backend)
        assert device.handle == xpgrad.get_device(name).handle
        assert within(device.backend, xpgrad.get_device, name) == device


def test_the_command_traces_over_a_backend_and_nothing_else() -> None:
    run = CliRunner().invoke(main, ["conform", "trace", "--over", "numpy", "--jobs", "0", "--family", "load"])
    assert run.exit_code == 0, run.output
    assert "trace(numpy): nothing failed" in run.output
    run = CliRunner().invoke(main, ["conform", "numpy", "--over", "strict"])
    assert run.exit_code == 2
    assert "--over is for trace only, got numpy" in run.output
