"""Fourier transforms of batches, against a loop over the members."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.core.transforms.batch.rows.members import check

import xpgrad
from xpgrad import array_api as xp

fft = xp.fft
COMPLEX: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "fft": (fft.fft, (3, 4)),
    "ifft along the first axis": (lambda x: fft.ifft(x, axis=0, norm="ortho"), (3, 4)),
    "fft, padded": (lambda x: fft.fft(x, n=6), (3, 4)),
    "fftn over all axes": (fft.fftn, (3, 4)),
    "fftn over the last axes": (lambda x: fft.fftn(x, s=(4,)), (3, 4)),
    "ifftn over given axes": (lambda x: fft.ifftn(x, axes=(0,)), (3, 4)),
    "irfft": (lambda x: fft.irfft(x, n=5), (2, 3)),
    "irfftn": (fft.irfftn, (3, 3)),
    "hfft": (fft.hfft, (2, 3)),
    "fftshift": (fft.fftshift, (3, 4)),
    "ifftshift of one axis": (lambda x: fft.ifftshift(x, axes=0), (3, 4)),
}
REAL: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "rfft": (fft.rfft, (2, 5)),
    "rfftn": (fft.rfftn, (3, 4)),
    "ihfft": (lambda x: fft.ihfft(x, axis=0), (4, 2)),
}


@pytest.mark.parametrize("name", COMPLEX)
def test_transforms_of_complex_members(name: str, device: xpgrad.Device) -> None:
    call, shape = COMPLEX[name]
    check(call, [shape], device, "complex128", order=1)


@pytest.mark.parametrize("name", REAL)
def test_transforms_of_real_members(name: str, device: xpgrad.Device) -> None:
    call, shape = REAL[name]
    check(call, [shape], device, order=1)
    check(call, [shape], device, "float32", order=1, size=1, rtol=1e-4)


def test_frequencies_are_the_same_for_all_members(device: xpgrad.Device) -> None:
    with xpgrad.using_device(device):
        check(lambda x: x * fft.fftfreq(4, dtype=x.dtype), [(4,)], device)
