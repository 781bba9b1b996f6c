"""Fourier transforms of single precision by SciPy, compared with NumPy's in double precision."""

from typing import Any

import numpy as np
import pytest

import xpgrad
from xpgrad import array_api as xp
from xpgrad_numpy.kernels import fourier

scipy_fft = pytest.importorskip("scipy.fft")
BACKEND = xpgrad.get_device("@numpy").backend
ONE_AXIS: tuple[dict[str, Any], ...] = ({}, {"axis": 0}, {"n": 9, "axis": 0}, {"n": 2}, {"n": None, "axis": -2})
SEVERAL: tuple[dict[str, Any], ...] = ({}, {"axes": (0,)}, {"axes": (-1, 0)}, {"s": (3,), "axes": (0,)})


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of SciPy's functions that were called; arrays of any size are large enough."""
    names = list[str]()

    class Recording:
        def __getattr__(self, name: str) -> Any:
            names.append(name)
            return getattr(scipy_fft, name)

    monkeypatch.setattr(fourier, "LEAST", 1)
    monkeypatch.setattr(fourier, "_library", Recording)
    return names


def array(rng: np.random.Generator, kinds: str, *shape: int) -> Any:
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if kinds == fourier.COMPLEX else x).astype(kinds[-1])


@pytest.mark.parametrize("name", fourier.KINDS)
def test_transforms_agree_with_those_in_double_precision(rng: np.random.Generator, calls: list[str], name: str) -> None:
    kernel: Any = BACKEND.xp.kernel(f"fft.{name}")
    for shape in ((5, 6), (4, 3, 7), (16, 16)):
        x = array(rng, fourier.KINDS[name], *shape)
        for norm in ("backward", "ortho", "forward"):
            for options in SEVERAL if name.endswith("n") else ONE_AXIS:
                wanted = getattr(np.fft, name)(x.astype(np.result_type(x, float)), norm=norm, **options)
                y = kernel(x, norm=norm, **options)
                assert y.dtype == np.result_type(wanted.real.astype("f"), y.dtype)
                assert y.itemsize * 2 == wanted.itemsize
                np.testing.assert_allclose(y, wanted, rtol=0, atol=2e-6 * (1 + np.abs(wanted).max()))
    assert set(calls) == {name}


def test_other_arguments_are_left_to_numpy(rng: np.random.Generator, calls: list[str]) -> None:
    x = array(rng, "f", 4, 6)
    for array_, options in ((x.astype(float), {}), (x.astype(">f4"), {}), (x, {"n": 1}), (x[:, :0], {"n": 3})):
        np.testing.assert_allclose(BACKEND.xp.kernel("fft.rfft")(array_, **options), np.fft.rfft(array_, **options))
    for options in ({"axis": 2}, {"n": 0}, {"norm": "other"}):
        with pytest.raises((ValueError, IndexError)):
            BACKEND.xp.kernel("fft.rfft")(x, **options)
    np.testing.assert_allclose(BACKEND.xp.kernel("fft.fftn")(x, axes=(0, 0)), np.fft.fftn(x, axes=(0, 0)), rtol=1e-5)
    with pytest.raises(ValueError, match="points"):
        BACKEND.xp.kernel("fft.irfft")(array(rng, "F", 4, 1))
    assert not calls


def test_raw_recorded_and_compiled_gradients_have_the_same_bits(rng: np.random.Generator, calls: list[str]) -> None:
    x = array(rng, "f", 8, 12)

    def loss(x: Any) -> Any:
        return xp.sum(xp.abs(xp.fft.irfft(xp.fft.rfft(x, axis=1) ** 2, axis=1)) ** 3)

    raw = xpgrad.transforms.grad(loss)(x)
    (recorded,) = xpgrad.grad([loss(v := xpgrad.Variable(x))], [v], enable_double_backprop=True)
    assert recorded is not None
    np.testing.assert_array_equal(raw, recorded.array)
    np.testing.assert_array_equal(raw, xpgrad.compile(xpgrad.transforms.grad(loss), executor="python")(x))
    assert {"rfft", "irfft"} <= set(calls)
