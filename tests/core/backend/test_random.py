from typing import Any

import numpy as np
import pytest
from tests.processes import output_of
from tests.threads import in_thread

import xpgrad
from xpgrad import random
from xpgrad.config import called_with
from xpgrad.errors import DtypeError
from xpgrad.testing.arrays import on_host, placed


def test_default_dtype_follows_the_device() -> None:
    for name, dtype in {"@numpy": "float64", "@strict:device2": "float32", "@strict:no_float64": "float32"}.items():
        device = xpgrad.get_device(name)
        assert device.backend.dtype_name(random.normal((2,), device=device).dtype) == dtype


def test_the_current_device_is_used() -> None:
    with xpgrad.using_device("@strict:device1") as device:
        random.seed(3)
        first = random.uniform((2,))
        assert device.is_array_supported(first)
    random.seed(3, "@strict:device1")
    assert on_host(random.uniform((2,), device="@strict:device1")).tolist() == on_host(first).tolist()


def test_a_seed_without_a_device_applies_to_all_devices(device: xpgrad.Device) -> None:
    places = (device, "@numpy", "@strict:device1", "native:0")
    random.uniform((3,), device=device)
    random.seed(11)
    first = [on_host(random.normal((4,), device=place)).tolist() for place in places]
    random.seed(11)
    again = [on_host(random.normal((4,), device=place)).tolist() for place in places]
    assert first == again
    random.seed(11, device)
    assert on_host(random.normal((4,), device=device)).tolist() == first[0]


def test_a_seed_without_a_device_applies_to_backends_loaded_later() -> None:
    program = """
import sys, xpgrad
xpgrad.random.seed(5)
assert "array_api_strict" not in sys.modules
print([float(v) for v in xpgrad.random.uniform((3,), device="@strict:device1")])
"""
    assert output_of("-c", program) == output_of("-c", program)


def test_a_seed_applies_to_its_thread_and_an_invalid_one_raises() -> None:
    random.seed(11)
    expected = random.uniform((3,)).tolist()
    random.seed(11)
    in_thread(random.seed, 12)
    with pytest.raises(TypeError):
        random.seed("eleven")  # type: ignore[arg-type]  # on purpose
    assert random.uniform((3,)).tolist() == expected


def test_a_stream_first_used_in_a_checkpoint_is_replayed_from_the_seed() -> None:
    random.seed(13)
    held = random.snapshot(())
    first = random.uniform((3,)).tolist()
    random.seed(14)
    assert called_with(random.replaying(held), random.uniform, (3,)).tolist() == first
    random.seed(14)
    expected = random.uniform((3,)).tolist()
    random.seed(14)
    called_with(random.replaying(held), random.uniform, (3,))
    assert random.uniform((3,)).tolist() == expected


def test_an_unseeded_stream_is_replayed_too() -> None:
    def draw() -> tuple[Any, Any]:
        held = random.snapshot(())
        drawn = random.uniform((3,), device="@strict:device1")
        return drawn, called_with(random.replaying(held), random.uniform, (3,), device="@strict:device1")

    drawn, again = in_thread(draw)
    assert on_host(drawn).tolist() == on_host(again).tolist()


@pytest.mark.parametrize("dtype", ["int32", "complex64", "bool"])
def test_other_kinds_of_dtype_raise(dtype: str) -> None:
    with pytest.raises(DtypeError, match="uniform: expected a real floating-point dtype, got"):
        random.uniform((2,), np.dtype(dtype))


def test_uniform_like_a_spec(device: xpgrad.Device) -> None:
    backend = device.backend
    spec = backend.spec(placed(np.zeros((2, 3), np.float32), device))
    assert backend.spec(random.uniform_like(spec)) is spec
