"""Arrays that are the same in every run, and small, are made once, with the program."""

from typing import Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.standard import FUNCTIONS
from xpgrad.transforms.trace.aliases import Aliases
from xpgrad.transforms.trace.calls import Call, Value, leaves_of, substituted
from xpgrad.transforms.trace.program import Program

MAX_BYTES = 2**14
"""Size of arrays that a program keeps; making a larger one anew costs little beside reading it."""
KNOWN = frozenset(FUNCTIONS) - {"from_dlpack"} | {"x[]", "getitem", "sum_to"}
ARRAY_LIKE = "__array_namespace__", "__dlpack__", "__array_interface__", "__array__"


def constants(program: Program) -> Program:
    """Return the program without calls whose arguments are all known: creation, and functions of created arrays.

    Outer arrays are read in every run, so values computed from them are not constant; nor is memory that is written to.
    """
    aliases, backend = Aliases(program), program.backend
    if backend is None:
        return program
    made: dict[Value, Any] = {}
    kept: list[Call] = []
    for old in program.calls:
        call = old.substituted(made)
        if (
            call.pure
            and call.name in KNOWN
            and not call.operands()
            and not any(map(aliases.is_written, call.results))
            and (sum(value.nbytes for value in call.results) <= MAX_BYTES or call.name == "broadcast_to")
            and not any(map(is_array, leaves_of((old.args, old.kwargs))))
        ):
            arrays = computed(call, backend)
            if arrays is not None:
                made.update(zip(call.results, arrays, strict=True))
                continue
        kept.append(call)
    if not made:
        return program
    return program.replaced(calls=tuple(kept), outputs=substituted(program.outputs, made))


def is_array(leaf: Any) -> bool:
    """Return whether an object could be an array of any library."""
    return any(hasattr(leaf, name) for name in ARRAY_LIKE) and not isinstance(leaf, type)


def computed(call: Call, backend: Backend) -> list[Any] | None:
    """Return the arrays of a call, or None if its results differ from the recorded results."""
    try:
        result = call.function(*call.args, **call.kwargs)
        arrays = [backend.restore(array) for array in ([result] if call.single else result)]
        specs = [backend.spec(array) for array in arrays]
    except Exception:  # a third-party function; the run raises the error
        return None
    wanted = [value.spec for value in call.results]
    if len(specs) != len(wanted):
        return None
    same = all(s.shape == w.shape and s.dtype == w.dtype for s, w in zip(specs, wanted, strict=True))
    return arrays if same else None
