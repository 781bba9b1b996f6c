"""Eager kernels in C for arrays of any size, so that the small arrays of random programs reach them."""

import xpgrad
from xpgrad_numpy.kernels import channels, direct, fourier, gathers, joint, pooling, rows, scans, statistical

LIMITS = {
    "LARGE": (channels, rows),
    "LEAST": (fourier, gathers, joint, pooling, scans),
    "SHARED": (statistical,),
    "SHORTEST": (channels,),
    **dict.fromkeys(("WORTH", "MIN_WIDTH", "MIN_SUMMED"), (direct,)),
}
"""Names of the smallest sizes, by modules."""


def for_any_size() -> None:
    """Compile the kernels, and let this process use them for arrays of any size that they take."""
    if not xpgrad.get_device("@numpy").backend.build():
        raise RuntimeError("the kernels in C cannot be compiled; `xpgrad doctor` says why")
    for name, modules in LIMITS.items():
        for module in modules:
            setattr(module, name, 1)
    direct.MAX_WASTE = float("inf")
