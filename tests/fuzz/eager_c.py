"""Eager kernels in C for arrays of any size, so that the small arrays of random programs reach them."""

import xpgrad
from xpgrad_numpy.kernels import channels, direct, gathers, joint, pooling, rows, scans, statistical


def for_any_size() -> None:
    """Compile the kernels, and let this process use them for arrays of any size that they take."""
    if not xpgrad.get_device("@numpy").backend.build():
        raise RuntimeError("the kernels in C cannot be compiled; `xpgrad doctor` says why")
    for module in (rows, channels):
        module.LARGE = 1
    for module in (gathers, joint, pooling, scans):
        module.LEAST = 1
    channels.SHORTEST = direct.WORTH = direct.MIN_WIDTH = direct.MIN_SUMMED = statistical.SHARED = 1
    direct.MAX_WASTE = float("inf")
