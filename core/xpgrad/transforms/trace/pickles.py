"""Pickling and copying of compiled functions: the function and its options; programs are recorded again."""

import sys
from typing import Any


def global_name(x: Any) -> str | None:
    """Return the name under which unpickling finds an object in its module; None if the name refers to another object.

    Definitions of the main module are found by plain pickle only: processes for which cloudpickle pickles have a
    different main module.
    """
    module, name = getattr(x, "__module__", None), getattr(x, "__qualname__", None)
    found: Any = sys.modules.get(module) if isinstance(module, str) else None
    if found is None or not isinstance(name, str):
        return None
    for part in name.split("."):
        found = getattr(found, part, None)
    return name if found is x and not (module == "__main__" and _by_value()) else None


def _by_value() -> bool:
    """Return whether cloudpickle runs: its pickler is written in C, and called by its own functions."""
    frame: Any = sys._getframe(3)
    return frame is not None and str(frame.f_globals.get("__name__")).startswith("cloudpickle")
