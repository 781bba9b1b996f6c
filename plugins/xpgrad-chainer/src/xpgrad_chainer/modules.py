"""The modules `chainer` and ``chainer.*``, generated from the table ``modules.toml``."""

import functools
import importlib
import tomllib
from importlib.machinery import ModuleSpec
from importlib.resources import files
from importlib.util import spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

from xpgrad.cli.catalogue import load
from xpgrad.interop.stand_in import StandIn
from xpgrad_chainer.function_classes import find_class
from xpgrad_chainer.spellings import spelled

TABLE = Path(str(files("xpgrad_chainer") / "modules.toml"))


@functools.cache
def table() -> dict[str, dict[str, str]]:
    """Return the names of each module, and the modules of xpgrad that define these, by path below `chainer`."""
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


class ChainerModules(StandIn):
    """Imports ``chainer`` and its submodules, each a `ChainerModule`; the files of a real Chainer are not touched."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "xpgrad_chainer")

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the spec of a module, or None if the module belongs to another library.

        Raises
        ------
        ModuleNotFoundError
            The table has no such module.
        """
        if fullname != self.name and not fullname.startswith(f"{self.name}."):
            return None
        below = fullname[len(self.name) + 1 :]
        if below not in table()["modules"]:
            text = f"{self.package} provides no module {fullname!r}"
            advice = load().find(fullname).text
            raise ModuleNotFoundError(f"{text}; {advice}" if advice else text, name=fullname)
        return spec_from_loader(fullname, self, origin=str(TABLE), is_package=bool(submodules(below)))

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return a module whose names are looked up at their first use."""
        return ChainerModule(spec.name, spec.name[len(self.name) + 1 :])

    def exec_module(self, module: ModuleType) -> None:
        """Execute no code, because names are resolved on access."""


class ChainerxModules(StandIn):
    """Imports ``chainerx`` from `xpgrad_chx`, and its module `testing` from this package."""

    def ours(self, fullname: str) -> str:
        """Return the name of the module that replaces `fullname`."""
        if fullname == f"{self.name}.testing":
            return "xpgrad_chainer.chainerx_testing"
        return super().ours(fullname)


class ChainerModule(ModuleType):
    """A module of Chainer's names, resolved in modules of this package, then in modules of xpgrad.

    Parameters
    ----------
    name : str
    path : str
        Its key in the table.
    """

    def __init__(self, name: str, path: str) -> None:
        super().__init__(name, f"Chainer's names of `{name}`, by xpgrad.")
        names = table()["modules"][path].split()
        vars(self).update(__file__=str(TABLE), __all__=names, _path=path, _submodules=submodules(path))

    def __getattr__(self, name: str) -> Any:
        """Return a name of this module, or a submodule, imported at the first use."""
        if name in self.__all__:
            found = vars(self)[name] = find(self._path, name)
            return found
        if name in self._submodules:
            return importlib.import_module(f"{self.__name__}.{name}")
        advice = load().find(f"{self.__name__}.{name}").text
        text = f"module {self.__name__!r} of xpgrad_chainer has no attribute {name!r}"
        raise AttributeError(f"{text}; {advice}" if advice else text, name=name, obj=self)

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ChainerModule) and name in self.__all__):  # a name hides its module, as in Chainer
            super().__setattr__(name, value)

    def __repr__(self) -> str:
        return f"<module {self.__name__!r} of xpgrad_chainer, from {str(TABLE)!r}>"

    def __dir__(self) -> list[str]:
        return sorted({*vars(self), *self.__all__, *self._submodules} - {"_path", "_submodules"})

    def __reduce__(self) -> tuple[Any, ...]:
        return importlib.import_module, (self.__name__,)


@functools.cache
def submodules(path: str) -> frozenset[str]:
    """Return the last parts of the modules within the package `path`."""
    start = f"{path}." if path else ""
    below = (key[len(start) :] for key in table()["modules"] if key.startswith(start) and key != path)
    return frozenset(name for name in below if "." not in name)


def find(path: str, name: str) -> Any:
    """Return the object that has `name` in the module `path`.

    Raises
    ------
    AttributeError
        No module of its homes has it.
    """
    for home in homes(path):
        try:
            module = importlib.import_module(home)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{home}.".startswith(f"{error.name}."):
                raise
            continue
        try:
            return spelled(getattr(module, name))
        except AttributeError:
            continue
    if path.partition(".")[0] == "functions" and name[:1].isupper() and (found := find_class(name)) is not None:
        return found
    full = f"chainer.{path}.{name}" if path else f"chainer.{name}"
    advice = load().find(full).text
    text = f"xpgrad_chainer does not provide {full}"
    raise AttributeError(f"{text}; {advice}" if advice else text, name=name)


@functools.cache
def homes(path: str) -> list[str]:
    """Return the modules that may define the names of the module `path`, in order of precedence."""
    known = table()["homes"]
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        if (above := ".".join(parts[:end])) in known:
            return known[above].split()
    return known[""].split()
