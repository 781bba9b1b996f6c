"""Raw arrays: backends, their devices and kernels, and the plugins that provide them. No gradients.

From the bottom: what a backend is (`kernels`, `device`, `spec`, `backend`); how plugins are found and loaded
(`contract`, `providers`, `loading`, `plugins`); how devices are chosen and arrays move (`specifiers`, `current`,
`transfer`). Each file imports earlier ones only. The names below are also in Chainer.
"""

from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from xpgrad.backend import random as random  # declares its kernels
from xpgrad.backend import services as services  # devices need them
from xpgrad.backend.current import get_device, using_device
from xpgrad.backend.device import Device
from xpgrad.backend.modules import _contains_nan as _contains_nan
from xpgrad.backend.modules import get_array_module, get_device_from_array
from xpgrad.backend.plugins import plugins as _plugins
from xpgrad.backend.specifiers import CLAIMED_BY, refusal
from xpgrad.backend.transfer import copyto, from_chx, to_chx
from xpgrad.errors import BackendUnavailable
from xpgrad.listing import missing_name as _missing_name

_CLASSES = {"CpuDevice": "cpu", "GpuDevice": "gpu", "ChainerxDevice": "native", "Intel64Device": "intel64"}


class _Absent(Device):
    """A device class of Chainer whose backend is unavailable: it has no instances, and calling it raises the reason."""

    reason: ClassVar[str]

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise BackendUnavailable(cls.reason)

    from_device_id = from_fallback_device = classmethod(__new__)


if TYPE_CHECKING:

    class CpuDevice(Device):
        def __init__(self) -> None: ...

    class GpuDevice(Device):
        device: Any

        def __init__(self, device: Any) -> None: ...

        @staticmethod
        def from_device_id(device_id: int) -> Device: ...

    class ChainerxDevice(Device):
        device: Any
        fallback_device: Device

        def __init__(self, device: Any) -> None: ...

        @staticmethod
        def from_fallback_device(device: Device) -> Device: ...

    class Intel64Device(Device):
        def __init__(self) -> None: ...

else:

    def __getattr__(name: str) -> type[Device]:
        """Return the device class that has this name in Chainer: the class of its backend's devices."""
        if name not in _CLASSES:
            raise _missing_name(__name__, name, __dir__)
        prefix = _CLASSES[name]
        try:
            known = _plugins.knows(prefix)
            return type(_plugins.backend(prefix).default_device if known else _plugins.device_of_prefix(prefix))
        except BackendUnavailable as error:
            why = refusal(prefix) if prefix in CLAIMED_BY else error
            return type(name, (_Absent,), {"__module__": __name__, "reason": f"{name}: {why}"})


def __dir__() -> list[str]:
    return sorted([*__all__, *_CLASSES])


__all__ = [
    "Device", "copyto", "from_chx", "get_array_module", "get_device", "get_device_from_array", "to_chx", "using_device",
]  # fmt: skip
