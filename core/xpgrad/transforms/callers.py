"""`depth`: how far the user's code is on the stack, for warnings."""

import inspect


def depth() -> int:
    """Return the stack level of the first caller outside the library, as counted by `warnings.warn` from here."""
    frame, found = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith("xpgrad"):
        frame, found = frame.f_back, found + 1
    return found
