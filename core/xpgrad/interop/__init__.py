"""The protocols, names and classes by which other libraries use Variables: NumPy's protocols, einops, dispatchers."""

import importlib
from typing import Any

from xpgrad.graph.methods import copies

copies.PASSING_ON.add("xarray")  # it makes deep copies in `sortby`, `reindex` and others


def __getattr__(name: str) -> Any:
    """Return ``xpgrad.scipy``, which is imported late, as ``xpgrad.interop.scipy``."""
    if name == "scipy":
        return importlib.import_module("xpgrad.scipy")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
