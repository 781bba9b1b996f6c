"""The suite as pytest tests: three lines in the file of a backend's author."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.faults.testbed import Testbed

import xpgrad
from xpgrad.plugin import Capabilities
from xpgrad_conformance import suite
from xpgrad_conformance.checks import CHECKS


def test_suite_has_a_test_for_each_check_and_the_declaration() -> None:
    tests = suite("@strict:device1", profile="full")
    assert "test_capabilities_are_as_declared" in tests
    names = {name.split("_")[1] for name in tests} - {"capabilities"}
    assert names == {check.id for check in CHECKS}


def test_suite_of_an_unknown_backend_is_an_error() -> None:
    with pytest.raises(xpgrad.SpecifierError, match="unknown device '@xyzzy:0'"):
        suite("@xyzzy:0")
    with pytest.raises(ValueError, match="expected the profile 'quick', 'thin' or 'full', got 'soak'"):
        suite("numpy", profile="soak")


def test_wrong_declaration_fails() -> None:
    tests = suite("@strict:device1", Capabilities(missing={"take": "wrong"}))
    with pytest.raises(AssertionError, match="take on @strict:device1: declared missing, but the probe finds it"):
        tests["test_capabilities_are_as_declared"]()


def test_results_agree_with_pytest() -> None:
    bed = Testbed()
    for name in "exp", "log":
        bed.replace(name, lambda original, x: original(x) + 1)
    bed.devices()
    missing = {"complex64": "no", "complex128": "no"}
    facts = Capabilities(missing=missing, expected={"K01[exp,float64,*": "known", "K01[sin,*": "wrong"})
    test = suite(f"@{bed.backend.name}:1", facts)["test_K01_value"]
    items = {item.id.partition("@")[0]: item for item in test.pytestmark[0].args[1]}  # type: ignore[attr-defined]
    with pytest.raises(pytest.skip.Exception, match="complex64: no"):
        test(items["K01[exp,complex64,"])
    with pytest.raises(pytest.xfail.Exception, match="known"):
        test(items["K01[exp,float64,"])
    with pytest.raises(AssertionError, match=r"differs at(.|\n)*from xpgrad_conformance import reproduce"):
        test(items["K01[log,float64,"])
    with pytest.raises(AssertionError, match="it passes, but is declared to fail: wrong"):
        test(items["K01[sin,float64,"])
    test(items["K01[cos,float64,"])


@pytest.mark.exhaustive(1)
def test_three_lines_are_a_test_file(tmp_path: Path) -> None:
    file = tmp_path / "test_conformance.py"
    file.write_text(
        "from xpgrad_conformance import suite\n\nglobals().update(suite('@strict:device1'))\n", encoding="utf-8"
    )
    chosen = "A01 and sum-axis or declared"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", chosen, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout, done.stdout


def test_each_test_has_the_name_of_its_check() -> None:
    tests = suite("@strict:device1")
    made = SimpleNamespace(**tests)
    assert made.test_K01_value.__doc__.startswith("Values, dtype and device of results")
