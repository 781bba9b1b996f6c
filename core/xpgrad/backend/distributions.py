"""Installed distributions: their entry points in the groups of plugins.

`importlib.metadata` takes 25 ms for this with a hundred distributions, half of it for its own import, and a program's
first gradient waits for it. Therefore distributions in plain folders are read here, to the same result. If other
distributions exist, in a zip file or provided by custom importers, `importlib.metadata` finds all of them.
"""

import os
import sys
from collections.abc import Collection, Iterable, Iterator
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

UNKNOWN = "unknown", "unknown"
"""Name and version of a distribution whose metadata are missing or unreadable."""
_SUFFIXES = ".dist-info", ".egg-info"


class Point(NamedTuple):
    """One entry point, with the name and version of its distribution; `value` is its right-hand side."""

    group: str
    name: str
    value: str
    distribution: str
    version: str


class _NotPlain(Exception):
    """A distribution may be where only `importlib.metadata` finds it."""


def points(groups: Collection[str]) -> list[Point]:
    """Return the entry points of `groups`; a distribution whose entry points are unreadable is left out.

    Of distributions with the same name, the first on `sys.path` counts.
    """
    try:
        folders = list(_folders())
    except _NotPlain:
        return list(_general(groups))
    return [point for folder in folders for point in _of_folder(folder, groups)]


def _folders() -> Iterator[str]:
    """Yield the folder of each distribution, in the order of `sys.path`, or raise `_NotPlain`."""
    finders = [finder for finder in sys.meta_path if hasattr(finder, "find_distributions")]
    if finders != [PathFinder]:  # its own distributions, or a replacement of Python's finder
        raise _NotPlain
    found: set[str] = set()
    for root in sys.path:
        if not isinstance(root, str) or root.lower().rstrip("/\\").endswith(".egg"):
            raise _NotPlain
        try:
            children = os.listdir(root or ".")
        except NotADirectoryError:  # a zip file
            raise _NotPlain from None
        except OSError:  # a folder that is missing or closed
            continue
        for child in children:
            if child.lower().endswith(_SUFFIXES):
                name = _normalized(child[: -len(_SUFFIXES[0])].partition("-")[0])
                if not name:  # only the metadata may have it
                    raise _NotPlain
                if name not in found:
                    found.add(name)
                    yield os.path.join(root, child)


def _normalized(name: str) -> str:
    """Return a name without dashes, such that spellings of one distribution are equal."""
    name = name.lower().replace(".", "_")
    while "__" in name:
        name = name.replace("__", "_")
    return name


def _of_folder(folder: str, groups: Collection[str]) -> list[Point]:
    """Return the entry points of a distribution in `groups`; none if the file has a malformed line."""
    data = _content(folder, "entry_points.txt")
    if not any(group.encode() in data for group in groups):
        return []
    found: list[tuple[str, str, str]] = []
    try:
        lines = data.decode().splitlines()
    except UnicodeDecodeError:
        return []
    group = None
    for line in map(str.strip, lines):
        if line.startswith("[") and line.endswith("]"):
            group = line.strip("[]")
        elif group is not None and line and not line.startswith("#"):
            name, equals, value = line.partition("=")
            if not equals:
                return []
            found.append((group, name.strip(), value.strip()))
    title = _title(folder)
    return [Point(*each, *title) for each in found if each[0] in groups]


def _content(folder: str, name: str) -> bytes:
    """Return the bytes of a file, none if it cannot be read."""
    try:
        with open(f"{folder}/{name}", "rb", 0) as file:
            return file.read()
    except OSError:
        return b""


def _title(folder: str) -> tuple[str, str]:
    """Return name and version as the metadata have them."""
    data = _content(folder, "METADATA") or _content(folder, "PKG-INFO")
    try:
        lines = data.partition(b"\n\n")[0].decode().splitlines()  # without the description, which may be long
    except UnicodeDecodeError:
        return UNKNOWN
    fields: dict[str, str] = {}
    for line in lines:
        key, colon, value = line.partition(":")
        if not line.startswith((" ", "\t")):  # no continuation of the line before
            if not colon:  # the end of the header
                break
            fields.setdefault(key.lower(), value.strip())
    return fields.get("name", UNKNOWN[0]), fields.get("version", UNKNOWN[1])


def _general(groups: Collection[str]) -> Iterator[Point]:
    """Yield the entry points of `groups` as `importlib.metadata` finds them."""
    titles: dict[int, tuple[str, str]] = {}
    for point in _known(groups):
        dist = point.dist
        if id(dist) not in titles:
            titles[id(dist)] = _title_of(dist)
        yield Point(point.group, point.name, point.value.strip(), *titles[id(dist)])


def _known(groups: Collection[str]) -> "Iterable[EntryPoint]":
    from importlib.metadata import distributions, entry_points  # most programs do not need it

    try:
        everything = entry_points()
        return [point for group in groups for point in everything.select(group=group)]
    except Exception:  # an unreadable entry_points.txt: read the distributions one by one, and skip that one
        found: list[EntryPoint] = []
        for dist in distributions():
            try:
                found += [point for point in dist.entry_points if point.group in groups]
            except Exception:  # noqa: S112 - as above
                continue
        return found


def _title_of(dist: Any) -> tuple[str, str]:
    try:
        known = dist.metadata
        return str(known.get("Name", UNKNOWN[0])), str(known.get("Version", UNKNOWN[1]))
    except Exception:  # unreadable or missing metadata
        return UNKNOWN
