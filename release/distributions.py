"""The distributions of this repository: xpgrad, the conformance suite, and each plugin."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Distribution:
    """A directory with a pyproject.toml.

    Parameters
    ----------
    folder : Path
        Relative to the root of the repository.
    name : str
        As on PyPI.
    """

    folder: Path
    name: str

    @property
    def backend(self) -> str | None:
        """The name of the backend of a plugin, None for xpgrad, the suite and plugins without a backend."""
        points = project(ROOT / self.folder / "pyproject.toml").get("entry-points", {})
        return next(iter(points.get("xpgrad.backends", ())), None) if self.is_plugin else None

    @property
    def is_plugin(self) -> bool:
        """Whether the distribution is a plugin, which requires xpgrad."""
        return self.folder.parts[:1] == ("plugins",)


def distributions(root: Path = ROOT) -> list[Distribution]:
    """Return all distributions, each after its dependencies."""
    files = [root / "pyproject.toml", root / "conformance" / "pyproject.toml"]
    files += sorted((root / "plugins").glob("*/pyproject.toml"))
    return [Distribution(file.parent.relative_to(root), project(file)["name"]) for file in files]


def project(file: Path) -> dict[str, Any]:
    """Return the table `project` of a pyproject.toml."""
    return tomllib.loads(file.read_text(encoding="utf-8"))["project"]  # type: ignore[no-any-return]  # TOML
