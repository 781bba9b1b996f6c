"""What PyTorch lacks of what xpgrad asks for, each with its reason."""

from xpgrad.plugin import Capabilities
from xpgrad_torch import devices

MISSING: dict[str, str] = {}

CAPABILITIES = Capabilities(missing=MISSING)
