"""The values that instructions for operators, comparisons and truth read, and their effects on the stack."""

import dis
import functools
import operator
import types
from collections.abc import Callable
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.graph.variable import Variable
from xpgrad.transforms.trace.guards.calls import Calls
from xpgrad.transforms.trace.guards.facts import COUNTED
from xpgrad.transforms.trace.guards.guard import is_constant
from xpgrad.transforms.trace.guards.objects import ARRAY, BOX, OTHER, SIMPLE, TRACED, kind_of
from xpgrad.transforms.trace.guards.stack import FRESH, HIDDEN, MIXED, UNSEEN, Token
from xpgrad.transforms.trace.guards.trust import is_ours

ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
}  # fmt: skip
METHODS = {
    "+": "add", "-": "sub", "*": "mul", "@": "matmul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow",
    "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift",
}  # fmt: skip
COMPARED = {
    **dict.fromkeys(("==", "!="), ("__eq__", "__ne__")), **dict.fromkeys(("<", ">"), ("__lt__", "__gt__")),
    **dict.fromkeys(("<=", ">="), ("__le__", "__ge__")),
}  # fmt: skip
"""The methods of each comparison, and the reflected one's."""
MAX_CHARACTERS = 1000
SIGNS: list[str] = [sign for _, sign in getattr(dis, "_nb_ops")]  # noqa: B009 - typeshed has no such attribute
"""The signs of operators by the arguments of instructions."""
RESULT: Any = Variable()
"""What stands on the stack for a Variable that an operator has returned."""

Stack = list[Any]
Rule = Callable[[Calls, Any, Stack, Any, Any], None]
"""``rule(calls, shadow, stack, arg, value)`` changes the stack as the instruction does."""


def replace(self: Calls, s: Stack, n: int, looked: bool, result: Any = None) -> None:
    """Pop `n` values, note them if `looked`, and push one value."""
    taken = s[len(s) - n :]
    del s[len(s) - n :]
    self.numbers.use(taken if looked else ())
    for x in taken if looked else ():
        self.look(x)
    s.append(result if result is not None else MIXED if any(self.is_risky(x, True) for x in taken) else FRESH)


def subscript(self: Calls, sh: Any, s: Stack, arg: Any, value: Any) -> None:
    """Follow ``owner[key]``."""
    key, owner = s.pop(), s.pop()
    self.use((key,))
    s.append(self.item(sh, owner, key))


def unary(self: Calls, sh: Any, s: Stack, arg: Any, value: Any) -> None:
    """Follow an operator of one operand."""
    self.special(s[-1], "__neg__", "__invert__", "__pos__")
    sh.waits = True
    replace(self, s, 1, kind_of(s[-1]) is not TRACED, FRESH if kind_of(s[-1]) is not OTHER else UNSEEN)


def negative(self: Calls, sh: Any, s: Stack, arg: Any, value: Any) -> None:
    """Follow ``-x``."""
    if self.numbers and self.numbers.knows(s[-1]):
        s[-1] = self.numbers.computed("-", s[-1])
    else:
        unary(self, sh, s, arg, value)


def binary(self: Calls, sh: Any, s: Stack, arg: int, value: Any) -> None:
    """Follow an operator of two operands, also in place."""
    a, b = s[-2:]
    types: Any = type(a), type(b)
    sign = SIGNS[arg]
    self.added = None
    if sign == "%" and type(a) is str:
        self.shown(b)
    if sign in ("+=", "-=") and type(a) in COUNTED and type(b) in COUNTED and _is_stored(sh):
        self.added = b if sign == "+=" else -b
    if sign == "[]":
        return subscript(self, sh, s, arg, value)
    if _gives_variable(types):
        s[-2:] = [RESULT]
        return None
    kinds = kind_of(a), kind_of(b)
    if (type(a) is type(b) and type(a) in (int, str)) or (type(a) is str and sign == "%" and is_constant(b)):
        self.numbers.use((b,))
        s[-2:] = [_computed(sign, a, b)]
        return None
    if self.numbers and (self.numbers.knows(a) or self.numbers.knows(b)) and TRACED not in kinds:
        value = self.numbers.computed(sign.removesuffix("="), a, b) if {type(a), type(b)} <= {int, float} else None
        self.numbers.use(() if value is not None else (a, b))
        s[-2:] = [FRESH if value is None else value]
        return None
    sh.waits = True
    if TRACED in kinds or all(x is FRESH or kind is SIMPLE for x, kind in zip((a, b), kinds, strict=True)):
        s[-2:] = [FRESH]
    else:
        name = METHODS.get(sign.removesuffix("="), "")
        for x in (a, b):
            self.special(x, f"__{name}__", f"__r{name}__", f"__i{name}__")
        if sign.endswith("=") and kinds[0] is BOX:
            self.write("contents", a, None)
            if sign in ("+=", "|="):
                self.look(b)
                s[-2:] = [a]
                return None
        seen = a is HIDDEN or b is HIDDEN or not any(type(x) is Token for x in (a, b))
        replace(self, s, 2, seen or BOX in kinds or ARRAY in kinds)
        if sign.endswith("=") and kinds[0] in (ARRAY, BOX):
            s[-1] = a
    return None


def _is_stored(sh: Any) -> bool:
    """Return whether the result of an operator goes back to an attribute, an item, or a variable outside."""
    step = sh.plan[sh.may[0]]
    while step.name == "SWAP":
        step = sh.plan[step.following[0]]
    return bool(step.name.startswith("STORE_") and "FAST" not in step.name)


@functools.lru_cache(maxsize=4096)
def _gives_variable(types: tuple[type, type]) -> bool:
    """Return whether the operators between two types are the library's, so that their code need not be followed."""
    own = [issubclass(kind, Variable) and is_ours(kind.__module__) for kind in types]
    return all(own) or (any(own) and (types[own[0]] in (int, float) or (own[0] and types[1] in plugins.by_type)))


def _computed(sign: str, a: Any, b: Any) -> Any:
    sign = sign.removesuffix("=")
    if type(a) is str:
        return FRESH if len(a) > MAX_CHARACTERS or sign not in "+%" else a + b if sign == "+" else a % b
    return ARITHMETIC[sign](a, b) if sign in ARITHMETIC and (b or sign not in ("//", "%")) else FRESH


def compare(self: Calls, sh: Any, s: Stack, arg: Any, value: Any) -> None:
    """Follow a comparison."""
    a, b = s[-2:]
    if TRACED not in (kind_of(a), kind_of(b)):
        self.numbers.use((a, b))
        sh.waits = True
        for x in (a, b):
            self.special(x, *COMPARED[str(value).strip("bol()")])
            for each in x.choices if type(x) is Token else (x,):
                self.look(vars(each) if isinstance(each, types.SimpleNamespace) else None)
        replace(self, s, 2, True, FRESH)
    else:
        s[-2:] = [FRESH]


def identity(self: Calls, sh: Any, s: Stack, arg: Any, value: Any) -> None:
    """Follow ``a is b``."""
    self.identified |= all(isinstance(x, Token) or kind_of(x) is TRACED for x in s[-2:])
    replace(self, s, 2, False, FRESH)


def contains(self: Calls, sh: Any, s: Stack, arg: Any, value: Any) -> None:
    """Follow ``key in box``."""
    key, box = s[-2:]
    self.identify((key,))  # it is looked for by its identity first
    self.numbers.use((key, box))
    sh.waits = True
    hashed = kind_of(box) is BOX and (hasattr(box, "keys") or isinstance(box, (set, frozenset)))
    hashed = hashed and not isinstance(key, Token)
    if hashed:
        self.read("membership", box, key, key in box)
    self.special(box, "__contains__", "__iter__")
    replace(self, s, 2, not hashed, FRESH)


def to_bool(self: Calls, sh: Any, s: Stack, arg: Any, value: Any) -> None:
    """Follow the truth of a value."""
    x = s[-1]
    kind = kind_of(x)
    self.numbers.use((x,))
    if kind is BOX:
        if not isinstance(x, (tuple, frozenset)):
            self.read("length", x, None, len(x))
    elif kind is OTHER and type(x) is not Token:
        self.special(x, "__bool__", "__len__")
        self.look(x)
    replace(self, s, 1, kind is ARRAY or x is HIDDEN, FRESH)


def jump_if(self: Calls, sh: Any, s: Stack, arg: Any, value: Any) -> None:
    """Follow a jump that depends on a value, which is taken."""
    to_bool(self, sh, s, arg, value)
    s.pop()


def jump_or_pop(self: Calls, sh: Any, s: Stack, arg: Any, value: Any) -> None:
    """Follow ``and`` and ``or``."""
    x = s[-1]
    to_bool(self, sh, s, arg, value)
    s[-1] = x
