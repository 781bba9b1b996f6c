"""The world of raw arrays: plugins, backends, devices, kernels, transfer. Nothing here knows of gradients.

The names below are Chainer's.
"""

from xpgrad.backend.current import using_device
from xpgrad.backend.device import Device, get_device, get_device_from_array
from xpgrad.backend.modules import get_array_module
from xpgrad.backend.transfer import copyto, from_chx, to_chx

__all__ = [
    "Device",
    "copyto",
    "from_chx",
    "get_array_module",
    "get_device",
    "get_device_from_array",
    "to_chx",
    "using_device",
]
