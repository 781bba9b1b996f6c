"""`scan`: a loop over the rows of arrays that carries a tree and collects outputs."""

from collections.abc import Callable
from typing import Any

from xpgrad.graph.variable import constant_variable
from xpgrad.transforms.call import Mode
from xpgrad.transforms.leaves import zeros_of
from xpgrad.transforms.loops.arguments import check_checkpoints, check_function, handed, leaves_of, length_of
from xpgrad.transforms.loops.bodies import Scanned
from xpgrad.transforms.loops.forward import looped
from xpgrad.transforms.loops.rows import Rows
from xpgrad.transforms.surroundings import Surroundings


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]], carry: Any, xs: Any = None, length: int | None = None, *,
    reverse: bool = False, checkpoints: int | str | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Return the last carry of a loop, and the outputs of all steps, stacked along a new first axis.

    The plain loop is::

        ys = []
        for x in xs:
            carry, y = f(carry, x)
            ys.append(y)
        return carry, xp.stack(ys)

    Parameters
    ----------
    f : callable
        Takes a carry and a row of `xs`, returns the next carry and an output: trees of Variables. The carry keeps its
        structure, shapes and dtypes.
    carry : tree of Variables, arrays or scalars
    xs : tree of Variables or arrays, shape (length, ...)
        None for a loop without inputs; then `length` is required.
    length : int, optional
        Number of steps.
    reverse : bool
        Begin with the last row; the output of a row stays in its place.
    checkpoints : int, "all" or None
        Carries kept for the gradients. None: as many carries as the square root of the steps; each step is repeated
        once in the backward pass. An integer: this number of carries, by the binomial schedule of Griewank and Walther
        (2000), which repeats the fewest steps; one step is recorded at a time. "all": all values of all steps, none is
        repeated.

    Returns
    -------
    carry : tree
    ys : tree
        None where `f` returns None.

    Raises
    ------
    StructureError
        A step changes the structure, shape, dtype or device of the carry or of the outputs.
    ShapeError
        The first axes of `xs` differ, or differ from `length`.
    TypeError
        `f` does not return a pair, or the number of steps is unknown.
    GraphError
        In the backward pass: a step is not repeatable.

    Notes
    -----
    - Variables that `f` captures also get their gradients. If the first recorded steps do not use an outer Variable
      that requires a gradient, later steps must not use it either.
    - Random numbers, the device and the entries ``train`` and ``dtype`` of the configuration are the same as in
      the first pass when steps are repeated; otherwise `f` must be repeatable.
    - Gradients can be differentiated again, which records all steps.
    - Arrays give arrays, Variables give Variables; results connected to a captured Variable are Variables.
    """
    check_function("scan", f)
    mode = Mode(carry, xs)
    first, structure = leaves_of(carry, "scan: the carry")
    inputs, inputs_structure = leaves_of(xs, "scan: xs")
    steps = length_of("scan", inputs, inputs_structure, length)
    kept = check_checkpoints("scan", checkpoints)
    body = Scanned("scan", f, structure, first, inputs_structure)
    rows = Rows(inputs, reverse, steps)
    if not steps:
        return handed(mode, first, structure), _no_outputs(body, first, rows, mode)
    found = looped(body, first, inputs, rows, steps, kept)
    assert body.outputs is not None  # a step has been made
    return handed(mode, found.carry, structure), handed(mode, found.outputs, body.outputs.structure)


def _no_outputs(body: Scanned, carry: list[Any], rows: Rows, mode: Mode) -> Any:
    """Return the outputs of a loop of no steps, after a call of the function for their structure."""
    row = [zeros_of(spec) for spec in rows.specs]
    surroundings = Surroundings({x.device for x in carry})
    surroundings.again(None, body.run, 0, 1, [constant_variable(x._array) for x in carry], [], iter([row]))
    assert body.outputs is not None  # the step has set it
    made = []
    for spec in body.outputs.specs:
        made.append(zeros_of(spec.backend.spec_for((0, *spec.shape), spec.dtype, spec.device)))
    return handed(mode, made, body.outputs.structure)
