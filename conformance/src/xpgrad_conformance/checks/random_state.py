"""Family R, random state: reproducible streams for each thread and device, and the distributions of numbers."""

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from xpgrad import Device, random, using_config
from xpgrad.array_api.namespace import namespace
from xpgrad.backend.plugins import plugins
from xpgrad.backend.random import replaying, snapshot
from xpgrad.functions import dropout
from xpgrad.transforms import checkpoint
from xpgrad.types import Array
from xpgrad_conformance.check import check
from xpgrad_conformance.checks.concurrent_calls import in_another_thread
from xpgrad_conformance.subject import Subject
from xpgrad_conformance.table.comparisons import assert_place

DRAWS: dict[str, Callable[..., Array]] = {"uniform": random.uniform, "normal": random.normal}
SAMPLE = 20_000
LARGE = 257, 4097, 9001, 65_539
"""Sizes of draws, with an incomplete last block."""
NEAR = 6.0  # tolerance of means, in standard errors


@contextmanager
def _streams_restored(*devices: Device) -> Iterator[None]:
    """Context manager that restores the streams of this thread."""
    tokens = [(variable, variable.set(value)) for variable, value in replaying(snapshot(devices)).items()]
    try:
        yield
    finally:
        for variable, token in tokens:
            variable.reset(token)


def _drawn(s: Subject, name: str, shape: tuple[int, ...], device: Device, dtype: str = "") -> Any:
    return s.host(DRAWS[name](shape, s.dtype_of(dtype) if dtype else None, device))


@check("R11")
def seeds(s: Subject) -> None:
    """A seed begins a reproducible stream, independent of earlier draws; further draws continue the stream."""
    with _streams_restored(*s.places):
        for device in s.places:
            for name in DRAWS:
                random.seed(71, device)
                first, second = (_drawn(s, name, (7,), device) for _ in range(2))
                random.seed(72, device)
                other = _drawn(s, name, (7,), device)
                _drawn(s, "normal", (3,), device)
                random.seed(71, device)
                again = _drawn(s, name, (7,), device), _drawn(s, name, (7,), device)
                what = f"random.{name} on {device}"
                assert np.array_equal(first, again[0]), f"{what}: one seed gave {first}, then {again[0]}"
                assert np.array_equal(second, again[1]), f"{what}: after one seed 7 numbers, then {second}, {again[1]}"
                assert not np.array_equal(first, second), f"{what} gave the same numbers twice: {first}"
                assert not np.array_equal(first, other), f"{what}: two seeds gave the same numbers: {first}"
                assert len(set(first.tolist())) == 7, f"{what} repeats itself: {first}"


@check("R12")
def states(s: Subject) -> None:
    """A state brings a stream back to where it was, also after pickle and after an odd number of numbers."""
    with _streams_restored(*s.places):
        for device in s.places:
            for name in DRAWS:
                for before in ("uniform", "normal"):
                    random.seed(73, device)
                    _drawn(s, before, (3,), device)
                    state = pickle.loads(pickle.dumps(random.get_state(device)))
                    first = _drawn(s, name, (5,), device)
                    _drawn(s, "uniform", (11,), device)
                    random.set_state(state, device)
                    again = _drawn(s, name, (5,), device)
                    what = f"random.{name} on {device}, after 3 numbers of random.{before}"
                    assert np.array_equal(first, again), f"{what}: one state gave {first}, then {again}"


@check("R13", needs=("random_numbers_of_the_host",))
def one_stream_everywhere(s: Subject) -> None:
    """One seed gives the numbers of the host on every device."""
    with _streams_restored(*s.places):
        for device in s.places:
            for name in DRAWS:
                random.seed(74, device)
                found = _drawn(s, name, (7,), device, s.wide)
                generator = plugins.host.generator(74)
                expected = generator.random((7,)) if name == "uniform" else generator.standard_normal((7,))
                near = np.allclose(found, expected, rtol=1e-6, atol=1e-6)
                assert near, f"random.{name} on {device} after seed 74 gave {found}, the host gives {expected}"


@check("R14")
def streams_of_devices(s: Subject) -> None:
    """Each device has a separate stream: draws and seeds on one device do not affect the other."""
    here, there = s.pair
    with _streams_restored(*s.pair):
        for name in DRAWS:
            random.seed(75, here)
            random.seed(76, there)
            expected = [_drawn(s, name, (4,), here) for _ in range(2)]
            random.seed(75, here)
            random.seed(76, there)
            found = [_drawn(s, name, (4,), here)]
            _drawn(s, name, (9,), there)
            random.seed(77, there)
            _drawn(s, name, (2,), there)
            found.append(_drawn(s, name, (4,), here))
            for number, (one, two) in enumerate(zip(expected, found, strict=True)):
                assert np.array_equal(one, two), (
                    f"random.{name} on {here} gave {two} in draw {number}, where {there} was used between, "
                    f"and {one} without that"
                )


@check("R15", needs=("threads",))
def streams_of_threads(s: Subject) -> None:
    """Each thread has a separate stream: draws and seeds of another thread do not affect it."""
    with _streams_restored(s.device):
        for name in DRAWS:
            random.seed(78, s.device)
            expected = [_drawn(s, name, (4,), s.device) for _ in range(2)]

            def other(name: str = name) -> Any:
                random.seed(78, s.device)
                return [_drawn(s, name, (4,), s.device) for _ in range(2)]

            random.seed(78, s.device)
            found = [_drawn(s, name, (4,), s.device)]
            there = in_another_thread(other)
            found.append(_drawn(s, name, (4,), s.device))
            for who, numbers in (("another thread", there), ("this thread, while another drew,", found)):
                same = all(map(np.array_equal, expected, numbers))
                assert same, f"random.{name}: after one seed {who} drew {numbers}, expected {expected}"


@check("R16")
def place_dtype_shape(s: Subject) -> None:
    """Random numbers have the requested device, dtype and shape, including 0-d and empty shapes."""
    shapes = [(), (1,), (3, 4), *([(0,), (2, 0)] if s.has("empty_arrays") else [])]
    with _streams_restored(*s.places):
        for device in s.places:
            for name, draw in DRAWS.items():
                for dtype in ("float32", s.wide):
                    for shape in shapes:
                        x = draw(shape, s.dtype_of(dtype), device)
                        what = f"random.{name}({shape}, {dtype}) on {device}"
                        assert_place(device, x, what)
                        assert tuple(x.shape) == shape, f"{what} has shape {tuple(x.shape)}"
                        found = s.backend.dtype_name(x.dtype)
                        assert found == dtype, f"{what} has dtype {found}"
                default = draw((2,), None, device)
                wanted = device.backend.namespace.asarray(0.0, device=device.handle).dtype
                assert default.dtype == wanted, f"random.{name} without a dtype gave {default.dtype}, expected {wanted}"


class _Highest:
    """A host generator whose uniform numbers are as near to 1 as their dtype allows; other methods are unchanged."""

    def __init__(self) -> None:
        self._real = np.random.default_rng(79)

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Return the largest numbers below 1."""
        return np.full(() if size is None else size, np.nextafter(np.ones((), dtype), 0, dtype=dtype), dtype)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


@check("R17")
def uniform_range(s: Subject) -> None:
    """Uniform numbers are in [0, 1), evenly, and never 1, also where the dtype is narrower than the host's numbers."""
    with _streams_restored(s.device):
        for dtype in ("float32", s.wide):
            draw, kind = s.backend.xp.random_uniform, s.dtype_of(dtype)
            made = draw(shape=(9,), dtype=kind, device=s.device.handle, generator=_Highest())
            highest = s.host(s.backend.restore(made))
            assert (highest < 1).all(), f"random_uniform in {dtype} rounds the largest numbers below 1 to 1: {highest}"
            random.seed(80, s.device)
            found = _drawn(s, "uniform", (SAMPLE,), s.device, dtype).astype(np.float64)
            what = f"{SAMPLE} numbers of random.uniform in {dtype} on {s.device}"
            assert found.min() >= 0.0, f"{what} reach down to {found.min()}"
            assert found.max() < 1.0, f"{what} reach up to {found.max()}"
            counts, _ = np.histogram(found, 10, (0.0, 1.0))
            error = np.sqrt(SAMPLE * 0.09)
            assert (np.abs(counts - SAMPLE / 10) < NEAR * error).all(), f"{what}, in tenths of [0, 1), are {counts}"


@check("R18")
def normal_moments(s: Subject) -> None:
    """Normal numbers have mean 0, variance 1 and the tails of the normal distribution, and are independent."""
    with _streams_restored(s.device):
        random.seed(81, s.device)
        found = _drawn(s, "normal", (SAMPLE // 10, 10), s.device, "float32").astype(np.float64)
        what = f"{SAMPLE} numbers of random.normal in float32 on {s.device}"
        moments = ("mean", 1, 0.0, 1.0), ("variance", 2, 1.0, 2.0), ("third moment", 3, 0.0, 15.0)
        for name, power, expected, spread in (*moments, ("fourth moment", 4, 3.0, 96.0)):
            mean, near = np.mean(found**power), NEAR * np.sqrt(spread / SAMPLE)
            assert abs(mean - expected) < near, f"{what}: the {name} is {mean:.4f}, expected {expected} to {near:.4f}"
        for axis in (0, 1):
            beside = np.mean(found * np.roll(found, 1, axis))
            assert abs(beside) < NEAR / np.sqrt(SAMPLE), f"{what}: neighbours along axis {axis} correlate: {beside:.4f}"


@check("R19")
def noise(s: Subject) -> None:
    """Dropout lies on the device of its input, comes again from one seed, and keeps about the share it is to keep."""
    with _streams_restored(*s.places), using_config("train", True):
        for device in s.places:
            values = s.values((40, 50), 0.5, 1.5)
            outs = []
            for _ in range(2):
                random.seed(82, device)
                x = s.variable(values, device=device)
                y = dropout(x, 0.25)
                namespace(device.backend).sum(y).backward()
                assert_place(device, y.array, f"dropout on {device}")
                assert_place(device, x.grad, f"the gradient of dropout on {device}")
                outs.append((s.host(y), s.host(x.grad)))
            (one, slope), (two, _) = outs
            assert np.array_equal(one, two), f"dropout on {device} after one seed differs from itself"
            kept = one != 0
            assert abs(kept.mean() - 0.75) < NEAR * np.sqrt(0.1875 / kept.size), f"dropout(0.25) kept {kept.mean()}"
            expected = np.where(kept, values / 0.75, 0.0)
            assert np.allclose(one, expected, rtol=s.rtol()), f"dropout on {device}: got {one}"
            assert np.allclose(slope, kept / 0.75, rtol=s.rtol()), f"the gradient of dropout: got {slope}"


@check("R20")
def drawn_again(s: Subject) -> None:
    """A function recomputed for its gradient draws the same numbers, and does not advance the stream."""
    with _streams_restored(*s.places):
        for device in s.places:
            values = s.values((4, 5), 0.5, 1.5)
            x = s.variable(values, device=device)
            spec = x.node.spec
            random.seed(83, device)
            y = checkpoint(lambda x, spec=spec: x * random.uniform_like(spec))(x)
            namespace(device.backend).sum(y).backward()
            after = _drawn(s, "uniform", (4,), device)
            random.seed(83, device)
            factor = s.host(random.uniform_like(spec))
            s.expect(y, values * factor, "x * random numbers", device=device)
            what = "the gradient of x * random numbers, which are drawn again for it,"
            s.expect(x.grad, factor, what, device=device)
            expected = _drawn(s, "uniform", (4,), device)
            assert np.array_equal(after, expected), (
                f"random.uniform on {device} after a computation that was repeated gave {after}, expected {expected}"
            )


@check("R22")
def draws_differ(s: Subject) -> None:
    """Thousands of draws from one seed are all different, and so are consecutive numbers in large draws."""
    with _streams_restored(s.device):
        random.seed(11, s.device)
        dtype = s.dtype_of(s.wide)
        for name in ("uniform", "normal"):
            draw = getattr(random, name)
            met = {s.host(draw((4,), dtype, s.device)).tobytes() for _ in range(1500)}
            assert len(met) == 1500, f"{1500 - len(met)} of 1,500 draws of 4 {name} numbers are equal to earlier ones"
            for size in LARGE:
                found = [s.host(draw((size,), dtype, s.device)).astype(np.float64) for _ in range(3)]
                rows = np.concatenate([each[:-1] + 1j * each[1:] for each in found])
                again = rows.size - np.unique(rows).size
                assert not again, f"{again} pairs of {name} numbers occur again in 3 draws of {size}"
