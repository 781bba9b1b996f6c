"""Whether arrays that are exchanged by DLPack share memory: one question, which a probe and the checks ask."""

from typing import Any

import numpy as np

from xpgrad.types import Array

HOST_MEMORY = 1
"""DLPack's number of the kind of device whose memory the host reads."""
ALIGNMENT = 256


def aligned(host: Any) -> Any:
    """Return a copy of the host's values in aligned memory, in C order, as the strictest libraries require."""
    room = np.empty(host.nbytes + ALIGNMENT, np.uint8)
    start = -room.ctypes.data % ALIGNMENT
    made = room[start : start + host.nbytes].view(host.dtype).reshape(host.shape)
    made[...] = host
    return made


def in_host_memory(x: Array) -> bool:
    """Return whether DLPack says that the host can read an array's memory."""
    return int(x.__dlpack_device__()[0]) == HOST_MEMORY


def hands_out_its_memory(x: Array) -> bool:
    """Return whether two reads of an array by DLPack, in the host's memory, give one memory."""
    return bool(np.shares_memory(np.from_dlpack(x), np.from_dlpack(x)))


def takes_over(made: Array, source: Any) -> bool:
    """Return whether from_dlpack shared the memory of `source` with `made`, an array in the host's memory."""
    return bool(np.shares_memory(np.from_dlpack(made), np.from_dlpack(source)))
