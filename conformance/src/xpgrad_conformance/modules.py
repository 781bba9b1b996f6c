"""The modules of a package, found rather than listed, so that new files of checks or cases are included."""

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import Any, TypeVar

T = TypeVar("T")


def modules_of(package: str) -> Iterator[ModuleType]:
    """Yield the modules of a package in the order of their names."""
    path = importlib.import_module(package).__path__
    for name in sorted(module.name for module in pkgutil.iter_modules(path)):
        yield importlib.import_module(f"{package}.{name}")


def members(package: str, kind: type[T]) -> tuple[T, ...]:
    """Return the objects of one type that modules of a package define, as attributes or in tuples, each object once."""
    found: dict[int, T] = {}
    for module in modules_of(package):
        for value in vars(module).values():
            each: Any
            for each in value if type(value) is tuple else (value,):
                if isinstance(each, kind):
                    found.setdefault(id(each), each)
    return tuple(found.values())
