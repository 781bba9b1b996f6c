"""The common version of all distributions, which is set in all files together."""

import re
from collections.abc import Iterator
from pathlib import Path

from release.distributions import ROOT, distributions

PUBLIC = re.compile(r"\d+\.\d+\.\d+((a|b|rc)\d+)?")
"""Three numbers, and a pre-release at most: what releases are called."""
TEXT = r'[^"\s]+'


class VersionError(Exception):
    """Inconsistent or invalid version."""


def places(root: Path = ROOT) -> Iterator[tuple[Path, re.Pattern[str]]]:
    """Yield each location of the version: a file, and a pattern with one group."""
    yield root / "core" / "xpgrad" / "__init__.py", re.compile(rf'^__version__ = "({TEXT})"', re.MULTILINE)
    yield root / "CITATION.cff", re.compile(rf"^version: ({TEXT})", re.MULTILINE)
    for name in "conformance", "torch", "jax", "dask":
        yield root / "pyproject.toml", re.compile(rf'"xpgrad-{name}==({TEXT})"')
    yield root / "conformance" / "pyproject.toml", re.compile(rf'"xpgrad==({TEXT})"')
    for distribution in distributions(root):
        file = root / distribution.folder / "pyproject.toml"
        yield file, re.compile(rf'^version = "({TEXT})"', re.MULTILINE)
        if distribution.is_plugin:
            yield file, re.compile(rf'"xpgrad>=({TEXT})"')


def version(root: Path = ROOT) -> str:
    """Return the version, and raise `VersionError` if the locations disagree."""
    found: dict[str, list[str]] = {}
    for file, pattern in places(root):
        said = pattern.findall(file.read_text(encoding="utf-8"))
        if len(said) != 1:
            raise VersionError(f"{file.relative_to(root)}: expected {pattern.pattern} once, got it {len(said)} times")
        found.setdefault(said[0], []).append(str(file.relative_to(root)))
    if len(found) > 1:
        listed = "; ".join(f"{said} in {', '.join(files)}" for said, files in found.items())
        raise VersionError(f"expected one version, got {listed}; set it with make bump VERSION=...")
    return next(iter(found))


def bump(new: str, root: Path = ROOT) -> list[Path]:
    """Write a new version into all locations; return the files."""
    if not PUBLIC.fullmatch(new):
        raise VersionError(f"bump: expected a version as 1.2.3 or 1.2.3rc1, got {new!r}")
    changed: dict[Path, None] = {}
    for file, pattern in places(root):
        text = file.read_text(encoding="utf-8")
        match = pattern.search(text)
        if match is None:
            raise VersionError(f"bump: expected {pattern.pattern} in {file.relative_to(root)}, got a file without it")
        file.write_text(text[: match.start(1)] + new + text[match.end(1) :], encoding="utf-8", newline="\n")
        changed[file] = None
    return list(changed)


def check_tag(tag: str, root: Path = ROOT) -> None:
    """Raise `VersionError` if a tag does not match the version."""
    if tag != f"v{version(root)}":
        raise VersionError(f"tag: expected v{version(root)}, got {tag!r}; tag the commit of make bump")
