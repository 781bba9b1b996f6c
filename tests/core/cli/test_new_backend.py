"""`xpgrad new-backend`: the generated distribution installs, loads and computes unchanged."""

import os
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.core.backend.third_party import GOOD, ThirdParty
from tests.docs.documents import ROOT
from tests.processes import output_of

import xpgrad
from xpgrad.cli import main
from xpgrad.cli.scaffold import Scaffold

pytestmark = pytest.mark.exhaustive(1)

CHECK = """
import sys
import xpgrad
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.table.scenario import dtypes_of
from xpgrad_conformance.table.table import run

assert not {"array_api_strict", "xpgrad_strict", "xpgrad_npu"} & set(sys.modules)
for device in map(xpgrad.get_device, ("@npu", "@npu:other")):
    able = [case for case in CASES if not device.backend.capabilities.lacking(case.needs)]
    able = [case for case in able if not case.name.startswith("special.")]  # iterations, each of which takes long
    for case in able[:: len(able) // 30]:
        for check in ("value", "gradient"):
            run(case, device, dtypes_of(case)[0], check)
"""

LIVES_BESIDE_STRICT = """
import pickle
import array_api_strict
import xpgrad

own = xpgrad.get_device("@npu").xp.asarray([1.0, 2.0])
assert own.__array_namespace__().__name__ == "xpgrad_npu.library"
assert type(own) is not type(array_api_strict.asarray(1.0))
x = xpgrad.Variable(own)
y = xpgrad.array_api.sum(x * x)
y.backward()
assert type(x.grad) is type(own)
assert xpgrad.Variable(array_api_strict.asarray(1.0)).device.name == "@strict:cpu"
x.to_device("@strict:device1")
assert type(x.grad) is not type(own)
assert float(pickle.loads(pickle.dumps(own))[1]) == 2.0
"""


def new_backend(*words: object) -> Result:
    return CliRunner().invoke(main, ["new-backend", *map(str, words)])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory where the unchanged distribution is installed."""
    source, folder = tmp_path_factory.mktemp("author") / "npu", tmp_path_factory.mktemp("site")
    result = new_backend("npu", "--output", source, "--author", "A. Author", "--email", "a@example.org")
    assert result.exit_code == 0, result.output
    output_of("-m", "hatchling", "build", "-t", "wheel", "-d", folder, path=source)
    (wheel,) = folder.glob("*.whl")
    assert wheel.name == "xpgrad_npu-0.1.0-py3-none-any.whl"
    output_of("-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", folder, wheel, path=folder)
    return folder


def test_doctor_finds_no_fault_in_the_new_backend(site: Path) -> None:
    report = output_of("-W", "error", "-c", "from xpgrad.cli import main; main()", "doctor", "npu", path=site)
    assert "npu fine" in report


def test_new_backend_passes_the_case_table(site: Path) -> None:
    output_of("-W", "error", "-c", CHECK, path=site)


def test_new_backend_coexists_with_the_plugin_of_array_api_strict(site: Path) -> None:
    output_of("-W", "error", "-c", LIVES_BESIDE_STRICT, path=site)


def test_everything_is_installed(site: Path) -> None:
    for name in ("__init__.py", "plugin.py", "library/__init__.py", "py.typed"):
        assert (site / "xpgrad_npu" / name).is_file()
    (info,) = site.glob("*.dist-info")
    assert "Copyright (c) " in (info / "licenses" / "LICENSE").read_text()
    metadata = (info / "METADATA").read_text()
    assert 'Author-email: "A. Author" <a@example.org>' in metadata
    assert "License-Expression: MIT" in metadata


# What is written


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, in which git has no configuration."""
    monkeypatch.chdir(tmp_path)
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    for name in ("GIT_DIR", "XPGRAD_BACKENDS", "XPGRAD_DISABLE_BACKENDS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def written(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def project(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "pyproject.toml").read_text())["project"]  # type: ignore[no-any-return]  # TOML


def test_the_files_form_a_distribution(folder: Path) -> None:
    made = folder / "xpgrad-my-npu"
    made.mkdir()  # an empty folder is filled
    assert new_backend("my-npu").exit_code == 0
    package = "src/xpgrad_my_npu"
    assert written(made) == {
        *("pyproject.toml", "README.md", "LICENSE", "tests/test_conformance.py", ".github/workflows/ci.yml"),
        *(f"{package}/{name}" for name in ("__init__.py", "plugin.py", "py.typed", "library/__init__.py")),
    }
    assert project(made)["name"] == "xpgrad-my-npu"
    assert project(made)["entry-points"]["xpgrad.backends"] == {"my-npu": "xpgrad_my_npu.plugin"}
    assert project(made)["authors"] == [{"name": "The authors of xpgrad-my-npu"}]
    test = (made / "tests" / "test_conformance.py").read_text()
    assert test.endswith('from xpgrad_conformance import suite\n\nglobals().update(suite("my-npu"))\n')
    workflow = (made / ".github" / "workflows" / "ci.yml").read_text()
    assert "${{ matrix.python }}" in workflow
    assert "xpgrad doctor my-npu" in workflow
    for path in written(made):
        text = (made / path).read_text()
        assert "%" not in text, path
        assert not any(line != line.rstrip() for line in text.splitlines()), path


@pytest.fixture
def library(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The array library npulib, which pip calls npu-arrays."""
    site = folder.parent / f"{folder.name}-libraries"
    (site / "npulib").mkdir(parents=True)
    (site / "npulib" / "__init__.py").touch()
    (site / "npulib" / "array_api.py").touch()
    (site / "npu_arrays-1.0.dist-info").mkdir()
    (site / "npu_arrays-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: npu-arrays\nVersion: 1.0\n"
    )
    (site / "npu_arrays-1.0.dist-info" / "top_level.txt").write_text("npulib\n")
    monkeypatch.syspath_prepend(site)
    yield "npulib.array_api"
    for name in [each for each in sys.modules if each.partition(".")[0] in ("npulib", "npuwrap")]:
        del sys.modules[name]  # looking for the module and its arrays has imported them


@pytest.mark.usefixtures("library")
def test_another_library_is_imported_by_its_name_and_required_by_its_distributions(folder: Path) -> None:
    assert new_backend("npu", "--output", "here", "--library", "npulib.array_api").exit_code == 0
    made = folder / "here"
    assert "    from npulib import array_api as library\n" in (made / "src" / "xpgrad_npu" / "plugin.py").read_text()
    assert not (made / "src" / "xpgrad_npu" / "library").exists()
    assert project(made)["entry-points"]["xpgrad.array_modules"] == {"npulib": "xpgrad_npu.plugin"}
    assert "npu-arrays" in project(made)["dependencies"]
    assert "array-api-strict" not in (made / "README.md").read_text()
    for name in ("__init__.py", "plugin.py"):
        compile((made / "src" / "xpgrad_npu" / name).read_text(), name, "exec")


@pytest.mark.usefixtures("library")
def test_a_namespace_may_be_a_name_in_a_module(folder: Path) -> None:
    site = folder.parent / f"{folder.name}-libraries"
    (site / "npulib" / "__init__.py").write_text("import types\n\nstandard = types.SimpleNamespace()\n")
    assert new_backend("npu", "--output", "here", "--library", "npulib.standard").exit_code == 0
    assert "    from npulib import standard as library\n" in (folder / "here/src/xpgrad_npu/plugin.py").read_text()


@pytest.mark.usefixtures("library")
def test_a_namespace_over_another_library_is_found_by_the_arrays_of_that(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "npuwrap.py").write_text("from npulib.arrays import zeros\n")
    site = folder.parent / f"{folder.name}-libraries"
    (site / "npulib" / "arrays.py").write_text("class Array: ...\ndef zeros(shape):\n    return Array()\n")
    monkeypatch.syspath_prepend(folder)
    assert new_backend("npu", "--output", "here", "--library", "npuwrap").exit_code == 0
    assert project(folder / "here")["entry-points"]["xpgrad.array_modules"] == {"npulib": "xpgrad_npu.plugin"}
    assert project(folder / "here")["dependencies"][1:] == ["npuwrap", "npu-arrays"]
    result = new_backend("gpu", "--output", "there", "--library", "array_api_compat.numpy")
    assert f"xpgrad {xpgrad.__version__} serves the arrays of array_api_compat.numpy already" in result.output


def test_the_author_is_gits_unless_one_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = folder / "gitconfig"
    config.write_text('[user]\n\tname = Q. "Quotes" \\\\ Back\n\temail = q@example.org\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    assert new_backend("npu").exit_code == 0
    (author,) = project(folder / "xpgrad-npu")["authors"]
    assert author["email"] == "q@example.org"
    assert author["name"] in (folder / "xpgrad-npu" / "LICENSE").read_text()
    assert new_backend("tpu", "--author", 'A "B" \\ C', "--email", "").exit_code == 0
    assert project(folder / "xpgrad-tpu")["authors"] == [{"name": 'A "B" \\ C'}]
    monkeypatch.setenv("PATH", str(folder))  # without git
    assert new_backend("qpu").exit_code == 0
    assert project(folder / "xpgrad-qpu")["authors"] == [{"name": "The authors of xpgrad-qpu"}]


def test_the_test_extra_installs_the_suite(folder: Path) -> None:
    assert new_backend("npu").exit_code == 0
    extra = project(folder / "xpgrad-npu")["optional-dependencies"]["test"]
    assert [requirement.partition(">=")[0] for requirement in extra] == ["xpgrad[conformance]"]
    (suite,) = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["conformance"]
    needed = tomllib.loads((ROOT / "conformance" / "pyproject.toml").read_text())["project"]
    assert suite.partition("==")[0] == needed["name"]
    assert {requirement.partition(">=")[0] for requirement in needed["dependencies"]} >= {"pytest", "scipy"}


# What is refused


NAMES = ("", "2npu", "Npu", "n pu", "n--pu", "npu-", "_npu", "n.pu", "npü", "../npu", "n:0")
REFUSED = [
    *(((name,), "begins with a lower-case letter") for name in NAMES),
    (("numpy",), f"numpy is the name of an installed backend (xpgrad {xpgrad.__version__})"),
    (("strict",), "strict is the name of an installed backend"),
    (("native",), "native is the prefix of device specifiers of xpgrad"),
    (("my_npu",), "my-npu is the name of an installed backend (npu-of-mine 1.0)"),
    (("lib",), "there is a module xpgrad_lib already"),
    (("npu", "my-lib"), "expected a module's name such as mylib.array_api, got 'my-lib'"),
    (("npu", ""), "expected a module's name"),
    (("npu", "my.class"), "expected a module's name"),
    (("npu", "numpy"), f"xpgrad {xpgrad.__version__} serves the arrays of numpy already"),
    (("npu", "npulib"), "there is no module npulib"),
    (("npu", "npulib.array_api"), "there is no module npulib.array_api,"),
    (("npu", "json.arrays"), "there is no module json.arrays,"),
    (("npu", "array_api_strict", "nobody"), "--email: expected an address"),
]


@pytest.mark.parametrize(("given", "reason"), REFUSED)
def test_a_name_library_or_address_that_cannot_be_raises(
    folder: Path, third_party: ThirdParty, given: tuple[str, ...], reason: str
) -> None:
    third_party.install("npu-of-mine", GOOD, backends="my-npu")
    (folder / "xpgrad_lib.py").touch()
    before = written(folder)
    options = [word for pair in zip(("--library", "--email"), given[1:], strict=False) for word in pair]
    result = new_backend(*options, "--output", "there", "--", given[0])
    assert result.exit_code == 2
    assert reason in " ".join(result.output.split())
    assert written(folder) == before


def test_existing_files_are_not_overwritten(folder: Path) -> None:
    (folder / "there").mkdir()
    (folder / "there" / "notes").write_text("mine")
    (folder / "file").write_text("mine")
    for target in ("there", "file"):
        assert new_backend("npu", "--output", target).exit_code == 2
    assert written(folder) == {"there/notes", "file"}


@pytest.mark.parametrize(("name", "target"), [("npu", "file/inside"), ("n" * 300, "there")], ids=["a file", "long"])
def test_write_error_is_one_clear_line_and_leaves_no_folder(folder: Path, name: str, target: str) -> None:
    (folder / "file").touch()
    result = new_backend(name, "--output", folder / target)
    assert result.exit_code == 1
    assert "cannot be written; nothing was left there" in result.output
    assert "Traceback" not in result.output
    assert written(folder) == {"file"}
    assert not (folder / "there").exists()


@pytest.mark.parametrize("exists", [True, False])
def test_failed_write_leaves_no_files(folder: Path, monkeypatch: pytest.MonkeyPatch, exists: bool) -> None:
    target = folder / "deep" / "there"
    if exists:
        target.mkdir(parents=True)
    renamed, rename = [], Path.rename

    def full(self: Path, to: Path) -> Path:
        renamed.append(to)
        if len(renamed) > 2:
            raise OSError("no space left on device")
        return rename(self, to)

    monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(OSError, match="no space"):
        Scaffold("npu", "array_api_strict", "array_api_strict", "A. Author", "").write(target)
    assert target.exists() == exists
    assert (folder / "deep").exists() == exists
    assert list(folder.rglob("*")) == ([folder / "deep", target] if exists else [])
