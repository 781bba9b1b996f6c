"""Rotation of slow tests: each commit runs one part; ``XPGRAD_TESTS=all``, as in `make check-all`, runs everything."""

import os
import subprocess
import sys
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

Item = TypeVar("Item")
SHARE = 12
"""How many times smaller than their number says the parts are, so that `make test` takes five minutes on two cores."""
RUN = os.environ.get("XPGRAD_TESTS", "a part")
if RUN not in ("a part", "all"):
    raise ValueError(f"XPGRAD_TESTS must be all, or not set, got {RUN!r}")
ALL = RUN == "all"


@cache
def commit() -> int:
    """Return the hash of the commit as a number; 0 outside a repository."""
    command = ["git", "rev-parse", "--short=8", "HEAD"]
    try:
        found = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    except OSError:
        return 0
    return int(found.stdout, 16) if found.returncode == 0 else 0


def part_of(items: Sequence[Item], parts: int) -> Sequence[Item]:
    """Return a twelfth of one in `parts` of the items, other items for each commit."""
    if ALL:
        return items
    parts *= SHARE
    return items[commit() % parts :: parts]


def half_of(items: Sequence[Item]) -> Sequence[Item]:
    """Return every second item, the others for every second commit."""
    return items if ALL else items[commit() % 2 :: 2]


def has_turn(name: str, parts: int) -> bool:
    """Return whether the name is in the part that this commit runs."""
    parts *= SHARE
    return ALL or zlib.crc32(name.encode()) % parts == commit() % parts


if __name__ == "__main__":  # python -m tests.turn 8 0: exit code 0 if this commit runs the first of eight parts
    sys.exit(not ALL and commit() % int(sys.argv[1]) != int(sys.argv[2]))
