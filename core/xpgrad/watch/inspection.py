"""Checks of debug mode and of the detection of mutations, on kept arrays and NaNs; and the hooks of a function."""

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from xpgrad.backend.checks import check_still
from xpgrad.backend.plugins import plugins
from xpgrad.config import config, switches
from xpgrad.errors import AnomalyError, ChangedArray, NotANumber
from xpgrad.types import Array
from xpgrad.watch import anomaly
from xpgrad.watch.function_hook import FunctionHook
from xpgrad.watch.watched import WatchedFunction

if TYPE_CHECKING:
    from traceback import StackSummary

Guards = list[tuple[Array, Any]]
DEBUG_SAYS_WHERE = " (xpgrad.set_debug(True) before it makes this error name its line)"
HOW_TO_SEE = "xpgrad.set_debug(True) before the forward computation shows the line that applied it."
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def forward_stack() -> "StackSummary":
    """Return the part of the caller's stack in user code; its last line applied a function."""
    import traceback  # needed in debug mode only

    stack = traceback.extract_stack()
    while stack and stack[-1].filename.startswith(_HERE + os.sep):
        stack.pop()
    return stack


def note(function: Any) -> None:
    """Put on a function, in debug mode, where it is applied, and during which function's rule."""
    function.stack, function._origin = forward_stack(), anomaly.running.get()


def guards(kept: Iterable[Any]) -> Guards:
    """Return pairs of a kept array and its copy in debug mode, else its checksum, to detect writes."""
    items = [item for a in kept for item in (a if type(a) is tuple else (a,))]  # an index is a tuple
    arrays = [a for a in items if type(a) in plugins.by_type and not plugins.by_type[type(a)].immutable]
    exact = config.debug
    return [
        (a, backend.copy(a) if exact else backend.fingerprint(a)) for a in arrays if (backend := plugins.backend_of(a))
    ]


def changed(pairs: Guards) -> bool:
    """Return whether an array has changed since `guards` was called."""
    return any(_differs(a, known) for a, known in pairs)


def _differs(array: Array, known: Any) -> bool:
    backend = plugins.backend_of(array)
    if type(known) not in plugins.by_type:
        return bool(backend.fingerprint(array) != known)
    return array.shape != known.shape or not backend.same_values(array, known)


def check_kept(function: WatchedFunction) -> None:
    """Raise if an input that `function` kept has another shape or dtype by now, which may be why its rule failed."""
    for node, array in zip(function.input_nodes or (), function.kept_inputs(), strict=False):
        if node is not None and array is not None:
            check_still(array, node.spec, function.label)


def check_finite(arrays: Sequence[Any], function: WatchedFunction, which: str, given: Sequence[Any]) -> None:
    """Raise `NotANumber` if any of `arrays` holds a NaN.

    They are the results of the `which` computation ("forward" or "backward") of `function` for the arrays `given`.
    """
    if config.anomaly:
        check = anomaly.check_outputs if which == "forward" else anomaly.check_gradients
        return check(arrays, function, given)
    for array in arrays:
        if array is None:
            continue
        if plugins.by_type[type(array)].has_nan(array) if type(array) in plugins.by_type else array != array:
            raise NotANumber(f"NaN is detected on {which} computation of {function.label}{forward_place(function)}")


def arrived(function: WatchedFunction, cotangents: Sequence[Any]) -> None:
    """Note, in debug mode, that a sweep runs the rule of `function` now, and check its cotangents."""
    if config.debug:
        anomaly.running.set(function)
        if config.anomaly:
            anomaly.check_cotangents(cotangents, function)


def forward_place(function: WatchedFunction) -> str:
    """Return the lines of the forward computation that applied `function`, as far as debug mode kept them."""
    stack = getattr(function, "stack", None)
    if not stack:
        return ""
    return "\nStacktrace of the function is below:\n" + "".join(stack.format())


def check_unwritten(function: WatchedFunction) -> None:
    """Raise if an array that `function` kept, and that is guarded, was written to since."""
    guards = function._guards
    if guards is not None and changed(guards):
        raise ChangedArray(
            f"{function.label}: an array that the graph kept was changed in place after the forward computation, so "
            f"the gradient would be wrong; change a copy instead{forward_place(function) or DEBUG_SAYS_WHERE}"
        )


def annotated(error: Exception, function: WatchedFunction) -> Exception:
    """Return an error of the rule of `function`, annotated with the line that applied `function`, or how to find it."""
    annotate(error, function)
    return error


def annotate(error: Exception, function: WatchedFunction) -> None:
    """Add to an error of the rule of `function` the line that applied it, or how to find this line."""
    if isinstance(error, AnomalyError):
        return
    place = forward_place(function)
    if place:
        text = str(error.args[0]) if error.args else ""
        if not text.endswith(place):
            error.args = (text + place, *error.args[1:])
    elif not any(note.endswith(HOW_TO_SEE) for note in getattr(error, "__notes__", ())):
        error.add_note(f"This was the backward computation of {function.label}; {HOW_TO_SEE}")


def explain(error: Exception, function: WatchedFunction) -> None:
    """Annotate an error of the rule of `function`, or raise its cause if that is an array that has changed."""
    check_kept(function)
    annotate(error, function)


def hooks_of(function: WatchedFunction) -> list[Any]:
    """Return the hooks of `function`: hooks of this thread, overridden by hooks of the function with the same name."""
    local = function._hooks
    active = switches().hooks
    return list((active | local).values()) if local else list(active.values())


def add_local_hook(function: WatchedFunction, hook: Any, name: str | None) -> None:
    """Add `hook` to `function` only."""
    if not isinstance(hook, FunctionHook):
        raise TypeError(f"add_hook: expected a FunctionHook, got {type(hook).__name__}")
    name = name or hook.name
    hooks = function._own_hooks()
    if name in hooks:
        raise KeyError(f"add_hook: {function.label} has a hook {name!r} already")
    hooks[name] = hook
    try:
        hook.added(function)
    except BaseException:
        del hooks[name]
        raise


def delete_local_hook(function: WatchedFunction, name: str) -> None:
    """Remove the hook `name` from `function`."""
    hooks = function._own_hooks()
    if name not in hooks:
        raise KeyError(f"delete_hook: {function.label} has no hook {name!r}")
    hooks.pop(name).deleted(function)
