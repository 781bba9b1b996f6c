"""Code that is not followed, because its result depends only on its arguments, and the kinds of objects."""

import copy
import functools
import os
import sysconfig
import weakref
from collections.abc import Callable
from types import CodeType, FunctionType, MethodType
from typing import Any

from xpgrad.backend.plugins import plugins

LIBRARY = "xpgrad"
FOLLOWED = (
    *("links", "models", "link_hooks", "optimizer_hooks", "training", "function_hooks", "initializers"),
    *("iterators", "dataset", "datasets", "reporter", "distributions", "serializers"),
    *("optimizers.optimizer", "optimizers.hyperparameter"),
)
"""Packages of this library whose code reads what users have put into objects; all others compute."""
TREES = "models.plan", "models.tree"
"""Modules of those packages that copy models; a model that they get is guarded as a whole."""
MODULES = frozenset(
    [
        *("_collections_abc", "abc", "ast", "enum", "importlib", "linecache", "logging", "numbers", "re"),
        *("traceback", "typing", "warnings", "dis", "opcode", "tokenize"),
    ]
)
"""Modules of Python whose functions keep nothing that a program could miss; all others are followed."""
IMPURE = frozenset(["time", "posix", "nt", "datetime", "_io", "io", "_socket", "select", "_random", "_thread"])
"""Modules, written in C, whose functions give something else at each call."""
FIXED = frozenset(["_link_ready", "_local_link_hooks", "_params", "_persistent", "_children", "_within_init_scope"])
"""Attributes of links that are never replaced: what is in them may change."""
PLACES = tuple(
    {os.path.normcase(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")}
)
_left_out = set[CodeType]()


def leave_out(function: Callable[..., Any]) -> None:
    """Do not follow a function, nor the functions that it defines."""
    waiting = [getattr(function, "__code__", None)]
    for code in waiting:
        if code is not None and code not in _left_out:
            _left_out.add(code)
            waiting += (each for each in code.co_consts if isinstance(each, CodeType))


leave_out(getattr(copy, "_keep_alive", len))  # it appends to a list of the copy that is being made
for _kind in (weakref.WeakSet, weakref.WeakKeyDictionary, weakref.WeakValueDictionary):  # called as objects die
    _left_out.update(each for each in _kind.__init__.__code__.co_consts if isinstance(each, CodeType))


def module_of(f: Any) -> str:
    """Return the module whose code a function is; `functools.wraps` gives it the name of another one."""
    return getattr(f, "__globals__", {}).get("__name__") or getattr(f, "__module__", None) or ""


def is_followed(module: str, code: CodeType) -> bool:
    """Return whether code of a module is followed."""
    return code not in _left_out and not is_trusted(module)


@functools.lru_cache(maxsize=4096)
def is_trusted(module: str) -> bool:
    """Return whether the code of a module is not followed.

    This includes the code of this library, except for the packages in `FOLLOWED`, of its plugins, of the array
    libraries in use, whose arguments are noted instead, and of some modules of Python.
    """
    top, _, rest = module.partition(".")
    if top == LIBRARY:
        return not {rest, rest.partition(".")[0]}.intersection(FOLLOWED) or rest in TREES
    return top in MODULES or top.startswith(("_frozen", "namedtuple_")) or is_ours(module) or is_of_arrays(module)


@functools.lru_cache(maxsize=4096)
def is_of_arrays(module: str) -> bool:
    """Return whether a module belongs to a library of arrays, whose functions compute with the values of arrays."""
    top = module.partition(".")[0]
    return top in plugins.installed.modules or top in _libraries(len(plugins.by_type))


@functools.lru_cache(maxsize=1)
def _libraries(count: int) -> frozenset[str]:
    """Return the packages of the namespaces of all backends that are in use."""
    found = (getattr(backend.namespace, "__name__", "").partition(".")[0] for backend in plugins.by_type.values())
    return frozenset(found) - {LIBRARY, "builtins", ""}


def is_closed(kind: type) -> bool:
    """Return whether code in C goes over the items of an object, which are in no container that can be observed."""
    names = "__iter__", "__next__", "__getitem__", "__len__"
    found = [f for f in (getattr(kind, name, None) for name in names) if f is not None]
    in_python = any(isinstance(f, (FunctionType, MethodType)) for f in found)
    return bool(found) and not in_python and not is_of_arrays(kind.__module__)


@functools.lru_cache(maxsize=4096)
def is_installed(file: str) -> bool:
    """Return whether a file belongs to Python, or to an installed package."""
    return file.startswith("<frozen ") or os.path.normcase(file).startswith(PLACES)


def is_ours(module: str | None) -> bool:
    """Return whether a module belongs to this library or its plugins, whose functions and classes are constant."""
    top = (module or "").partition(".")[0]
    return top == LIBRARY or (top.startswith("xpgrad_") and top in _plugins())


def is_builtin(kind: type) -> bool:
    """Return whether a class is part of Python; one made without a module's name, on the heap, claims to be."""
    return not kind.__flags__ & 1 << 9 and kind.__module__ == "builtins"


@functools.cache
def _plugins() -> frozenset[str]:
    """Return the packages of the installed plugins, and of this library's distributions without a plugin."""
    entries = (entry for group in plugins.installed[:4] for entries in group.values() for entry in entries)
    own = "xpgrad_autograd", "xpgrad_chainer", "xpgrad_conformance"
    return frozenset([*own, *(entry.module.partition(":")[0].partition(".")[0] for entry in entries)])
