"""Whose turn it is, where each commit runs one part of what takes long; before a release, all parts run."""

import subprocess
from pathlib import Path


def turn(parts: int) -> int:
    """Return the number of the part that this commit runs: 0 to ``parts - 1``, by its hash; 0 outside a repository."""
    command = ["git", "rev-parse", "--short=8", "HEAD"]
    try:
        found = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    except OSError:
        return 0
    return int(found.stdout, 16) % parts if found.returncode == 0 else 0
