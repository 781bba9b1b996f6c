"""`Facts`: knowledge of the objects used by a call, and of the values that it has read and set outside."""

import collections
import decimal
import functools
import operator
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.transforms.containers import container_of
from xpgrad.transforms.trace.guards import objects
from xpgrad.transforms.trace.guards.effects import Effect, Increase, Set, increasing, repeated, repeated_call
from xpgrad.transforms.trace.guards.guard import ABSENT, READ, Guard, contents, inherited, is_constant, name_of, same
from xpgrad.transforms.trace.guards.numbers import Numbers
from xpgrad.transforms.trace.guards.objects import ARRAY, BOX, OTHER, SIMPLE, TRACED, VIEW, is_inside, kind_of
from xpgrad.transforms.trace.guards.stack import FRESH, HIDDEN, UNSEEN, Token, Twin
from xpgrad.transforms.trace.guards.trust import is_builtin, is_closed, is_of_arrays, is_ours

CLASS_KINDS = frozenset(["attribute", "method", "class attribute", "inherited"])
COUNTED = int, float
"""Types of numbers that a program can increase."""
MAX_BOXES, MAX_CHOICES = 1000, 100


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
    added, reads, steps : number or None, Counter, dict of list
        The operand of an assignment like ``a.n += 1`` whose result is about to be stored; how often numbers were read,
        and such operands, or None for other assignments, by their places.
    locked, identified, rounding : bool, bool, str
        Whether the call has entered a lock of Python, which programs do not enter; whether it has compared identities
        of arrays; the settings of decimal numbers at its start.
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
        self.locked = self.identified = False
        self.added: Any = None
        self.reads, self.steps = collections.Counter[Any](), dict[Any, list[Any]]()
        self.rounding = repr(objects.rounding())

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
        if type(value) in COUNTED:
            self.reads[id(owner), name] += 1
        if id(owner) in self.made:
            if kind in CLASS_KINDS and key not in getattr(owner, "__dict__", ()):
                self.of_class(owner if isinstance(owner, type) else type(owner), key)
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
            self.read("setting", objects.rounding, None, self.rounding)
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

    def identify(self, items: Iterable[Any], depth: int = 3) -> None:
        """Note that the identities of some objects count, or of their items, as keys or by themselves."""
        for x in () if self.identified else items:
            if type(x) in (list, tuple, dict, set, frozenset) and depth:
                self.identify(x, depth - 1)
            elif isinstance(x, (Token, Twin, Iterator)) or kind_of(x) in (BOX, TRACED, VIEW):
                self.identified = True

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
        if id(kind) in self.made:
            for base in kind.__bases__ if name not in vars(kind) else ():
                self.of_class(base, name)
        elif not isinstance(found, objects.SLOTS) and not is_ours(kind.__module__) and not is_builtin(kind):
            self.read("of class", kind, name, found)

    def write(self, kind: str, owner: Any, key: Any) -> None:
        """Note that something of an object is about to be set."""
        if isinstance(owner, Token):
            if not owner.fresh:
                self.refuse("it sets an attribute or item of an object that is not seen")
            return
        place, added, self.added = (id(owner), name_of(key)), self.added, None
        self.steps.setdefault(place, []).append(added)
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
        if isinstance(x, type):
            return inherited(type(x), "__iter__") is not ABSENT
        return not isinstance(x, (types.FunctionType, types.BuiltinFunctionType))

    def one_of(self, choices: Sequence[Any]) -> Any:
        """Return the known part of a value that is one of several; their contents are noted."""
        risky = [x for x in choices if self.is_risky(x, True)]
        if not risky:
            return FRESH
        if len(choices) > MAX_CHOICES or any(isinstance(x, (Token, Twin)) or kind_of(x) is ARRAY for x in risky):
            return UNSEEN
        for x in risky:
            self.look(x if kind_of(x) is BOX else None)
        return Token(False, True, choices=choices)

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
        elif kind is OTHER and arrays and id(x) in self.known and is_closed(type(x)):
            self.refuse(f"items of a {type(x).__name__} are read, whose state is not seen")

    def array(self, x: Any) -> None:
        """Note that the values of an array from outside are read."""
        backend = objects.backend_of(x)
        if backend is None:
            self.refuse(f"values of a {type(x).__name__} are read, whose state is not seen")
        elif not backend.immutable:
            if type(x) not in plugins.by_type:
                self.look(getattr(x, "__dict__", None))  # such as a mask
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

    def shown(self, x: Any) -> None:
        """Note the options by which the libraries of an array, or of arrays in a container, show them as text."""
        for item in contents(x) if type(x) in (list, tuple, dict) else ():
            self.shown(item)
        backend = objects.backend_of(x) if kind_of(x) is ARRAY else None
        options = None if backend is None else getattr(backend.namespace, "get_printoptions", None)
        if options is not None:
            self.read("setting", options, None, repr(options()))

    def state_of(self, x: Any) -> None:
        """Look at the arrays and numbers in an object of another library, such as a polynomial or a layer."""
        outside = kind_of(x) is OTHER and id(x) not in self.made
        if not (outside and any(is_of_arrays(kind.__module__) for kind in type(x).__mro__)):
            return
        if "random" in type(x).__module__ or type(x).__name__ == "Generator":
            self.refuse(f"it draws numbers by a {type(x).__name__}, whose state is not seen; use xpgrad.random")
        space = None if isinstance(x, types.ModuleType) else getattr(x, "__dict__", None)
        if space is not None and ("state", id(x)) not in self.seen:
            self.seen.add(("state", id(x)))
            self.look(space)
            waiting = [space]
            for box in waiting:
                for y in contents(box):
                    waiting += [y] if kind_of(y) is BOX and len(waiting) < MAX_BOXES else []
                    self.state_of(y)

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
            elif read and self._is_counter(place, effect, now):
                self.guards = {key: guard for key, guard in self.guards.items() if key[1:] != place}
                self.sets.append(Increase(effect, tuple(self.steps[place]), False))
                del self.effects[place]
                self.read("type", effect.owner, (effect.kind, effect.key), type(now))
            elif (found := repeated(effect, now, self.guards.values(), self.known)) is not None and (
                not read or (found.arrays and is_constant(effect.value))
            ):
                self.sets.append(found)
                kept.add(place)
                del self.effects[place]
        for function, args in self.cached:
            self.read("call", function, args, function(*args))
        broken, counters = self._broken(), [(s.effect, s.effect.value) for s in self.sets if isinstance(s, Increase)]
        if counters:  # what the call has read after an increase, at another place, is not so at the start of a call
            with increasing:
                broken |= repeated_call((), counters, self._broken)[0]
        for key, guard in broken.items():
            if key[1:] not in kept:
                del self.guards[key]
                if guard.kind != "values":
                    self.changed.append(guard)
        for noted in (self.passed, self.made, self.entered, self.known, self.seen, self.reads, self.steps):
            noted.clear()

    def _is_counter(self, place: tuple[int, Any], effect: Effect, now: Any) -> bool:
        """Return whether all that the call has read or set of a number are its own increments."""
        steps = self.steps.get(place, [None])
        own = type(effect.value) in COUNTED and self.reads[place] == len(steps) and not (self.locked or None in steps)
        return own and same(now, functools.reduce(operator.add, steps, effect.value))

    def _broken(self) -> dict[Any, Guard]:
        """Return the guards that do not hold now."""
        return {key: guard for key, guard in self.guards.items() if not guard.holds()}

    def undo(self) -> None:
        """Restore the values before all assignments of the call."""
        for effect in (*(each.effect for each in self.sets), *self.effects.values()):
            effect.set(effect.value)
