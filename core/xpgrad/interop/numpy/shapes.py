"""NumPy's functions of shapes, joins, selections, copies and dtypes, with its argument names, for Variables."""
# ruff: noqa: D103 - documented by NumPy's functions with the same names

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad import array_api as xp
from xpgrad import functions as F
from xpgrad import ops
from xpgrad.array_api.data_types import to_floating
from xpgrad.array_api.shared import copying
from xpgrad.array_api.shared.axes import checked_axes
from xpgrad.backend.plugins import plugins
from xpgrad.errors import ShapeError
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.interop.numpy.arguments import (
    REFUSED,
    Function,
    alike,
    cast_within,
    flat,
    given,
    lead_of,
    like,
    numpy_function,
    numpy_functions,
)
from xpgrad.types import WHOLE


def _shape(shape: Any) -> tuple[int, ...]:
    return tuple(shape) if isinstance(shape, Sequence) or getattr(shape, "ndim", 0) > 0 else (operator.index(shape),)


def _size(shape: tuple[int, ...], axis: Any) -> int:
    return math.prod(shape if axis is None else [shape[i] for i in checked_axes(axis, len(shape), "numpy.size")])


def _at_least(place: Callable[[Any], Any]) -> Function:
    def raised(*arys: Any) -> Any:
        found = [place(x) for x in alike(*arys)]
        return found[0] if len(found) == 1 else tuple(found)

    return raised


def _split(name: str, axis_of: Callable[[Any], int] | None = None, even: bool = True) -> Function:
    def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
        along = checked_axes(axis, ary.ndim, name)[0] if axis_of is None else axis_of(ary)
        return _parts(ary, indices_or_sections, along, even, name)

    return split


def _parts(x: Any, sections: Any, axis: int, even: bool, name: str) -> list[Any]:
    length = x.shape[axis]
    if isinstance(sections, WHOLE):
        if even and length % sections:
            raise ShapeError(f"{name}: {length} elements cannot be cut into {sections} equal parts")
        each, longer = divmod(length, sections)
        ends = [each * i + min(i, longer) for i in range(1, sections)]
    else:
        ends = [slice(None, int(i)).indices(length)[1] for i in sections]
    before = (slice(None),) * axis
    bounds = zip([0, *ends], [*ends, length], strict=True)
    return [x[(*before, slice(start, max(start, end)))] for start, end in bounds]


def _resized(x: Variable, shape: tuple[int, ...]) -> Any:
    """Return the elements of a vector, repeated as often as a shape needs; zeros if there are none."""
    if min(shape, default=0) < 0:
        raise ValueError(f"numpy.resize: expected lengths from 0 on as new_shape, got {shape}")
    if not x.shape[0]:
        return x.__array_namespace__().zeros(shape, dtype=x.dtype, device=x.device)
    count = math.prod(shape)
    return xp.reshape(xp.tile(x, (-(-count // x.shape[0]),))[:count], shape=shape)


def _like(name: str) -> Function:
    make = getattr(xp, name)
    return lambda a, dtype=None, order=REFUSED, subok=REFUSED, shape=REFUSED, *, device=None: make(
        a, dtype=dtype, device=device
    )


ROWS: dict[str, Function] = {
    "shape": lambda a: alike(a)[0].shape,
    "ndim": lambda a: alike(a)[0].ndim,
    "size": lambda a, axis=None: _size(alike(a)[0].shape, axis),
    "reshape": lambda a, /, shape=None, order=REFUSED, *, newshape=None, copy=None: xp.reshape(
        a, shape=_shape(newshape if shape is None else shape), copy=copy
    ),
    "ravel": lambda a, order=REFUSED: flat(a),
    "resize": lambda a, new_shape: _resized(flat(alike(a)[0]), _shape(new_shape)),
    "transpose permute_dims": lambda a, axes=None: as_variable(a).transpose(axes),
    "swapaxes": lambda a, axis1, axis2: as_variable(a).swapaxes(axis1, axis2),
    "moveaxis": lambda a, source, destination: xp.moveaxis(a, source, destination),
    "rollaxis": lambda a, axis, start=0: F.rollaxis(a, axis, start),
    "matrix_transpose linalg.matrix_transpose": lambda x, /: xp.matrix_transpose(x),
    "expand_dims": lambda a, axis: xp.expand_dims(a, axis=axis),
    "squeeze": lambda a, axis=None: as_variable(a).squeeze(axis),
    "broadcast_to": lambda array, shape, subok=REFUSED: xp.broadcast_to(array, shape=_shape(shape)),
    "broadcast_arrays": lambda *args, subok=REFUSED: xp.broadcast_arrays(*alike(*args)),
    "atleast_1d": _at_least(lambda x: ops.atleast_nd(x, ndim=1)),
    "atleast_2d": _at_least(lambda x: ops.atleast_nd(x, ndim=2)),
    "atleast_3d": _at_least(
        lambda x: x[:, :, None] if x.ndim == 2 else x[None, :, None] if x.ndim == 1 else ops.atleast_nd(x, ndim=3)
    ),
    "concatenate concat": lambda arrays, /, axis=0, out=REFUSED, *, dtype=None, casting=REFUSED: cast_within(
        "concatenate", xp.concat(alike(*arrays), axis=axis), dtype
    ),
    "stack": lambda arrays, axis=0, out=REFUSED, *, dtype=None, casting=REFUSED: cast_within(
        "stack", xp.stack(alike(*arrays), axis=axis), dtype
    ),
    "hstack": lambda tup, *, dtype=None, casting=REFUSED: cast_within("hstack", F.hstack(alike(*tup)), dtype),
    "vstack": lambda tup, *, dtype=None, casting=REFUSED: cast_within("vstack", F.vstack(alike(*tup)), dtype),
    "dstack": lambda tup: F.dstack(alike(*tup)),
    "column_stack": lambda tup: xp.concat(
        [x if x.ndim > 1 else xp.matrix_transpose(ops.atleast_nd(x, ndim=2)) for x in alike(*tup)], axis=1
    ),
    "append": lambda arr, values, axis=None: xp.concat(alike(arr, values), axis=axis),
    "split": _split("split"),
    "array_split": _split("array_split", even=False),
    "hsplit": _split("hsplit", lambda x: 0 if x.ndim == 1 else 1),
    "vsplit": _split("vsplit", lambda x: 0),
    "dsplit": _split("dsplit", lambda x: 2),
    "unstack": lambda x, /, *, axis=0: xp.unstack(x, axis=axis),
    "flip": lambda m, axis=None: xp.flip(m, axis=axis),
    "fliplr": lambda m: xp.flip(m, axis=1),
    "flipud": lambda m: xp.flip(m, axis=0),
    "roll": lambda a, shift, axis=None: xp.roll(a, shift=shift, axis=axis),
    "repeat": lambda a, repeats, axis=None: as_variable(a).repeat(repeats, axis),
    "take": lambda a, indices, axis=None, out=REFUSED, mode=REFUSED: as_variable(a).take(indices, axis),
    "take_along_axis": lambda arr, indices, axis=-1: xp.take_along_axis(
        flat(arr) if axis is None else arr, indices, axis=axis or 0
    ),
    "tile": lambda A, reps: xp.tile(A, _shape(reps)),
    "pad": lambda array, pad_width, mode="constant", **options: ops.pad(array, pad_width, mode, **options),
    "extract": lambda condition, arr: compress(flat(condition), arr),
    "copy": lambda a, order=REFUSED, subok=REFUSED: copying.copy(a),
    "astype": lambda x, dtype, /, *, copy=True, device=None: xp.astype(x, dtype, copy=copy, device=device),
    "zeros_like": _like("zeros_like"),
    "ones_like": _like("ones_like"),
    "empty_like": _like("empty_like"),
    "full_like": lambda a, fill_value, dtype=None, order=REFUSED, subok=REFUSED, shape=REFUSED, *, device=None: (
        xp.full_like(a, fill_value, dtype=dtype, device=device)
    ),
    "iscomplexobj": lambda x: as_variable(x).node.spec.complex,
    "isrealobj": lambda x: not as_variable(x).node.spec.complex,
}
numpy_functions(ROWS)


@numpy_function("rot90")
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    turned = as_variable(m).swapaxes(*axes)
    return [m, xp.flip(turned, axis=axes[0]), xp.flip(m, axis=tuple(axes)), xp.flip(turned, axis=axes[1])][k % 4]


@numpy_function("where")
def where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    if x is None and y is None:
        return xp.nonzero(condition)
    lead: Any = lead_of(condition, x, y)
    choices = [plugins.plain(each) if plugins.is_scalar(each) else like(lead, each) for each in (x, y)]
    if not any(hasattr(each, "shape") for each in choices):
        choices[0] = like(lead, x, exact=True)
    return xp.where(like(lead, condition, exact=True), *choices)


@numpy_function("select")
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    lead: Any = lead_of(condlist, choicelist, default)
    values = lead_of(choicelist, default)
    y = like(lead if values is None else values, default)
    for condition, choice in list(zip(condlist, choicelist, strict=True))[::-1]:
        y = xp.where(like(lead, condition, exact=True), choice, y)
    return y


@numpy_function("compress")
def compress(condition: Any, a: Any, axis: Any = None, out: Any = REFUSED) -> Any:
    lead: Any = lead_of(condition, a)
    return as_variable(a).take(xp.nonzero(like(lead, condition, exact=True))[0], axis)


@numpy_function("clip")
def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = REFUSED, *, min: Any = None, max: Any = None) -> Any:
    bounds = [given(each) for each in (a_min, a_max, min, max)]
    low, high = (one if one is not None else two for one, two in zip(bounds[:2], bounds[2:], strict=True))
    a = alike(a, low, high)[0] if not hasattr(a, "shape") else as_variable(a)
    for bound in (low, high):  # NumPy promotes, the standard keeps the dtype of `a`
        if isinstance(bound, float):
            a = to_floating(a)
        elif hasattr(bound, "dtype") and as_variable(bound).node.spec.backend is a.node.spec.backend:
            a = xp.astype(a, xp.result_type(a, bound), copy=False)
    return xp.clip(a, low, high)


@numpy_function("result_type")
def result_type(*arrays_and_dtypes: Any) -> Any:
    lead: Any = lead_of(*arrays_and_dtypes)
    return lead.__array_namespace__().result_type(*arrays_and_dtypes)
