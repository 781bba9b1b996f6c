"""Function hooks that measure time and memory, and print arrays (``xpgrad.function_hooks``)."""

from typing import TYPE_CHECKING

from xpgrad.function_hooks.cuda import CUDAProfileHook, CupyMemoryProfileHook
from xpgrad.function_hooks.memory import MemoryHook
from xpgrad.function_hooks.timer import PrintHook, TimerHook
from xpgrad.listing import listed as _listed

__all__ = ["CUDAProfileHook", "CupyMemoryProfileHook", "MemoryHook", "PrintHook", "TimerHook"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
