"""What debug mode and hooks look at: kept arrays against their copies, NaNs, and who listens to a function."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from xpgrad.backend.plugins import plugins
from xpgrad.config import switches
from xpgrad.errors import NotANumber
from xpgrad.types import Array

if TYPE_CHECKING:
    from xpgrad.graph.function_node import FunctionNode

Guards = list[tuple[Array, Array]]


def guards(kept: Iterable[Any]) -> Guards:
    """Return pairs of each kept array and a copy of it."""
    return [(a, plugins.backend_of(a).copy(a)) for a in kept if type(a) in plugins.by_type]


def changed(pairs: Guards) -> bool:
    """Tell whether an array differs from the copy that was made of it."""
    return not all(plugins.backend_of(a).same_values(a, copy) for a, copy in pairs)


def check_finite(arrays: Sequence[Any], function: "FunctionNode", which: str) -> None:
    """Raise `NotANumber` if any of `arrays` holds a NaN."""
    for array in arrays:
        if array is not None and type(array) in plugins.by_type and plugins.backend_of(array).has_nan(array):
            raise NotANumber(f"NaN is detected on {which} computation of {function.label}{forward_place(function)}")


def forward_place(function: "FunctionNode") -> str:
    """Return the lines of the forward computation that applied `function`, as far as debug mode kept them."""
    stack = getattr(function, "stack", None)
    if not stack:
        return ""
    return "\nStacktrace of the function is below:\n" + "".join(stack.format())


def hooks_of(function: "FunctionNode") -> list[Any]:
    """Return the hooks that listen to `function`: this thread's, overridden by its own of the same name."""
    local = function._hooks
    active = switches().hooks
    return list((active | local).values()) if local else list(active.values())


def add_local_hook(function: "FunctionNode", hook: Any, name: str | None) -> None:
    """Add `hook` to `function` alone."""
    from xpgrad.graph.function_hook import FunctionHook

    if not isinstance(hook, FunctionHook):
        raise TypeError(f"add_hook: expected a FunctionHook, got {type(hook).__name__}")
    name = name or hook.name
    if name in function.local_function_hooks:
        raise KeyError(f"add_hook: hook {name!r} is there already")
    function.local_function_hooks[name] = hook
    hook.added(function)


def delete_local_hook(function: "FunctionNode", name: str) -> None:
    """Remove the hook `name` from `function`."""
    if name not in function.local_function_hooks:
        raise KeyError(f"delete_hook: there is no hook {name!r}")
    function.local_function_hooks.pop(name).deleted(function)
