import pickle
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


@pytest.mark.parametrize("draw", [random.uniform, random.normal])
@pytest.mark.parametrize("shape", [(), (0,), (3, 2)])
def test_numbers_have_shape_dtype_and_device(device: xpgrad.Device, draw: Any, shape: tuple[int, ...]) -> None:
    for dtype in (None, "float32", "float64"):
        wanted = None if dtype is None else getattr(device.backend.namespace, dtype)
        made = draw(shape, wanted, device)
        assert tuple(made.shape) == shape
        assert device.is_array_supported(made)
        assert dtype is None or made.dtype == wanted


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


def test_one_seed_gives_the_same_numbers_on_every_device() -> None:
    drawn = []
    for name in ("@numpy", "@strict:cpu", "@strict:device1"):
        random.seed(7, name)
        drawn.append(on_host(random.normal((4,), device=name)).tolist())
    assert drawn[0] == drawn[1] == drawn[2]
    assert len(set(drawn[0])) == 4


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


def test_streams_of_devices_are_separate() -> None:
    random.seed(1, "@numpy")
    random.seed(1, "@strict:device1")
    expected = random.uniform((3,), device="@numpy")
    random.seed(1, "@numpy")
    random.uniform((100,), device="@strict:device1")
    assert random.uniform((3,), device="@numpy").tolist() == expected.tolist()


def test_a_state_can_be_saved_pickled_and_restored(device: xpgrad.Device) -> None:
    random.seed(5, device)
    random.uniform((3,), device=device)
    state = random.get_state(device)
    data = pickle.dumps(state)
    first = on_host(random.normal((3,), device=device)).tolist()
    assert on_host(random.normal((3,), device=device)).tolist() != first
    for each in (state, pickle.loads(data)):
        random.set_state(each, device)
        assert on_host(random.normal((3,), device=device)).tolist() == first


def test_streams_of_threads_are_separate() -> None:
    random.seed(2)
    expected = random.uniform((4,)).tolist()
    random.seed(2)

    def elsewhere() -> tuple[Any, Any]:
        unseeded = random.uniform((4,)).tolist()
        random.seed(2)
        return unseeded, random.uniform((4,)).tolist()

    unseeded, found = in_thread(elsewhere)
    assert random.uniform((4,)).tolist() == expected  # the other thread has not touched this stream
    assert unseeded != expected
    assert found == expected


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_uniform_numbers_are_less_than_1(dtype: str) -> None:
    class Highest:
        """A stream whose numbers are as close to 1 as possible in float64."""

        def random(self, shape: Any) -> Any:
            return np.full(shape, 1.0 - 2.0**-53)

    draw = xpgrad.get_device(-1).backend.xp.random_uniform
    made = draw(shape=(3,), dtype=np.dtype(dtype), device="cpu", generator=Highest())
    assert made.dtype == dtype
    assert (made < 1).all()
    assert (made > 0.999).all()


def test_statistics() -> None:
    random.seed(0)
    u, n = random.uniform((20000,)), random.normal((20000,))
    assert 0 <= u.min() < u.max() < 1
    assert abs(u.mean() - 0.5) < 0.01
    assert abs(n.mean()) < 0.03
    assert abs(n.std() - 1) < 0.02


@pytest.mark.parametrize("dtype", ["int32", "complex64", "bool"])
def test_other_kinds_of_dtype_raise(dtype: str) -> None:
    with pytest.raises(DtypeError, match="uniform: expected a real floating-point dtype, got"):
        random.uniform((2,), np.dtype(dtype))


def test_uniform_like_a_spec(device: xpgrad.Device) -> None:
    backend = device.backend
    spec = backend.spec(placed(np.zeros((2, 3), np.float32), device))
    assert backend.spec(random.uniform_like(spec)) is spec
