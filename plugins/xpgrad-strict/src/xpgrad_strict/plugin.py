"""The plugin: imported when the first array of array-api-strict, or the device ``@strict``, is met."""

import array_api_strict

from xpgrad.plugin import ArrayAPIBackend, Backend, Capabilities, hookimpl, scatter_add_by_sorting

xpgrad_api = (1, 1)

# Without `no_x64`: argsort, argmax, nonzero and searchsorted of array-api-strict 2.6 fail there.
DEVICES = {
    "cpu": array_api_strict.Device("CPU_DEVICE"),
    "device1": array_api_strict.Device("device1"),
    "device2": array_api_strict.Device("device2"),
    "no_float64": array_api_strict.Device("no_float64"),
}

CAPABILITIES = Capabilities(
    missing={
        "index_arrays_with_slices": "the standard has no index arrays mixed with slices",
        "index_assignment_arrays": "the standard has no assignment to an index array",
        "asynchronous": "array-api-strict computes at once",
        "memory_used": "array-api-strict does not count what its arrays hold",
    },
    missing_on={
        "no_float64": {
            "float64": "that is what this device is for",
            "complex128": "its parts are float64",
        }
    },
)


@hookimpl
def xpgrad_backend() -> Backend:
    """Return the backend of array-api-strict."""
    return ArrayAPIBackend(
        name="strict",
        namespace=array_api_strict,
        array_types=(type(array_api_strict.asarray(0.0)),),
        devices=DEVICES,
        scatter_add=scatter_add_by_sorting,
        capabilities=CAPABILITIES,
    )
