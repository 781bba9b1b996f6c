"""xpgrad and xpgrad-strict for third parties: built into wheels, and used from another installation."""

import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

import xpgrad

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys
import xpgrad

assert xpgrad.__file__.startswith(sys.prefix), xpgrad.__file__
assert not {"numpy", "array_api_strict", "xpgrad_strict"} & set(sys.modules)

import array_api_strict as xp

x = xpgrad.Variable(xp.asarray([1.0, 2.0, 3.0]))
y = x * x + xpgrad.array_api.tanh(x)
y.grad = xp.ones_like(y.array)
y.backward()
plugin = sys.modules["xpgrad_strict.plugin"]
assert plugin.__file__.startswith(sys.prefix), plugin.__file__
print(x.device, *(f"{float(v):.4f}" for v in x.grad))
print(x.to_device("@strict:device1").device, x.to_device("@numpy").device)
"""


def run(*command: object, cwd: Path) -> str:
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The two wheels, built without a network from the installed packages."""
    folder = tmp_path_factory.mktemp("wheels")
    for source in (ROOT, ROOT / "plugins" / "xpgrad-strict"):
        run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=source)
    return sorted(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def python(wheels: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment's interpreter, with the wheels installed and everything else from where the tests run."""
    folder = tmp_path_factory.mktemp("stranger")
    venv.create(folder, with_pip=False)
    scheme = sysconfig.get_paths("venv", {"base": str(folder), "platbase": str(folder)})
    python = Path(scheme["scripts"]) / "python"
    # A path line is not searched for .pth files in turn, so the editable installs do not come along.
    Path(scheme["purelib"], "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    install = (
        "-m",
        "pip",
        "--python",
        python,
        "--disable-pip-version-check",
        "install",
        "-q",
        "--no-deps",
        "--no-index",
    )
    run(sys.executable, *install, "--ignore-installed", *wheels, cwd=folder)
    return python


def test_the_wheels_contain_the_expected_files(wheels: list[Path]) -> None:
    assert [wheel.name.partition("-")[0] for wheel in wheels] == ["xpgrad", "xpgrad_strict"]
    own, strict = (set(zipfile.ZipFile(wheel).namelist()) for wheel in wheels)
    packages = {name.partition("/")[0] for name in own if ".dist-info" not in name}
    assert packages == {"xpgrad", "xpgrad_numpy", "xpgrad_cupy", "xpgrad_chx", "xpgrad_c", "xpgrad_fusion"}
    assert {f"{package}/py.typed" for package in packages} <= own
    assert "xpgrad/cli/templates/backend/plugin.py.template" in own
    assert {"xpgrad_strict/__init__.py", "xpgrad_strict/plugin.py", "xpgrad_strict/py.typed"} <= strict
    assert {name.partition("/")[0] for name in strict if ".dist-info" not in name} == {"xpgrad_strict"}
    for names in (own, strict):
        assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
        assert any(name.endswith(".dist-info/entry_points.txt") for name in names)


def test_an_installed_distribution_gives_gradients_on_every_device(python: Path, tmp_path: Path) -> None:
    lines = run(python, "-I", "-W", "error", "-c", PROGRAM, cwd=tmp_path).splitlines()
    assert lines == ["@strict:cpu 2.4200 4.0707 6.0099", "@strict:device1 @numpy"]


def test_one_installed_copy_of_each_is_found(python: Path, tmp_path: Path) -> None:
    program = """
from xpgrad.backend.plugins import plugins
for name in ("numpy", "strict"):
    (entry,) = plugins.installed.backends[name]
    print(entry.origin)
"""
    wanted = ["xpgrad", xpgrad.__version__, "xpgrad-strict", xpgrad.__version__]
    assert run(python, "-I", "-c", program, cwd=tmp_path).split() == wanted


def test_the_programs_of_the_readme_run(python: Path, tmp_path: Path) -> None:
    page = (ROOT / "plugins" / "xpgrad-strict" / "README.md").read_text()
    programs = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert programs
    for program in programs:
        run(python, "-I", "-W", "error", "-c", program, cwd=tmp_path)
