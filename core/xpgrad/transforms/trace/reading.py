"""`constants_of`: what a function, and the functions that it calls, read from outside of their arguments."""

import functools
import os
import sys
import sysconfig
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Set
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.graph.variable import Variable
from xpgrad.transforms.containers import container_of
from xpgrad.transforms.trace.constants import PLAIN, Constant, contents, items
from xpgrad.transforms.trace.recording import ROOT
from xpgrad.transforms.trace.tracing import Trace
from xpgrad.types import Array

MAX_OBJECTS = 5_000
MAX_ITEMS = 10_000
SPACES = "types", "argparse"
"""Modules of Python whose objects hold what users put into them."""
NUMBERS = bool, int, float, complex, str
SUITE = "xpgrad_conformance"
PLACES = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
LIBRARIES = (ROOT, *{os.path.normcase(place) + os.sep for place in PLACES})


def constants_of(f: Callable[..., Any], arguments: Iterable[Any] = ()) -> list[Constant]:
    """Return the values from outside that `f`, or a function that it calls by name, reads by names.

    `arguments` are leaves of its arguments, whose attributes it may read, too.

    These are numbers, strings, flags, arrays and Variables in closures, globals, defaults of parameters, attributes of
    objects and of modules of the user, and lists, tuples and dictionaries. The code of libraries is not searched.
    """
    names: set[str] = set()
    start = [f, *(x for x in arguments if not _is_final(x))]
    while True:
        search = Search(names)
        search.open(start)
        if search.names == names:
            return list(search.found.values())
        names = search.names


def arrays_in(constants: Iterable[Constant]) -> list[Array]:
    """Return the arrays among constants, those in lists and dictionaries included."""
    found = (x for c in constants for x in (c.value if isinstance(c.value, tuple) else (c.value,)))
    return [x for x in found if type(x) in plugins.by_type]


def contents_of(constants: Iterable[Constant], trace: Trace) -> list[Constant]:
    """Return the contents of arrays from outside as constants of a function that may compute with them unrecorded."""
    written = {value for call in trace.program.calls for value in call.writes}
    pairs = zip(trace.program.inputs, trace.sources, strict=True)
    changing = {id(source.holder) for value, source in pairs if value in written}
    arrays = {id(x): x for x in arrays_in(constants)}
    return [Constant("contents", x, "", contents(x)) for key, x in arrays.items() if key not in changing]


class Search:
    """One walk over what can be reached from a function.

    Parameters
    ----------
    known : set of str
        The attributes that are looked at: the names that occur in the functions found so far.
    """

    def __init__(self, known: Set[str]) -> None:
        self.known, self.names = known, set[str]()
        self.found: dict[tuple[str, int, str], Constant] = {}
        self._seen: dict[int, Any] = {}  # the objects, so that no other one gets the identity of one that is gone

    def open(self, start: Iterable[Any]) -> None:
        """Walk from functions and objects, the nearest first."""
        waiting = deque(start)
        while waiting and len(self._seen) < MAX_OBJECTS:
            obj = waiting.popleft()
            if id(obj) not in self._seen:
                self._seen[id(obj)] = obj
                waiting.extend(self._within(obj))

    def _within(self, obj: Any) -> Iterator[Any]:
        """Note the constants that an object holds, and yield the other objects that it refers to."""
        if isinstance(obj, functools.partial):
            yield obj.func
            yield from (*obj.args, *obj.keywords.values())
        elif isinstance(obj, types.MethodType):
            yield from (obj.__func__, obj.__self__)
        elif isinstance(obj, types.FunctionType):
            yield from self._function(obj)
        elif isinstance(obj, (list, tuple, dict)):
            if obj is not sys.modules:
                yield from self._container(obj)
        elif isinstance(obj, types.ModuleType):
            if not _is_library(obj.__name__, getattr(obj, "__file__", None)):
                yield from self._attributes(obj, vars(obj))
        elif isinstance(obj, type):
            if not _of_library(obj):
                for kind in obj.__mro__:
                    if not _of_library(kind):
                        yield from self._attributes(obj, vars(kind))
                        yield from (f for f in vars(kind).values() if _is_operator(f))
        elif callable(obj) and (wrapped := getattr(obj, "__wrapped__", None)) is not None:
            yield wrapped
        elif _of_library(type(obj)):
            if container_of(type(obj)) is not None:
                yield from self._parts(obj, settings=True)
        else:
            if container_of(type(obj)) is not None:
                yield from self._parts(obj, settings=False)
            yield from self._attributes(obj, getattr(obj, "__dict__", {}))
            yield type(obj)
            yield from self._inherited(obj)
            yield from self._slots(obj)

    def _function(self, f: types.FunctionType) -> Iterator[Any]:
        if (wrapped := getattr(f, "__wrapped__", None)) is not None:
            yield wrapped
        if _is_library(f.__module__, f.__code__.co_filename):
            return
        own = names_of(f.__code__)
        self.names |= own
        yield from self._attributes(f, vars(f))
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
            try:
                yield from self._value("cell", cell, name, cell.cell_contents)
            except ValueError:  # it has no value yet
                pass
        for name in own & f.__globals__.keys():
            yield from self._value("global", f.__globals__, name, f.__globals__[name])
        for name in ("__defaults__", "__kwdefaults__"):
            if getattr(f, name):
                yield from self._value("attribute", f, name, getattr(f, name))

    def _attributes(self, holder: Any, own: Any) -> Iterator[Any]:
        for name in self.known & own.keys():
            value = own[name]
            if isinstance(value, property):
                yield from (each for each in (value.fget,) if each is not None)
            elif isinstance(value, (classmethod, staticmethod)):
                yield value.__func__
            elif not hasattr(type(value), "__set__"):
                yield from self._value("attribute", holder, name, value)

    def _parts(self, model: Any, settings: bool) -> Iterator[Any]:
        """Note what is in a model, which the library's code reads: other models, functions and, if asked, numbers."""
        for name, value in getattr(model, "__dict__", {}).items():
            listed = isinstance(value, (list, tuple)) and any(map(_is_part, value))
            public = settings and name[0] != "_" and isinstance(value, (*NUMBERS, list, tuple, dict))
            if listed or public or _is_part(value):
                yield from self._value("attribute", model, name, value)

    def _inherited(self, obj: Any) -> Iterator[Any]:
        """Note the attributes that an object has from its class, and could get itself."""
        for kind in type(obj).__mro__:
            for name in self.known & vars(kind).keys():
                if not hasattr(type(vars(kind)[name]), "__get__") and not _of_library(kind):
                    yield from self._value("attribute", obj, name, getattr(obj, name))

    def _slots(self, obj: Any) -> Iterator[Any]:
        for kind in type(obj).__mro__:
            slots = vars(kind).get("__slots__", ())
            for name in self.known & set((slots,) if isinstance(slots, str) else slots):
                if hasattr(obj, name):
                    yield from self._value("attribute", obj, name, getattr(obj, name))

    def _container(self, obj: Any) -> Iterator[Any]:
        if len(obj) > MAX_ITEMS:
            return
        content = items(obj)
        if not isinstance(obj, tuple):
            self.found[("items", id(obj), "")] = Constant("items", obj, "", content)
        for value in content:
            if not _is_final(value):
                yield value

    def _value(self, kind: str, holder: Any, name: str, value: Any) -> Iterator[Any]:
        """Note a constant; yield its value if it refers to others."""
        if not isinstance(value, types.ModuleType):
            self.found[(kind, id(holder), name)] = Constant(kind, holder, name, value)
        if not _is_final(value):
            yield value


@functools.lru_cache(maxsize=4096)
def names_of(code: types.CodeType) -> frozenset[str]:
    """Return the names of globals and attributes that occur in a function and in those within it."""
    nested = (names_of(constant) for constant in code.co_consts if isinstance(constant, types.CodeType))
    return frozenset(code.co_names).union(*nested)


def _is_operator(f: Any) -> bool:
    """Return whether `f` is a method that Python calls, by no name in the source: for ``layer(x)``, ``model[i]``."""
    return isinstance(f, types.FunctionType) and f.__name__.startswith("__") and f.__name__ != "__init__"


def _is_part(value: Any) -> bool:
    return callable(value) and not isinstance(value, type)


def _is_final(value: Any) -> bool:
    return isinstance(value, (*PLAIN, Variable)) or type(value) in plugins.by_type


def _of_library(kind: type) -> bool:
    name = kind.__module__ or ""
    root = name.partition(".")[0]
    if root in SPACES:
        return False
    if root in sys.stdlib_module_names or root == "builtins":
        return name != "__main__"
    module = sys.modules.get(name)
    return _is_library(name, getattr(module, "__file__", None))


def _is_library(module: str | None, file: str | None) -> bool:
    """Return whether a module belongs to Python, to an installed package, to xpgrad, or to a plugin wherever it is."""
    return (module or "").partition(".")[0] in _plugins() or _file_of_library(file or "")


@functools.cache
def _plugins() -> frozenset[str]:
    """Return the packages of installed plugins that are named after xpgrad, and the conformance suite.

    A user's package may have a plugin beside models, whose numbers are the user's.
    """
    entries = (entry for found in plugins.installed.backends.values() for entry in found)
    roots = (entry.module.partition(".")[0] for entry in entries)
    return frozenset([SUITE, *(root for root in roots if root.startswith("xpgrad_"))])


@functools.lru_cache(maxsize=4096)
def _file_of_library(file: str) -> bool:
    return file.startswith("<frozen") or os.path.normcase(file).startswith(LIBRARIES)
