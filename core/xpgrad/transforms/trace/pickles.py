"""How compiled functions are pickled and copied: the function and its options; programs are made again."""

import sys
from typing import Any


def global_name(x: Any) -> str | None:
    """Return the name under which unpickling finds an object in its module; None if that is not what it finds.

    What the main module defines is found by plain pickle only: in the processes for which cloudpickle pickles, the main
    module is another one.
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
