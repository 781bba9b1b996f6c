"""Modules under another name: in this process, for scripts, with the real package installed."""

import importlib
import os
import pkgutil
import subprocess
import sys

import pytest

import xpgrad
import xpgrad_autograd
from xpgrad.interop.stand_in import StandIn
from xpgrad_autograd import package

PROGRAM = """
import sys
import autograd.numpy as np
from autograd import grad
import autograd, autograd.scipy.stats
print(autograd.__name__, autograd.numpy is sys.modules["autograd.numpy"], sys.argv[1:])
print(grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0])))
"""


def run(*arguments, cwd):
    command = [sys.executable, "-W", "error", "-m", "xpgrad_autograd", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


@pytest.mark.parametrize("form", [["program.py"], ["-m", "program"]], ids=["script", "module"])
def test_programs_run(form, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = run(*form, "a", "b", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["xpgrad_autograd.package True ['a', 'b']", "[2. 4.]"]


SPAWNING = """
import multiprocessing
import autograd

def put(queue, method):
    if method:
        start(method, None, queue)
    else:
        queue.put(autograd.__name__)

def start(method, inner, queue):
    process = multiprocessing.get_context(method).Process(target=put, args=(queue, inner))
    process.start()
    process.join()

if __name__ == "__main__":
    for method in {"spawn", "forkserver"} & {*multiprocessing.get_all_start_methods()}:
        with multiprocessing.get_context(method).Manager() as manager:
            queue = manager.Queue()
            start(method, method, queue)
            print(queue.get(timeout=20))
"""


@pytest.mark.parametrize("form", [["program.py"], ["-m", "program"]], ids=["script", "module"])
def test_processes_of_programs_are_served(form, tmp_path):
    (tmp_path / "program.py").write_text(SPAWNING)
    done = run(*form, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.splitlines()) == {"xpgrad_autograd.package"}


@pytest.mark.parametrize(
    "module", [each.name for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
)
def test_module_has_all_its_names(module):
    exec(f"from {module} import *", {})
    found = importlib.import_module(module)
    assert [name for name in dir(found) if not hasattr(found, name)] == []


def test_no_program(tmp_path):
    done = run(cwd=tmp_path)
    assert done.returncode == 1
    assert "expected a program" in done.stderr


def test_a_module_that_is_not_there():
    with pytest.raises(ModuleNotFoundError, match=r"xpgrad_autograd.package provides no module 'autograd.spam'"):
        import autograd.spam  # noqa: F401


def test_the_real_one_comes_back(tmp_path, monkeypatch):
    (tmp_path / "other_library").mkdir()
    (tmp_path / "other_library" / "__init__.py").write_text("value = 'real'\n")
    monkeypatch.syspath_prepend(tmp_path)
    import other_library

    stand_in = StandIn("other_library", "xpgrad_autograd.package")
    stand_in.install()
    stand_in.install()
    import other_library as served

    assert served.grad is sys.modules["xpgrad_autograd.package"].grad
    assert served.__spec__.name == "xpgrad_autograd.package"
    stand_in.uninstall()
    import other_library as again

    assert again is other_library
    assert again.value == "real"
    assert not [finder for finder in sys.meta_path if finder is stand_in]


ENABLED = """
import site, sys, time
start = time.perf_counter()
site.addsitedir(sys.argv[1])
seconds = time.perf_counter() - start
imported = [name for name in sys.modules if name.startswith("xpgrad")]
import other_library.numpy
print(other_library.__name__, other_library.numpy.__name__, imported, seconds < 0.05)
try:
    import other_library.spam
except ImportError as error:
    print(error.name)
"""


def test_enabled_finder_serves_only_a_missing_package(tmp_path):
    stand_in = StandIn("other_library", "served.package")
    for name in ("served", "served/package", "real", "real/other_library"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    (tmp_path / "served" / "__init__.py").write_text(
        "from xpgrad.interop.stand_in import StandIn\nstand_in = StandIn('other_library', 'served.package')\n"
    )
    (tmp_path / "served" / "__main__.py").write_text("from served import stand_in\nstand_in.install()\n")
    for directory in ("served/package", "real/other_library"):
        (tmp_path / directory / "numpy.py").touch()

    def printed(*path):
        paths = os.pathsep.join([*map(str, path), *sys.path])
        command = [sys.executable, "-c", ENABLED, str(tmp_path)]
        environment = os.environ | {"PYTHONPATH": paths}
        return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.splitlines()

    file = stand_in.enable(tmp_path)
    assert stand_in.enable(tmp_path) == file
    assert printed(tmp_path) == ["served.package served.package.numpy [] True", "other_library.spam"]
    assert printed(tmp_path, tmp_path / "real") == [
        "other_library other_library.numpy [] True", "other_library.spam"
    ]  # fmt: skip
    assert stand_in.disable(tmp_path) == file
    assert not file.exists()
    file.write_text("another file")
    with pytest.raises(FileExistsError, match="was not written by served"):
        stand_in.enable(tmp_path)
    with pytest.raises(FileExistsError, match="was not written by served"):
        stand_in.disable(tmp_path)
    assert file.read_text() == "another file"


def test_function_named_as_its_module_stays_after_the_import_of_the_module():
    import autograd.misc.flatten
    from autograd.misc import flatten

    assert callable(flatten)
    assert autograd.misc.flatten is flatten


def test_installed_is_told_from_the_file():
    import autograd

    assert "xpgrad_autograd" in autograd.__file__
    assert xpgrad_autograd.stand_in.name == "autograd"
    assert xpgrad.__version__
