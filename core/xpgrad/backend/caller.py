"""The public function in which an error occurred, found on the stack: a composition, or a primitive itself."""

import sys
from types import FrameType, ModuleType

PACKAGES = ("xpgrad.array_api", "xpgrad.array_api.linalg", "xpgrad.special", "xpgrad.ops", "xpgrad.functions")
"""Packages of public functions, which call each other."""


def called(function: str) -> str:
    """Return the name of the outermost public function called by the user's code, or else `function`.

    It is used for errors only, so a composition has no overhead when it succeeds.
    """
    name = function
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and (module := frame.f_globals.get("__name__", "")).startswith("xpgrad."):
        code = frame.f_code.co_name
        if module.startswith(PACKAGES) and any(code in vars(known) for known in _imported()):
            name = code
        frame = frame.f_back
    return name


def _imported() -> list[ModuleType]:
    return [sys.modules[package] for package in PACKAGES if package in sys.modules]
