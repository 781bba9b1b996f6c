"""The foundation: functions whose failure makes other functions and gradients fail."""

import functools
from collections import Counter
from collections.abc import Iterator
from types import CodeType

from xpgrad.backend.kernels import OWNER, table
from xpgrad.backend.standard import FUNCTIONS

USERS = 3
"""A function is among them if this many kernels and rules of other functions call it by name."""
BY_OPERATORS = frozenset((
    "add", "subtract", "multiply", "divide", "negative", "pow", "matmul", "equal", "not_equal", "less", "less_equal",
    "greater", "greater_equal", "getitem", "operator",
))  # fmt: skip
"""Functions that rules call as operators, which do not contain their names."""


@functools.cache
def foundation() -> frozenset[str]:
    """Return the names of the functions that at least `USERS` kernels and rules call."""
    users: Counter[str] = Counter()
    for name, declaration in table.declared.items():
        if OWNER in name or name.startswith("special."):  # which of these are declared depends on what was imported
            continue
        called = {each for body in (declaration.body, declaration.rule) for each in _names(body)}
        users.update(called & set(FUNCTIONS) - {name.partition(".")[0]})
    return BY_OPERATORS | {name for name, number in users.items() if number >= USERS}


def _names(function: object) -> Iterator[str]:
    code = getattr(getattr(function, "__wrapped__", function), "__code__", None)
    return iter(()) if code is None else _names_in(code)


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)
