"""What threads change together in a graph: gradients, and the rare parts of nodes, without losing each other's changes.

A new gradient is computed from the old one without a lock, and stored if the old one is still there; otherwise it is
computed again. So nothing is computed, and no user's code runs, while the lock is held.
"""

from collections import deque
from collections.abc import Callable, Mapping
from itertools import repeat
from typing import Any, Protocol

from xpgrad.config import shared_lock

lock = shared_lock()
"""Held for a few reads and stores of references only."""


class Holder(Protocol):
    """What holds a gradient: a Variable."""

    _grad: Any


def exchange(x: Holder, held: Any, grad: Any) -> bool:
    """Let `x` hold `grad` as its gradient if that is `held` now, and tell whether it was."""
    with lock:
        if x._grad is not held:
            return False
        x._grad = grad
        return True


def replace(x: Holder, made: Callable[[Any], Any]) -> Any:
    """Let `x` hold what `made` returns for its gradient, None if there is none, and return that."""
    while True:
        held = x._grad
        grad = made(held)
        if exchange(x, held, grad):
            return grad


def store(grads: Mapping[Any, Any]) -> list[Any]:
    """Let all these Variables hold these gradients, and return what they held; under the lock.

    In one call of C: an interrupt between two stores would leave some gradients without their addition. What was held
    may only be freed after the lock is released, because that may run a user's code.
    """
    held = [x._grad for x in grads]
    deque(map(setattr, grads.keys(), repeat("_grad"), grads.values()), 0)
    return held
