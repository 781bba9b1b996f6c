"""Rotation of slow tests: each commit runs one part, and XPGRAD_TESTS sets the size of the parts.

`make test` runs the smallest parts, `make check` (``XPGRAD_TESTS=check``) larger parts that contain them, and
`make check-all` (``XPGRAD_TESTS=all``) runs everything.
"""

import os
import subprocess
import sys
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

Item = TypeVar("Item")
RUNS = {"test": 8, "check": 4, "all": 0}
"""How many times smaller than said the parts are, for each value of XPGRAD_TESTS; 0: all parts run."""
RUN = os.environ.get("XPGRAD_TESTS", "test")
if RUN not in RUNS:
    raise ValueError(f"XPGRAD_TESTS must be one of {', '.join(RUNS)}, got {RUN!r}")
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
    """Return one in `parts` of the items, in `make check` a quarter and in `make test` an eighth of these.

    Each commit returns different items.
    """
    if ALL:
        return items
    parts *= RUNS[RUN]
    return items[commit() % parts :: parts]


def has_turn(name: str, parts: int) -> bool:
    """Return whether the name is in the part that this commit runs."""
    parts *= RUNS[RUN]
    return ALL or zlib.crc32(name.encode()) % parts == commit() % parts


if __name__ == "__main__":  # python -m tests.turn 8 0: exit code 0 if this commit runs the first of eight parts
    sys.exit(not ALL and commit() % int(sys.argv[1]) != int(sys.argv[2]))
