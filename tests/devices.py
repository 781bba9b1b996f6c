"""The devices that the core is tested on, and what their backends lack."""

import os

import pytest

import xpgrad
from xpgrad.errors import BackendUnavailable, SpecifierError

DEVICES: tuple[str, ...] = ("@numpy", "@strict:cpu", "@strict:device1", "native:0")
DEVICES += tuple(os.environ.get("XPGRAD_TEST_DEVICES", "").split())  # those of other plugins, on request
GPU = "@cupy:0"

try:
    xpgrad.get_device(GPU)
except BackendUnavailable:  # thousands of parameters that would all be skipped are not even made
    pass
else:
    DEVICES += (GPU,)

LACKS: dict[str, dict[str, str]] = {
    "cupy": {"random_numbers_of_the_host": "random numbers are drawn on the GPU, by another generator"},
    "strict": {
        "index_arrays_with_slices": "the standard has no index arrays mixed with slices",
        "negative_index_arrays": "the standard leaves negative numbers in index arrays open",
        "index_assignment_arrays": "the standard has no assignment to an index array",
    },
}
"""What a backend lacks, with the reason. A case whose `needs` name one of these is skipped there."""


def device_or_skip(specifier: str) -> xpgrad.Device:
    """Return a device, or skip the test with the reason why it is not here."""
    try:
        return xpgrad.get_device(specifier)
    except (BackendUnavailable, SpecifierError) as error:
        pytest.skip(str(error))


def lacking(backend: str, needs: tuple[str, ...]) -> str | None:
    """Return why `backend` cannot run what has these needs, or None if it can."""
    lacks = LACKS.get(backend, {})
    return next((f"{backend} lacks {need}: {lacks[need]}" for need in needs if need in lacks), None)
