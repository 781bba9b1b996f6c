"""Examples of the reference, in separate Markdown files with a heading and sessions for each name."""

import functools
import importlib
import re
from pathlib import Path
from typing import Any

from _site.public import paths

FOLDER = Path(__file__).parents[1] / "reference" / "examples"
HEADING = re.compile(r"^## `([\w.]+)`\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```python\n(.*?)^```\n?", re.MULTILINE | re.DOTALL)


@functools.cache
def all_of(folder: Path = FOLDER) -> dict[str, str]:
    """Return the examples of each name, as reStructuredText."""
    found = {}
    for path in sorted(folder.glob("*.md")):
        for name, text in HEADING.findall(path.read_text(encoding="utf-8")):
            full = f"{path.stem}.{name}"
            home = paths().get(full, full)
            found[home] = FENCE.sub(r"\1\n", text).strip()
    return found


def attributes(path: str) -> frozenset[str]:
    """Return the public attributes of a class."""
    return frozenset(each for each in dir(found(path)) if not each.startswith("_"))


def found(path: str) -> Any:
    """Return the object of a public module with a path, or None."""
    module, _, name = path.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name, None)
    except (ImportError, ValueError):
        return None
