"""Meanings of calls in a program: each function name as a function of symbols."""

import functools
from collections.abc import Callable
from typing import Any

from xpgrad.plugin import Backend
from xpgrad.transforms.trace.calls import Call, Value
from xpgrad.types import Shape
from xpgrad_fusion.operands import Operands
from xpgrad_fusion.space import Unfusible
from xpgrad_fusion.statements import BINARY, REDUCTIONS, UNARY
from xpgrad_fusion.symbols import Builder, Symbol

SHAPES = frozenset(["broadcast_to", "reshape", "expand_dims", "squeeze"])
METHODS = SHAPES | {"where", "astype", "square", "clip", "mean", "var", "full_like", "zeros_like", "ones_like"}
"""Functions that `Builder` has as methods."""


NEVER = frozenset(
    [
        *("matmul", "matmul.x1", "matmul.x2", "tensordot", "vecdot", "transposed_matmul", "affine", "linalg.solve"),
        *("matrix_transpose", "permute_dims", "concat", "stack", "flip", "roll", "take", "unstack", "sort", "argsort"),
        *("convolution", "in_blocks", "fused", "draw", "random_uniform", "random_normal"),
    ]
)
"""Names of functions that never have a meaning; others may have one."""


def apply(call: Call, operands: Operands) -> list[Symbol]:
    """Return the results of a call as symbols, or raise `Unfusible` if it has no statements in the group's space."""
    builder, name = operands.builder, call.name
    if name == "getitem" or name == "x[]":
        return [element(call, operands)]
    if name == "scatter_add":
        return [scattered(call, operands)]
    args = [operands.operand(item) for item in call.args]
    kwargs = {key: operands.operand(item) for key, item in call.kwargs.items()}
    if name in ("expand_dims", "squeeze"):
        name, args, kwargs = "reshape", [*args[:1], call.results[0].spec.shape], {}
    try:
        made = meaning(builder, name)(*args, **kwargs)
    except (TypeError, ValueError, AttributeError, IndexError) as error:  # arguments that only the library takes
        raise Unfusible(f"{name}: {error}") from error
    found = [made] if call.single else list(made) if isinstance(made, (tuple, list)) else []
    if len(found) != len(call.results):
        raise Unfusible(f"{name} gives another number of results")
    for symbol, value in zip(found, call.results, strict=True):
        if not isinstance(symbol, Symbol) or symbol.shape != value.spec.shape or symbol.dtype != value.spec.dtype:
            raise Unfusible(f"{name} gives another spec")
    return found


def meaning(builder: Builder, name: str) -> Callable[..., Any]:
    """Return a function of symbols by its name in programs."""
    if name in UNARY or name in BINARY:
        return functools.partial(builder.elementwise, name)
    if name in BUILDERS:
        return functools.partial(BUILDERS[name], builder)
    return getattr(builder, name) if name in REDUCTIONS or name in METHODS else builder.kernel(name)


def _power(builder: Builder, x: Symbol, exponent: Any) -> Any:
    """Return a power with a number as the exponent; square roots differ from ``pow`` at -0 and -inf."""
    if exponent == 0.5 and takes_roots(builder.backend):
        return builder.elementwise("sqrt", x)
    return builder.kernel("constant_power")(x, exponent=exponent)


@functools.cache
def takes_roots(backend: Backend) -> bool:
    """Return whether the power 0.5 is a square root in a library."""
    try:
        zero = backend.asarray(-0.0, backend.default_dtype("float"))
        return bool(backend.xp.signbit(backend.xp.constant_power(zero, exponent=0.5)))
    except Exception:  # of a library without its device
        return False


BUILDERS: dict[str, Callable[..., Any]] = {
    "positive": lambda builder, x: x,
    "constant_power": _power,
    "copy": lambda builder, x: x,  # outputs of a group are new arrays
}


def element(call: Call, operands: Operands) -> Symbol:
    """Return one element of an array, by integers for all its axes."""
    index = call.kwargs["index"] if call.kwargs else call.args[-1]
    array = call.args[0]
    if not isinstance(array, Value):
        raise Unfusible("an index of several elements")
    place = place_of(index, array.spec.shape)
    return operands.builder.element(operands.whole(array), place, call.results[0].spec)


def scattered(call: Call, operands: Operands) -> Symbol:
    """Return zeros with single elements added."""
    spec, parts = call.results[0].spec, call.args[-1]
    if not isinstance(parts, (list, tuple)) or len(call.args) != 2:
        raise Unfusible("an index of several elements")
    places = [place_of(index, spec.shape) for index, _ in parts]
    symbols = [operands.operand(value) for _, value in parts]
    if not all(isinstance(symbol, Symbol) for symbol in symbols):
        raise Unfusible("no arrays")
    return operands.builder.scattered(symbols, places, spec)


def place_of(index: Any, shape: Shape) -> int:
    """Return the place in C order that integers for all axes mean, or raise `Unfusible` for several elements."""
    given = index if type(index) is tuple else (index,)
    if any(type(i) is not int for i in given) or len(given) != len(shape):
        raise Unfusible("an index of several elements")
    place = 0
    for i, n in zip(given, shape, strict=True):
        if not -n <= i < n:
            raise Unfusible("out of range")
        place = place * n + i % n
    return place
