"""A computation of a function with its observers: hooks, kept arrays, the search for NaNs, notes on errors."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from xpgrad.config import NO_GRAD, backprop_mode, called_with, config, switches
from xpgrad.watch import inspection
from xpgrad.watch.function_hook import FunctionHook
from xpgrad.watch.watched import WatchedFunction

T = TypeVar("T")


def observed(
    function: WatchedFunction, which: str, hooks: Sequence[Any], seen: tuple[Any, ...], run: Callable[[], T], *,
    arrays: Callable[[T], Sequence[Any]], operands: Sequence[Any], after: Callable[[T], tuple[Any, ...]] | None = None,
) -> T:  # fmt: skip
    """Return the result of `run`, the `which` computation of `function`, observed by hooks and debug mode.

    Parameters
    ----------
    function : WatchedFunction
    which : "forward" or "backward"
    hooks : sequence of FunctionHook
    seen : tuple
        Arguments of the hooks.
    run : callable
    arrays : callable
        Returns the arrays of a result, in which debug mode looks for NaNs.
    operands : sequence
        The operands of that computation.
    after : callable, optional
        Returns the arguments of postprocess hooks for a result; by default `seen`.
    """
    backward = which == "backward"
    call: Callable[..., Any] = by_user if backward else lambda function, *args: function(*args)
    if backward:
        inspection.check_unwritten(function)
        inspection.arrived(function, operands)
    for hook in hooks:
        call(getattr(hook, f"{which}_preprocess"), function, *seen)
    try:
        result = run()
    except Exception as error:
        if backward:
            inspection.explain(error, function)
        raise
    if hooks:
        results = tuple(result) if isinstance(result, (tuple, list)) else (result,)
        for hook in hooks:
            if type(hook).computed is not FunctionHook.computed:
                call(hook.computed, function, which, results)
        seen = seen if after is None else after(result)
        for hook in hooks:
            call(getattr(hook, f"{which}_postprocess"), function, *seen)
    if config.debug:
        if backward and (hooks or function.pullback is None):  # rules of the library write to no gradient
            inspection.check_unwritten(function)
        inspection.check_finite(arrays(result), function, which, operands)
    return result


def by_user(function: Callable[..., Any], *args: Any) -> Any:
    """Return the result of a user's function, which may build graphs and sweep them in any mode."""
    return called_with(backprop_mode(True), function, *args) if switches().mode & NO_GRAD else function(*args)


def writing(hooks: Iterable[Any]) -> bool:
    """Return whether a hook in `hooks` may write into its arguments: all except the library's hooks may."""
    return any("reads_only" not in vars(type(hook)) for hook in hooks)
