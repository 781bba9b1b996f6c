"""Functions of this package in rules, which run on arrays in raw sweeps and on Variables in recorded ones."""

from types import ModuleType
from typing import Any

from xpgrad.types import Namespace


def here(xp: Namespace, function: Any) -> Any:
    """Return a function of this package as a rule or body needs it: raw its kernel, recorded itself."""
    return function if isinstance(xp, ModuleType) else getattr(xp, function.__name__)
