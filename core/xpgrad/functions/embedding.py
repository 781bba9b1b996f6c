"""Embeddings: rows of a matrix by their indices."""

import math

from xpgrad import array_api
from xpgrad.backend.spec import Spec
from xpgrad.config import WATCHED, config, switches
from xpgrad.functions.checks import integral, invalid, real_floating
from xpgrad.graph.variable import Variable, as_array
from xpgrad.types import AnyArray, Array, Namespace

__all__ = ["embed_id"]


def embed_id(x: AnyArray, W: AnyArray, ignore_label: int | None = None) -> Variable:
    """Return the rows of `W` with the indices in `x`; gradients of an index that occurs more than once are summed.

    Parameters
    ----------
    x : Variable or array, shape S, integer
    W : Variable or array, shape (V, K), real floating-point
    ignore_label : int, optional
        For this index the row is zeros.

    Returns
    -------
    Variable, shape (*S, K)

    Raises
    ------
    InvalidType
        Dtypes or shapes are not as above.
    ValueError
        In debug mode, an index in `x` is neither a row number nor `ignore_label`. Otherwise the result is up to the
        array's library.
    """
    numbers, rows = integral(x, "embed_id", "x"), real_floating(W, "embed_id", "W")
    if rows.ndim != 2:
        raise invalid("embed_id", "W of shape (V, K)", f"W is {rows!r}")
    if switches().mode & WATCHED and config.debug:
        _check(as_array(x), rows, ignore_label)
    flat = array_api.reshape(x, shape=(math.prod(numbers.shape),))
    if ignore_label is None:
        y = array_api.take(W, flat.array, axis=0)
    else:
        ignored = array_api.equal(flat, ignore_label)
        y = array_api.take(W, array_api.where(ignored, array_api.zeros_like(flat), flat).array, axis=0)
        y = array_api.where(array_api.expand_dims(ignored, axis=1), 0.0, y)
    return array_api.reshape(y, shape=(*numbers.shape, rows.shape[1]))


def _check(x: Array, rows: Spec, ignore_label: int | None) -> None:
    if not rows.backend.follow(_all_known)(rows.backend.xp, x, rows.shape[0], ignore_label):
        ignored = "" if ignore_label is None else f", nor ignore_label {ignore_label}"
        raise ValueError(f"embed_id: an element of x is not the index of a row, 0 to {rows.shape[0] - 1}{ignored}")


def _all_known(xp: Namespace, x: Array, rows: int, ignore_label: int | None) -> bool:
    known = (x >= 0) & (x < rows)
    return not xp.backend.any_true(~(known if ignore_label is None else known | (x == ignore_label)))
