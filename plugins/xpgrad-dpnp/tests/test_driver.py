"""The driver in the wheels is registered with OpenCL, unless another driver is set."""

import os
from pathlib import Path

import pytest

from xpgrad_dpnp import driver


@pytest.fixture(autouse=True)
def _unnamed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(driver.VARIABLE, raising=False)
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))


def test_the_driver_in_the_wheels_is_named() -> None:
    driver.name_driver()
    assert Path(os.environ[driver.VARIABLE]) == driver.carried()
    assert Path(os.environ[driver.VARIABLE]).is_file()


def test_what_the_user_names_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(driver.VARIABLE, "other.so")
    driver.name_driver()
    assert os.environ[driver.VARIABLE] == "other.so"


def test_a_registered_driver_is_not_named_again(tmp_path: Path) -> None:
    (tmp_path / "intel.icd").write_text("/opt/intel/lib/libintelocl.so\n")
    driver.name_driver()
    assert driver.VARIABLE not in os.environ


def test_another_vendors_driver_is_no_reason_to_leave_ours_out(tmp_path: Path) -> None:
    (tmp_path / "other.icd").write_text("libother.so\n")
    driver.name_driver()
    assert driver.VARIABLE in os.environ


def test_without_the_wheel_nothing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "DISTRIBUTION", "there-is-no-such-distribution")
    driver.name_driver()
    assert driver.VARIABLE not in os.environ


def test_the_pool_is_widened_unless_the_user_says_how_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(driver.POOL, raising=False)
    driver.widen_pool()
    assert os.environ[driver.POOL] == str(driver.THREADS)
    monkeypatch.setenv(driver.POOL, "8")
    driver.widen_pool()
    assert os.environ[driver.POOL] == "8"
