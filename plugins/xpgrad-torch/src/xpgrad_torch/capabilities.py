"""Capabilities that PyTorch lacks, with reasons."""

from collections.abc import Iterable

from xpgrad.plugin import Capabilities

MISSING = {
    "negative_steps": "PyTorch refuses slices with a negative step; an index of a Variable flips instead",
    **dict.fromkeys(("uint16", "uint32", "uint64"), "PyTorch stores them, but has no arithmetic for them"),
}
MISSING |= dict.fromkeys(
    (
        f"unique_{name}[{dtype}]"
        for name in ("all", "counts", "inverse", "values")
        for dtype in ("complex64", "complex128")
    ),
    "torch.unique has no complex numbers",
)
IN_HOST_MEMORY = {
    "asynchronous": "in host memory PyTorch computes at once",
    "memory_used": "PyTorch does not count what tensors hold in host memory",
}
ON_ACCELERATORS = {
    "checked_index_arrays": "an index out of range ends the device's work at some later time",
    "random_numbers_of_the_host": "random numbers are drawn on the device, by another generator",
}
ON_MPS = {
    "float64": "Metal has no float64",
    "complex128": "Metal has no complex128",
}


def capabilities(present: Iterable[str]) -> Capabilities:
    """Return the missing capabilities on a machine with the devices of these indices."""
    accelerators = [index for index in present if index != "cpu"]
    alone = {} if accelerators else {"several_devices": "PyTorch sees the host's memory only"}
    on = {index: ON_ACCELERATORS | (ON_MPS if index.startswith("mps") else {}) for index in accelerators}
    return Capabilities(missing=MISSING | alone, missing_on={"cpu": IN_HOST_MEMORY, **on})
