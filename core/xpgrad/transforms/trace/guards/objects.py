"""The kinds of the objects that a call meets, and the values of arrays."""

import array
import collections
import datetime
import decimal
import functools
import math
import re
import sys
import types
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.graph.variable import Variable
from xpgrad.transforms.enclosing.backend import TransformedBackend
from xpgrad.types import Array

PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), range)
BOXES = (
    list, dict, set, tuple, frozenset, collections.deque, bytearray, array.array, types.MappingProxyType, memoryview,
)  # fmt: skip
"""Containers written in C, whose items are looked at without any code being run."""
MAX_BYTES = 2**20
"""Values of larger arrays are not compared at each call."""
TRACED, ARRAY, SIMPLE, BOX, VIEW, OTHER = "traced", "array", "plain", "box", "view", "other"
VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
DATES = datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.tzinfo, decimal.Decimal
"""Types written in C whose objects never change."""
FUNCTIONS = (
    *(types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType),
    *(classmethod, staticmethod, types.ClassMethodDescriptorType),
)
CONSTANT = types.CodeType, types.BuiltinFunctionType, types.MethodDescriptorType
SLOTS = types.MemberDescriptorType, types.GetSetDescriptorType, type(vars(collections.namedtuple("Point", "x"))["x"])
PROPERTIES = property, functools.cached_property
CODE = types.FunctionType, types.MethodType, functools.partial
_kinds: dict[type, str] = {}


def kind_of(x: Any) -> str:
    """Return the kind of an object: a Variable or an array of a transformation, another array, ..."""
    kind = type(x)
    found = _kinds.get(kind)
    if found is None:
        found = _kind(x, kind)
        if len(_kinds) < 10_000:
            _kinds[kind] = found
    return found


def _kind(x: Any, kind: type) -> str:
    if issubclass(kind, Variable):
        return TRACED
    if kind in plugins.by_type:
        return TRACED if isinstance(plugins.by_type[kind], TransformedBackend) else ARRAY
    if issubclass(kind, (*PLAIN, slice, re.Pattern, re.Match, *DATES)) or plugins.is_scalar(x):
        return SIMPLE
    if issubclass(kind, BOXES):
        return BOX
    if kind in VIEWS:
        return VIEW
    if hasattr(kind, "__dlpack__") or hasattr(kind, "__array_interface__"):
        return ARRAY
    return OTHER


def is_inside(x: Any) -> bool:
    """Return whether an object is an array of a transformation, or a Variable over such an array."""
    if kind_of(x) is not TRACED:
        return False
    array = x._array if isinstance(x, Variable) else x
    return array is not None and kind_of(array) is TRACED


def is_small(x: Array) -> bool:
    """Return whether the values of an array are compared at each call."""
    return bool(math.prod(x.shape) * getattr(x.dtype, "itemsize", 16) <= MAX_BYTES)


def rounding() -> tuple[Any, ...]:
    """Return the settings of this thread on which decimal numbers depend."""
    now = decimal.getcontext()
    return now.prec, now.rounding


@functools.cache
def shows_views(backend: Any) -> bool:
    """Return whether a library shows which arrays are views; else some that seem so may be copies."""
    return backend is not None and not backend.is_view(backend.namespace.zeros(1))


def backend_of(x: Any) -> Any:
    """Return the backend of an array, also of a subclass that the backend does not list, or None."""
    return next((plugins.by_type[kind] for kind in type(x).__mro__ if kind in plugins.by_type), None)


def values(x: Any) -> Any:
    """Return a value that changes when an array is written to."""
    return backend_of(x).fingerprint(x)


def random_states() -> dict[str, Any]:
    """Return the states of the global random numbers of the loaded array libraries, by name; not of `xpgrad.random`."""
    found = {}
    for name in plugins.installed.modules.keys() - {getattr(plugins.host.generator, "library", None)}:
        state = getattr(sys.modules.get(name), "get_rng_state", None)
        state = state or getattr(sys.modules.get(f"{name}.random"), "get_state", None)
        parts = () if state is None else now if type(now := state()) is tuple else (now,)
        found[name] = [part.tolist() if hasattr(part, "tolist") else part for part in parts]
    return found
