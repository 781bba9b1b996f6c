"""Fourier transforms of batches along other axes than the cases of the table, against a loop over the members."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.core.transforms.batch.rows.members import check

import xpgrad
from xpgrad import array_api as xp

fft = xp.fft
CALLS: dict[str, tuple[Callable[..., Any], tuple[int, ...], str]] = {
    "ifft along the first axis": (lambda x: fft.ifft(x, axis=0, norm="ortho"), (3, 4), "complex128"),
    "fftn over the last axes": (lambda x: fft.fftn(x, s=(4,)), (3, 4), "complex128"),
    "ifftn over given axes": (lambda x: fft.ifftn(x, axes=(0,)), (3, 4), "complex128"),
    "ifftshift of one axis": (lambda x: fft.ifftshift(x, axes=0), (3, 4), "complex128"),
    "ihfft along the first axis": (lambda x: fft.ihfft(x, axis=0), (4, 2), "float64"),
}


@pytest.mark.parametrize("name", CALLS)
def test_transforms_along_an_axis(name: str, device: xpgrad.Device) -> None:
    call, shape, dtype = CALLS[name]
    check(call, [shape], device, dtype, order=1)


def test_frequencies_are_the_same_for_all_members(device: xpgrad.Device) -> None:
    with xpgrad.using_device(device):
        check(lambda x: x * fft.fftfreq(4, dtype=x.dtype), [(4,)], device)
