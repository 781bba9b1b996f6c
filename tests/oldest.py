"""Print pip's constraints for the oldest versions that pyproject.toml allows, one for each line."""

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
FIRST_WHEEL = {"numpy": "2.1"} if sys.version_info >= (3, 13) else {}  # NumPy 2.0 has none for Python 3.13


def constraints() -> list[str]:
    """Return a constraint for each dependency: ``numpy==2.0.*`` for ``numpy>=2.0``."""
    found = []
    for dependency in tomllib.loads(PROJECT.read_text())["project"]["dependencies"]:
        parts = re.fullmatch(r"([\w-]+)>=(\d+)(?:\.(\d+))?", dependency)
        if parts is None:
            raise ValueError(f"expected a dependency as name>=1.2, got {dependency!r}")
        name, major, minor = parts.groups()
        found.append(f"{name}=={FIRST_WHEEL.get(name, f'{major}.{minor or 0}')}.*")
    return found


if __name__ == "__main__":
    print("\n".join(constraints()))
