"""Protocols, names and classes that let other libraries use Variables: NumPy's protocols, einops, dispatchers.

Doors lead to the differentiation of other frameworks. They are parts of plugins, which the entry points of the group
``xpgrad.interop`` name: ``xpgrad.interop.NAME`` is the module of the door, ``xpgrad.interop.from_NAME`` its function
`from_NAME`.
"""

import importlib
from importlib.machinery import PathFinder
from typing import Any

from xpgrad.graph.methods import copies

copies.PASSING_ON.add("xarray")  # xarray makes deep copies in `sortby`, `reindex` and other methods

_PUBLIC = "einops", "stand_in"
"""Modules of this package that users and plugins import."""
_ELSEWHERE = ("scipy",)
"""Modules of xpgrad that are doors, too."""


def __getattr__(name: str) -> Any:
    """Return a module of this package, a door, or the function `from_NAME` of a door."""
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    if name in _ELSEWHERE:
        return importlib.import_module(f"xpgrad.{name}")
    if PathFinder.find_spec(f"{__name__}.{name}", __path__) is not None:
        return importlib.import_module(f"{__name__}.{name}")
    doors = importlib.import_module(f"{__name__}.doors")  # an import statement would ask this function
    found = globals()[name] = doors.find(name)
    return found


def __dir__() -> list[str]:
    doors = importlib.import_module(f"{__name__}.doors")
    return sorted({*_PUBLIC, *_ELSEWHERE, *doors.names()})
