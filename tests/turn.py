"""Whose turn it is: of what takes long, each commit runs one part; all runs with XPGRAD_ALL_TESTS=1."""

import os
import subprocess
import sys
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

Item = TypeVar("Item")
ALL = bool(os.environ.get("XPGRAD_ALL_TESTS"))


@cache
def commit() -> int:
    """Return the number that the hash of the commit is; 0 outside a repository."""
    command = ["git", "rev-parse", "--short=8", "HEAD"]
    try:
        found = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    except OSError:
        return 0
    return int(found.stdout, 16) if found.returncode == 0 else 0


def part_of(items: Sequence[Item], parts: int) -> Sequence[Item]:
    """Return every `parts`-th of the items, other ones for each commit; all of them with XPGRAD_ALL_TESTS."""
    return items if ALL else items[commit() % parts :: parts]


def has_turn(name: str, parts: int) -> bool:
    """Return whether what has this name is in the part that this commit runs."""
    return ALL or zlib.crc32(name.encode()) % parts == commit() % parts


if __name__ == "__main__":  # python -m tests.turn 8 0: exit code 0 if this commit runs the first of eight parts
    sys.exit(not ALL and commit() % int(sys.argv[1]) != int(sys.argv[2]))
