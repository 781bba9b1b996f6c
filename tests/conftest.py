"""Fixtures of all tests: every backend that the core is tested on, and seeded randomness."""

import gc
import os
import random
from collections.abc import Iterator

import numpy as np
import pytest
from _pytest.runner import runtestprotocol
from tests.devices import DEVICES, device_or_skip
from tests.products import left_out
from tests.turn import RUN, commit, has_turn

import xpgrad
from xpgrad.backend.plugins import plugins
from xpgrad.errors import BackendUnavailable

SLOW_PARTS = 8
"""In `make check` each commit runs a twelfth of one of so many parts of the slow tests."""

xpgrad.global_config.detect_mutation = True  # no test may change an array of a graph, except tests of this detection


def pytest_configure(config: pytest.Config) -> None:
    """Compile C in the background only in tests that request it, and keep it in pytest's temporary directory.

    Most tests would be over before their code is compiled. JAX has 64 bits, as in the tests of its plugin.
    """
    os.environ.setdefault("XPGRAD_CODEGEN", "0")
    os.environ.setdefault("JAX_ENABLE_X64", "1")
    if "XPGRAD_CACHE_DIR" not in os.environ and getattr(config, "cache", None) is not None:
        os.environ["XPGRAD_CACHE_DIR"] = str(config.cache.mkdir("xpgrad") / "compiled")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Make the tests without the collector, which would visit all of them again and again: a quarter of the time.

    The collector stays enabled and only has no threshold: dask's module of slices, which is imported here, restores the
    state that it had at its import after each slice. Later collections do not visit the tests.
    """
    thresholds = gc.get_threshold()
    gc.set_threshold(0)
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(*thresholds)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Report of a test that passes its call alone to the process that started this one: 2 messages instead of 6."""
    if not hasattr(item.config, "workerinput"):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


def pytest_report_header() -> str:
    """Say which parts of the long tests run."""
    return f"long tests: {RUN}, of commit {commit():x}; XPGRAD_TESTS=all runs all"


@pytest.fixture
def codegen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs are computed by C where it can be compiled."""
    monkeypatch.delenv("XPGRAD_CODEGEN", raising=False)


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> xpgrad.Device:
    """Each device that the core is tested on."""
    return device_or_skip(request.param)


@pytest.fixture(params=("numpy", "strict"))
def backend(request: pytest.FixtureRequest) -> object:
    """Each backend that the core is tested on."""
    return device_or_skip(f"@{request.param}").backend


@pytest.fixture
def rng() -> np.random.Generator:
    """A seeded stream of random numbers."""
    return np.random.default_rng(0)


@pytest.fixture
def few_objects() -> None:
    """The collector knows the objects of the test alone: among all tests, a collection takes half a second."""
    gc.freeze()


@pytest.fixture(autouse=True)
def _seeded() -> None:
    random.seed(0)
    xpgrad.random.seed(0)


@pytest.fixture(autouse=True)
def _config_is_left_alone() -> Iterator[None]:
    """A test that changes the configuration of its thread, the default device or the collector must restore it."""
    before = dict(xpgrad.config._entries())
    yield
    assert gc.isenabled()
    assert dict(xpgrad.config._entries()) == before
    assert plugins.default_device in (None, plugins.host.default_device)
    assert not xpgrad.get_function_hooks()


@pytest.hookimpl(trylast=True)  # what -k and -m leave out covers no value of a parameter
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests whose turn it is not, and skip what needs a GPU where none is.

    A test that is named always runs; of a file that is named, all but slow tests run.
    """
    if not any("::" in argument for argument in config.args):
        later = {item for item in items if item.get_closest_marker("slow") and not has_turn(item.nodeid, SLOW_PARTS)}
        if not any(argument.endswith(".py") for argument in config.args):
            later |= left_out(item for item in items if item not in later)
        config.hook.pytest_deselected(items=[item for item in items if item in later])
        items[:] = [item for item in items if item not in later]
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if not marked:
        return
    try:
        xpgrad.get_device(0)
    except BackendUnavailable as error:
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=str(error)))
