"""Type checking of users' programs: files in `programs` pass, and the marked lines of `mistakes` fail.

The checkers use the wheel, like users, installed in a separate environment.
"""

import json
import os
import re
import runpy
import site
import subprocess
import sys
import venv
import zipfile
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.docs.documents import ROOT

pytestmark = pytest.mark.exhaustive(1)

HERE = Path(__file__).parent
PROGRAMS = sorted((HERE / "programs").glob("*.py"))
MISTAKES = sorted((HERE / "mistakes").glob("*.py"))
ARRAYS = HERE / "libraries.py"
MISSING = [name for name in ("torch", "jax", "dask", "array_api_strict") if find_spec(name) is None]
NAMES = "all_names.py"
ROOMS = (
    "array_api", "array_api.fft", "array_api.linalg", "fft", "functions", "linalg", "ops", "plugin", "special",
    "testing", "transforms",
)  # fmt: skip
SHOWN = ["xpgrad", *(f"xpgrad.{room}" for room in ROOMS)]
Errors = dict[tuple[str, int], set[str]]
"""From a line, given by file and number, to the codes of the errors in it."""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that has xpgrad from its wheel, and other packages from the environment of the tests."""
    folder = tmp_path_factory.mktemp("user")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    venv.create(folder / "env", with_pip=False, symlinks=True)
    (packages,) = (folder / "env").glob("[Ll]ib/**/site-packages")
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(packages)
    (packages / "others.pth").write_text("\n".join(site.getsitepackages()))
    return next(path for path in (folder / "env").glob("*/python*") if path.stem == "python")


def _mypy(python: Path, files: list[Path], folder: Path) -> Errors:
    if find_spec("mypy") is None:
        pytest.skip("mypy is not installed; make check installs it")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={folder}", "--output=json"]
    environment = {name: value for name, value in os.environ.items() if name != "MYPYPATH"}
    run = subprocess.run(
        [*command, f"--python-executable={python}", *map(str, files)],
        cwd=folder, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode < 2, run.stdout + run.stderr
    found: Errors = {}
    for line in filter(None, run.stdout.splitlines()):
        error = json.loads(line)
        if error["severity"] == "error":
            found.setdefault((Path(error["file"]).name, error["line"]), set()).add(error["code"])
    return found


def _pyright(python: Path, files: list[Path], folder: Path) -> Errors:
    if find_spec("pyright") is None:
        pytest.skip("pyright is not installed; make check installs it")
    command = [sys.executable, "-m", "pyright", "--outputjson", f"--pythonpath={python}"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["PYRIGHT_PYTHON_IGNORE_WARNINGS"] = "1"
    run = subprocess.run([*command, *map(str, files)], cwd=folder, env=environment, capture_output=True, text=True)
    assert run.returncode < 2, run.stdout + run.stderr
    report = json.loads(run.stdout)
    assert report["summary"]["filesAnalyzed"] == len(files)
    found: Errors = {}
    for error in report["generalDiagnostics"]:
        if error["severity"] == "error":
            place = Path(error["file"]).name, error["range"]["start"]["line"] + 1
            found.setdefault(place, set()).add(error["rule"])
    return found


CHECKERS = {"mypy": _mypy, "pyright": _pyright}


@pytest.fixture(scope="module", params=CHECKERS)
def checked(request: pytest.FixtureRequest, installed: Path, tmp_path_factory: pytest.TempPathFactory) -> "Report":
    """The output of each type checker for all files, computed once."""
    folder = tmp_path_factory.mktemp("checked")
    (folder / NAMES).write_text(f"import {', '.join(SHOWN)}\n" + "\n".join(path for path in _shown()))
    files = [*PROGRAMS, *MISTAKES, folder / NAMES, *([] if MISSING else [ARRAYS])]
    return Report(request.param, CHECKERS[request.param](installed, files, folder))


def _shown() -> list[str]:
    return [f"{module}.{name}" for module in SHOWN for name in dir(import_module(module)) if name.isidentifier()]


@dataclass
class Report:
    """The errors that a checker found, and the expected errors."""

    checker: str
    errors: Errors

    def found(self, files: list[Path]) -> Errors:
        """Return the errors in `files`."""
        names = {path.name for path in files}
        return {line: codes for line, codes in self.errors.items() if line[0] in names}

    def expected(self, files: list[Path]) -> Errors:
        """Return the codes in comments: ``# error: MYPY'S, ... | PYRIGHT'S, ...``."""
        expected: Errors = {}
        for path in files:
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if mark := re.search(r"  # error: ([^|]*) \| (.*)$", line):
                    codes = mark[list(CHECKERS).index(self.checker) + 1]
                    expected[path.name, number] = set(codes.split(", "))
        return expected

    def assert_as_marked(self, files: list[Path]) -> None:
        """Raise unless each marked line has errors of the codes in its comment, and no other line has any."""
        found, expected = self.found(files), self.expected(files)
        assert sorted(found) == sorted(expected)
        assert {line: codes for line, codes in found.items() if not codes <= expected[line]} == {}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_the_programs_run(program: Path) -> None:
    runpy.run_path(str(program))


def test_the_programs_pass(checked: Report) -> None:
    assert checked.found(PROGRAMS) == {}


def test_all_public_names_have_known_types(checked: Report) -> None:
    assert len(_shown()) > 700
    assert checked.found([Path(NAMES)]) == {}


def test_exactly_the_marked_lines_are_errors(checked: Report) -> None:
    assert len(checked.expected(MISTAKES)) > 50
    checked.assert_as_marked(MISTAKES)


@pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")
def test_arrays_of_all_libraries_are_arrays_to_checkers(checked: Report) -> None:
    checked.assert_as_marked([ARRAYS])
