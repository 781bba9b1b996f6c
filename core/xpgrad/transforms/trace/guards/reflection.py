"""`SPECIAL`: the values read and set by functions of Python that are like instructions: `getattr`, `len`, `type`."""

import abc
import contextlib
import contextvars
import enum
import functools
import sys
from collections.abc import Sequence
from typing import Any

from xpgrad.transforms.trace.guards.guard import ABSENT
from xpgrad.transforms.trace.guards.objects import ARRAY, BOX, OTHER, VIEW, kind_of
from xpgrad.transforms.trace.guards.stack import FRESH, MIXED, UNSEEN, Token
from xpgrad.transforms.trace.guards.trust import is_ours

METACLASSES = type, abc.ABCMeta, enum.EnumMeta


def _getattr(self: Any, sh: Any, args: Sequence[Any]) -> Any:
    if isinstance(args[0], Token) and not args[0].risky:
        return FRESH
    if len(args) < 2 or not isinstance(args[1], str):
        self.refuse("an attribute is read whose name is not seen")
        return UNSEEN
    value = self.attribute(sh, args[0], args[1])
    return args[2] if value is ABSENT and len(args) > 2 else value


def _hasattr(self: Any, sh: Any, args: Sequence[Any]) -> Any:
    self.ask(sh, args[0], lambda x: isinstance(args[1], str) and hasattr(x, args[1]))
    _getattr(self, sh, args[:2])
    sh.waits = False
    return FRESH


def _super(self: Any, sh: Any, args: Sequence[Any]) -> Any:
    names = sh.frame.f_locals
    made: Any = super
    if not args:
        return made(names["__class__"], names[sh.code.co_varnames[0]])
    return made(*args) if not any(isinstance(x, Token) for x in args) else NotImplemented


def _type(self: Any, sh: Any, args: Sequence[Any]) -> Any:
    if len(args) != 1:
        return NotImplemented
    if isinstance(args[0], Token):
        return args[0].kind or FRESH
    self.ask(sh, args[0], type)
    return type(args[0]) if kind_of(args[0]) is not OTHER else self.read("class", args[0], None, type(args[0]))


def _isinstance(self: Any, sh: Any, args: Sequence[Any]) -> Any:
    x, kinds = args
    self.ask(sh, x, lambda x: isinstance(kinds, Token) or isinstance(x, kinds))
    if not isinstance(x, Token) and kind_of(x) is OTHER and not isinstance(x, type) and not is_ours(type(x).__module__):
        if isinstance(kinds, type) and type(kinds) is type:
            self.read("class", x, None, type(x))
        elif not isinstance(kinds, Token) and id(x) not in self.made:
            self.read("call", isinstance, (x, kinds), isinstance(x, kinds))
    return FRESH


def _issubclass(self: Any, sh: Any, args: Sequence[Any]) -> Any:
    if not any(isinstance(x, Token) for x in args) and type(args[1]) is not type:
        self.read("call", issubclass, tuple(args), issubclass(*args))
    return FRESH


def _dir(self: Any, sh: Any, args: Sequence[Any]) -> Any:
    x = args[0] if args else UNSEEN
    if isinstance(x, Token):
        self.refuse("it lists the names of an object that is not seen")
    elif id(x) not in self.made and not is_ours(getattr(x, "__module__", None) or getattr(x, "__name__", "")):
        self.read("setting", names := functools.partial(dir, x), None, repr(names()))
    return FRESH


def _build_class(self: Any, sh: Any, args: Sequence[Any]) -> Any:
    plain = not sh.named and all(type(x) in METACLASSES for x in args[2:])
    return MIXED if plain else UNSEEN  # another metaclass may return a class that exists


def _len(self: Any, sh: Any, args: Sequence[Any]) -> Any:
    x, kind = args[0], kind_of(args[0])
    if (kind is BOX and not isinstance(x, (tuple, frozenset))) or (kind is ARRAY and self.knows(x)):
        self.read("length", x, None, len(x))
    elif kind in (VIEW, OTHER):
        self.special(x, "__len__")
        self.look(x)
        sh.waits = kind is OTHER
    return FRESH


def _print(self: Any, sh: Any, args: Sequence[Any]) -> Any:
    file = sh.keywords.get("file")
    if not any(file is x for x in (None, sys.stdout, sys.stderr)) and not self.is_new(file):
        self.refuse("it prints to an object from outside, which a program would leave out")
    return NotImplemented


def _redirect(self: Any, sh: Any, args: Sequence[Any]) -> Any:
    self.refuse("it redirects what is printed, which a program would leave out")
    return NotImplemented


_RULES: list[tuple[Any, Any]] = [
    (getattr, _getattr), (hasattr, _hasattr), (super, _super), (print, _print),
    (contextlib.redirect_stdout, _redirect), (contextlib.redirect_stderr, _redirect),
    (type, _type), (len, _len), (__build_class__, _build_class), (dir, _dir), (isinstance, _isinstance),
    (issubclass, _issubclass),
    *((f, lambda self, sh, args: self.assign(sh, *args[:2]) or FRESH) for f in (setattr, delattr)),
    (vars, lambda self, sh, args: self.attribute(sh, args[0], "__dict__") if args else NotImplemented),
    (contextvars.copy_context, lambda self, sh, args: UNSEEN),
    (globals, lambda self, sh, args: sh.frame.f_globals),
    (id, lambda self, sh, args: self.identify(args) or (FRESH if isinstance(args[0], Token) else id(args[0]))),
]  # fmt: skip
SPECIAL = {id(f): rule for f, rule in _RULES}
"""``rule(calls, shadow, args)`` by the identity of the function; it returns what is known of the result."""
