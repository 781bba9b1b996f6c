"""Everything that the author of a backend needs: ``from xpgrad.plugin import ArrayAPIBackend, hookimpl``."""

from xpgrad.backend.backend import ArrayAPIBackend, Backend
from xpgrad.backend.device import Device
from xpgrad.backend.hookspecs import API_VERSION, hookimpl
from xpgrad.backend.spec import Spec
from xpgrad.errors import BackendUnavailable

__all__ = ["API_VERSION", "ArrayAPIBackend", "Backend", "BackendUnavailable", "Device", "Spec", "hookimpl"]
