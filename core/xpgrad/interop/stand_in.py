"""Modules of one package under the name of another package, for programs written for the latter."""

import importlib
import multiprocessing
import os
import runpy
import sys
import sysconfig
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_loader
from multiprocessing import spawn
from pathlib import Path
from types import ModuleType
from typing import Any


class StandIn(MetaPathFinder, Loader):
    """Imports ``name`` and its submodules from the package `package`; the files of a real `name` are not touched.

    Parameters
    ----------
    name : str
        The top-level name that programs import.
    package : str
        The package whose modules they get: ``name.a.b`` is ``package.a.b``, one object under both names. The top-level
        module of the package has the instance as attribute `stand_in`, and its `__main__` installs it when imported.
    """

    def __init__(self, name: str, package: str) -> None:
        self.name, self.package, self._top = name, package, package.partition(".")[0]
        self._main = f"{self._top}.__main__"

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the spec of a module; None for other libraries, or ModuleNotFoundError if the package lacks it."""
        if fullname != self.name and not fullname.startswith(f"{self.name}."):
            return None
        ours = self.ours(fullname)
        found = find_spec(ours)
        if found is None:
            raise ModuleNotFoundError(f"{self.package} provides no module {fullname!r}", name=fullname)
        is_package = found.submodule_search_locations is not None
        return spec_from_loader(fullname, self, origin=found.origin, is_package=is_package)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module of the package."""
        ours = self.ours(spec.name)
        module = importlib.import_module(ours)
        self._spec = module.__spec__
        # The import system sets a submodule as attribute of its package when it loads it, which has happened under our
        # name; a second time would replace a function that the package has of the same name.
        for key in [key for key in sys.modules if key.startswith(f"{ours}.")]:
            sys.modules.setdefault(spec.name + key[len(ours) :], sys.modules[key])
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Restore the spec that the import system has replaced; the module was executed before."""
        module.__spec__ = self._spec

    def ours(self, fullname: str) -> str:
        """Return the name of a module within the package."""
        return self.package + fullname[len(self.name) :]

    def install(self) -> None:
        """Serve `name` from now on; modules of that name that were imported before leave `sys.modules`."""
        if any(isinstance(finder, StandIn) and finder.name == self.name for finder in sys.meta_path):
            return
        self._replaced = {key: sys.modules.pop(key) for key in [*sys.modules] if key.partition(".")[0] == self.name}
        sys.meta_path.insert(0, self)

    def uninstall(self) -> None:
        """Serve `name` no longer, and restore the modules that `install` has removed."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
            for key in [key for key in sys.modules if key.partition(".")[0] == self.name]:
                del sys.modules[key]
            sys.modules.update(self._replaced)

    def found_last(self) -> ModuleSpec | None:
        """Serve `name`, which no other finder has found, and return where it comes from."""
        importlib.import_module(self._main)
        return self.find_spec(self.name)

    def enable(self, directory: Path | None = None) -> Path:
        """Have all programs of this Python find the package under `name` if the real one is not installed.

        A ``.pth`` file, whose path is returned, adds a finder at the end of `sys.meta_path` when Python starts; it
        imports no package before a program imports `name`.

        Parameters
        ----------
        directory : Path, optional
            A directory whose ``.pth`` files Python reads; by default ``site-packages``.

        Raises
        ------
        FileExistsError
            Another file has its name.
        """
        file = self._file(directory)
        if not self._is_ours(file):
            with file.open("x", encoding="utf-8") as stream:
                stream.write(self._line)
        return file

    def disable(self, directory: Path | None = None) -> Path:
        """Remove the file that `enable` has written, if it exists, and return its path; see `enable` for errors."""
        file = self._file(directory)
        if self._is_ours(file):
            file.unlink()
        return file

    @property
    def _line(self) -> str:
        found = f'__import__("{self._top}").stand_in.found_last() if name == "{self.name}" else None'
        find_spec = f'"find_spec": staticmethod(lambda name, path=None, target=None: {found})'
        return f'import sys; sys.meta_path.append(type("StandInFinder", (), {{{find_spec}}})())\n'

    def _file(self, directory: Path | None) -> Path:
        return (directory or Path(sysconfig.get_path("purelib"))) / f"{self._top}_stand_in.pth"

    def _is_ours(self, file: Path) -> bool:
        if file.exists() and file.read_text(encoding="utf-8") != self._line:
            raise FileExistsError(f"{file} was not written by {self._top}; rename it")
        return file.exists()

    def run(self, arguments: Sequence[str]) -> None:
        """Run a program as ``python`` does, with this name served: ``script.py ...`` or ``-m module ...``.

        ``--enable`` and ``--disable`` call the methods of these names instead.

        Parameters
        ----------
        arguments : sequence of str
            The arguments after ``python -m package`` on the command line.

        Raises
        ------
        SystemExit
            No program is given.
        """
        if list(arguments) == ["--enable"]:
            sys.stdout.write(f"{self.enable()}: {self.name} is served by {self.package} where it is not installed\n")
            return
        if list(arguments) == ["--disable"]:
            sys.stdout.write(f"{self.disable()} removed\n")
            return
        serve(self._main)
        if list(arguments[:2]) == ["-m", "pytest"]:  # the processes of pytest-xdist import the plugins named here
            plugins = os.environ.get("PYTEST_PLUGINS"), self._main
            os.environ["PYTEST_PLUGINS"] = ",".join(filter(None, plugins))
        if len(arguments) > 1 and arguments[0] == "-m":
            sys.argv = list(arguments[1:])
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        elif arguments and not arguments[0].startswith("-"):
            sys.argv = list(arguments)
            sys.path[0] = str(Path(arguments[0]).resolve().parent)
            runpy.run_path(arguments[0], run_name="__main__")
        else:
            raise SystemExit(
                "expected a program: SCRIPT [ARGUMENT ...], or -m MODULE [ARGUMENT ...]; or --enable or --disable"
            )


class Served(str):
    """The name of a module, which a process imports when it unpickles the name."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return serve, (str(self),)


def serve(module: str) -> None:
    """Import `module`, and let the processes that multiprocessing starts import it before they import the program."""
    importlib.import_module(module)
    prepare = spawn.get_preparation_data
    spawn.get_preparation_data = lambda name: prepare(name) | {"served": Served(module)}
    multiprocessing.set_forkserver_preload([module])
