"""Modules of one package under the name of another one, for programs that were written for the other."""

import importlib
import runpy
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_loader
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
        The package whose modules they get: ``name.a.b`` is ``package.a.b``, one object under both names.
    """

    def __init__(self, name: str, package: str) -> None:
        self.name, self.package = name, package

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return where a module comes from, or None if it is another library's.

        Raises
        ------
        ModuleNotFoundError
            The package has no such module.
        """
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
        module = importlib.import_module(self.ours(spec.name))
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Restore what the import system has set; the module has been executed."""
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
        """Serve `name` no longer, and put back the modules that `install` has removed."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
            for key in [key for key in sys.modules if key.partition(".")[0] == self.name]:
                del sys.modules[key]
            sys.modules.update(self._replaced)

    def run(self, arguments: Sequence[str]) -> None:
        """Run a program as ``python`` does, with this name served: ``script.py ...`` or ``-m module ...``.

        Parameters
        ----------
        arguments : sequence of str
            What follows ``python -m package`` on the command line.

        Raises
        ------
        SystemExit
            No program is given.
        """
        self.install()
        if len(arguments) > 1 and arguments[0] == "-m":
            sys.argv = list(arguments[1:])
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        elif arguments and not arguments[0].startswith("-"):
            sys.argv = list(arguments)
            sys.path[0] = str(Path(arguments[0]).resolve().parent)
            runpy.run_path(arguments[0], run_name="__main__")
        else:
            raise SystemExit("expected a program: SCRIPT [ARGUMENT ...], or -m MODULE [ARGUMENT ...]")
