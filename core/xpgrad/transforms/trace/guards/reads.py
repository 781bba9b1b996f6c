"""`Reads`: the values that a call reads as attributes and items of objects, without running any code of theirs."""

import collections
import contextvars
import functools
import inspect
import re
import types
from collections.abc import Callable, Iterator, Sequence
from string import Formatter
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.graph.variable import Variable
from xpgrad.transforms.trace.guards import objects
from xpgrad.transforms.trace.guards.facts import COUNTED, Facts
from xpgrad.transforms.trace.guards.guard import ABSENT, READ, contents, inherited, name_of, same
from xpgrad.transforms.trace.guards.objects import ARRAY, BOX, OTHER, SIMPLE, TRACED, VIEW, is_inside, kind_of
from xpgrad.transforms.trace.guards.stack import FRESH, HIDDEN, MIXED, UNSEEN, Token
from xpgrad.transforms.trace.guards.trust import FIXED, is_builtin, is_ours, is_trusted, module_of

SETTINGS = frozenset(["name", "initializer", "update_rule", "requires_grad", "label"])
"""Attributes of a Variable that are no part of a program."""
DESCRIPTORS = types.MethodDescriptorType, types.WrapperDescriptorType
BUILTINS = (types.BuiltinFunctionType, *DESCRIPTORS, types.MethodWrapperType)
IDENTIFYING = frozenset((
    "hash", "__hash__", "fromkeys", "add", "update", "union", "setdefault", "_count_elements", "__setitem__", "is_",
    "is_not", "count", "countOf", "index", "indexOf", "remove", "contains", "__contains__",
))  # fmt: skip
"""Functions and methods in C for which two arguments, or items of them, are one if they are identical."""


def identifies(f: Any) -> bool:
    """Return whether a function or class tells by their identity whether two of its arguments are one."""
    if isinstance(f, type):
        return issubclass(f, (dict, set, frozenset))
    return isinstance(f, BUILTINS) and f.__name__ in IDENTIFYING


class Reads(Facts):
    """Facts about a call, with the attributes and items that it has read."""

    def _read_of_one(self, found: Sequence[Any]) -> Any:
        if any(kind_of(x) is ARRAY for x in found):
            self.refuse(f"where the array comes from that is read{self.line} is not seen")
        return self.one_of(found)

    # Attributes

    def attribute(self, sh: Any, o: Any, name: str) -> Any:
        """Return `o.name`, without running any code, and note its dependencies."""
        if (id(o), name) in self.seen:
            return getattr(o, name)  # noted before, and no code runs
        if isinstance(o, Token):
            self.identified |= name in IDENTIFYING
            if o.choices:
                return self._read_of_one([self.attribute(sh, x, name) for x in o.choices])
            if not o.fresh:
                self.refuse(f"where the object comes from whose {name!r} is read{sh.line} is not seen")
            if o.kind is not None:
                self.of_class(o.kind, name)
                return self._waiting(sh)
            return UNSEEN if o.risky else FRESH
        kind = kind_of(o)
        if kind is TRACED:
            if name.startswith("__"):
                self.identified |= name == "__hash__"
                self.ask(sh, o, lambda x: x.__class__ if name == "__class__" else hasattr(x, name))
            return self._of_variable(sh, o, name)
        if kind is ARRAY:
            return self._of_array(o, name)
        if (kind in (BOX, VIEW, SIMPLE) and is_builtin(type(o))) or isinstance(o, objects.CONSTANT):
            return getattr(o, name, ABSENT)
        if name == "__dict__":
            space = getattr(o, "__dict__", ABSENT)
            return self._new(space) if id(o) in self.made else space
        if name == "__class__":
            return self.read("class", o, None, type(o))
        if isinstance(o, types.ModuleType):
            trusted = is_trusted(o.__name__) or is_ours(o.__name__)
            return getattr(o, name, ABSENT) if trusted else self.read("attribute", o, name, getattr(o, name, ABSENT))
        return self._of_super(sh, o, name) if type(o) is super else self._of_object(sh, o, name)

    def ask(self, sh: Any, x: Any, about: Callable[[Any], Any]) -> None:
        """Call the function again without a level if a traced array has another type than the array that it stands for.

        `about` is what a function of the user asks for.
        """
        if kind_of(x) is TRACED and hasattr(x, "recording") and not sh.ours and about(x) != about(x.values):
            x.recording.level.refuse(
                f"the type of an array is asked for{sh.line}, and traced arrays have another; ask for its dtype"
            )

    def _of_variable(self, sh: Any, o: Any, name: str) -> Any:
        if name in (own := getattr(o, "__dict__", {})):
            return self.read("attribute", o, name, own[name])
        if isinstance(o, Variable) and not is_inside(o) and o._array is not None:
            if name in SETTINGS:
                return self.read("attribute", o, name, getattr(o, name))
            self._meets(o)
        self.of_class(type(o), name)
        if isinstance(inherited(type(o), name), types.FunctionType):
            return getattr(o, name)
        sh.waits = True
        return FRESH

    def _of_array(self, o: Any, name: str) -> Any:
        value, known = getattr(o, name, ABSENT), self.knows(o)
        if name in getattr(o, "__dict__", ()) or (known and same(value, getattr(o, name, ABSENT))):
            return self.read("attribute", o, name, value)
        if known and kind_of(value) is ARRAY:
            self.know(value)
        if isinstance(value, Iterator):  # `flat`
            self.look(o)
        elif kind_of(value) is OTHER and not callable(value):  # `flags`
            self.like(value)
            if known:
                self.read("setting", functools.partial(getattr, o, name), None, repr(value))
        return value

    def _of_super(self, sh: Any, o: Any, name: str) -> Any:
        value, below, place = READ["above"](o, name), o.__thisclass__, (o.__self_class__, o.__thisclass__, name)
        if not is_ours(below.__module__) and place not in self.seen:
            self.seen.add(place)
            self.read("above", super(below, o.__self_class__), name, value)
        sh.waits = value is not ABSENT and not isinstance(value, objects.FUNCTIONS)
        return FRESH if sh.waits else getattr(o, name, ABSENT)

    def _of_object(self, sh: Any, o: Any, name: str) -> Any:
        kind = type(o)
        found = inherited(kind, name)
        if isinstance(inherited(kind, "__getattribute__"), types.FunctionType):
            return self._waiting(sh)
        if hasattr(type(found), "__get__") and not isinstance(found, (*objects.FUNCTIONS, *objects.SLOTS)):
            if inspect.isdatadescriptor(found) or name not in getattr(o, "__dict__", ()):
                return self._of_descriptor(sh, o, name, found)
            if isinstance(found, functools.cached_property):
                self.read("own", o, name, vars(o)[name])
        inner = inherited(o, name) if isinstance(o, type) else ABSENT
        if hasattr(type(inner), "__get__") and not isinstance(inner, (*objects.FUNCTIONS, *objects.SLOTS, property)):
            return self._waiting(sh)
        try:
            hooked = inherited(kind, "__getattr__") is not ABSENT and not isinstance(o, type)
            value = object.__getattribute__(o, name) if hooked else getattr(o, name, ABSENT)
        except AttributeError:
            return self._missing(sh, o, name)
        own = getattr(o, "__dict__", ())
        if isinstance(value, types.MethodType) and (isinstance(o, type) or name not in own):
            self._method(o, name, value)
        elif not isinstance(value, (types.BuiltinMethodType, types.MethodWrapperType)) or value.__self__ is not o:
            if name not in FIXED and not (isinstance(o, type) and is_ours(o.__module__)):
                self.read("attribute", o, name, value)
            elif name in FIXED:
                (self._new if id(o) in self.made else self.know)(value)
            if value is not ABSENT and id(o) in self.known and type(value) not in COUNTED:
                self.seen.add((id(o), name))
        return value

    def _method(self, o: Any, name: str, value: types.MethodType) -> None:
        ours = is_ours((o if isinstance(o, type) else type(o)).__module__)
        if not ours or not (isinstance(o, type) or is_ours(module_of(value.__func__))):
            self.read("method", o, name, value.__func__)
        elif name == "forward" and not isinstance(o, type):
            self.read("own", o, name, ABSENT)
        self.seen.add((id(o), name))

    def _of_descriptor(self, sh: Any, o: Any, name: str, found: Any) -> Any:
        """Return the value of a property or another descriptor: its code is followed, or it is read again."""
        plain, module = isinstance(found, objects.PROPERTIES), type(found).__module__
        own = getattr(found, "fget", None) or getattr(found, "func", None)
        code: Any = own if plain else inherited(type(found), "__get__")
        followed = isinstance(code, objects.CODE) or isinstance(inherited(type(code), "__call__"), types.FunctionType)
        of_library = is_trusted(module_of(code))
        if not followed or of_library:
            value: Any = getattr(o, name, ABSENT)  # without side effects
            bound = isinstance(value, types.MethodType)  # which is another object each time
            if kind_of(value) is BOX and not same(value, getattr(o, name, ABSENT)):  # made for each access
                self.know_all(self.read("listed", o, name, contents(value)))
                return self.like(value)
            if not (plain and of_library) or (kind_of(value) is not TRACED and id(o) not in self.made):
                self.read(*(("method", o, name, value.__func__) if bound else ("attribute", o, name, value)))
            return value
        if not is_ours(module) and not is_ours(module_of(code)):
            self.read("class attribute" if plain and not isinstance(o, type) else "inherited", o, name, found)
        if not inspect.isdatadescriptor(found):  # what is put into the object comes before it
            self.read("own", o, name, READ["own"](o, name))
        return self._waiting(sh)

    def _missing(self, sh: Any, o: Any, name: str) -> Any:
        if is_ours(type(o).__module__):
            return self._waiting(sh)
        hook = inherited(type(o), "__getattr__")
        if hook in (dict.__getitem__, dict.get):
            return self.item(sh, o, name)
        if hook is not ABSENT and (not isinstance(hook, types.FunctionType) or is_trusted(module_of(hook))):
            return self.read("attribute", o, name, getattr(o, name, ABSENT))
        self.read("class attribute" if isinstance(hook, types.FunctionType) else "inherited", o, "__getattr__", hook)
        self.read("inherited", o, name, ABSENT)
        self.read("own", o, name, READ["own"](o, name))
        return self._waiting(sh)

    @staticmethod
    def _waiting(sh: Any) -> Token:
        sh.waits = True
        return UNSEEN

    def _below(self, sh: Any, o: Any, name: str) -> Any:
        """Note what ``object.__getattribute__`` returns, which a class of `o` calls in its own."""
        self.read("inherited", o, name, found := inherited(type(o), name))
        space = object.__getattribute__(o, "__dict__") if hasattr(o, "__dict__") else {}
        value = self.item(sh, self._new(space) if id(o) in self.made else space, name)
        return self._waiting(sh) if (value is ABSENT and found is ABSENT) or isinstance(found, property) else value

    def _context(self, name: str, owner: contextvars.ContextVar[Any], args: Sequence[Any]) -> Any:
        if name == "get":
            value = self.read("context", owner, None, owner.get(ABSENT))  # its own default never changes
            return value if value is not ABSENT else args[0] if args else UNSEEN
        if name == "reset":
            self.read_before(self.effects.get((id(owner), name_of(None))))
        self.write("context", owner, None)
        return UNSEEN

    def _format(self, sh: Any, text: str) -> None:
        """Note the attributes and items that a format like ``"{0.name}"`` reads."""
        given: dict[Any, Any] = {**dict(enumerate(sh.given)), **sh.keywords}
        for number, field in enumerate(each[1] for each in Formatter().parse(text) if each[1] is not None):
            first, *path = re.split(r"(?=[.[])", field)
            x = given.get(int(first) if first.isdigit() else first or number, UNSEEN) if path else None
            for each in path:
                name = each[1:].rstrip("]")
                get: Any = self.attribute if each[0] == "." else self.item
                x = get(sh, x, int(name) if name.isdigit() else name)

    def special(self, x: Any, *names: str) -> None:
        """Note names, present or missing, that Python itself looks up in the class of an object."""
        if type(x) is Token:
            if x.kind is not None:
                for name in names:
                    self.of_class(x.kind, name)
            for each in x.choices:
                self.special(each, *names)
            return
        if kind_of(x) is not OTHER or isinstance(x, (type, types.FunctionType)):
            return
        if is_ours(type(x).__module__) or is_builtin(type(x)) or id(x) in self.made:
            return
        self.locked |= "__enter__" in names and type(x).__module__ in ("_thread", "threading")
        for name in names:
            self.read("inherited", x, name, inherited(type(x), name))
        self.state_of(x)

    # Items

    def item(self, sh: Any, o: Any, key: Any) -> Any:
        """Return ``o[key]`` if that runs no code, and note its dependencies."""
        if isinstance(o, Token):
            if o.choices:
                return self._read_of_one([self.item(sh, x, key) for x in o.choices])
            if o.items:
                return o if isinstance(key, slice) else self.one_of(o.items)
            if not o.fresh:
                self.refuse(f"where the container comes from that is read{sh.line} is not seen")
            return o if o is HIDDEN else UNSEEN if o.risky else FRESH
        kind = kind_of(o)
        if kind is TRACED:
            self.look_at_index(key)
            sh.waits = True
            return FRESH
        if kind is ARRAY:
            return self._of_elements(o, key)
        getter = inherited(type(o), "__getitem__")
        if isinstance(getter, types.FunctionType):
            if not is_ours(module_of(getter)):
                self.read("class attribute", o, "__getitem__", getter)
            self.state_of(o)
            return self._waiting(sh)
        if kind is BOX or isinstance(o, (str, bytes, range)):
            return self._of_box(sh, o, key)
        if isinstance(o, type):
            self.of_class(o, "__class_getitem__")
            return FRESH if not isinstance(inherited(o, "__class_getitem__"), classmethod) else self._waiting(sh)
        if kind is not SIMPLE and id(o) not in self.made:
            self.refuse(f"items of a {type(o).__name__} are read, whose state is not seen")
        return UNSEEN

    def look_at_index(self, key: Any, arrays: bool = False) -> None:
        """Note the lists, and with `arrays` the arrays, in an index of an array."""
        for k in key if type(key) is tuple else (key,):
            self.look(k, arrays=arrays)

    def _of_elements(self, o: Any, key: Any) -> Any:
        if not self.knows(o):
            return FRESH
        keys = key if type(key) is tuple else (key,)
        if any(isinstance(k, (Token, list)) or kind_of(k) in (ARRAY, TRACED) for k in keys):
            self.look(o)
            self.look_at_index(key, arrays=True)
            return FRESH
        try:
            value = o[key]
        except Exception:  # raised again by the function
            return FRESH
        is_record = getattr(getattr(value, "dtype", None), "fields", None) is not None  # a view as well
        if kind_of(value) is not ARRAY and not is_record:
            return self.read("element", o, key, value)
        if is_record or not objects.shows_views(plugins.by_type.get(type(o))):  # it may be a copy
            self.look(o)
        self.known[id(value)] = value  # reads of the values of a view are noted later
        return value

    def _of_box(self, sh: Any, o: Any, key: Any) -> Any:
        if isinstance(key, (Token, slice)):
            self.look(o, deep=False)
            if isinstance(key, slice) and type(o) in (list, tuple):
                return self.like(o[key])
            return MIXED if isinstance(key, slice) else self.one_of(contents(o)[-len(o) :])
        if kind_of(key) is not SIMPLE and isinstance(inherited(type(key), "__eq__"), types.FunctionType):
            self.look(o, deep=False)
        try:
            value = o[key] if not hasattr(o, "keys") or key in o else ABSENT
        except (LookupError, TypeError):
            value = ABSENT
        if isinstance(o, (tuple, str, bytes, range)):
            if id(o) not in self.known and type(o) is tuple:
                return self._new(value)
            self.know(value)
            return value
        if value is ABSENT and hasattr(type(o), "__missing__"):
            self.read("item", o, key, ABSENT)
            if isinstance(o, collections.defaultdict):
                self.write("item", o, key)
                if o.default_factory in (dict, list, set):
                    return FRESH
            return self._waiting(sh)
        return self.read("item", o, key, value)
