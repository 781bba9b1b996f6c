"""Output of failing generated checks: executable programs that show the error."""

from typing import Any

import numpy as np
import pytest
from tests.faults.testbed import Testbed

from xpgrad.backend.plugins import plugins
from xpgrad_conformance.checks import CHECKS
from xpgrad_conformance.outcome import outcome
from xpgrad_conformance.plan import plan


def _failure(bed: Testbed, check: str, operation: str = "") -> str:
    """Return the reason of the first failure of a check."""
    items = plan(bed.devices()[:1], checks=[each for each in CHECKS if each.id == check], quick=True)
    for item in items:
        if not operation or (item.operation is not None and item.operation.name == operation):
            found = outcome(item, bed.backend.capabilities)
            if found.state == "failed":
                return found.reason
    raise AssertionError(f"{check} passes")


def _printed(reason: str, capsys: pytest.CaptureFixture[str]) -> str:
    names: dict[str, Any] = {}
    before = plugins.default_device
    try:
        exec(compile(reason.partition("\n")[2], "<program>", "exec"), names)  # it calls xpgrad.use
    finally:
        plugins.default_device = before
    return capsys.readouterr().out


def test_program_of_a_wrong_gradient_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    bed = Testbed()
    bed.kernel("tanh.x", lambda gy, x, y: np.where(y.size > 5, 7.5, gy * (1 - y * y)).astype(gy.dtype))
    reason = _failure(bed, "G50", "tanh")
    assert "gradients of xp.tanh(x0): the gradient of x0" in reason
    assert "7.5" in _printed(reason, capsys)


def test_modes_of_a_generated_program_differ_where_only_raw_sweeps_are_wrong() -> None:
    bed = Testbed()
    bed.kernel("tanh.x", lambda gy, x, y: 1.5 * gy * (1 - y * y))
    reason = _failure(bed, "W51")
    assert "reverse" in reason
    assert "xp.tanh" in reason


def test_generated_program_is_shrunk_to_the_step_that_fails(capsys: pytest.CaptureFixture[str]) -> None:
    bed = Testbed()
    bed.replace("cumulative_sum", lambda original, x, /, **options: original(x, **options) + 0.125)
    reason = _failure(bed, "W50")
    assert reason.count("xp.") == 1, reason
    assert "125" in _printed(reason, capsys)
