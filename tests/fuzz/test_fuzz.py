"""Some random programs of each family, the same in every run; `python -m tests.fuzz` runs others, and many."""

import numpy as np
import pytest
from tests.devices import device_or_skip
from tests.fuzz import checks
from tests.fuzz.compiled import compiled, compiled_threads


@pytest.mark.parametrize("name", ["@numpy", "@torch", "native:0"])
@pytest.mark.parametrize(("family", "count"), [("graph", 40), ("threads", 20), ("ties", 40), ("half", 4)])
def test_random_programs_agree_with_other_libraries(family: str, count: int, name: str) -> None:
    device = device_or_skip(name)
    wrong = {seed: getattr(checks, family)(np.random.default_rng(seed), device) for seed in range(count)}
    assert not {seed: text for seed, text in wrong.items() if text}


@pytest.mark.parametrize(
    ("name", "count"), [("@numpy", 200), ("native:0", 40), ("@strict:device1", 30), ("@torch", 30)]
)
def test_compiled_functions_are_the_eager_ones_to_the_bit(name: str, count: int) -> None:
    device = device_or_skip(name)
    wrong = {seed: compiled(np.random.default_rng(seed), device) for seed in range(count)}
    assert not {seed: text for seed, text in wrong.items() if text}


def test_compiled_functions_are_the_eager_ones_in_two_threads() -> None:
    device = device_or_skip("@numpy")
    wrong = {seed: compiled_threads(np.random.default_rng(seed), device) for seed in range(30)}
    assert not {seed: text for seed, text in wrong.items() if text}
