"""Small helpers."""

import importlib
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from xpgrad_autograd.nodes import toposort

__all__ = ["func", "quick_grad_check", "subval", "subvals", "toposort"]


def subvals(x: Sequence[Any], ivs: Iterable[tuple[int, Any]]) -> tuple[Any, ...]:
    """Return a tuple with other values at some positions."""
    made = list(x)
    for i, value in ivs:
        made[i] = value
    return tuple(made)


def subval(x: Sequence[Any], i: int, v: Any) -> tuple[Any, ...]:
    """Return a tuple with another value at one position."""
    return subvals(x, [(i, v)])


def func(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function itself."""
    return f


def quick_grad_check(
    fun: Callable[..., Any], arg0: Any, extra_args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None,
    **options: Any,
) -> None:  # fmt: skip
    """Compare the gradient by the first argument with finite differences; deprecated for `check_grads`."""
    check_grads: Any = importlib.import_module("xpgrad_autograd.package.test_util").check_grads
    warnings.warn("quick_grad_check: deprecated; use autograd.test_util.check_grads", stacklevel=2)
    check_grads(lambda x: fun(x, *extra_args, **(kwargs or {})), modes=["rev"], order=1)(arg0)
