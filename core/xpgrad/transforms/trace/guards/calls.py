"""`Calls`: the values read by a call of a function, a class or an object, depending on the callee."""

import contextlib
import contextvars
import decimal
import enum
import functools
import itertools
import math
import operator
import os
import re
import sys
import threading
import types
import weakref
from collections.abc import Iterable, Sequence
from typing import Any

from xpgrad.backend.levels import innermost
from xpgrad.backend.plugins import plugins
from xpgrad.config import at_level, called_with
from xpgrad.graph.variable import Variable
from xpgrad.transforms.trace.guards import objects
from xpgrad.transforms.trace.guards.guard import ABSENT, contents, inherited, is_constant, referent
from xpgrad.transforms.trace.guards.objects import ARRAY, BOX, OTHER, SIMPLE, TRACED, VIEW, is_inside, kind_of
from xpgrad.transforms.trace.guards.reads import BUILTINS, DESCRIPTORS, Reads, identifies
from xpgrad.transforms.trace.guards.reflection import SPECIAL
from xpgrad.transforms.trace.guards.stack import FRESH, HIDDEN, MIXED, UNSEEN, Token, Twin
from xpgrad.transforms.trace.guards.trust import IMPURE, is_builtin, is_of_arrays, is_ours, is_trusted, module_of

_NEW = list, dict, tuple, set, frozenset, sorted, len, float, int, bool, str, sum, any, all, abs, round, range
NEW = frozenset(map(id, (*_NEW, math.copysign, isinstance)))
"""Functions that return something new, or plain."""
_QUIET = isinstance, issubclass, id, callable, hash, print, type, object, slice, super, property, functools.partial
QUIET = frozenset(map(id, (*_QUIET, weakref.ref, classmethod, staticmethod)))
"""Functions that look at no items and no values."""
CLOCKS = frozenset(["now", "today", "utcnow"])
ASKED = frozenset(["isEnabledFor", "getEffectiveLevel", "get_type_hints"])
"""Functions of ``logging`` and of ``typing`` whose results depend on what is outside."""
LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40, "exception": 40, "critical": 50, "log": None}
"""Functions of ``logging`` that write messages of a level, or of the level that they get."""
TEXTS = frozenset(["str", "repr", "format", "array2string", "array_repr", "array_str", "__repr__", "__str__"])
"""Functions whose results depend on the options by which a library prints arrays."""
STATES = frozenset(["sys", "gc"])
"""Modules, written in C, whose functions give the state of the interpreter."""
COPIES, LOOPS = (list, tuple, dict), (zip, enumerate, reversed)
"""Classes whose objects hold the items of what they get, or go over them."""
SEEN = list, tuple, dict, *objects.VIEWS, int, Twin
LAZY = frozenset(map(id, [map, filter, next, iter, enumerate, zip, reversed]))
PICKS = frozenset(map(id, [next, max, min, sum]))
CHOOSING = max, min, next, sorted, filter, list, tuple, reversed
"""Functions whose results are items of a container that they get, or hold some of them."""
PURE = frozenset(map(id, [max, min, sum, sorted, str, int, repr]))
READS = frozenset(["pop", "popitem", "popleft", "setdefault", "sort", "reverse", "remove"])
WRITES = READS | {
    *("append", "extend", "insert", "add", "update", "discard", "clear", "appendleft", "extendleft", "move_to_end"),
    *("rotate", "__setitem__", "__delitem__", "__setattr__", "subtract", "difference_update", "intersection_update"),
}
"""Methods of containers that change them; those of `READS` return or depend on what is there."""
OF_OBJECTS = frozenset(
    ["__init__", "__init_subclass__", "__repr__", "__str__", "__hash__", "__eq__", "__ne__", "__format__", "__sizeof__"]
)
"""Methods of all objects that read nothing."""
TAKES = {"pop": -1, "popleft": 0}
LOCKS = type(threading.Lock()), type(threading.RLock())
OF_SETTINGS = "get", "is_"  # beginnings of names of functions that return a library's settings: `numpy.geterr`
OF_VIEWS = "reshape", "transpose", "swapaxes", "squeeze", "permute", "unsqueeze"
"""Methods of arrays that return views; `reshape` does for an array in order."""
OF_UFUNCS = "reduce", "outer", "at", "accumulate"
GIVES = frozenset(["pop", "get", "popleft", "__getitem__", "setdefault", "__next__"])
DRAWS = re.compile(r"rand(n|int|perm)?(_like)?|normal|bernoulli|multinomial|poisson|\w*dropout\w*|(manual_)?seed")
"""Functions of array libraries that use the state of a generator of random numbers."""
FILES = re.compile(r"load(txt)?|save(z|z_compressed|txt)?|genfromtxt|fromregex|(from|to)file|(open_)?memmap|dump")
"""Functions and methods of array libraries that read or write files."""
TRANSFORMS = "xpgrad.transforms"
GETTERS = operator.attrgetter, operator.itemgetter, operator.methodcaller
IN_C = operator.attrgetter, types.BuiltinFunctionType, types.MethodWrapperType, functools.partial
OF_NAMES = frozenset(map(id, [getattr, hasattr, setattr, delattr]))
CACHES = (type(functools.lru_cache(len)),)
NAMED = types.FunctionType, type, *BUILTINS


class Calls(Reads):
    """Facts about a call, with the values read by the functions that it has called."""

    def call(self, sh: Any, f: Any, args: Sequence[Any]) -> Any:
        """Return the known part of the result of calling `f` with the known parts of its arguments."""
        sh.calling = None
        if identifies(f):
            self.identify(args)
        if any(isinstance(x, NAMED) and x.__name__ in TEXTS for x in (f, *args)):
            self.shown((*args, getattr(f, "__self__", None)))
        for x in args:
            if isinstance(x, types.FunctionType):
                sh.handed.setdefault(x.__code__, x)
            elif isinstance(x, IN_C) and not isinstance(f, (types.FunctionType, types.MethodType, functools.partial)):
                boxes = (*args, owner) if kind_of(owner := getattr(f, "__self__", None)) is BOX else args
                self._call_within(sh, x, [items for items in boxes if items is not x])
        if isinstance(f, Token):
            if f.choices and all(isinstance(x, BUILTINS) for x in f.choices):
                if f.choices[0].__name__ in WRITES:
                    self.refuse(f"it changes a container{sh.line} that is not seen")
                return self.one_of([self.call(sh, x, args) for x in f.choices])
            self.look_at_boxes(args)
            sh.waits = True
            return MIXED if f.fresh and not self._danger(f, args) else UNSEEN
        if isinstance(f, types.MethodType):
            f, args, sh.given = f.__func__, (f.__self__, *args), (f.__self__, *sh.given)
        if isinstance(f, types.FunctionType):
            return self._function(sh, f, args)
        if isinstance(f, functools.partial):
            sh.given, sh.keywords = (*f.args, *sh.given), f.keywords | sh.keywords
            if f.keywords:
                self.look(f.keywords if id(f) not in self.made else None, deep=False)
            self.know_all(f.args)
            return self.call(sh, f.func, (*f.args, *args, *f.keywords.values()))
        special = SPECIAL.get(id(f))
        if special is not None and (found := special(self, sh, args)) is not NotImplemented:
            return found
        if isinstance(f, GETTERS):
            return self._getter(sh, f, args)
        if isinstance(f, weakref.ref) and not isinstance(inherited(type(f), "__call__"), types.FunctionType):
            return self.read("call", referent, (f,), f())
        owner = getattr(f, "__self__", None)
        if isinstance(f, type):
            found = self._class(sh, f, args)
        elif isinstance(f, DESCRIPTORS) and args and not isinstance(args[0], Token):
            found = self._method_in_c(sh, f, args[0], args[1:])
        elif isinstance(owner, types.ModuleType) or owner is None or not isinstance(f, BUILTINS):
            found = self._builtin(sh, f, args)
        else:
            found = self._method_in_c(sh, f, owner, args)
        return self._computed(sh, f, args, found) if id(f) in PURE or type(owner) is str else found

    def _computed(self, sh: Any, f: Any, args: Sequence[Any], found: Any) -> Any:
        """Return the result of a function without state if all its arguments are plain, or lists of such."""
        given = (*sh.given, *sh.keywords.values())
        if f is sum and (traced := [x for x in given[:1] if type(x) in (list, tuple) for x in x if is_inside(x)]):
            return traced[0]  # as the sum, it is an array of this call
        plain = [type(x) in GETTERS or is_constant(tuple(x) if type(x) is list else x) for x in given]
        sh.waits |= len(given) == 1 and kind_of(given[0]) is OTHER  # for its __str__, or another method
        if len(given) != len(args) or not all(plain):
            return found
        try:
            value = f(*sh.given, **sh.keywords)
        except Exception:  # raised again by the call
            return found
        return self.like(value) if type(value) is list else value

    def _call_within(self, sh: Any, f: Any, boxes: Sequence[Any]) -> None:
        """Note what a function in C reads that a function in C calls with the items of containers: keys, `map`."""
        while isinstance(f, functools.partial):
            f, boxes = f.func, (*f.args, *boxes)
        waits = sh.waits
        if identifies(f):
            self.identify(boxes)
        if isinstance(f, BUILTINS):
            self.look(getattr(f, "__self__", None))
        for box in boxes if isinstance(f, operator.attrgetter) or id(f) in OF_NAMES else ():
            if kind_of(box) not in (BOX, VIEW) or id(f) in OF_NAMES:
                if type(box) is Token or kind_of(box) is not SIMPLE:
                    self.refuse(f"a function in C reads attributes of objects that are not seen{sh.line}")
                continue
            for x in contents(box):
                self._getter(sh, f, (x,))
        sh.waits = waits

    def _danger(self, f: Any, args: Sequence[Any]) -> bool:
        new = id(f) in NEW or (id(f) in PICKS and len(args) == 1)  # of one container, these return an item
        return any(
            self.is_risky(x, not new and id(x) not in self.made and kind_of(x) is not ARRAY)
            for x in args
            if not (isinstance(x, GETTERS) and id(x) in self.made)
        )

    def _function(self, sh: Any, f: types.FunctionType, args: Sequence[Any]) -> Any:
        sh.calling, sh.waits, module = f, True, module_of(f)
        if is_of_arrays(module):
            self._look_at(args, f)
            return FRESH
        if module in ("logging", "typing") and f.__name__ in ASKED and not any(isinstance(x, Token) for x in args):
            self.read("setting", again := functools.partial(f, *sh.given, **sh.keywords), None, repr(again()))
        if module == "logging" and f.__name__ in LEVELS:  # a message is written while a call is recorded, as by print
            logger = next((x for x in args[:1] if hasattr(x, "isEnabledFor")), f.__globals__["root"])
            level = LEVELS[f.__name__] or next((x for x in args[:2] if type(x) is int), 0)
            self.read("call", is_enabled := type(logger).isEnabledFor, (logger, level), is_enabled(logger, level))
        if is_trusted(module):
            transforms = module.startswith(TRANSFORMS)
            self.use(args, numbers=not transforms)
            for x in args:
                if transforms:
                    self.tree(x)
                if kind_of(x) is BOX or x is HIDDEN:
                    self.look(x, arrays=False)
            self._look_at_numbers(f, () if transforms else args)
        return UNSEEN

    def use(self, items: Iterable[Any], numbers: bool = True, depth: int = 4) -> None:
        """Note that code may depend on the values of some objects: arrays from outside, and `numbers`."""
        self.numbers.use(items if numbers else ())
        for x in items if depth else ():
            kind = kind_of(x)
            if kind is ARRAY and self.knows(x):
                self.passed[id(x)] = x
            elif kind is BOX or type(x) is slice:
                parts = contents(x) if kind is BOX else (x.start, x.stop, x.step)
                self.use(parts, False, depth - 1)

    def look_at_boxes(self, items: Sequence[Any]) -> None:
        """Note the containers, and numbers, that are stored in an unobserved container."""
        self.use(items)
        for x in items:
            self.look(x, arrays=False)

    def _look_at_numbers(self, f: Any, args: Sequence[Any]) -> None:
        """Look at arrays of one element that a function gets which is no primitive, and may compute with numbers."""
        for x in () if type(f).__name__ == "ufunc" or hasattr(f, "definition") else args:
            if kind_of(x) is ARRAY and math.prod(x.shape) == 1:
                self.look(x)

    def _look_at(self, args: Sequence[Any], f: Any = None) -> None:
        """Look at the arguments of a call unless it is recorded: with a traced array, or a sequence of them."""
        name = getattr(f, "__name__", "")
        if FILES.fullmatch(name):
            self.refuse(f"it calls {name}, which reads or writes a file")
        if not args and name.startswith(OF_SETTINGS):
            self.read("setting", f, None, repr(f()))
        recorded = any(kind_of(y) is TRACED for x in args for y in (x if type(x) in (list, tuple) else (x,)))
        if recorded:
            self.use(args)
            self._look_at_numbers(f, args)
        for x in args:
            self.look(None if recorded else x)
            self.state_of(x)
        if not any(isinstance(x, Variable) for x in args):  # for which the function is ours
            self._draws(f, args)

    def _draws(self, f: Any, args: Sequence[Any]) -> None:
        """Note that a function of an array library draws random numbers, or makes a generator without a seed."""
        module, name = getattr(f, "__module__", None) or "", getattr(f, "__name__", "")
        if is_of_arrays(module) and (DRAWS.fullmatch(name) or ("random" in module and not args)):
            top = {b.namespace.__name__.partition(".")[0] for b in plugins.by_type.values() if b.immutable}
            if module.partition(".")[0] not in top:  # whose functions of this name get a key
                self.refuse(f"it draws numbers by {name}, whose state is not seen; use xpgrad.random")

    def _getter(self, sh: Any, f: Any, args: Sequence[Any]) -> Any:
        value, (made, given) = args[0], f.__reduce__()
        if isinstance(f, operator.methodcaller):
            name, *sh.given = list(getattr(made, "args", ())) + list(given)
            sh.keywords = getattr(made, "keywords", {})
            return self.call(sh, self.attribute(sh, value, name), (*sh.given, *sh.keywords.values()))
        for path in given:
            value = args[0]
            for name in path.split(".") if isinstance(f, operator.attrgetter) else (path,):
                get = self.item if isinstance(f, operator.itemgetter) else self.attribute
                value = get(sh, value, name)
        return value if len(given) == 1 else MIXED

    def _class(self, sh: Any, f: type, args: Sequence[Any]) -> Any:
        if issubclass(f, threading.Thread):
            self.refuse("it creates a thread, whose code is not followed")
        if f is decimal.Decimal:
            self.read("setting", objects.rounding, None, self.rounding)
        called = isinstance(inherited(type(f), "__call__"), types.FunctionType)
        self.look_at_boxes(args)
        followed = f is types.SimpleNamespace
        if not is_ours(f.__module__):
            for name in ("__call__", "__new__", "__init__"):
                own = inherited(type(f) if name == "__call__" else f, name)
                if isinstance(getattr(own, "__func__", own), types.FunctionType):
                    kind, value = ("class attribute", own) if name == "__call__" else ("attribute", getattr(f, name))
                    self.read(kind, f, name, value)
                    sh.waits = followed = True
        if f in COPIES or (f in LOOPS and self._is_in_loop(sh)):
            found = self._over(sh, f, args)
            if found is not None:
                return found
        if id(f) not in QUIET and (not is_trusted(f.__module__) or is_of_arrays(f.__module__)):
            for x in args:
                self.look(x, arrays=not followed)
            self._draws(f, args)
        if f in (*GETTERS, functools.partial) and not any(isinstance(x, Token) or kind_of(x) is TRACED for x in args):
            return self.like(f(*sh.given, **sh.keywords))
        if not is_ours(f.__module__) and not is_builtin(f) and not called:
            return Token(True, self._danger(f, args), f)
        return self._picked(sh, f, args)

    def _over(self, sh: Any, f: Any, args: Sequence[Any]) -> Any:
        """Return the like of a container or iterator of the items of containers; None if they are not seen."""
        args = sh.given if f is zip else args  # without `strict`
        args = [self.read("call", tuple, (x,), tuple(x)) if isinstance(x, enum.EnumMeta) else x for x in args]
        if not args or not all(type(x) in SEEN for x in args) or (f in COPIES and (sh.named or len(args) > 1)):
            return None
        for x in args:
            self.look(x, deep=False)
        items: list[Any] = [x.items if type(x) is Twin else x for x in args]
        return Twin(f(*items)) if f in LOOPS else args[0] if f is type(args[0]) is tuple else self.like(f(*items))

    @staticmethod
    def _is_in_loop(sh: Any) -> bool:
        """Return whether the result of a call goes into a loop at once, or into the iterator of one."""
        step = sh.plan[sh.may[0]]
        step = sh.plan[step.following[0]] if step.name == "PRECALL" else step
        return step.name == "GET_ITER" or (
            step.name in ("CALL", "CALL_KW") and any(x is f for x in sh.stack[-2:] for f in (*COPIES, *LOOPS))
        )

    def _builtin(self, sh: Any, f: Any, args: Sequence[Any]) -> Any:
        called = inherited(type(f), "__call__")
        if isinstance(called, types.FunctionType):
            if not is_ours(module_of(called)):
                self.read("class attribute", f, "__call__", called)
            sh.waits, sh.calling = True, called
            self.use(args if is_trusted(module_of(called)) and f.__module__ != TRANSFORMS else ())
            self.state_of(f)
            return UNSEEN
        self.use(args)
        plain, module = all(kind_of(x) is SIMPLE for x in args), getattr(f, "__module__", None) or ""
        named = f in (threading.get_ident, os.fspath) or getattr(f, "__name__", "").startswith("_path_")
        if plain and (module in STATES or named) and f is not sys._getframe:
            return self.read("call", f, tuple(args), f(*args))
        if (module in IMPURE and f.__name__ != "text_encoding") or f is open:
            self.refuse(f"it calls {f.__name__}, which may give something else at each call")
        if is_of_arrays(type(f).__module__) or is_of_arrays(module):
            sh.waits = True
            self._look_at(args, f)
            return FRESH
        if module in STATES:
            self.refuse(f"it calls {f.__name__}, whose result depends on what is not seen")
        if not {id(f)} <= QUIET | NEW | PICKS | PURE and any(isinstance(x, Token) and x.choices for x in args):
            self.refuse(f"it calls {f.__name__} with an object that is not seen")
        if id(f) not in QUIET:
            for x in args:
                self.look(x)
                self.special(x, "__iter__")
            for x in () if id(f) in LAZY else args:  # code in C may read attributes of objects
                if not isinstance(x, (Token, types.FunctionType, type)) and kind_of(x) is OTHER:
                    self.look(self.attribute(sh, x, "__dict__"))
        sh.waits |= f is next  # the frame of a generator reports the yielded value
        if not isinstance(f, BUILTINS):
            sh.waits = True
            if isinstance(f, CACHES):
                seen = len(args) == len(sh.given) + len(sh.keywords)
                others = [x for x in args if not (is_constant(x) or kind_of(x) is SIMPLE)]
                if seen and all(kind_of(x) is OTHER and id(x) in self.known for x in others):
                    cached = functools.partial(f, **sh.keywords) if sh.keywords else f
                    self.cached.append((cached, tuple(sh.given)))
                    sh.late = functools.partial(cached, *sh.given)
                    with contextlib.suppress(Exception):  # which the call raises as well
                        called_with(at_level(None), sh.late)  # what is kept there belongs to no single call
                else:
                    name = getattr(f, "__name__", f)
                    self.refuse(f"it calls {name}, which has a cache, with arguments that are not seen")
            return UNSEEN
        return self._picked(sh, f, args)

    def _picked(self, sh: Any, f: Any, args: Sequence[Any]) -> Any:
        """Return the known part of the result of a function in C, which may be, or hold, items of what it gets."""
        if not self._danger(f, args):
            return FRESH
        given = sh.given[f is filter :] if f in CHOOSING else ()
        box = given[0] if given else UNSEEN
        items: Sequence[Any] = box.items if type(box) is Token else contents(box) if kind_of(box) in (BOX, VIEW) else ()
        if id(f) not in PICKS:
            return Token(True, True, items=items) if items else MIXED
        others = (*given[1:], *(value for name, value in sh.keywords.items() if name == "default"))
        items = given[:1] if len(given) > 1 and f is not next else items
        sh.waits &= not items
        seen = items or isinstance(box, types.GeneratorType)  # whose frame reports what it yields
        return self.one_of((*items, *others)) if seen else UNSEEN

    def _method_in_c(self, sh: Any, f: Any, owner: Any, args: Sequence[Any]) -> Any:
        """A method of a type that is written in C."""
        name, kind = f.__name__, kind_of(owner)
        self.numbers.use((owner,))
        self.use(args)
        if isinstance(owner, type) and (name == "__subclasses__" or (owner.__module__ in IMPURE and name in CLOCKS)):
            self.refuse(f"it calls {name} of {owner.__name__}, which may give something else at each call")
        if isinstance(owner, weakref.ref) and name == "__call__":
            return self.read("call", referent, (owner,), referent(owner))
        if name == "format" and type(owner) is str:
            self._format(sh, owner)
        if kind in (SIMPLE, VIEW) or isinstance(owner, type) or id(owner) in self.made:
            for x in (owner, *args) if kind is VIEW else args:
                self.look(x, arrays=name not in WRITES)
            if isinstance(owner, Sequence) and id(owner) in self.made and name in TAKES and not args and owner:
                return owner[TAKES[name]]
            none = name in WRITES and name not in READS  # what it returns
            danger = not none and (self._danger(f, args) or self.is_risky(owner))
            return (UNSEEN if name in GIVES else MIXED) if danger else FRESH
        if kind is ARRAY or is_of_arrays(type(owner).__module__):
            if kind is not ARRAY and not isinstance(owner, types.ModuleType) and name not in OF_UFUNCS:
                self.refuse(f"it calls {name} of a {type(owner).__name__} of another library, whose state is not seen")
            in_order = name != "reshape" or getattr(getattr(owner, "flags", None), "c_contiguous", False)
            plain = all(type(x) is int for y in args for x in (y if type(y) is tuple else (y,)))
            if name in OF_VIEWS and in_order and plain and self.knows(owner):
                return self.known.setdefault(id(view := getattr(owner, name)(*args)), view)
            self._look_at((owner, *args), f)
            return FRESH
        if name in ("__setattr__", "__delattr__") and args:
            self.write("attribute", owner, args[0])
            return FRESH
        if name == "__getattribute__" and args and isinstance(args[0], str):
            return self._below(sh, owner, args[0])
        if name in ("__reduce_ex__", "__getstate__") and hasattr(owner, "__dict__"):
            self.look(vars(owner))
            return MIXED
        if name in OF_OBJECTS or (type(owner) in LOCKS and (not args or name == "__exit__")):
            return FRESH if name != "locked" else self.read("call", getattr(type(owner), name), (owner,), f())
        if name == "__get__" and not any(isinstance(x, Token) for x in args):
            return f(*args)
        if kind is BOX:
            return self._method_of_box(sh, name, owner, args)
        if isinstance(owner, contextvars.ContextVar):
            return self._context(name, owner, args)
        if isinstance(owner, types.GeneratorType):
            if id(owner) in self.known:
                self.refuse("it advances a generator from outside")
            sh.waits = True
            return UNSEEN
        if kind is TRACED:
            sh.waits = True
            return FRESH
        return self._unseen(f"it calls {name} of a {type(owner).__name__}, whose state is not seen", args)

    def _unseen(self, why: str, args: Sequence[Any]) -> Any:
        """Refuse a call of an unseen object; if it gets arrays of this call, which would live on there, at once."""
        self.refuse(why)
        level = innermost()
        if level is not None and any(kind_of(x) is TRACED and (is_inside(x) or x._array is None) for x in args):
            level.refuse(why)
        return UNSEEN

    def _method_of_box(self, sh: Any, name: str, owner: Any, args: Sequence[Any]) -> Any:
        seen = bool(args) and not isinstance(args[0], Token)
        if name in ("get", "__getitem__") and seen:
            value = self.item(sh, owner, args[0])
            return (args[1] if len(args) > 1 else None) if value is ABSENT else value
        if name == "__contains__" and seen:
            return self.read("membership", owner, args[0], args[0] in owner)
        if name in WRITES:
            if name in ("pop", "setdefault", "__setitem__", "__delitem__") and seen and isinstance(owner, dict):
                before = owner.get(args[0], ABSENT)
                value = FRESH if name == "__setitem__" else self.read("item", owner, args[0], before)
                self.write("item", owner, args[0])
                return value if value is not ABSENT else args[1] if len(args) > 1 else None
            if name == "update" and isinstance(owner, dict) and all(type(x) is dict for x in sh.given):
                for key in itertools.chain(*sh.given, sh.keywords):
                    self.write("item", owner, key)
                for x in sh.given:
                    self.look(x, arrays=False)
                return FRESH
            if name in READS:
                self.look(owner, deep=False)
            self.write("contents", owner, None)
            return UNSEEN if name in READS and self.is_risky(owner) else FRESH
        if name in ("items", "values", "keys") and self._is_in_loop(sh):
            self.look(owner, deep=False)
            return Twin(iter(getattr(owner, name)()))
        self.look(owner)
        for x in args:
            self.look(x)
        items = tuple(getattr(owner, name)()) if name in ("items", "values") and isinstance(owner, dict) else ()
        return Token(True, True, items=items) if self.is_risky(owner) else FRESH

    def assign(self, sh: Any, owner: Any, name: Any) -> None:
        """Note that an attribute is about to be set or deleted."""
        if isinstance(owner, Token) or not isinstance(name, str):
            return self.write("attribute", owner, name)
        if name == "__dict__":  # its attributes may be shared
            self.made.pop(id(owner), None)
            self.know(owner)
        self.special(owner, "__setattr__")
        setter = inherited(type(owner), name)
        if isinstance(inherited(type(owner), "__setattr__"), types.FunctionType):
            return None  # its code is followed
        if isinstance(setter, objects.SLOTS) or not hasattr(type(setter), "__set__"):
            self.write("attribute", owner, name)
        return None

    def local(self, sh: Any, name: str) -> Any:
        """Return the value of a variable of a frame."""
        value = sh.loop if name == ".0" and sh.loop is not None else sh.frame.f_locals.get(name, FRESH)
        if name in sh.fresh and kind_of(value) in (BOX, OTHER, VIEW) and id(value) not in self.known:
            self.made[id(value)] = value
        return value
