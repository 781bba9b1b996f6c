"""`is_none`: whether the pickle of an array of objects contains None. The pickle is parsed, never executed."""

import itertools
import pickletools
from typing import Any

MAX_BYTES = 1024
"""The pickle of None has about 150."""
MARK = "mark"
STRINGS = ("UNICODE", "STRING", "BYTES")
INTEGERS = ("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1")
CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": (), "EMPTY_LIST": ("list",)}
PAIRS = {"STACK_GLOBAL": "global", "REDUCE": "call", "BUILD": "build"}
TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


def _expected(module: str, order: Any, name: str) -> tuple[Any, ...]:
    """Return the structure of the pickle of ``numpy.array(None)``, as some versions of NumPy and Python write it."""
    array = "call", ("global", module, "_reconstruct"), (("global", "numpy", "ndarray"), (0,), order)
    dtype = "call", ("global", "numpy", "dtype"), (name, False, True)
    made = "build", dtype, (3, "|", None, None, None, -1, -1, 63)
    return "build", array, (1, (), made, False, ("list", None))


ORDERS = "b", ("call", ("global", "_codecs", "encode"), ("b", "latin1"))
MODULES = "numpy.core.multiarray", "numpy._core.multiarray"
NONE = [_expected(*each) for each in itertools.product(MODULES, ORDERS, ("O8", "O4"))]


def is_none(data: bytes) -> bool:
    """Return whether `data` is a pickle of ``numpy.array(None)``; False for all other bytes."""
    try:
        return len(data) <= MAX_BYTES and _structure(data) in NONE
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, UnicodeDecodeError, RecursionError):
        return False


def _structure(data: bytes) -> Any:
    """Return the calls of a pickle as nested tuples."""
    stack: list[Any] = []
    memo: dict[int, Any] = {}
    argument: Any
    for operation, argument, _ in pickletools.genops(data):
        name = operation.name
        if name in ("PROTO", "FRAME"):
            continue
        if name == "STOP":
            return stack.pop() if len(stack) == 1 else None
        if name == "MEMOIZE" or name.endswith("PUT"):
            memo[len(memo) if name == "MEMOIZE" else int(argument)] = stack[-1]
        elif name.endswith("GET"):
            stack.append(memo[int(argument)])
        elif name == "MARK":
            stack.append(MARK)
        elif name in CONSTANTS:
            stack.append(CONSTANTS[name])
        elif name in INTEGERS:
            stack.append(argument)
        elif name.endswith(STRINGS) or name.endswith(("UNICODE8", "BYTES8")):
            stack.append(argument.decode("latin1") if isinstance(argument, bytes) else argument)
        elif name == "GLOBAL":
            stack.append(("global", *argument.split(" ")))
        elif name in TUPLES or name in ("TUPLE", "APPENDS"):
            start = len(stack) - TUPLES[name] if name in TUPLES else len(stack) - 1 - stack[::-1].index(MARK)
            items = tuple(stack[start + (name not in TUPLES) :])
            del stack[start:]
            stack.append(items if name != "APPENDS" else (*stack.pop(), *items))
        else:
            last, before = stack.pop(), stack.pop()
            stack.append((*before, last) if name == "APPEND" else (PAIRS[name], before, last))
    return None
