"""Sets the functions that `Device` uses from higher modules: finding devices, moving arrays, the current device."""

from xpgrad.backend.current import get_device, set_current_device, using_device
from xpgrad.backend.device import Device, Services
from xpgrad.backend.modules import device_of
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import send

Device.services = Services(
    get_device=get_device,
    device_of=device_of,
    send=send,
    use=set_current_device,
    context=using_device,
    host=lambda: plugins.host,
)
