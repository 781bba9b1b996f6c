"""Which carries of a loop are kept: one each square root of its steps, or a number of them by the binomial schedule."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Carry = TypeVar("Carry")


def interval(steps: int) -> int:
    """Return after how many steps a carry is kept, so that carries and recorded steps are equally many."""
    return max(1, math.isqrt(max(steps - 1, 0)) + 1)


def reach(checkpoints: int, repetitions: int) -> int:
    """Return the number of steps that can be reversed if each is repeated at most `repetitions` times without a record.

    With `checkpoints` carries, including the carry of the first step.
    """
    return math.comb(checkpoints + repetitions, checkpoints) if repetitions >= 0 else 0


def split(steps: int, checkpoints: int) -> int:
    """Return the step after which the next carry is kept, so that the fewest steps are repeated; 0 for a single step.

    The carry before the first step is one of `checkpoints`. If no other carry is kept, the last step is reversed next.

    Source: Griewank and Walther, Algorithm 799: Revolve, ACM Transactions on Mathematical Software 26 (2000).
    """
    if steps <= 1:
        return 0
    repetitions = 1
    while reach(checkpoints, repetitions) < steps:
        repetitions += 1
    return min(reach(checkpoints, repetitions - 1), steps - reach(checkpoints - 1, repetitions - 1))


def places(steps: int, checkpoints: int) -> list[int]:
    """Return the steps before which carries are kept in the first pass, including the first step."""
    found = [0]
    while len(found) < checkpoints:
        further = split(steps - found[-1], checkpoints - len(found) + 1)
        if not further:
            break
        found.append(found[-1] + further)
    return found


def reversals(
    kept: Sequence[tuple[int, Carry]], steps: int, checkpoints: int | None, advanced: Callable[[int, Carry, int], Carry]
) -> Iterator[tuple[int, int, Carry]]:
    """Yield the parts of a loop, the last part first: its first step, the step after it, and the carry before it.

    Parameters
    ----------
    kept : sequence of (int, carry)
        The carries that are kept, by the steps before which they are.
    steps : int
    checkpoints : int or None
        How many carries may be kept; None yields the parts between the carries of `kept`.
    advanced : callable
        ``advanced(start, carry, end)`` returns the carry before the step `end`, given the one before `start`.
    """
    stack, end = list(kept), steps
    while stack:
        start, carry = stack[-1]
        further = 0 if checkpoints is None else split(end - start, max(1, checkpoints - len(stack) + 1))
        if further:
            stack.append((start + further, advanced(start, carry, start + further)))
            continue
        if end > start:
            yield start, end, carry
        end = start
        stack.pop()
