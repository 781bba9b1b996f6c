"""Installed distributions: xpgrad for users, and xpgrad-conformance of the same version for testers."""

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.docs.documents import ROOT

import xpgrad

MAX_LINES = {
    "xpgrad_c/": 3_248,
    "xpgrad_fusion/": 905,
    "xpgrad/transforms/trace/executors/": 167,
    "xpgrad/transforms/trace/": 7_454,
    "xpgrad/transforms/batch/": 2_292,
    "xpgrad/transforms/dual/": 1_264,
    "xpgrad/transforms/loops/": 2_221,
    "xpgrad/transforms/series/": 721,
    "xpgrad/links/": 2_246,
    "xpgrad/models/": 1_249,
    "xpgrad/optimizers/": 2_432,
    "xpgrad/training/": 1_599,
    "xpgrad/drawing/": 1_219,
    "xpgrad/cli/": 2_476,
    "xpgrad/hints.py": 189,
    "xpgrad/special/": 4_149,
    "xpgrad/distributions/": 2_670,
    "xpgrad/scipy/fft/": 207,
    "xpgrad/scipy/integrate/": 344,
    "xpgrad/scipy/interpolate/": 732,
    "xpgrad/scipy/linalg/": 1_036,
    "xpgrad/scipy/ndimage/": 1_157,
    "xpgrad/scipy/signal/": 756,
    "xpgrad/scipy/sparse/": 654,
    "xpgrad/scipy/spatial/": 443,
    "xpgrad/scipy/stats/": 454,
    "xpgrad/scipy/": 1_267,
    "xpgrad/programs/": 450,
    "xpgrad/": 33_540,
}
"""Blank ones are not counted; the first folder that fits counts. The chapters of SciPy have at most 6,000 together."""


def _project(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "pyproject.toml").read_text())["project"]  # type: ignore[no-any-return]  # TOML


def _archive(source: Path, folder: Path, target: str = "wheel") -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (archive,) = folder.iterdir()
    return archive


def _wheel(source: Path, folder: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(_archive(source, folder))


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel of xpgrad."""
    return _wheel(ROOT, tmp_path_factory.mktemp("xpgrad"))


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel of xpgrad-conformance."""
    return _wheel(ROOT / "conformance", tmp_path_factory.mktemp("conformance"))


def test_the_suite_has_the_version_of_xpgrad() -> None:
    version = xpgrad.__version__
    project, conformance = _project(ROOT), _project(ROOT / "conformance")
    assert project["version"] == conformance["version"] == version
    assert project["optional-dependencies"]["conformance"] == [f"xpgrad-conformance=={version}"]
    assert f"xpgrad=={version}" in conformance["dependencies"]


def test_the_wheel_of_xpgrad_contains_only_user_code(own: zipfile.ZipFile) -> None:
    folders = {name.partition("/")[0] for name in own.namelist() if name.endswith(".py")}
    assert folders == {"xpgrad", "xpgrad_numpy", "xpgrad_cupy", "xpgrad_chx", "xpgrad_c", "xpgrad_fusion"}
    assert not [name for name in own.namelist() if re.search(r"conformance/|faults|cases|test_(?!conformance)", name)]


def test_the_import_package_has_few_lines_that_are_not_blank(own: zipfile.ZipFile) -> None:
    counts = dict.fromkeys(MAX_LINES, 0)
    for name in own.namelist():
        folder = next((folder for folder in MAX_LINES if name.startswith(folder)), None)
        if folder is not None and name.endswith(".py"):
            counts[folder] += sum(bool(line.strip()) for line in own.read(name).decode().splitlines())
    assert all(counts[folder] <= most for folder, most in MAX_LINES.items()), counts


def test_the_wheel_of_the_suite_is_complete(suite: zipfile.ZipFile) -> None:
    names = set(suite.namelist())
    source = ROOT / "conformance" / "src"
    modules = {path.relative_to(source).as_posix() for path in source.rglob("*.py")}
    info = f"xpgrad_conformance-{xpgrad.__version__}.dist-info"
    assert modules | {"xpgrad_conformance/py.typed", f"{info}/licenses/LICENSE"} <= names
    metadata = suite.read(f"{info}/METADATA").decode()
    assert "# xpgrad-conformance\n" in metadata
    assert "License-Expression: MIT" in metadata


def test_the_source_archive_has_the_tests_and_documents(tmp_path: Path) -> None:
    with tarfile.open(_archive(ROOT, tmp_path, "sdist")) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "core/xpgrad/__init__.py",
        "tests/conftest.py",
        "docs/conf.py",
        "docs/index.md",
        "examples/README.md",
    } <= names
    assert not [name for name in names if name.startswith((".venv", "docs/_build", "build/"))]
