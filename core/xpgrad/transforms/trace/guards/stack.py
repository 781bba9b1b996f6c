"""`Shadow`: the known part of the stack of a frame, and its depth before each instruction."""

import copy
import dataclasses
import dis
import functools
import itertools
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

ENDS = "RETURN_V", "RETURN_C", "RAISE", "RERAISE", "JUMP_FORW", "JUMP_BACK", "JUMP_NO", "INTERPRETER_EXIT"


class Token:
    """A value on the stack that is not seen.

    Attributes
    ----------
    fresh, risky : bool
        Whether the call has made it; whether it may be, or hold, an object from outside.
    kind : type or None
        Its class, if that is known.
    choices, items : tuple
        If it is one of several seen objects, these; if it holds some of several seen objects, these.
    """

    __slots__ = ("choices", "fresh", "items", "kind", "risky")

    def __init__(
        self, fresh: bool, risky: bool, kind: type | None = None, choices: Sequence[Any] = (), items: Sequence[Any] = ()
    ) -> None:
        self.fresh, self.risky, self.kind, self.choices, self.items = fresh, risky, kind, choices, items


FRESH, MIXED, UNSEEN = Token(True, False), Token(True, True), Token(False, True)
HIDDEN = Token(False, True)
"""An item of a container that is not seen: its own contents have not been noted."""


ITERATORS = tuple(map(type, (*map(iter, ([], (), {}, {}.values(), {}.items())), reversed([]))))


@dataclasses.dataclass(eq=False)
class Twin:
    """An iterator over the items of a loop, which goes on together with the function's own."""

    items: Iterator[Any]


def twin(x: Any) -> Twin | None:
    """Return a loop over what is ahead of an iterator of Python, which does not move; None for other iterators."""
    if type(x) in (zip, enumerate):
        f, parts = x.__reduce__()[:2]
        found = [part if type(part) is int else twin(part) for part in parts]
        return None if None in found else Twin(f(*[y.items if type(y) is Twin else y for y in found]))
    return Twin(copy.copy(x)) if type(x) in ITERATORS else None


class StackStep(NamedTuple):
    """One instruction of a function.

    Attributes
    ----------
    name, arg, value : str, int or None, object
        Its name, its argument, and the meaning of the argument.
    depth, offset : int
        How many values are on the stack before it; its offset, after the instructions that extend its argument.
    following : tuple of int or None
        Possible offsets of the next instruction.
    """

    name: str
    arg: int | None
    value: Any
    depth: int
    offset: int
    following: tuple[int | None, ...]


def effect_of(name: str, arg: int | None) -> int:
    """Return the change of the stack depth by an instruction that does not jump."""
    if name == "RETURN_GENERATOR":
        return 1
    if sys.version_info < (3, 12) and name in ("PRECALL", "CALL"):
        return 0 if name == "PRECALL" else -1 - (arg or 0)
    return dis.stack_effect(dis.opmap[name], arg, jump=False)


@functools.lru_cache(maxsize=4096)
def plan(code: types.CodeType) -> dict[int, StackStep]:
    """Return the instructions of a function by their places."""
    listed = list(dis.get_instructions(code))
    after = {a.offset: b for a, b in itertools.pairwise(listed)}
    places = {each.offset: each for each in listed}
    bytecode: Any = dis.Bytecode(code)  # typeshed has no such attribute
    entries = bytecode.exception_entries
    handlers = [(e.target, e.depth + e.lasti + 1) for e in entries]
    depths = _depths(places, after, handlers)
    caught = [target for target, _ in handlers]
    steps: dict[int, StackStep] = {}
    for each in listed:
        real = each
        while real.opname == "EXTENDED_ARG":
            real = after[real.offset]
        jumps = real.opcode in dis.hasjrel or real.opcode in dis.hasjabs
        onward = after[real.offset].offset if real.offset in after else None
        target = real.argval if jumps else None
        following = (target, *caught) if real.opname.startswith(("JUMP_F", "JUMP_B")) else (onward, target, *caught)
        if real.opname in ("FOR_ITER", "SEND"):  # from 3.12 on an end jumps behind END_FOR, and POP_TOP
            following += tuple(o for o in places if real.argval < o <= real.argval + 4)
        steps[each.offset] = StackStep(
            real.opname, real.arg, real.argval, depths.get(each.offset, 0), real.offset, following
        )
    return steps


def _depths(places: dict[int, Any], after: dict[int, Any], handlers: list[tuple[int, int]]) -> dict[int, int]:
    depths: dict[int, int] = {}
    first = next(iter(places.values()))
    waiting = [(first, 0), *((places[target], depth) for target, depth in handlers)]
    while waiting:
        each, depth = waiting.pop()
        while each is not None and each.offset not in depths:
            depths[each.offset] = depth
            arg = each.arg if each.opcode >= dis.HAVE_ARGUMENT else None
            if each.opcode in dis.hasjrel or each.opcode in dis.hasjabs:
                waiting.append((places[each.argval], depth + dis.stack_effect(each.opcode, arg, jump=True)))
            if each.opname.startswith(ENDS):
                break
            depth += effect_of(each.opname, arg)
            each = after.get(each.offset)
    return depths


class Shadow:
    """The known part of the stack of a frame.

    Attributes
    ----------
    frame, function : frame, function or None
    stack, fresh : list, set of str
        Objects, and `Token` for unknown values; the variables that hold objects created by the call.
    waits, calling : bool, function or None
        Whether the value on top is the result of a function called by the instruction, and that function.
    late : tuple, partial, str or None
        The later known value on top, a function that returns it, or the variable that holds it.
    given, keywords, named : sequence, dict, tuple of str
        The positional and the named arguments of the last call; the names of those of the next one.
    handed, loop : dict from code to function, Twin or None
        The functions that have been passed to other functions; what a comprehension goes over.
    skip, may : int, tuple of int
        The position to skip, and the possible positions of the next instruction.
    ours : bool
        Whether the code belongs to this library.
    """

    def __init__(self, frame: types.FrameType, function: Any, handed: dict[types.CodeType, Any], ours: bool) -> None:
        self.frame: Any = frame
        self.code, self.function, self.handed, self.ours = frame.f_code, function, handed, ours
        self.plan = plan(frame.f_code)
        self.stack: list[Any] = []
        self.fresh: set[str] = set()
        self.waits = False
        self.named: tuple[str, ...] = ()
        self.calling: Any = None
        self.given: Sequence[Any] = ()
        self.keywords: dict[str, Any] = {}
        self.late: Any = None
        self.loop: Any = None
        self.skip: int | None = None
        begin = next((o for o, step in self.plan.items() if step.name == "RESUME"), None)
        self.may: tuple[int | None, ...] | None = None if begin is None else (begin, *self.plan[begin].following)

    @property
    def line(self) -> str:
        """Where it is, for messages."""
        return f" (line {self.frame.f_lineno} of {self.code.co_filename.rpartition('/')[2]}, in {self.code.co_name})"
