"""The sdists and wheels of a commit, built twice and compared byte by byte."""

import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from release.distributions import ROOT, Distribution, distributions


class NotReproducible(Exception):
    """Two builds of one commit differ."""


def build_twice(to: Path, root: Path = ROOT) -> list[Path]:
    """Build all distributions of the checked-out commit into the directory `to`; return the archives.

    The second build uses another directory, time zone, locale and file mode, and must give the same bytes.

    Raises
    ------
    NotReproducible
        If the two builds differ; `to` is unchanged.
    """
    with tempfile.TemporaryDirectory() as place:
        builds = []
        for name, mask, environment in (
            ("first", 0o022, {"TZ": "UTC", "LC_ALL": "C.UTF-8"}),
            ("the second", 0o077, {"TZ": "Pacific/Auckland", "LC_ALL": "C"}),
        ):
            source, made = Path(place) / name / "source", Path(place) / name / "dist"
            export(source, root)
            for distribution in distributions(source):
                build(distribution, source, made, environment | {"SOURCE_DATE_EPOCH": time_of_commit(root)}, mask)
            builds.append(digests(made))
        differ = sorted(
            name for name in builds[0].keys() | builds[1].keys() if builds[0].get(name) != builds[1].get(name)
        )
        if differ:
            raise NotReproducible(f"expected two builds of one commit to be equal, got others of {', '.join(differ)}")
        shutil.rmtree(to, ignore_errors=True)
        shutil.copytree(Path(place) / "first" / "dist", to)
    return sorted(to.iterdir())


def export(to: Path, root: Path = ROOT) -> None:
    """Write the committed files into a directory, so that archives contain no uncommitted files."""
    done = subprocess.run(["git", "archive", "--format=tar", "HEAD"], cwd=root, capture_output=True, check=True)
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.2 has no filters
        for member in archive:
            archive.extract(member, to)


def build(distribution: Distribution, source: Path, to: Path, environment: dict[str, str], mask: int) -> None:
    """Build the sdist of a distribution, and its wheel from the sdist, with the installed hatchling."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(to), str(source / distribution.folder)]
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    mask = -1 if os.name == "nt" else mask  # -1: unchanged
    done = subprocess.run(command, env=clean | environment, capture_output=True, text=True, check=False, umask=mask)
    if done.returncode:
        raise subprocess.SubprocessError(
            f"{distribution.name}: expected a build, got exit code {done.returncode}: {done.stderr}{done.stdout}"
        )


def time_of_commit(root: Path = ROOT) -> str:
    """Return the time of the commit in seconds, which is the date of all files in an archive."""
    command = ["git", "log", "-1", "--format=%ct"]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.strip()


def changes(root: Path = ROOT) -> bool:
    """Return whether uncommitted changes exist, which the archives do not contain."""
    command = ["git", "status", "--porcelain"]
    return bool(subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.strip())


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file in a directory."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}
