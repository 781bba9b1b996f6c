"""Programs for other libraries, run unchanged: their processes, and the comparison of their numbers."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers import threads

ROOT = Path(__file__).parent.parent


def run(name: str, command: Sequence[str], folder: Path = ROOT, variables: Mapping[str, str] | None = None) -> Any:
    """Return what a command on one thread prints in its last line, as JSON.

    Raises
    ------
    RuntimeError
        The command has failed; the message begins with `name`.
    """
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=folder,
        env=os.environ | threads(1) | dict(variables or {}),
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{name} failed: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def difference(theirs: Sequence[float], ours: Sequence[float]) -> float:
    """Return the largest difference relative to the numbers or to their mean; infinite if their counts differ."""
    a, b = np.asarray(theirs, float), np.asarray(ours, float)
    if len(a) != len(b):
        return float("inf")
    if not len(a):
        return 0.0
    scale = np.maximum(np.abs(a), np.nanmean(np.abs(a)))
    return float(np.nanmax(np.abs(a - b) / np.where(scale > 0, scale, 1), initial=0.0))
