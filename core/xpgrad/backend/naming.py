"""Names in messages: of classes as users import them, of public functions, and of third-party errors."""

import dis
import sys
from types import FrameType

PACKAGE = __name__.partition(".")[0]


def class_name(kind: type) -> str:
    """Return the name of the class `kind` with its module, without private ones; xpgrad's own are ``xpgrad.Name``."""
    module, name = str(getattr(kind, "__module__", "")), kind.__qualname__
    parts = module.split(".")
    if parts[0] == PACKAGE:
        return f"{PACKAGE}.{name}"
    public = [part for part in parts if part and not part.startswith("_") and part != "builtins"]
    return ".".join([*public, name])


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
        public = [vars(sys.modules[package]) for package in PACKAGES if package in sys.modules]
        if module.startswith(PACKAGES) and any(code in names for names in public):
            name = code
        frame = frame.f_back
    return name


def text_of(error: BaseException) -> str:
    """Return type and text of an error, with its notes; only the type if the text cannot be made."""
    name = type(error).__name__
    try:
        notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
        return ": ".join(filter(None, [name, str(error)])) + notes
    except BaseException as failure:
        if is_interrupt(failure):
            raise
        return f"{name}, which cannot be printed ({type(failure).__name__})"


def is_interrupt(error: BaseException) -> bool:
    """Return whether an error is an interrupt by the user, not an exception that the code raised."""
    if not isinstance(error, KeyboardInterrupt):
        return False
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return last is None or dis.opname[last.tb_frame.f_code.co_code[last.tb_lasti]] != "RAISE_VARARGS"
