"""The devices that the core is tested on."""

import os

import pytest

import xpgrad
from xpgrad.backend.plugins import plugins
from xpgrad.errors import BackendUnavailable, SpecifierError

DEVICES: tuple[str, ...] = ("@numpy", "@strict:cpu", "@strict:device1", "native:0")
DEVICES += tuple(os.environ.get("XPGRAD_TEST_DEVICES", "").split())  # devices of other plugins, on request
GPU = "@cupy:0"

try:
    xpgrad.get_device(GPU)
except BackendUnavailable:  # thousands of parameters that would all be skipped are not even made
    pass
else:
    DEVICES += (GPU,)


def device_or_skip(specifier: str) -> xpgrad.Device:
    """Return a device, or skip the test with the reason why it is not here."""
    try:
        return xpgrad.get_device(specifier)
    except (BackendUnavailable, SpecifierError) as error:
        pytest.skip(str(error))


def lacking(backend: str, needs: tuple[str, ...]) -> str | None:
    """Return the reason why `backend` cannot run a test with these needs, or None."""
    return plugins.backend(backend).capabilities.lacking(needs)
