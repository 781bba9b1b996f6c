"""Temporary operands, whose memory the result of an operation may take: the product in ``s + x * c``.

Reference counts show that nothing but the call refers to an operand. An operator cannot distinguish the interpreter's
stack from an extension module that holds the only reference and goes on using the operand, as NumPy's loops over arrays
of objects do. So the C functions that have led to the operator are looked up, as NumPy does for its own arrays
(``temp_elide.c``): there may be none but the interpreter's.
"""

import ctypes
import functools
import opcode
import sys
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.types import Array

COUNTED = (
    sys.implementation.name == "cpython" and sys.version_info < (3, 14) and "t" not in getattr(sys, "abiflags", "")
)
"""Whether all references are counted; later and free-threaded versions borrow those of local variables."""
OF_FUNCTION, OF_OPERATOR, OF_ARRAY = 4, 5, 5
"""References to the operand of a function or an operator, and to its array, by the call itself and the look-up."""
OPERATORS = frozenset((opcode.opmap.get("BINARY_OP"), opcode.opmap["UNARY_NEGATIVE"]))
CALLER = 5
"""Number of frames from here to the caller of an operation."""
LOOP = "_PyEval_EvalFrameDefault"
"""The interpreter's loop, in C."""
DEPTH = 16
"""Number of C functions that are looked up."""


def temporary(arrays: Sequence[Any], holders: Sequence[Any]) -> Array | None:
    """Return the array of an operand that nothing else refers to, or None.

    Parameters
    ----------
    arrays : tuple
    holders : tuple
        For each array the Variable that holds it, None for an array that is needed later.
    """
    for i in range(len(holders) if COUNTED else 0):
        x, array = holders[i], arrays[i]
        if x is None or sys.getrefcount(array) > OF_ARRAY or array.base is not None:
            continue
        count = sys.getrefcount(x)
        if count == OF_FUNCTION or (count == OF_OPERATOR and _is_operator() and by_interpreter()):
            return array
    return None


def _is_operator() -> bool:
    caller = sys._getframe(CALLER + 1)
    return caller.f_code.co_code[caller.f_lasti] in OPERATORS


def by_interpreter() -> bool:
    """Return whether a run of the interpreter's loop has led to this one by the interpreter's functions only."""
    look_up, loops = _look_up(), 0
    for inside, loop in look_up() if look_up is not None else ():
        loops += loop
        if loops == 2:
            return True
        if loops and not inside:
            return False
    return False


class _Symbol(ctypes.Structure):
    """``Dl_info``."""

    _fields_ = tuple((name, ctypes.c_void_p) for name in ("file", "base", "name", "start"))


@functools.cache
def _look_up() -> Callable[[], list[tuple[bool, bool]]] | None:
    """Return a function that returns for each C function in progress whether it is the interpreter's, and its loop."""
    own = ctypes.PyDLL(None) if sys.platform != "win32" else None
    backtrace, symbol_of = getattr(own, "backtrace", None), getattr(own, "dladdr", None)
    if backtrace is None or symbol_of is None:
        return None
    symbol_of.argtypes = ctypes.c_void_p, ctypes.c_void_p

    @functools.lru_cache(4096)
    def place(address: int) -> tuple[Any, Any]:
        found = _Symbol()
        symbol_of(address, ctypes.addressof(found))
        return found.base, found.start

    loop, base = (
        ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value for name in (LOOP, "PyNumber_Add")
    )
    base = place(base)[0]

    def look_up() -> list[tuple[bool, bool]]:
        addresses = (ctypes.c_void_p * DEPTH)()
        places = map(place, addresses[: backtrace(addresses, DEPTH)])
        return [(each == base, start == loop) for each, start in places]

    return look_up
