"""Anomaly detection: debug mode stops at the first NaN or Inf, and reports its function, pass and line.

A pass is known by origins: a function that a rule applies during a recorded sweep notes the function whose rule it was,
so the length of the chain of origins of a function is the order of the pass that applied it.
"""

import math
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.config import config, using_config
from xpgrad.errors import AnomalyError
from xpgrad.types import Array
from xpgrad.watch.watched import WatchedFunction, WatchedValue

PASSES = ("forward", "backward", "double backward", "triple backward")
GUARDED = {
    "divide": "x1 / where(condition, x2, 1)",
    "pow": "where(condition, x1, 1) ** x2",
    "constant_power": "where(condition, x, 1) ** exponent",
}
running: "ContextVar[WatchedFunction | None]" = ContextVar("xpgrad_running", default=None)
"""The function whose rule a sweep of this thread runs, or ran last; debug mode keeps it."""


class anomaly_detection(using_config):  # noqa: N801 - a context manager, named after its effect
    """Context manager, or decorator, in which the first NaN or Inf raises `AnomalyError`.

    The message names the function, the pass (forward, backward, double backward), the input of the gradient, and the
    user's line that applied the function. Where an element's cotangent is 0, as where a `where` did not choose it, the
    message shows how to write that. It is a stricter debug mode for this thread: slow, and without cost
    outside. The forward computation must also run inside, so that its lines are known.

    Parameters
    ----------
    inf : bool
        Stop at infinities as well. An infinity in the operands, such as the ``-inf`` of a mask, may pass through
        forward computations; an infinity from finite operands, or in a gradient, raises the error.

    Raises
    ------
    AnomalyError
        Inside, when a computation produces a NaN or Inf.
    """

    def __init__(self, inf: bool = True) -> None:
        super().__init__("debug", True)
        self.inf = inf
        self._entries["anomaly"] = "inf" if inf else "nan"

    def _recreate_cm(self) -> "anomaly_detection":
        return anomaly_detection(self.inf)


def check_outputs(arrays: Sequence[Any], function: WatchedFunction, operands: Sequence[Any]) -> None:
    """Raise if a forward computation made a NaN, or an Inf of finite operands."""
    origin = function._origin
    if origin is not None and origin.pullback is not None:
        return  # a step within a primitive's rule: only the result counts, as in a raw sweep
    for array in arrays:
        found = kind_of(array)
        if found is None or (found == "Inf" and any(kind_of(x) is not None for x in operands)):
            continue
        what = f"{function.label}: the output has {_article(found)} {found}"
        given = next((i for i, x in enumerate(operands) if kind_of(x) == "NaN"), None)
        if given is not None:
            raise AnomalyError(_located(f"{what}, which came in with operand {given}", function, order_of(function)))
        guarded = _guarded(function)
        advice = "" if guarded is None else (
            "\n  If a `where` discards these elements later, their gradient is NaN all the same; choose before the "
            f"function: {guarded}, with a number that it takes."
        )  # fmt: skip
        raise AnomalyError(_located(what, function, order_of(function)) + advice)


def check_gradients(arrays: Sequence[Any], function: WatchedFunction, cotangents: Sequence[Any]) -> None:
    """Raise if a rule made a NaN or an Inf."""
    for place, array in enumerate(arrays):
        found = kind_of(array)
        if found is not None:
            definition = getattr(function.pullback, "definition", None)
            name = place if definition is None or definition.variadic else definition.inputs[place]
            what = f"{function.label}: the gradient of input {name} has {_article(found)} {found}"
            advice = _advice_backward(function, array, cotangents)
            raise AnomalyError(_located(what, function, order_of(function) + 1) + advice)


def check_cotangents(arrays: Sequence[Any], function: WatchedFunction) -> None:
    """Raise AnomalyError if the cotangents of a function contain a NaN or an Inf, which no rule produced."""
    for array in arrays:
        found = kind_of(array)
        if found is not None:
            what = (
                f"{function.label}: the gradient that arrives at its output has {_article(found)} {found}, made by no "
                "function: it is a start, comes from a hook, or is a sum of several"
            )
            raise AnomalyError(_located(what, function, order_of(function) + 1))


def check_total(array: Any, node: WatchedValue) -> None:
    """Raise if the complete gradient of a root has a NaN or an Inf, which no rule made."""
    if (found := kind_of(array)) is not None:
        name = f"{node.name!r} ({node.label})" if node.name else f"a Variable ({node.label})"
        raise AnomalyError(
            f"backward: the gradient of {name} has {_article(found)} {found}, made by no function: it is a start, "
            "comes from a hook, or is a sum of several"
        )


def kind_of(array: Any) -> str | None:
    """Return "NaN" or, unless only NaN is detected, "Inf", if `array` contains one, else None."""
    if type(array) not in plugins.by_type:
        if not isinstance(array, (float, complex)):
            return None
        return "NaN" if array != array else "Inf" if abs(array) == math.inf and config.anomaly == "inf" else None
    backend = plugins.by_type[type(array)]
    if backend.has_nan(array):
        return "NaN"
    if config.anomaly != "inf" or not backend.is_kind(array.dtype, ("real floating", "complex floating")):
        return None
    return "Inf" if backend.any_true(backend.xp.isinf(array)) else None


def order_of(function: WatchedFunction) -> int:
    """Return the order of the pass that applied `function`: 0 for forward, 1 for backward."""
    order, origin = 0, function._origin
    while origin is not None:
        order, origin = order + 1, origin._origin
    return order


def _located(what: str, function: WatchedFunction, order: int) -> str:
    name = PASSES[order] if order < len(PASSES) else f"{order}-fold backward"
    # The library defines rules of primitives, so report the primitive's line; users define a FunctionNode's backward.
    while function._origin is not None and function._origin.pullback is not None:
        function = function._origin
        what = f"{what}, as part of the gradient of {function.label}"
    stack = getattr(function, "stack", None)
    if not stack:
        return f"{what} ({name} pass); run the forward computation inside anomaly_detection, too, to see its line"
    frame = stack[-1]
    return f"{what} ({name} pass)\n  {frame.filename}:{frame.lineno}: {(frame.line or '').strip()}"


def _article(found: str) -> str:
    return "a" if found == "NaN" else "an"


def _guarded(function: WatchedFunction) -> str | None:
    """Return how to write a call of an elementwise primitive so that invalid elements are avoided, or None."""
    definition = getattr(function.pullback, "definition", None)
    if definition is None or not definition.elementwise:
        return None
    if definition.kernel.name in GUARDED:
        return GUARDED[definition.kernel.name]
    return f"{definition.name}(where(condition, x, 1))" if len(definition.inputs) == 1 else None


def _advice_backward(function: WatchedFunction, gradient: Array, cotangents: Sequence[Any]) -> str:
    guarded = _guarded(function)
    gy = cotangents[0]
    backend = plugins.by_type.get(type(gy))
    if guarded is None or backend is None or type(gradient) is not type(gy) or gradient.shape != gy.shape:
        return ""
    xp = backend.xp
    if backend.any_true(xp.logical_and(xp.logical_not(xp.isfinite(gradient)), xp.not_equal(gy, 0))):
        return ""
    return (
        "\n  The gradient that arrives there is 0, as for elements that a `where` did not choose, and 0 * inf is NaN; "
        f"choose before the function, too: where(condition, {guarded}, ...), with a number that it takes."
    )
