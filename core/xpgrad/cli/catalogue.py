"""Chainer's public names, with the state of each: same, better, renamed or gone."""

import functools
import tomllib
from importlib.resources import files
from typing import Any, NamedTuple

STATES = "same", "better", "renamed", "gone", "not known"


class ChainerName(NamedTuple):
    """A name of Chainer.

    Attributes
    ----------
    path : str
        In Chainer: "chainer.functions.relu".
    state : str
        One of `STATES`.
    here : str or None
        The path in xpgrad.
    text : str
        Improvement or reason for removal, and the replacement.
    """

    path: str
    state: str
    here: str | None
    text: str = ""


class Catalogue(NamedTuple):
    """The names of each module, and remarks about other libraries."""

    modules: dict[str, dict[str, ChainerName]]
    aliases: dict[str, str]
    elsewhere: dict[str, str]
    attributes: dict[str, str]
    here: dict[str, str]

    def find(self, path: str) -> ChainerName:
        """Return the entry of a dotted path, or of its longest known prefix; unknown names have state "not known"."""
        parts = path.split(".")
        for end in range(len(parts) - 2, 1, -1):  # chainer.functions.activation.relu.relu
            entries = self.modules.get(".".join(parts[:end]), {})
            if ".".join(parts[: end + 1]) in self.aliases:
                break
            if entries and parts[end] not in entries and (entry := entries.get(parts[-1])) and entry.here:
                return ChainerName(path, "renamed", entry.here, "the modules within a package have other names here")
        for end in range(len(parts) - 1, 0, -1):
            module, name = ".".join(parts[:end]), parts[end]
            module = self.aliases.get(module, module)
            if name in self.modules.get(module, {}):
                return self.modules[module][name]._replace(path=path)
            if module in self.elsewhere:
                return ChainerName(path, "gone", None, self.elsewhere[module])
            if module == "chainer.functions" and name[:1].isupper():
                return ChainerName(path, "gone", None, "call the function, in lower case: the classes are not public")
            if module in self.modules and module != "chainer":
                break
        module = self.aliases.get(path, path)
        if module in self.elsewhere:
            return ChainerName(path, "gone", None, self.elsewhere[module])
        if module in self.modules:
            return ChainerName(path, "same", self.here[module])
        return ChainerName(path, "not known", None, "not in Chainer's public interface; look at what it does")

    def is_known_root(self, name: str) -> bool:
        """Return whether a top-level module is Chainer or a library built on Chainer."""
        return name == "chainer" or name in self.elsewhere


@functools.cache
def load() -> Catalogue:
    """Return the catalogue of this version, from the file ``chainer.toml``."""
    data = tomllib.loads((files("xpgrad.cli") / "chainer.toml").read_text(encoding="utf-8"))
    modules = {module["chainer"]: _entries(module) for module in data["module"]}
    here = {module["chainer"]: module["here"] for module in data["module"]}
    return Catalogue(modules, data["aliases"], data["elsewhere"], data["attributes"], here)


def _entries(module: dict[str, Any]) -> dict[str, ChainerName]:
    entries = {}
    for name in module["names"].split():
        path, here = f"{module['chainer']}.{name}", f"{module['here']}.{name}"
        if name in module.get("gone", {}):
            entry = ChainerName(path, "gone", None, module["gone"][name])
        elif name in module.get("renamed", {}):
            new, _, why = module["renamed"][name].partition(": ")
            entry = ChainerName(path, "renamed", f"xpgrad.{new}", why)
        else:
            better = module.get("better", {})
            entry = ChainerName(path, "better" if name in better else "same", here, better.get(name, ""))
        entries[name] = entry
    return entries
