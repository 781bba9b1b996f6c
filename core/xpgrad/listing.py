"""The names that a public module lists in `dir`, whose functions it bounds, and its AttributeError for other names."""

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from xpgrad.boundary import as_bounded, bound
from xpgrad.hints import elsewhere


class _MissingName:
    """The text of a module's AttributeError, computed when it is read, so that a failing `hasattr` stays fast."""

    def __init__(self, module: str, name: str, known: Callable[[], Iterable[str]]) -> None:
        self.module, self.name, self.known = module, name, known

    def __str__(self) -> str:
        import difflib  # imported only for an error that is printed

        text = f"module {self.module!r} has no attribute {self.name!r}"
        advice = None if self.name.startswith("_") else elsewhere(self.module, self.name)
        if advice is not None:
            return f"{text}; use {advice}"
        by_name = {path.rpartition(".")[2]: path for path in sorted(self.known(), key=lambda path: -path.count("."))}
        close = difflib.get_close_matches(self.name, by_name, n=1)
        return f"{text}; did you mean {by_name[close[0]]!r}?" if close else text

    __repr__ = __str__

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)


def missing_name(module: str, name: str, known: Callable[[], Iterable[str]]) -> AttributeError:
    """Return the error of a module that has no `name`.

    It suggests a replacement if another library or another module of xpgrad has this name; otherwise it suggests the
    closest of the names that `known` returns.

    Parameters
    ----------
    module, name : str
    known : function without arguments
        It is called when the text is read. A name may have a path, such as ``array_api.sum``, which the text shows.
    """
    return AttributeError(_MissingName(module, name, known), name=name)


def listed(
    module: str, names: Iterable[str], late: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a module whose public names are `names`.

    Parameters
    ----------
    module : str
    names : iterable of str
    late : mapping of str, optional
        The modules of names that are imported at their first use.
    """
    bound(module, names)

    def find(name: str) -> Any:
        if late is not None and name in late:
            found = getattr(importlib.import_module(late[name]), name)
            return sys.modules[module].__dict__.setdefault(name, as_bounded(module, name, found))
        raise missing_name(module, name, listing)

    def listing() -> list[str]:
        return sorted(names)

    return find, listing
