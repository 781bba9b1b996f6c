"""`Facts`: knowledge of the objects used by a call, and of the values that it has read and set outside."""

import collections
import decimal
import functools
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.graph.variable import Variable
from xpgrad.transforms.containers import container_of
from xpgrad.transforms.trace.guards import objects
from xpgrad.transforms.trace.guards.effects import Effect, Set, repeated
from xpgrad.transforms.trace.guards.guard import ABSENT, READ, Guard, contents, inherited, is_constant, name_of, same
from xpgrad.transforms.trace.guards.numbers import Numbers
from xpgrad.transforms.trace.guards.objects import ARRAY, BOX, OTHER, SIMPLE, TRACED, VIEW, is_inside, kind_of
from xpgrad.transforms.trace.guards.stack import FRESH, HIDDEN, MIXED, UNSEEN, Token, Twin
from xpgrad.transforms.trace.guards.trust import FIXED, is_ours, is_trusted

FUNCTIONS = (
    *(types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType),
    *(classmethod, staticmethod, types.ClassMethodDescriptorType),
)
CONSTANT = types.CodeType, types.BuiltinFunctionType, types.MethodDescriptorType
SLOTS = types.MemberDescriptorType, types.GetSetDescriptorType, type(vars(collections.namedtuple("Point", "x"))["x"])
PROPERTIES = property, functools.cached_property
CLASS_KINDS = frozenset(["attribute", "method", "class attribute", "inherited"])
SETTINGS = frozenset(["name", "initializer", "update_rule", "requires_grad", "label"])
"""Attributes of a Variable that are no part of a program."""


class Facts:
    """The values that a call has read and set, and the objects that it has created.

    Parameters
    ----------
    meets : callable
        Is called with each array and Variable from outside whose values or attributes are read.

    Attributes
    ----------
    guards, effects, sets, changed : dict of Guard, dict of Effect, list of Set, list of Guard
        The last two are effects that a program repeats, and values that the call has read, and then changed.
    cached, numbers : list of pairs, Numbers
        Functions with a cache that were called, and their arguments; the floats among the arguments.
    warnings, reason : list of str, str or None
        Reads that are not guarded, and why no guards can say whether a program fits.
    entered, made, known, passed : dict
        Arrays of the function's state, by the places where they are put for the call; the objects that it has created,
        the outer objects that it has used, and the outer arrays that functions have got, by their identities.
    """

    def __init__(self, meets: Callable[[Any], None]) -> None:
        self.guards, self.effects = dict[tuple[str, int, Any], Guard](), dict[tuple[int, Any], Effect]()
        self.reason: str | None = None
        self._meets = meets
        self.changed, self.sets, self.warnings = list[Guard](), list[Set](), list[str]()
        self.at: Any = None
        self.made, self.known, self.passed = dict[int, Any](), dict[int, Any](), dict[int, Any]()
        self.cached, self.entered = list[tuple[Any, tuple[Any, ...]]](), dict[tuple[int, Any], Any]()
        self.seen, self.numbers = set[Any](), Numbers()

    def refuse(self, why: str) -> None:
        """Note why the call has to run eagerly; the first reason counts."""
        self.reason = self.reason or why

    @property
    def line(self) -> str:
        """Where the call is, for messages."""
        return "" if self.at is None else str(self.at.line)

    def know(self, x: Any) -> None:
        """Note an object from outside."""
        kind = kind_of(x)
        if kind is not SIMPLE and id(x) not in self.known and id(x) not in self.made:
            self.known[id(x)] = x
            if kind is ARRAY and type(x) in plugins.by_type:
                self._meets(x)

    def knows(self, x: Any) -> bool:
        """Return whether an array is from outside, or a view that the call has made."""
        if id(x) not in self.made and ((backend := plugins.by_type.get(type(x))) is None or backend.is_view(x)):
            self.known.setdefault(id(x), x)
        return id(x) in self.known

    def know_all(self, items: Iterable[Any]) -> None:
        """Note objects from outside."""
        for x in items:
            self.know(x)

    def read(self, kind: str, owner: Any, key: Any, value: Any) -> Any:
        """Note that `value` was read, and return it."""
        if is_inside(value):
            if (id(owner), name_of(key)) not in self.effects:
                self._reveal(owner)
            return value
        name = name_of(key)
        if id(owner) in self.made:
            if kind in CLASS_KINDS and not isinstance(owner, type) and key not in getattr(owner, "__dict__", ()):
                self.of_class(type(owner), key)
            return self._new(value)
        whole = self.effects.get((id(owner), name_of(None)))
        if whole is not None and whole.kind == "contents":  # it was changed as a whole, and its earlier contents count
            self.read_before(whole)
            return value
        if (id(owner), name) in self.effects:
            return self._new(value)
        self.know(value)
        self.known[id(owner)] = owner
        place = kind, id(owner), name
        if place not in self.guards:
            self.guards[place] = Guard(kind, owner, key, value)
        if type(value) is decimal.Decimal:
            self.read("setting", objects.rounding, None, repr(objects.rounding()))
        return value

    def read_before(self, effect: Effect | None) -> None:
        """Note that what the call has set was read before."""
        if effect is not None:
            kind, owner, key, value = effect
            self.guards.setdefault((kind, id(owner), name_of(key)), Guard(kind, owner, key, value))

    def _new(self, value: Any) -> Any:
        """Note that the call has made a value, if it is not from outside, and return it."""
        if kind_of(value) in (BOX, OTHER) and id(value) not in self.known and not isinstance(value, type):
            self.made[id(value)] = value
        return value

    def _reveal(self, x: Any) -> None:
        """Note that the library has created an object, and its containers: it has an array of this call."""
        if id(x) in self.made:
            return
        self.made[id(x)] = self.known.pop(id(x), x)
        for place, guard in list(self.guards.items()):
            if guard.owner is x:
                self.guards.pop(place)
            elif guard.value is x:
                self._reveal(guard.owner)

    def like(self, box: Any) -> Any:
        """Return a container like one that the call makes, with the same objects."""
        self.made[id(box)] = box
        return box

    def is_new(self, x: Any) -> bool:
        """Return whether the call has made a value, or its like."""
        return x.fresh if type(x) is Token else id(x) in self.made

    def returned(self, x: Any) -> None:
        """Note the contents of the containers from outside that a result holds."""
        for item in contents(x) if kind_of(x) is BOX else ():
            self.returned(item)
        if id(x) in self.known:
            self.look(x, deep=False, arrays=False)

    def tree(self, x: Any) -> None:
        """Note that the library takes a model or another tree apart."""
        container = container_of(type(x)) if kind_of(x) is OTHER and id(x) in self.known else None
        if container is not None:
            self.read("tree", x, None, (type(x), container.emptied(x)))

    def of_class(self, kind: type, name: str) -> None:
        """Note the class attributes read by an object that the call has created."""
        found = inherited(kind, name)
        if not isinstance(found, SLOTS) and not is_ours(kind.__module__) and kind.__module__ != "builtins":
            self.read("of class", kind, name, found)

    def write(self, kind: str, owner: Any, key: Any) -> None:
        """Note that something of an object is about to be set."""
        if isinstance(owner, Token):
            if not owner.fresh:
                self.refuse("it sets an attribute or item of an object that is not seen")
            return
        place = id(owner), name_of(key)
        if id(owner) not in self.made and place not in self.effects and kind_of(owner) is not TRACED:
            self.known[id(owner)] = owner
            self.effects[place] = Effect(kind, owner, key, Guard(kind, owner, key, None).now())

    def enter(self, place: Effect, value: Any) -> None:
        """Store an array of this call where the function reads it, instead of an outer array."""
        self.write(place.kind, place.owner, place.key)
        place.set(value)
        self.entered[id(place.owner), name_of(place.key)] = value

    def is_read(self, effect: Effect) -> bool:
        """Return whether the call has read what it sets."""
        return any((kind, id(effect.owner), name_of(effect.key)) in self.guards for kind in READ)

    def leave(self, escapes: Callable[[Any], Any]) -> None:
        """Restore the outer arrays after a failed call, and what holds one of its arrays by `escapes`."""
        for place in [place for place, e in self.effects.items() if place in self.entered or escapes(e.now())]:
            self.effects[place].set(self.effects.pop(place).value)

    # Whole reads

    def is_risky(self, x: Any, inside: bool = False) -> bool:
        """Return whether a value may hold, or with `inside` be, an object from outside."""
        if type(x) in (Token, Twin):
            return type(x) is Token and x.risky
        kind = kind_of(x)
        if kind is SIMPLE or kind is TRACED:
            return False
        if kind is ARRAY or kind is BOX:
            whole = kind is BOX and any(self.is_risky(item, True) for item in contents(x))
            return whole or (inside and type(x) is not tuple and id(x) not in self.made)
        return not isinstance(x, (type, types.FunctionType, types.BuiltinFunctionType))

    def look(self, x: Any, deep: bool = True, arrays: bool = True) -> None:
        """Note that a whole container or array is read; if `arrays` is False, without the arrays in it."""
        kind = kind_of(x)
        if x is HIDDEN:
            self.refuse(f"where a container or array comes from whose values are read{self.line} is not seen")
        elif type(x) is Token or id(x) in self.made:
            for item in contents(x) if deep and kind is BOX else ():
                if kind_of(item) is ARRAY or id(item) in self.known or id(item) in self.made:
                    self.look(item, arrays=arrays)
        elif kind is ARRAY and arrays and self.knows(x):
            self.array(x)
        elif kind is BOX and not (isinstance(x, (list, dict)) and any(map(is_inside, contents(x)))):
            now = contents(x)
            if not isinstance(x, (tuple, frozenset)):
                self.read("contents", x, None, now)
            for item in now:
                self.know(item)
                if deep and kind_of(item) in (BOX, ARRAY):
                    self.look(item, arrays=arrays)
        elif kind is VIEW and hasattr(x, "mapping"):
            self.read("contents", x, None, contents(x))

    def array(self, x: Any) -> None:
        """Note that the values of an array from outside are read."""
        if type(x) in plugins.by_type and not plugins.backend_of(x).immutable:
            if getattr(x.dtype, "hasobject", False):
                self.refuse("the values of an array of objects are read, whose state is not seen")
            elif objects.is_small(x):
                self.read("values", x, None, objects.values(x))
            else:
                self.passed.pop(id(x), None)
                self.warnings.append(
                    f"the values of an array of {x.dtype} {tuple(x.shape)} from outside are read{self.line} by code "
                    "that is no part of the program, which does not notice when they change: pass it as an argument, "
                    "or read a part of it"
                )
        elif type(x) not in plugins.by_type:
            self.refuse(f"values of a {type(x).__name__} are read, whose state is not seen")

    # Attributes

    def attribute(self, sh: Any, o: Any, name: str) -> Any:
        """Return `o.name`, without running any code, and note its dependencies."""
        if (id(o), name) in self.seen:
            return getattr(o, name)  # noted before, and no code runs
        if isinstance(o, Token):
            if not o.fresh:
                self.refuse(f"where the object comes from whose {name!r} is read{sh.line} is not seen")
            if o.kind is not None:
                self.of_class(o.kind, name)
                return self._waiting(sh)
            return UNSEEN if o.risky else FRESH
        kind = kind_of(o)
        if kind is TRACED:
            return self._of_variable(sh, o, name)
        if kind is ARRAY:
            return self._of_array(o, name)
        if (kind in (BOX, VIEW, SIMPLE) and type(o).__module__ == "builtins") or isinstance(o, CONSTANT):
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

    def _of_variable(self, sh: Any, o: Any, name: str) -> Any:
        own = getattr(o, "__dict__", None)
        if own is not None and name in own:
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
        value = getattr(o, name, ABSENT)
        if name in getattr(o, "__dict__", ()):
            return self.read("attribute", o, name, value)
        if kind_of(value) is ARRAY and self.knows(o):
            self.know(value)
        if isinstance(value, Iterator):  # `flat`
            self.look(o)
        return value

    def _of_super(self, sh: Any, o: Any, name: str) -> Any:
        value, below, place = READ["above"](o, name), o.__thisclass__, (o.__self_class__, o.__thisclass__, name)
        if not is_ours(below.__module__) and place not in self.seen:
            self.seen.add(place)
            self.read("above", super(below, o.__self_class__), name, value)
        sh.waits = value is not ABSENT and not isinstance(value, FUNCTIONS)
        return FRESH if sh.waits else getattr(o, name, ABSENT)

    def _of_object(self, sh: Any, o: Any, name: str) -> Any:
        kind = type(o)
        found = inherited(kind, name)
        if isinstance(inherited(kind, "__getattribute__"), types.FunctionType):
            return self._waiting(sh)
        if found is not ABSENT and not isinstance(found, (*FUNCTIONS, *SLOTS)) and hasattr(type(found), "__get__"):
            data = hasattr(type(found), "__set__")
            if data or name not in getattr(o, "__dict__", ()):
                return self._of_descriptor(sh, o, name, found)
            if isinstance(found, functools.cached_property):
                self.read("own", o, name, vars(o)[name])
        inner = inherited(o, name) if isinstance(o, type) else ABSENT
        if hasattr(type(inner), "__get__") and not isinstance(inner, (*FUNCTIONS, *SLOTS, property)):
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
            if value is not ABSENT and id(o) in self.known:
                self.seen.add((id(o), name))
        return value

    def _method(self, o: Any, name: str, value: types.MethodType) -> None:
        ours = is_ours((o if isinstance(o, type) else type(o)).__module__)
        if not ours or not (isinstance(o, type) or is_ours(value.__func__.__module__)):
            self.read("method", o, name, value.__func__)
        elif name == "forward" and not isinstance(o, type):
            self.read("own", o, name, ABSENT)
        self.seen.add((id(o), name))

    def _of_descriptor(self, sh: Any, o: Any, name: str, found: Any) -> Any:
        """Return the value of a property or another descriptor: its code is followed, or it is read again."""
        plain, module = isinstance(found, PROPERTIES), type(found).__module__
        code = getattr(found, "fget", None) or getattr(found, "func", None)
        in_c = not (plain or isinstance(inherited(type(found), "__get__"), types.FunctionType))
        of_library = plain and is_trusted(getattr(code, "__module__", None) or "")
        if in_c or of_library or (is_ours(module) and is_trusted(module)):
            value: Any = getattr(o, name, ABSENT)  # without side effects
            bound = isinstance(value, types.MethodType)  # which is another object each time
            if not of_library or (kind_of(value) is not TRACED and id(o) not in self.made):
                self.read(*(("method", o, name, value.__func__) if bound else ("attribute", o, name, value)))
            return value
        if not is_ours(module) and not is_ours(getattr(code, "__module__", None)):
            self.read("class attribute" if plain and not isinstance(o, type) else "inherited", o, name, found)
        if isinstance(found, functools.cached_property):
            self.read("own", o, name, vars(o).get(name, ABSENT))
        return self._waiting(sh)

    def _missing(self, sh: Any, o: Any, name: str) -> Any:
        kind = type(o)
        if is_ours(kind.__module__):
            return self._waiting(sh)
        hook = inherited(kind, "__getattr__")
        if hook in (dict.__getitem__, dict.get):
            return self.item(sh, o, name)
        self.read("class attribute" if isinstance(hook, types.FunctionType) else "inherited", o, "__getattr__", hook)
        self.read("inherited", o, name, ABSENT)
        if hasattr(o, "__dict__"):
            self.read("own", o, name, vars(o).get(name, ABSENT))
        return self._waiting(sh)

    @staticmethod
    def _waiting(sh: Any) -> Token:
        sh.waits = True
        return UNSEEN

    # Items

    def item(self, sh: Any, o: Any, key: Any) -> Any:
        """Return ``o[key]`` if that runs no code, and note its dependencies."""
        if isinstance(o, Token):
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
            if not is_ours(getter.__module__):
                self.read("class attribute", o, "__getitem__", getter)
            return self._waiting(sh)
        if kind is BOX or isinstance(o, (str, bytes, range)):
            return self._of_box(sh, o, key)
        if isinstance(o, type):
            self.of_class(o, "__class_getitem__")
            return FRESH if not isinstance(inherited(o, "__class_getitem__"), classmethod) else self._waiting(sh)
        if kind is not SIMPLE:
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
            return MIXED if isinstance(key, slice) else UNSEEN if self.is_risky(o) else FRESH
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

    # At the end

    def settle(self) -> None:
        """Decide at the end which effects a program repeats, and drop guards that the call itself has broken."""
        kept: set[Any] = set()
        for place, effect in list(self.effects.items()):
            now = effect.now()
            if place in self.entered and now is self.entered[place]:
                effect.set(effect.value)
                del self.effects[place]
                continue
            read = self.is_read(effect)
            if same(now, effect.value) and (read or effect.kind == "contents"):
                del self.effects[place]  # as it was
                if not read:
                    self.read("contents", effect.owner, None, effect.value)
            elif (found := repeated(effect, now, self.guards.values(), self.known)) is not None and (
                not read or (found.arrays and is_constant(effect.value))
            ):
                self.sets.append(found)
                kept.add(place)
                del self.effects[place]
        for function, args in self.cached:
            self.read("call", function, args, function(*args))
        for key, guard in list(self.guards.items()):
            if key[1:] not in kept and not guard.holds():
                del self.guards[key]
                if guard.kind not in ("values", "part"):
                    self.changed.append(guard)
        for noted in (self.passed, self.made, self.entered, self.known, self.seen):
            noted.clear()

    def undo(self) -> None:
        """Restore the values before all assignments of the call."""
        for effect in (*(each.effect for each in self.sets), *self.effects.values()):
            effect.set(effect.value)
