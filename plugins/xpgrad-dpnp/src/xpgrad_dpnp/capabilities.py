"""Capabilities that dpnp lacks, with reasons."""

from collections.abc import Mapping

from dpnp.tensor import Device as Handle

from xpgrad.plugin import Capabilities

MISSING = {
    "checked_index_arrays": "dpnp wraps a number that is out of range around or clips it",
    "pickle": "dpnp's arrays cannot be pickled",
    "memory_used": "SYCL does not say what its arrays hold",
}
WITHOUT_FP64 = {
    "float64": "the device has no float64",
    "complex128": "the device has no float64, the parts of complex128",
}


def capabilities(present: Mapping[str, Handle]) -> Capabilities:
    """Return the missing capabilities on a machine with these devices."""
    narrow = [name for name, handle in present.items() if not handle.sycl_device.has_aspect_fp64]
    alone = {} if len(present) > 1 else {"several_devices": "SYCL sees one device only"}
    return Capabilities(missing=MISSING | alone, missing_on=dict.fromkeys(narrow, WITHOUT_FP64))
