"""`Observer`: follows the instructions of the frames that run while a call is recorded."""

import functools
import gc
import inspect
import types
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from xpgrad.config import switches
from xpgrad.transforms.trace.guards.calls import Calls
from xpgrad.transforms.trace.guards.instructions import RULES, other
from xpgrad.transforms.trace.guards.objects import BOX, OTHER, SIMPLE, is_inside, kind_of
from xpgrad.transforms.trace.guards.stack import UNSEEN, Shadow, Token, twin
from xpgrad.transforms.trace.guards.trust import is_followed, is_installed, is_ours

WRAPPERS = "fget", "fset", "__func__", "func", "__wrapped__"
MAX_KNOWN = 10_000
"""Code objects whose function is remembered."""


def _holds_all(f: types.FunctionType, held: Mapping[str, Any]) -> bool:
    """Return whether the free variables of a function are variables of a frame."""
    pairs = zip(f.__code__.co_freevars, f.__closure__ or (), strict=False)
    return all(cell.cell_contents is held.get(name) for name, cell in pairs)


_known: dict[int, tuple[weakref.ref[types.CodeType], weakref.ref[types.FunctionType]]] = {}
"""The only function of a code object without free variables, by its address."""


def functions_of(code: types.CodeType) -> list[types.FunctionType]:
    """Return the functions of a code object; functions of closures are searched among all objects of the process."""
    found = _known.get(id(code))
    function = None if found is None or found[0]() is not code else found[1]()
    if function is not None and function.__code__ is code:
        return [function]
    functions = [f for f in gc.get_referrers(code) if isinstance(f, types.FunctionType)]
    if len(functions) == 1 and not code.co_freevars:
        if len(_known) >= MAX_KNOWN:
            _known.clear()
        _known[id(code)] = weakref.ref(code), weakref.ref(functions[0])
    return functions


class Observer(Calls):
    """Follows the frames of a call of `function`, and notes the values that they read and set."""

    def __init__(self, function: Callable[..., Any], meets: Callable[[Any], None]) -> None:
        super().__init__(meets)
        self.shadows: dict[types.FrameType, Shadow] = {}
        self._inner: dict[int, Shadow] = {}  # the frames that define functions, by their code
        self._followed: dict[int, tuple[bool, bool, types.CodeType]] = {}
        self.left_out: set[int] = set()  # the code, by its identity, that is known to be excluded from following
        self._handed: dict[types.CodeType, Any] = {}
        self._closures: dict[types.CodeType, list[types.FunctionType]] = {}
        self._hand(function, 0)

    def _hand(self, f: Any, depth: int) -> None:
        """Note the functions passed to a function of the library, such as functions to transform."""
        while isinstance(f, functools.partial):
            self.know_all(f.args)
            self.look(f.keywords, deep=False, arrays=False)
            for x in (*f.args, *f.keywords.values()):
                self._hand(x, depth + 1)
            f = f.func
        f = f.__func__ if isinstance(f, types.MethodType) else f
        if depth > 8 or not isinstance(f, types.FunctionType) or f.__code__ in self._handed:
            return
        self._handed[f.__code__] = f
        for cell in f.__closure__ or ():
            try:
                self._hand(cell.cell_contents, depth + 1)
            except ValueError:  # it has no value yet
                pass

    def copied(self, copy: Any, original: Any) -> None:
        """Note the objects in a tree of arguments that were created for the call, next to the original objects."""
        waiting, seen = [(copy, original)], set[int]()
        while waiting:
            a, b = waiting.pop()
            if a is b or type(a) is not type(b) or id(a) in seen or kind_of(a) not in (BOX, OTHER):
                continue
            seen.add(id(a))
            self.made[id(a)] = a
            if isinstance(a, dict):
                waiting += [(item, b[key]) for key, item in a.items() if key in b]
            elif isinstance(a, (list, tuple)):
                waiting += zip(a, b, strict=False)
            elif hasattr(a, "__dict__"):
                waiting.append((a.__dict__, b.__dict__))

    # Frames

    def start(self, frame: types.FrameType) -> bool:
        """Return whether to follow a new frame: not for effects, which run outside of the transformation."""
        if switches().level is None:
            return False
        code = frame.f_code
        known = self._followed.get(id(code))
        if known is None:
            module = frame.f_globals.get("__name__") or ""
            known = self._followed[id(code)] = is_followed(module, code), is_installed(code.co_filename), code
            self.left_out.update(() if known[0] else (id(code),))
        parent = self.shadows.get(frame.f_back) if frame.f_back is not None else None
        imported = code.co_name == "<module>"
        if imported and (parent is None or getattr(frame.f_globals.get("__spec__"), "_initializing", False)):
            return False  # a module that is imported: later reads from it are guarded
        if not known[0] or (parent is None and known[1] and not is_ours(frame.f_globals.get("__name__"))):
            return False
        if gc.callbacks and self._is_of_collector(frame):
            return False
        self._begin(frame, code, parent)
        return True

    def _is_of_collector(self, frame: types.FrameType | None) -> bool:
        """Return whether a frame runs for the garbage collector, which calls between any two instructions."""
        codes = [getattr(getattr(f, "__func__", f), "__code__", None) for f in gc.callbacks]
        while frame is not None and frame not in self.shadows:
            if frame.f_code in codes:
                return True
            frame = frame.f_back
        return False

    def _begin(self, frame: types.FrameType, code: types.CodeType, parent: Shadow | None) -> None:
        function = None
        if parent is not None and isinstance(parent.calling, types.FunctionType) and parent.calling.__code__ is code:
            function = parent.calling
        inside = id(code) in self._inner
        if code.co_name == "__init__" and code.co_argcount:
            first = frame.f_locals[code.co_varnames[0]]
            if id(first) not in self.known:
                self.made[id(first)] = first
        if code.co_flags & inspect.CO_VARKEYWORDS:
            count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS)
            named = frame.f_locals[code.co_varnames[count]]
            self.made[id(named)] = named
        if function is None:
            function = self._found(frame, code, inside)
        ours = is_ours(frame.f_globals.get("__name__"))
        self.added = self.added if ours else None
        sh = self.shadows[frame] = Shadow(frame, function, self._handed, ours)
        if code.co_varnames[:1] == (".0",):
            sh.loop = twin(frame.f_locals[".0"])
        elif parent is not None and function is parent.calling is not None:
            given = dict(zip(code.co_varnames, parent.given, strict=False)) | parent.keywords
            sh.fresh.update(name for name, x in given.items() if self.is_new(x))
        self._inner.update((id(c), sh) for c in code.co_consts if type(c) is types.CodeType)
        if function is None or ours or inside or id(function) in self.made or id(function) in self.seen:
            return
        self.seen.add(id(function))
        self.read("attribute", function, "__code__", code)
        if function.__defaults__:
            self.know_all(self.read("attribute", function, "__defaults__", function.__defaults__))
        if function.__kwdefaults__:
            self.look(self.read("attribute", function, "__kwdefaults__", function.__kwdefaults__), deep=False)

    def _found(self, frame: types.FrameType, code: types.CodeType, inside: bool) -> Any:
        """Return the function of a frame that C or the library has called."""
        if code.co_argcount and code.co_varnames[0] in frame.f_locals:
            found = self._method_of(frame.f_locals[code.co_varnames[0]], code)
            if found is not None:
                return found
        if inside:
            return None
        if code in self._handed:
            return self._handed[code]
        held = frame.f_locals
        functions = [f for f in self._closures.get(code, ()) if f.__code__ is code and _holds_all(f, held)]
        if not functions:
            functions = functions_of(code)
            if code.co_freevars:
                self._closures[code] = functions  # to search among all objects is slow
            if len(functions) != 1:
                functions = [f for f in functions if _holds_all(f, held)]
        for f in functions[1:]:
            for cell in f.__closure__ or ():
                self.read("cell", cell, None, cell.cell_contents)
        if not functions and code.co_freevars:
            self.refuse(f"the function of {code.co_name!r} is not found")
        return functions[0] if functions else None

    def _method_of(self, first: Any, code: types.CodeType) -> Any:
        is_class = issubclass(type(first), type)  # `isinstance` would call a `__getattribute__`
        lines: Any = (first.__mro__ if is_class else (), type(first).__mro__)
        for kind in (kind for line in lines for kind in line):
            found = vars(kind).get(code.co_name)
            if found is None:
                continue
            for f in (found, *(getattr(found, name, None) for name in WRAPPERS)):
                if getattr(f, "__code__", None) is code:
                    if not is_class and not is_ours(kind.__module__):
                        self.read("class attribute" if f is found else "inherited", first, code.co_name, found)
                    return f
        return None

    def finish(self, frame: types.FrameType, value: Any, *, raised: bool = False, yields: bool = False) -> None:
        """Record the value that a frame returns or yields, or that it ends by an exception."""
        sh = self.shadows.get(frame)
        parent = self.shadows.get(frame.f_back) if frame.f_back is not None else None
        name = sh.plan[frame.f_lasti].name if sh is not None and frame.f_lasti in sh.plan else ""
        if sh is not None:
            fresh = bool(sh.stack) and self.is_new(sh.stack[-1])
            fresh = fresh and name == "RETURN_VALUE" and kind_of(value) is not SIMPLE and not is_inside(value)
            if fresh and id(value) not in self.known:
                self.made[id(value)] = value
            if not yields and not name.startswith("YIELD"):
                del self.shadows[frame]
                sh.frame, sh.stack = None, []
            if self.at is sh:
                self.at = parent
        if raised or parent is None:
            return
        if sh is None and type(value) in (list, dict, set, tuple) and id(value) not in self.known:
            self.made[id(value)] = value  # the library returns new objects only
        code = frame.f_code
        ended = value is None and code.co_flags & inspect.CO_GENERATOR and name in ("RETURN_VALUE", "RETURN_CONST")
        if parent.waits and not ended:
            if code.co_name == "__init__":  # gives the object that it has filled, unless its variable holds another
                value = frame.f_locals.get(code.co_varnames[0], UNSEEN) if code.co_argcount else UNSEEN
            parent.late = (value,)

    def end(self) -> None:
        """Forget all frames and objects."""
        for sh in self.shadows.values():
            sh.frame, sh.stack = None, []
        for noted in (self.shadows, self._inner, self._followed, self.left_out, self._handed, self._closures):
            noted.clear()
        self._meets = lambda x: None
        self.at = None

    def cell(self, sh: Shadow, name: str) -> Any:
        """Return the cell of a variable of an enclosing function; None if the call has made it."""
        if name not in sh.code.co_freevars:
            return None
        function = sh.function
        if function is not None and id(function) not in self.made and function.__closure__:
            return function.__closure__[sh.code.co_freevars.index(name)]
        outer = self._inner.get(id(sh.code))
        return None if outer is None else self.cell(outer, name)

    # Instructions

    def step(self, sh: Shadow, offset: int) -> None:
        """Follow the instruction at a place."""
        if offset == sh.skip:
            sh.skip = None
            return
        if sh.may is not None and offset not in sh.may:
            self._catch_up(sh, offset)
        name, arg, value, depth, real, sh.may = sh.plan[offset]
        sh.skip = real if real != offset else None
        stack = sh.stack
        if sh.late is not None:
            late, sh.late = sh.late, None
            if stack and isinstance(late, str):
                stack[-1] = self.local(sh, late)
            elif stack and isinstance(stack[-1], Token):
                stack[-1] = late() if isinstance(late, functools.partial) else late[0]
                self.know_all((stack[-1],) if isinstance(late, functools.partial) else ())
        sh.waits = False
        if len(stack) != depth:
            stack[depth:] = [UNSEEN] * (depth - len(stack))
        self.at = sh
        rule = RULES.get(name)
        try:
            if rule is not None:
                rule(self, sh, stack, arg, value)
            else:
                other(self, sh, stack, name, arg)
        except Exception as error:  # an error of this package must not stop the user's function
            self.refuse(f"{name}{sh.line} could not be followed: {type(error).__name__}: {error}")

    def _catch_up(self, sh: Shadow, offset: int) -> None:
        """Follow instructions whose events were lost: CPython drops some where another tool disables a line event."""
        for _ in range(8):
            may = sh.may
            if may is None or offset in may or may[0] is None:
                return
            following = sh.plan[may[0]]
            if following.arg is not None and "JUMP" in following.name:
                break
            self.step(sh, may[0])
        if sh.may is not None and offset not in sh.may:
            self.refuse(f"an instruction was not seen{sh.line}, as another tool follows the same code")
