"""Doors: the parts of installed plugins that lead to the differentiation of other frameworks."""

import importlib
from typing import Any

from xpgrad.backend.distributions import Point, points
from xpgrad.errors import PluginError

GROUP = "xpgrad.interop"
"""The group of entry points: the name of a door -> its module, which has a function ``from_NAME``."""
FROM = "from_"


def names() -> list[str]:
    """Return the names of the installed doors, and of their functions: ``NAME``, ``from_NAME``."""
    found = {point.name for point in points([GROUP])}
    return sorted(found | {f"{FROM}{name}" for name in found})


def find(name: str) -> Any:
    """Return the module of a door, or its function ``from_NAME``.

    Raises
    ------
    AttributeError
        No installed plugin provides this adapter; the message names the package to install.
    PluginError
        Two plugins have it, its module cannot be imported, or it lacks the function.
    """
    door = name.removeprefix(FROM)
    given = {(each.distribution, each.value): each for each in points([GROUP]) if each.name == door}
    if not given:
        here = sorted({point.name for point in points([GROUP])})
        listed = f"the installed doors are {', '.join(here)}" if here else "no door is installed"
        raise AttributeError(
            f"xpgrad.interop has no {name!r}: no installed plugin has a door to {door!r}, and {listed}; doors are "
            f"parts of plugins: pip install xpgrad-{door}", name=name,
        )  # fmt: skip
    if len(given) > 1:
        origins = " and ".join(sorted(map(_origin, given.values())))
        raise PluginError(f"interop.{door}: {origins} both have a door of this name; uninstall one of them")
    (point,) = given.values()
    try:
        module = importlib.import_module(point.value)
    except Exception as error:
        raise PluginError(
            f"interop.{door}: the door {point.value} of {_origin(point)} cannot be imported: "
            f"{type(error).__name__}: {error}"
        ) from error
    if name == door:
        return module
    function = getattr(module, name, None)
    if function is None:
        raise PluginError(f"interop.{name}: the door {point.value} of {_origin(point)} has no function {name!r}")
    return function


def _origin(point: Point) -> str:
    return f"{point.distribution} {point.version}".strip()
