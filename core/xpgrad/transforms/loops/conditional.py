"""`while_loop` and `fori_loop`: loops by a condition, and over a range of integers."""

from collections.abc import Callable
from typing import Any

from xpgrad.backend.current import current_device
from xpgrad.graph.variable import constant_variable
from xpgrad.transforms.call import Mode
from xpgrad.transforms.loops.arguments import check_checkpoints, check_function, handed, integer, leaves_of
from xpgrad.transforms.loops.bodies import Conditional, Counted
from xpgrad.transforms.loops.forward import looped
from xpgrad.transforms.loops.rows import Rows


def while_loop(
    cond: Callable[[Any], Any], f: Callable[[Any], Any], init: Any, *, max_steps: int | None = None,
    checkpoints: int | str | None = None,
) -> Any:  # fmt: skip
    """Return the tree that a loop computes while a condition is true: ``while cond(init): init = f(init)``.

    Parameters
    ----------
    cond : callable
        Takes the tree, returns one boolean: a Variable or a Python bool. It draws no random numbers.
    f : callable
        Takes the tree, returns the next tree, with the same structure, shapes and dtypes.
    init : tree of Variables, arrays or scalars
    max_steps : int, optional
        Raise if the condition is still true after this number of steps.
    checkpoints : int, "all" or None
        As for `scan`; the number of steps need not be known for that.

    Returns
    -------
    tree
        `init` if the condition is initially false.

    Raises
    ------
    IterationError
        The condition is true after `max_steps`.
    TypeError
        The condition is not a boolean.

    Notes
    -----
    The number of steps is a constant in derivatives. Within `vmap`, the loop continues until the condition is false for
    all batch elements; an element for which it is false no longer changes. Gradients, random numbers, types and other
    errors are the same as for `scan`.
    """
    check_function("while_loop", cond)
    check_function("while_loop", f)
    mode = Mode(init)
    first, structure = leaves_of(init, "while_loop: the carry")
    kept = check_checkpoints("while_loop", checkpoints)
    limit = None if max_steps is None else integer("while_loop", "max_steps", max_steps)
    if limit is not None and limit < 0:
        raise ValueError(f"while_loop: max_steps must not be negative, got {limit}")
    body = Conditional(cond, f, structure, first, limit)
    found = looped(body, first, [], Rows([], False, 0), None, kept)
    return handed(mode, found.carry, structure)


def fori_loop(
    lower: int, upper: int, f: Callable[[Any, Any], Any], init: Any, *, checkpoints: int | str | None = None
) -> Any:
    """Return the tree that a loop over a range computes: ``for i in range(lower, upper): init = f(i, init)``.

    Parameters
    ----------
    lower, upper : int
        Or 0-d arrays of integers, whose values are read.
    f : callable
        Takes a 0-d Variable of the default integer dtype and a tree of Variables, returns the next tree, with the same
        structure, shapes and dtypes. As an operand of floating-point numbers, cast it: ``xp.astype(i, x.dtype)``.
    init : tree of Variables, arrays or scalars
    checkpoints : int, "all" or None
        As for `scan`.

    Returns
    -------
    tree
        `init` for an empty range.

    Notes
    -----
    Gradients, random numbers, types and errors are the same as for `scan`.
    """
    check_function("fori_loop", f)
    mode = Mode(init)
    first, structure = leaves_of(init, "fori_loop: the carry")
    start, end = integer("fori_loop", "lower", lower), integer("fori_loop", "upper", upper)
    kept = check_checkpoints("fori_loop", checkpoints)
    steps = max(end - start, 0)
    if not steps:
        return handed(mode, first, structure)
    device = first[0].device if first else current_device()
    backend = device.backend
    numbers = backend.restore(backend.namespace.arange(start, end, device=device.handle))
    inputs = [constant_variable(numbers)]
    body = Counted("fori_loop", f, structure, first)
    found = looped(body, first, inputs, Rows(inputs, False, steps), steps, kept)
    return handed(mode, found.carry, structure)
