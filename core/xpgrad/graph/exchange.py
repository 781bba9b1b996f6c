"""Locked updates of graph state that several threads change: gradients and extra parts of nodes.

A new gradient is computed from the old one without a lock, and stored if the old one is still there; otherwise it is
computed again. So no user code and no array operation runs while the lock is held.
"""

from collections import deque
from collections.abc import Callable, Mapping
from itertools import repeat
from typing import Any, Protocol

from xpgrad.locks import shared_lock

lock = shared_lock()
"""Held for a few reads and stores of references only."""


class Holder(Protocol):
    """An object that holds a gradient, such as a Variable."""

    _grad: Any


def exchange(x: Holder, held: Any, grad: Any) -> bool:
    """Replace the gradient of `x` by `grad` if it is still `held`; return whether the replacement took place."""
    with lock:
        if x._grad is not held:
            return False
        x._grad = grad
        return True


def replace(x: Holder, made: Callable[[Any], Any]) -> Any:
    """Replace the gradient of `x`, which may be None, by the result of `made(gradient)`; return the new gradient."""
    while True:
        held = x._grad
        grad = made(held)
        if exchange(x, held, grad):
            return grad


def store(grads: Mapping[Any, Any]) -> list[Any]:
    """Store gradients in Variables and return the previous ones; the caller holds the lock.

    In one call of C: an interrupt between two stores would leave some gradients without their addition. The
    previous gradients may be freed only after the lock is released, because that may run users' code.
    """
    held = [x._grad for x in grads]
    deque(map(setattr, grads.keys(), repeat("_grad"), grads.values()), 0)
    return held
