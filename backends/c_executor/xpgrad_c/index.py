"""`read_index`: the libraries on disk that contain the groups of a program, found without generating source."""

import contextlib
import functools
import hashlib
import json
import os
from collections.abc import Sequence
from typing import NamedTuple

from xpgrad_c.cache import Cache
from xpgrad_c.compiler import Compiler
from xpgrad_c.generator import GroupSource
from xpgrad_c.process import Build, BuildError


class DiskPlace(NamedTuple):
    """Location of a group in a library, and the facts about its source that a call needs.

    Attributes
    ----------
    library : str
        The name of the library's file, without ``.so``.
    number : int
        Number of the group in the library.
    chunks, scratch, partials, ends
        See `GroupSource`.
    """

    library: str
    number: int
    chunks: int
    scratch: int
    partials: int
    ends: bool

    def source(self) -> GroupSource:
        """Return the source without its text."""
        return GroupSource(f"group_{self.number}", "", self.chunks, self.scratch, self.partials, self.ends)


Places = list[DiskPlace | None]
"""The place of each group, None for groups with a function that has no row in C."""


@functools.cache
def generator_key() -> str:
    """Return a hash of the files of this package, which generate the C source."""
    found = hashlib.sha256()
    folder = os.path.dirname(os.path.abspath(__file__))
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                found.update(f"{name}\0{hashlib.sha256(file.read()).hexdigest()}\0".encode())
    return found.hexdigest()


def index_name(compiler: Compiler, structures: Sequence[str]) -> str | None:
    """Return the name of the index of a program with the given groups; None if this package's files are unreadable."""
    try:
        own = generator_key()
    except OSError:  # the package is not in a folder
        return None
    key = compiler.key("\0".join([own, str(compiler.vector_math), *structures]))
    return f"program-{key}.json"


def read_index(cache: Cache, name: str, count: int) -> Places | None:
    """Return the places of `count` groups, or None if they are not known."""
    data = cache.read(name)
    if data is None:
        return None
    try:
        places: Places = [None if row is None else DiskPlace(*row) for row in json.loads(data)]
    except (TypeError, ValueError):
        return None
    return places if len(places) == count else None


def write_index(cache: Cache, name: str, places: Places) -> None:
    """Store the places of groups, if that is possible."""
    with contextlib.suppress(BuildError, OSError), Build(cache) as build:
        cache.write(name, json.dumps(places).encode(), build.folder)
