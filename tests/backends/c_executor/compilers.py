"""Shell scripts that take the place of the compiler."""

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

REAL = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), "/none")
PROBED = f'case "$*" in *probe*|*--version*) exec {REAL} "$@";; esac\n'
"""A script that compiles the probe, so that the compiler seems to work."""
PATH = os.environ.get("PATH", "")  # of the assembler and the linker


def runs(number: int) -> bool:
    """Return whether a process runs, and is not only waiting to be waited for."""
    for _ in range(100):
        with suppress(OSError):
            state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
            if state not in "ZX":
                time.sleep(0.02)
                continue
        return False
    return True
