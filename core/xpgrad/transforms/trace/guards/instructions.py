"""`RULES`: the reads and stack effects of each instruction of Python, for the supported versions."""

import dis
import importlib.util
import sys
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.transforms.trace.guards import operators as ops
from xpgrad.transforms.trace.guards.calls import Calls
from xpgrad.transforms.trace.guards.facts import COUNTED
from xpgrad.transforms.trace.guards.guard import ABSENT, contents, inherited
from xpgrad.transforms.trace.guards.objects import ARRAY, BOX, OTHER, TRACED, kind_of
from xpgrad.transforms.trace.guards.operators import Rule, Stack, replace
from xpgrad.transforms.trace.guards.stack import FRESH, HIDDEN, MIXED, UNSEEN, Token, Twin, effect_of, twin
from xpgrad.transforms.trace.guards.trust import is_ours, module_of

VERSION = sys.version_info[:2]
NULL = Token(True, False)
"""What some instructions put beside a function."""
INERT = (
    *("RESUME", "NOP", "CACHE", "COPY_FREE", "MAKE_CELL", "SETUP", "PUSH_EXC", "POP_", "JUMP", "RERAISE", "CHECK_"),
    *("END", "CLEANUP", "RAISE", "RETURN", "YIELD", "SEND", "DELETE_FAST", "CONVERT", "INSTRUMENTED"),
    *("CALL_INTRINSIC_1", "LOAD_ASSERTION", "LOAD_LOCALS", "EXTENDED", "GEN_START", "WITH_EXCEPT"),
    *("PREP_RERAISE", "GET_AWAITABLE", "INTERPRETER_EXIT", "NOT_TAKEN"),
)
"""Instructions, by the beginnings of their names, that read nothing of what they take."""


def other(self: Calls, sh: Any, s: Stack, name: str, arg: int | None) -> None:
    """Follow an instruction without a rule: its possible operands are noted, and its result is unknown."""
    effect = effect_of(name, arg if dis.opmap[name] >= dis.HAVE_ARGUMENT else None)
    self.numbers.use(() if name.startswith(INERT) else s[-3:])
    for i in () if name.startswith(INERT) else range(max(len(s) - 3, 0), len(s)):
        self.look(s[i])
        if type(s[i]) is not Token and kind_of(s[i]) is not BOX and self.is_risky(s[i]) and id(s[i]) not in self.made:
            self.refuse(f"the instruction {name}{sh.line} takes an object, and has no rule in this version of Python")
        s[i] = UNSEEN
    s[:] = s[:effect] if effect < 0 else [*s, *[MIXED] * effect]


# Variables


def load_fast(self: Calls, sh: Any, s: Stack, arg: Any, name: str) -> None:
    s.append(self.local(sh, name))


def load_both(self: Calls, sh: Any, s: Stack, arg: Any, names: Any) -> None:
    s.extend([self.local(sh, name) for name in names])


def store_fast(self: Calls, sh: Any, s: Stack, arg: Any, name: str) -> None:
    if self.is_new(s.pop()):
        sh.fresh.add(name)
    else:
        sh.fresh.discard(name)


def store_both(self: Calls, sh: Any, s: Stack, arg: Any, names: Any) -> None:
    for name in names:
        store_fast(self, sh, s, arg, name)


def store_fast_load_fast(self: Calls, sh: Any, s: Stack, arg: Any, names: Any) -> None:
    store_fast(self, sh, s, arg, names[0])
    sh.late = names[1] if names[0] == names[1] else None
    s.append(UNSEEN if sh.late else self.local(sh, names[1]))


def swap(self: Calls, sh: Any, s: Stack, arg: Any, value: Any) -> None:
    s[-1], s[-arg] = s[-arg], s[-1]


def push(s: Stack, value: Any, null: Any) -> None:
    """Push a callable, and the entry next to it."""
    s.extend([value] if not null else [value, NULL] if VERSION >= (3, 13) else [NULL, value])


def load_global(self: Calls, sh: Any, s: Stack, arg: Any, name: str) -> None:
    space = sh.frame.f_globals
    value = space.get(name, ABSENT)
    if not sh.ours and (id(space), name) not in self.seen:
        self.read("global", space, name, value)
        self.seen.update(() if type(value) in COUNTED else ((id(space), name),))
    elif sh.ours and kind_of(value) is BOX:
        self.made[id(value)] = value
    if value is ABSENT:
        value = sh.frame.f_builtins.get(name, ABSENT)
        if getattr(value, "__module__", "builtins") != "builtins" or value is ABSENT:
            self.read("global", sh.frame.f_builtins, name, value)
    push(s, value, arg & 1)


def load_name(self: Calls, sh: Any, s: Stack, arg: Any, name: str) -> None:
    held = sh.frame.f_locals
    if name in held and held is not sh.frame.f_globals:
        sh.fresh.update(("__annotations__",))  # of the class that is being made
        s.append(self.local(sh, name))
    else:
        load_global(self, sh, s, 0, name)


def store_name(self: Calls, sh: Any, s: Stack, arg: Any, name: str) -> None:
    if sh.frame.f_locals is sh.frame.f_globals:
        self.write("global", sh.frame.f_globals, name)
    store_fast(self, sh, s, arg, name)


def load_deref(self: Any, sh: Any, s: Stack, arg: Any, name: str) -> None:
    value, cell = sh.frame.f_locals.get(name, FRESH), self.cell(sh, name)
    if cell is None:
        value = self.local(sh, name)
    elif value is not FRESH and not is_ours(sh.frame.f_globals.get("__name__")):
        self.read("cell", cell, None, value)
    s.append(value)


def store_deref(self: Any, sh: Any, s: Stack, arg: Any, name: str) -> None:
    cell = self.cell(sh, name)
    if cell is None:
        store_fast(self, sh, s, arg, name)
    else:
        self.write("cell", cell, None)
        s.pop()


# Attributes and items


def load_attr(self: Calls, sh: Any, s: Stack, arg: Any, name: str) -> None:
    push(s, self.attribute(sh, s.pop(), name), VERSION >= (3, 12) and arg & 1)


def load_super_attr(self: Calls, sh: Any, s: Stack, arg: Any, name: str) -> None:
    _, kind, first = [s.pop() for _ in range(3)][::-1]
    s.append(super(kind, first))
    load_attr(self, sh, s, arg, name)


def store_attr(self: Calls, sh: Any, s: Stack, arg: Any, name: str) -> None:
    owner, value = s.pop(), s.pop()
    self.assign(sh, owner, name)
    sh.calling, sh.given, sh.keywords = inherited(type(owner), "__setattr__"), (owner, name, value), {}
    self.added = self.added if is_ours(module_of(sh.calling)) else None


def delete_subscript(self: Calls, sh: Any, s: Stack, arg: Any, value: Any) -> None:
    key, owner = s.pop(), s.pop()
    self.item(sh, owner, key)
    _set_item(self, owner, key if hasattr(owner, "keys") else slice(None))


def delete_global(self: Calls, sh: Any, s: Stack, arg: Any, name: str) -> None:
    load_global(self, sh, [], 0, name)
    self.write("global", sh.frame.f_globals, name)


def binary_slice(self: Calls, sh: Any, s: Stack, arg: Any, value: Any) -> None:
    build_slice(self, sh, s, 2, None)
    ops.subscript(self, sh, s, arg, None)


def build_slice(self: Calls, sh: Any, s: Stack, arg: Any, value: Any) -> None:
    taken = s[-arg:]
    del s[-arg:]
    s.append(FRESH if any(isinstance(x, Token) for x in taken) else slice(*taken))


def store_subscript(self: Calls, sh: Any, s: Stack, arg: Any, value: Any) -> None:
    key, owner, value = s.pop(), s.pop(), s.pop()
    self.use((value,), numbers=False)
    if kind_of(owner) is ARRAY:  # by its library, which records nothing
        self.look_at_index((key, value), arrays=True)
    _set_item(self, owner, key, value)


def store_slice(self: Calls, sh: Any, s: Stack, arg: Any, value: Any) -> None:
    s[-2:] = [slice(None)]
    store_subscript(self, sh, s, arg, value)


def _set_item(self: Calls, owner: Any, key: Any, value: Any = None) -> None:
    self.identify((key,) if kind_of(owner) in (BOX, OTHER) else ())
    arrays = kind_of(owner) in (ARRAY, TRACED)
    if type(owner) is not Token and (arrays or hasattr(inherited(type(owner), "__setitem__"), "__code__")):
        return
    if isinstance(key, (Token, slice)) and not isinstance(owner, Token):
        self.look(value, False)  # its items may be stored
        self.write("contents", owner, None)
    else:
        self.write("item", owner, key)


# Loops and containers


def before_with(self: Calls, sh: Any, s: Stack, arg: Any, value: Any) -> None:
    self.special(s.pop(), "__enter__", "__exit__")
    sh.waits = True
    s.extend((FRESH, UNSEEN))


def load_special(self: Calls, sh: Any, s: Stack, arg: Any, value: Any) -> None:
    self.special(s[-1], "__enter__", "__exit__")
    s[-1:] = (FRESH, NULL)


def get_iter(self: Calls, sh: Any, s: Stack, arg: Any, value: Any) -> None:
    x = s.pop()
    self.look(x, False)
    sh.waits = True
    self.special(x, "__iter__", "__getitem__")
    if isinstance(x, (list, tuple)) and id(x) in self.made:
        self.made.update((id(y), y) for y in x if kind_of(y) is BOX and id(y) not in self.known)
    x = Twin(iter(x)) if isinstance(x, (list, tuple)) and type(x) in (list, tuple) else x
    s.append(x if type(x) is Twin else MIXED if self.is_risky(x) else FRESH)


def for_iter(self: Calls, sh: Any, s: Stack, arg: Any, value: Any) -> None:
    sh.waits = True
    if type(x := s[-1]) is not Twin:
        x = s[-1] = twin(x) or x
    s.append(next(x.items, FRESH) if type(x) is Twin else UNSEEN if self.is_risky(x) else FRESH)


def unpack(self: Calls, sh: Any, s: Stack, arg: Any, value: Any) -> None:
    x = s.pop()
    self.look(x, False)
    s.extend(reversed(x) if isinstance(x, (tuple, list)) and len(x) == arg else [_element(self, x)] * arg)


def unpack_rest(self: Calls, sh: Any, s: Stack, arg: int, value: Any) -> None:
    x, first, last = s.pop(), arg & 0xFF, arg >> 8
    self.look(x, False)
    if isinstance(x, (tuple, list)) and first + last <= len(x):
        end = len(x) - last
        s.extend(reversed([*x[:first], self.like(list(x[first:end])), *x[end:]]))
    else:
        one = _element(self, x)
        s.extend([*[one] * last, MIXED if one.risky else FRESH, *[one] * first])


def _element(self: Calls, x: Any) -> Token:
    return x if x is HIDDEN else UNSEEN if self.is_risky(x) else FRESH


def build(count: Callable[[int], int], like: Callable[[Sequence[Any]], Any]) -> Rule:
    """Return the rule of an instruction that creates a container from several values."""

    def rule(self: Calls, sh: Any, s: Stack, arg: int, value: Any) -> None:
        taken = s[len(s) - count(arg) :]
        self.numbers.use(taken)
        self.identify(() if like is list else taken)
        if all(map(_is_seen, taken)):
            replace(self, s, count(arg), False, self.like(like(taken)))
        else:
            self.look_at_boxes(taken)
            replace(self, s, count(arg), False)

    return rule


def build_tuple(self: Calls, sh: Any, s: Stack, arg: int, value: Any) -> None:
    taken = tuple(s[len(s) - arg :])
    hidden = any(isinstance(x, Token) for x in taken)
    self.look_at_boxes(taken if hidden else ())
    replace(self, s, arg, False, None if hidden else (taken or None))


def extend(self: Calls, sh: Any, s: Stack, arg: int, value: Any) -> None:
    x = s.pop()
    self.identify(() if type(s[-arg]) is list else (x,))
    seen = type(x) in (list, tuple, dict, set)
    self.look(x, not seen, arrays=False)
    items = contents(x) if seen else (x, FRESH)  # nothing is taken out of an iterator
    _put(self, s, arg, items, lambda box: (box.extend if type(box) is list else box.update)(x))


def append(self: Calls, sh: Any, s: Stack, arg: int, value: Any) -> None:
    x = s.pop()
    self.identify(() if type(s[-arg]) is list else (x,))
    _put(self, s, arg, (x,), lambda box: (box.append if type(box) is list else box.add)(x))


def map_add(self: Calls, sh: Any, s: Stack, arg: int, value: Any) -> None:
    x, key = s.pop(), s.pop()
    self.identify((key,))
    _put(self, s, arg, (key, x), lambda box: box.__setitem__(key, x))


def _put(self: Calls, s: Stack, arg: int, items: Sequence[Any], put: Callable[[Any], Any]) -> None:
    """Put items into the like of a container on the stack, which is not seen from then on if one of them is not."""
    box = s[-arg]
    if type(box) is not Token and all(map(_is_seen, items)):
        put(box)
        return
    self.use(items, numbers=False)
    for x in (box, *items):
        self.look(x if kind_of(x) is BOX or x is HIDDEN else None, arrays=False)
    s[-arg] = MIXED if box is MIXED or any(self.is_risky(x, True) for x in (box, *items)) else FRESH


def _is_seen(x: Any) -> bool:
    """Return whether a value is seen, and no array of the call, which would live longer."""
    return type(x) is not Token and kind_of(x) is not TRACED


def build_string(self: Calls, sh: Any, s: Stack, arg: int, value: Any) -> None:
    taken = s[len(s) - arg :]
    replace(self, s, arg, False, "".join(taken) if all(type(x) is str for x in taken) else FRESH)


def format_value(self: Calls, sh: Any, s: Stack, arg: Any, value: Any) -> None:
    n = 2 if arg and arg & 4 else 1
    sh.waits = kind_of(s[-n]) is OTHER
    self.shown(s[-n])
    plain = not arg & 3 and all(type(x) in (str, int, float) for x in s[-n:])
    replace(self, s, n, True, format(*s[-n:]) if plain else FRESH)


def match_class(self: Calls, sh: Any, s: Stack, arg: int, value: Any) -> None:
    names, kind, x = s.pop(), s.pop(), s.pop()
    found: list[Any] = [HIDDEN]
    self.ask(sh, x, lambda x: type(kind) is Token or isinstance(x, kind))
    if type(x) is not Token and isinstance(x, kind):
        first = self.attribute(sh, kind, "__match_args__") if arg else ()
        found = [self.attribute(sh, x, name) for name in (*(first if isinstance(first, tuple) else ())[:arg], *names)]
    s.append(tuple(found) if all(map(_is_seen, found)) else HIDDEN)


def match_keys(self: Calls, sh: Any, s: Stack, arg: Any, value: Any) -> None:
    seen = isinstance(s[-1], tuple) and isinstance(s[-2], dict)
    found = [self.item(sh, s[-2], key) for key in s[-1]] if seen else [HIDDEN]
    s.append(tuple(found) if all(map(_is_seen, found)) else HIDDEN)


# Functions


def yield_from(self: Calls, sh: Any, s: Stack, arg: Any, value: Any) -> None:
    self.look_at_boxes(s[-1:])
    get_iter(self, sh, s, arg, value)


def make_function(self: Calls, sh: Any, s: Stack, arg: Any, value: Any) -> None:
    del s[len(s) + effect_of("MAKE_FUNCTION", arg) - 1 :]
    s.append(FRESH)


def import_name(self: Calls, sh: Any, s: Stack, arg: Any, name: str) -> None:
    if sh.ours:
        s[-2:] = [FRESH]
        return
    if s[-2]:  # from its own package
        name = importlib.util.resolve_name("." * s[-2] + name, sh.frame.f_globals.get("__package__"))
    whole = name if s[-1] else name.partition(".")[0]
    if not is_ours(name):
        self.read("item", sys.modules, name, sys.modules.get(name, ABSENT))
    s[-2:] = [sys.modules.get(whole, UNSEEN)]


def call(self: Calls, sh: Any, s: Stack, arg: int, value: Any) -> None:
    one, two, *args = s[len(s) - arg - 2 :]
    del s[len(s) - arg - 2 :]
    function, first = (one, two) if VERSION >= (3, 13) else (two, one) if one is NULL else (one, two)
    if first is not NULL:
        args = [first, *args]
    count = len(args) - len(sh.named)
    sh.given, sh.keywords = args[:count], dict(zip(sh.named, args[count:], strict=True))
    s.append(self.call(sh, function, args))
    sh.named = ()


def kw_names(self: Calls, sh: Any, s: Stack, arg: int, value: Any) -> None:
    sh.named = sh.code.co_consts[arg]


def call_kw(self: Calls, sh: Any, s: Stack, arg: int, value: Any) -> None:
    sh.named = s.pop()
    call(self, sh, s, arg, value)


def call_function_ex(self: Calls, sh: Any, s: Stack, arg: int, value: Any) -> None:
    n = 1 - effect_of("CALL_FUNCTION_EX", arg)
    function, args, *rest = [x for x in s[-n:] if x is not NULL]
    del s[-n:]
    for x in (args, *rest):
        self.look(x, False)
    named = {key: y for x in rest if isinstance(x, dict) for key, y in x.items()}
    sh.given, sh.keywords = args if isinstance(args, (tuple, list)) else (), named
    s.append(self.call(sh, function, [*(args if isinstance(args, (tuple, list)) else (args,)), *rest, *named.values()]))


RULES: dict[str, Rule] = {
    # of all versions
    "LOAD_FAST": load_fast, "STORE_FAST": store_fast,
    "LOAD_CONST": lambda self, sh, s, arg, value: s.append(value),
    "POP_TOP": lambda self, sh, s, arg, value: s.pop(),
    **dict.fromkeys(("RESUME", "NOP", "JUMP_FORWARD", "JUMP_BACKWARD"), lambda self, sh, s, arg, value: None),
    "PUSH_NULL": lambda self, sh, s, arg, value: s.append(NULL),
    "COPY": lambda self, sh, s, arg, value: s.append(s[-arg]),
    "SWAP": swap, "LOAD_GLOBAL": load_global, "LOAD_NAME": load_name, "LOAD_DEREF": load_deref,
    "STORE_DEREF": store_deref, "LOAD_ATTR": load_attr, "STORE_ATTR": store_attr,
    "DELETE_ATTR": lambda self, sh, s, arg, name: self.assign(sh, (self.attribute(sh, s[-1], name), s.pop())[1], name),
    "STORE_SUBSCR": store_subscript,
    "DELETE_SUBSCR": delete_subscript,
    "BUILD_SLICE": build_slice, "UNARY_NEGATIVE": ops.negative, "UNARY_INVERT": ops.unary, "UNARY_NOT": ops.to_bool,
    "BINARY_OP": ops.binary, "COMPARE_OP": ops.compare,
    "IS_OP": ops.identity,
    "CONTAINS_OP": ops.contains, "GET_ITER": get_iter, "GET_YIELD_FROM_ITER": yield_from,
    "FOR_ITER": for_iter, "UNPACK_SEQUENCE": unpack, "UNPACK_EX": unpack_rest, "BUILD_LIST": build(lambda n: n, list),
    "BUILD_SET": build(lambda n: n, set), "BUILD_TUPLE": build_tuple,
    "BUILD_MAP": build(lambda n: 2 * n, lambda x: dict(zip(x[::2], x[1::2], strict=True))),
    "LIST_EXTEND": extend, "SET_UPDATE": extend, "DICT_UPDATE": extend, "DICT_MERGE": extend, "LIST_APPEND": append,
    "SET_ADD": append, "MAP_ADD": map_add, "BUILD_STRING": build_string, "MATCH_CLASS": match_class,
    "MATCH_KEYS": match_keys,
    "MATCH_MAPPING": lambda self, sh, s, arg, value: s.append(FRESH),
    "MATCH_SEQUENCE": lambda self, sh, s, arg, value: s.append(FRESH),
    "GET_LEN": lambda self, sh, s, arg, value: s.append(self.call(sh, len, [s[-1]])),
    "MAKE_FUNCTION": make_function, "IMPORT_NAME": import_name,
    "IMPORT_FROM": lambda self, sh, s, arg, name: s.append(self.attribute(sh, s[-1], name)),
    "CALL": call, "CALL_FUNCTION_EX": call_function_ex,
    "YIELD_VALUE": lambda self, sh, s, arg, value: self.look_at_boxes(s[-1:]),  # other code may read its items
    "RETURN_VALUE": lambda self, sh, s, arg, value: None,  # `Observer.finish` handles the returned value
    "STORE_NAME": store_name,
    "DELETE_NAME": lambda self, sh, s, arg, name: store_name(self, sh, [FRESH], arg, name),
    "LOAD_BUILD_CLASS": lambda self, sh, s, arg, value: s.append(__build_class__),
    "STORE_GLOBAL": lambda self, sh, s, arg, name: self.write("global", sh.frame.f_globals, name),
    "DELETE_GLOBAL": delete_global,
    "DELETE_DEREF": lambda self, sh, s, arg, name: store_deref(self, sh, [*s, FRESH], arg, name),
}  # fmt: skip
OF_VERSIONS: list[tuple[tuple[int, int], tuple[int, int], dict[str, Rule]]] = [
    ((3, 11), (3, 11), {
        "LIST_TO_TUPLE": lambda self, sh, s, arg, value: s.append(x if type(x := s.pop()) is Token else tuple(x)),
        "LOAD_METHOD": lambda self, sh, s, arg, name: push(s, self.attribute(sh, s.pop(), name), True),
        "PRECALL": lambda self, sh, s, arg, value: None, "LOAD_CLASSDEREF": load_deref, "UNARY_POSITIVE": ops.unary,
        **{f"POP_JUMP_{way}_IF_{value}": ops.jump_if for way in ("FORWARD", "BACKWARD") for value in ("TRUE", "FALSE")},
        "JUMP_IF_TRUE_OR_POP": ops.jump_or_pop, "JUMP_IF_FALSE_OR_POP": ops.jump_or_pop,
    }),
    ((3, 11), (3, 12), {
        "KW_NAMES": kw_names, "FORMAT_VALUE": format_value,
        "LOAD_CLOSURE": lambda self, sh, s, arg, value: s.append(value),
    }),
    ((3, 11), (3, 13), {
        "BINARY_SUBSCR": ops.subscript, "BEFORE_WITH": before_with,
        "BUILD_CONST_KEY_MAP": build(lambda n: n + 1, lambda x: dict(zip(x[-1], x, strict=False))),
    }),
    ((3, 12), (3, 99), {
        "LOAD_FROM_DICT_OR_GLOBALS": lambda self, sh, s, arg, name: load_name(self, sh, s, 0 * bool(s.pop()), name),
        "CALL_INTRINSIC_2": lambda self, sh, s, arg, value: replace(self, s, 2, False, MIXED),
        "LOAD_FAST_CHECK": load_fast, "LOAD_FAST_AND_CLEAR": load_fast, "LOAD_FROM_DICT_OR_DEREF": load_deref,
        "LOAD_SUPER_ATTR": load_super_attr, "BINARY_SLICE": binary_slice, "STORE_SLICE": store_slice,
        "POP_JUMP_IF_TRUE": ops.jump_if, "POP_JUMP_IF_FALSE": ops.jump_if,
    }),
    ((3, 13), (3, 99), {
        "LOAD_FAST_LOAD_FAST": load_both, "STORE_FAST_STORE_FAST": store_both, "TO_BOOL": ops.to_bool,
        "STORE_FAST_LOAD_FAST": store_fast_load_fast, "CALL_KW": call_kw,
        "FORMAT_SIMPLE": lambda self, sh, s, arg, value: format_value(self, sh, s, 0, value),
        "FORMAT_WITH_SPEC": lambda self, sh, s, arg, value: format_value(self, sh, s, 4, value),
        "SET_FUNCTION_ATTRIBUTE": lambda self, sh, s, arg, value: s.pop(-2),
    }),
    ((3, 14), (3, 99), {
        "LOAD_FAST_BORROW": load_fast, "LOAD_FAST_BORROW_LOAD_FAST_BORROW": load_both,
        "LOAD_SMALL_INT": lambda self, sh, s, arg, value: s.append(value),
        "LOAD_SPECIAL": load_special,
    }),
]  # fmt: skip
"""The rules that only some versions have: from, to, and by name."""
for _first, _last, _rules in OF_VERSIONS:
    if _first <= VERSION <= _last:
        RULES.update(_rules)

__all__ = ["RULES", "other"]
