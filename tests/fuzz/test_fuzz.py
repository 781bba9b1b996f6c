"""Some random programs of each family, the same in every run; `python -m tests.fuzz` runs more programs."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.backends.c_executor.groups_to_compile import has_compiler
from tests.devices import device_or_skip
from tests.fuzz import checks
from tests.fuzz.batched import batched
from tests.fuzz.compiled import compiled, compiled_threads
from tests.fuzz.executors import executors, executors_threads
from tests.fuzz.forward import forward
from tests.fuzz.mixes import mixes
from tests.fuzz.modes import modes

pytestmark = pytest.mark.exhaustive(2)


def expect_none_differs(family: Callable[..., str | None], name: str, seeds: range) -> None:
    """Run a program of a family for each seed."""
    device = device_or_skip(name)
    wrong = {seed: family(np.random.default_rng(seed), device) for seed in seeds}
    assert not {seed: text for seed, text in wrong.items() if text}


@pytest.mark.parametrize("name", ["@numpy", "@torch", "native:0"])
@pytest.mark.parametrize(("family", "count"), [("graph", 40), ("threads", 20), ("ties", 40), ("half", 4)])
def test_random_programs_agree_with_other_libraries(family: str, count: int, name: str) -> None:
    expect_none_differs(getattr(checks, family), name, range(count))


@pytest.mark.parametrize(
    ("name", "count"), [("@numpy", 200), ("native:0", 40), ("@strict:device1", 30), ("@torch", 30)]
)
def test_compiled_functions_are_the_eager_ones_to_the_bit(name: str, count: int) -> None:
    expect_none_differs(compiled, name, range(count))


def test_compiled_functions_are_the_eager_ones_in_two_threads() -> None:
    expect_none_differs(compiled_threads, "@numpy", range(30))


@pytest.mark.skipif(not has_compiler(), reason="no C compiler")
@pytest.mark.parametrize(("name", "count", "threads"), [("@numpy", 10, 2), ("native:0", 3, 2)])
def test_compiled_functions_are_near_the_eager_ones_in_c(
    name: str, count: int, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XPGRAD_CACHE_DIR", str(tmp_path / "cache"))
    expect_none_differs(executors, name, range(count))
    expect_none_differs(executors_threads, name, range(1, threads))


@pytest.mark.parametrize(
    ("family", "name", "count"),
    [
        (batched, "@numpy", 250),
        (batched, "native:0", 40),
        (batched, "@strict:device1", 40),
        (forward, "@numpy", 250),
        (forward, "native:0", 40),
        (forward, "@strict:device1", 40),
        (mixes, "@numpy", 6),
        (modes, "@numpy", 60),
        (modes, "native:0", 10),
    ],
)
def test_transformations_agree_with_loops_and_reverse_mode_and_jax(
    family: Callable[..., str | None], name: str, count: int
) -> None:
    expect_none_differs(family, name, range(count))
