"""Recurrent units: one step of a sequence, or one node of a tree."""

from typing import Any

from xpgrad import array_api
from xpgrad.array_api import reshape, tanh
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.backend.spec import Spec
from xpgrad.functions.activation import sigmoid
from xpgrad.functions.checks import invalid, real_floating
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray

__all__ = ["lstm", "slstm", "tree_lstm"]


@in_single_precision
def lstm(c_prev: AnyArray, x: AnyArray) -> tuple[Variable, Variable]:
    """Return cell and output of a unit with a long short-term memory.

    Parameters
    ----------
    c_prev : Variable or array, shape (B, N, *D), real floating-point
        Cell of the previous step.
    x : Variable or array, shape (B', 4 * N, *D), of the dtype of `c_prev`, with B' at most B
        Sources of input a and of input, forget and output gate i, f and o, interleaved along axis 1: ``a, i, f, o`` of
        the first, then of the second, ...

    Returns
    -------
    c : Variable, shape (B, N, *D)
        ``tanh(a) * sigmoid(i) + c_prev * sigmoid(f)``; examples after the first B' are unchanged.
    h : Variable, shape (B', N, *D)
        ``tanh(c) * sigmoid(o)``

    References
    ----------
    Hochreiter, Schmidhuber: Long short-term memory, 1997; Gers, Schmidhuber, Cummins: Learning to forget, 2000.
    """
    cell, sources = real_floating(c_prev, "lstm", "c_prev"), real_floating(x, "lstm")
    _check("lstm", cell, sources, 4, "x", fewer=True)
    a, i, f, o = _gates(x, sources)
    batch = sources.shape[0]
    c_prev = as_variable(c_prev)
    c = tanh(a) * sigmoid(i) + (c_prev[:batch] if batch < cell.shape[0] else c_prev) * sigmoid(f)
    h = tanh(c) * sigmoid(o)
    if batch < cell.shape[0]:
        c = array_api.concat([c, c_prev[batch:]], axis=0)
    return c, h


@in_single_precision
def slstm(c_prev1: AnyArray, c_prev2: AnyArray, x1: AnyArray, x2: AnyArray) -> tuple[Variable, Variable]:
    """Return cell and output of a unit with a long short-term memory that has two children.

    Parameters
    ----------
    c_prev1, c_prev2 : Variable or array, shape (B, N, *D), real floating-point
        Cells of the children.
    x1, x2 : Variable or array, shape (B, 4 * N, *D), of the dtype of `c_prev1`
        From each child the sources of input a and of gates i, f and o, in the order of `lstm`.

    Returns
    -------
    c : Variable, shape (B, N, *D)
        ``tanh(a1) * sigmoid(i1) + tanh(a2) * sigmoid(i2) + c_prev1 * sigmoid(f1) + c_prev2 * sigmoid(f2)``
    h : Variable, shape (B, N, *D)
        ``tanh(c) * sigmoid(o1 + o2)``

    Notes
    -----
    Chainer computes the same; the formula in its documentation adds the sources of both children before `tanh` and
    `sigmoid`.

    References
    ----------
    Zhu, Sobhani, Guo: Long short-term memory over tree structures, 2015.
    """
    cells = [real_floating(c, "slstm", name) for c, name in ((c_prev1, "c_prev1"), (c_prev2, "c_prev2"))]
    sources = [real_floating(x, "slstm", name) for x, name in ((x1, "x1"), (x2, "x2"))]
    if cells[1].shape != cells[0].shape or cells[1].dtype != cells[0].dtype:
        raise invalid("slstm", f"c_prev2 like c_prev1, {cells[0]!r}", f"c_prev2 is {cells[1]!r}")
    for spec, name in zip(sources, ("x1", "x2"), strict=True):
        _check("slstm", cells[0], spec, 4, name)
    a1, i1, f1, o1 = _gates(x1, sources[0])
    a2, i2, f2, o2 = _gates(x2, sources[1])
    c = tanh(a1) * sigmoid(i1) + tanh(a2) * sigmoid(i2)
    c = c + as_variable(c_prev1) * sigmoid(f1) + as_variable(c_prev2) * sigmoid(f2)
    return c, tanh(c) * sigmoid(o1 + o2)


@in_single_precision
def tree_lstm(*inputs: AnyArray) -> tuple[Variable, Variable]:
    """Return cell and output of a unit with a long short-term memory that has any number of ordered children.

    Parameters
    ----------
    *inputs : Variable or array, real floating-point
        The cells of K children, each of shape (B, N, *D); then the sources, of shape (B, (3 + K) * N, *D): input a,
        input gate i, output gate o, and a forget gate for each child, concatenated along axis 1.

    Returns
    -------
    c : Variable, shape (B, N, *D)
        ``tanh(a) * sigmoid(i)`` plus the sum of ``c_k * sigmoid(f_k)``
    h : Variable, shape (B, N, *D)
        ``tanh(c) * sigmoid(o)``

    References
    ----------
    Tai, Socher, Manning: Improved semantic representations from tree-structured long short-term memory networks, 2015.
    """
    if len(inputs) < 2:
        raise TypeError(f"tree_lstm: expected the cells of the children and the sources, got {len(inputs)} inputs")
    *cells, x = inputs
    specs = [real_floating(c, "tree_lstm", f"cell {k}") for k, c in enumerate(cells)]
    sources = real_floating(x, "tree_lstm")
    for k, spec in enumerate(specs):
        if spec.shape != specs[0].shape or spec.dtype != specs[0].dtype:
            raise invalid("tree_lstm", f"cell {k} like cell 0, {specs[0]!r}", f"cell {k} is {spec!r}")
    _check("tree_lstm", specs[0], sources, 3 + len(cells), "x")
    n, x = specs[0].shape[1], as_variable(x)
    a, i, o, *forget = (x[:, k * n : (k + 1) * n] for k in range(3 + len(cells)))
    y = tanh(a) * sigmoid(i)
    for cell, f in zip(cells, forget, strict=True):
        y = y + as_variable(cell) * sigmoid(f)
    return y, tanh(y) * sigmoid(o)


def _check(function: str, cell: Spec, x: Spec, parts: int, name: str, fewer: bool = False) -> None:
    """Raise `InvalidType` unless `x` has `parts` times the features of a cell, for each of its examples."""
    fits = cell.ndim > 1 and x.ndim > 1 and x.dtype == cell.dtype
    if not (
        fits
        and x.shape[1:] == (parts * cell.shape[1], *cell.shape[2:])
        and (x.shape[0] == cell.shape[0] or (fewer and x.shape[0] < cell.shape[0]))
    ):
        expect = f"a cell of shape (B, N, ...) and {name} of its dtype and of shape (B, {parts} * N, ...)"
        raise invalid(function, expect, f"the cell is {cell!r}, {name} is {x!r}")


def _gates(x: Any, spec: Spec) -> list[Variable]:
    """Return the four parts that are interleaved along axis 1."""
    parts = reshape(x, shape=(spec.shape[0], spec.shape[1] // 4, 4, *spec.shape[2:]))
    return [parts[:, :, k] for k in range(4)]
