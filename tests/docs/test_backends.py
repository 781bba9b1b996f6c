"""The pages on backends and executors, done as a new author would: files are written, built, installed and run."""

import re
from inspect import isfunction
from pathlib import Path

import pytest
from tests.docs.documents import FILE, ROOT, list_as_installed
from tests.processes import output_of

from xpgrad.plugin import Backend, CarriesGraphs, Programs

PAGE = "".join((ROOT / "docs" / name).read_text() for name in ("backends.md", "executors.md"))
FILES = dict(FILE.findall(PAGE))
PRINTED = {
    "use.py": """
@boxed:low variable([3.73105858 5.88079708 7.95257413])
@boxed:high high @numpy
[ 11.   0. 100.]
""",
    "check.py": "nothing failed; a level takes a run of the full profile on all devices",
    "notebook.py": "@boxed:low",
    "use_timed.py": "[0.26894142 0.73105858] {'exp': 2, 'sum': 2, 'divide': 2}",
}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the page, as their author would have them."""
    folder = tmp_path_factory.mktemp("author")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "src" / "xpgrad_boxed" / "__init__.py").touch()
    return folder


@pytest.fixture(scope="module")
def site(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory where the distribution is installed, together with the library and the programs."""
    folder = tmp_path_factory.mktemp("site")
    output_of("-m", "hatchling", "build", "-t", "wheel", "-d", folder, path=source)
    (wheel,) = folder.glob("*.whl")
    output_of("-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", folder, wheel, path=folder)
    for name in ("boxed.py", *PRINTED):
        (folder / name).write_text(FILES[name])
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("program", ["use.py", "check.py"])
def test_programs_run_with_the_distribution_installed(site: Path, program: str) -> None:
    printed = output_of("-W", "error", program, path=site)
    expected = PRINTED[program].strip()
    assert printed == expected or re.fullmatch(expected, printed)


def test_a_notebook_needs_no_installation(source: Path) -> None:
    (source / "src" / "boxed.py").write_text(FILES["boxed.py"])
    (source / "src" / "notebook.py").write_text(FILES["notebook.py"])
    assert output_of("-W", "error", "notebook.py", path=source / "src") == PRINTED["notebook.py"]


def test_the_executor_of_the_page_is_requested_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "timed.py").write_text(FILES["timed.py"])
    list_as_installed(tmp_path, "timed", {"xpgrad.executors": {"timed": "timed"}})
    (tmp_path / "use_timed.py").write_text(FILES["use_timed.py"])
    assert output_of("-W", "error", "use_timed.py", path=tmp_path) == PRINTED["use_timed.py"]


def test_every_program_of_the_page_is_run() -> None:
    assert {name for name in FILES if "/" not in name} == {"boxed.py", "pyproject.toml", "timed.py", *PRINTED}


def test_the_plugin_has_the_documented_length() -> None:
    plugin = FILES["src/xpgrad_boxed/plugin.py"]
    backend = plugin.partition("@hookimpl\ndef xpgrad_kernels")[0]
    assert len(backend.splitlines()) < 30


def public_methods(kind: type) -> set[str]:
    return {name for name, value in vars(kind).items() if isfunction(value) and not name.startswith("_")}


def test_each_method_of_a_backend_has_a_line_and_there_are_few() -> None:
    named = set(re.findall(r"`(\w+)", " ".join(re.findall(r"^\| (`[^|]*) \|", PAGE, re.MULTILINE))))
    assert re.findall(r"`Backend` has (\d+) public methods", PAGE) == [str(len(public_methods(Backend)))]
    assert len(public_methods(Backend)) <= 55
    assert public_methods(Backend) | public_methods(Programs) <= named
    assert all(f"`{name}`" in PAGE for name in public_methods(CarriesGraphs))
