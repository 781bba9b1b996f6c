"""NumPy's functions of shapes, joins, copies and creation, with its argument names, for Variables."""
# ruff: noqa: D103 - each does what NumPy's function of its name does

import operator
from collections.abc import Sequence
from typing import Any

from xpgrad import array_api as xp
from xpgrad import functions as F
from xpgrad import ops
from xpgrad.array_api.shared import copying
from xpgrad.backend.plugins import plugins
from xpgrad.errors import ShapeError
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.interop.numpy_arguments import REFUSED, alike, dtype_like, given, lead_of, like, numpy_function
from xpgrad.types import WHOLE


def _shape(shape: Any) -> tuple[int, ...]:
    return tuple(shape) if isinstance(shape, Sequence) else (operator.index(shape),)


@numpy_function("shape")
def shape(a: Any) -> Any:
    return alike(a)[0].shape


@numpy_function("ndim")
def ndim(a: Any) -> Any:
    return alike(a)[0].ndim


@numpy_function("size")
def size(a: Any, axis: Any = None) -> Any:
    return alike(a)[0].size if axis is None else alike(a)[0].shape[axis]


@numpy_function("reshape")
def reshape(a: Any, /, shape: Any = None, order: Any = REFUSED, *, newshape: Any = None, copy: Any = None) -> Any:
    return xp.reshape(a, shape=_shape(newshape if shape is None else shape), copy=copy)


@numpy_function("ravel")
def ravel(a: Any, order: Any = REFUSED) -> Any:
    return xp.reshape(a, shape=(-1,))


@numpy_function("transpose", "permute_dims")
def transpose(a: Any, axes: Any = None) -> Any:
    return as_variable(a).transpose(axes)


@numpy_function("swapaxes")
def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    return as_variable(a).swapaxes(axis1, axis2)


@numpy_function("moveaxis")
def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    return xp.moveaxis(a, source, destination)


@numpy_function("rollaxis")
def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    return F.rollaxis(a, axis, start)


@numpy_function("matrix_transpose", "linalg.matrix_transpose")
def matrix_transpose(x: Any, /) -> Any:
    return xp.matrix_transpose(x)


@numpy_function("expand_dims")
def expand_dims(a: Any, axis: Any) -> Any:
    return xp.expand_dims(a, axis=axis)


@numpy_function("squeeze")
def squeeze(a: Any, axis: Any = None) -> Any:
    return as_variable(a).squeeze(axis)


@numpy_function("broadcast_to")
def broadcast_to(array: Any, shape: Any, subok: Any = REFUSED) -> Any:
    return xp.broadcast_to(array, shape=_shape(shape))


@numpy_function("broadcast_arrays")
def broadcast_arrays(*args: Any, subok: Any = REFUSED) -> Any:
    return xp.broadcast_arrays(*alike(*args))


def _at_least(name: str, place: Any) -> None:
    @numpy_function(name)
    def raised(*arys: Any) -> Any:
        found = [place(x) for x in alike(*arys)]
        return found[0] if len(found) == 1 else tuple(found)


_at_least("atleast_1d", lambda x: ops.atleast_nd(x, ndim=1))
_at_least("atleast_2d", lambda x: ops.atleast_nd(x, ndim=2))
_at_least("atleast_3d", lambda x: x[:, :, None] if x.ndim == 2 else x[None, :, None] if x.ndim == 1 else
          ops.atleast_nd(x, ndim=3))  # fmt: skip


@numpy_function("concatenate", "concat")
def concatenate(arrays: Any, /, axis: Any = 0, out: Any = REFUSED, *, dtype: Any = None, casting: Any = REFUSED) -> Any:
    return _cast(xp.concat(alike(*arrays), axis=axis), dtype)


@numpy_function("stack")
def stack(arrays: Any, axis: int = 0, out: Any = REFUSED, *, dtype: Any = None, casting: Any = REFUSED) -> Any:
    return _cast(xp.stack(alike(*arrays), axis=axis), dtype)


def _cast(a: Any, dtype: Any) -> Any:
    return a if dtype is None else xp.astype(a, dtype_like(a, dtype), copy=False)


@numpy_function("hstack")
def hstack(tup: Any, *, dtype: Any = None, casting: Any = REFUSED) -> Any:
    return _cast(F.hstack(alike(*tup)), dtype)


@numpy_function("vstack")
def vstack(tup: Any, *, dtype: Any = None, casting: Any = REFUSED) -> Any:
    return _cast(F.vstack(alike(*tup)), dtype)


@numpy_function("dstack")
def dstack(tup: Any) -> Any:
    return F.dstack(alike(*tup))


@numpy_function("column_stack")
def column_stack(tup: Any) -> Any:
    return xp.concat([x[:, None] if x.ndim == 1 else x for x in alike(*tup)], axis=1)


@numpy_function("append")
def append(arr: Any, values: Any, axis: Any = None) -> Any:
    return xp.concat(alike(arr, values), axis=axis)


def _split(name: str, axis_of: Any, even: bool = True) -> None:
    @numpy_function(name)
    def cut(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
        along = axis % ary.ndim if axis_of is None else axis_of(ary)
        return _parts(ary, indices_or_sections, along, even, name)


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


_split("split", None)
_split("array_split", None, even=False)
_split("hsplit", lambda x: 0 if x.ndim == 1 else 1)
_split("vsplit", lambda x: 0)
_split("dsplit", lambda x: 2)


@numpy_function("unstack")
def unstack(x: Any, /, *, axis: int = 0) -> Any:
    return xp.unstack(x, axis=axis)


@numpy_function("flip")
def flip(m: Any, axis: Any = None) -> Any:
    return xp.flip(m, axis=axis)


@numpy_function("fliplr")
def fliplr(m: Any) -> Any:
    return xp.flip(m, axis=1)


@numpy_function("flipud")
def flipud(m: Any) -> Any:
    return xp.flip(m, axis=0)


@numpy_function("rot90")
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    turned = swapaxes(m, *axes)
    return [m, xp.flip(turned, axis=axes[0]), xp.flip(m, axis=tuple(axes)), xp.flip(turned, axis=axes[1])][k % 4]


@numpy_function("roll")
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    return xp.roll(a, shift, axis=axis)


@numpy_function("repeat")
def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    return as_variable(a).repeat(repeats, axis)


@numpy_function("tile")
def tile(A: Any, reps: Any) -> Any:
    return xp.tile(A, _shape(reps))


@numpy_function("pad")
def pad(array: Any, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> Any:
    return ops.pad(array, pad_width, mode, constant_values=constant_values)


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
    places = xp.nonzero(like(lead, condition, exact=True))[0]
    return take(a, places, axis)


@numpy_function("extract")
def extract(condition: Any, arr: Any) -> Any:
    return compress(xp.reshape(condition, shape=(-1,)), arr)


@numpy_function("take")
def take(a: Any, indices: Any, axis: Any = None, out: Any = REFUSED, mode: Any = REFUSED) -> Any:
    return as_variable(a).take(indices, axis)


@numpy_function("take_along_axis")
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    if axis is None:
        return xp.take_along_axis(xp.reshape(arr, shape=(-1,)), indices, axis=0)
    return xp.take_along_axis(arr, indices, axis=axis)


@numpy_function("clip")
def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = REFUSED, *, min: Any = None, max: Any = None) -> Any:
    bounds = [given(each) for each in (a_min, a_max, min, max)]
    low, high = (one if one is not None else two for one, two in zip(bounds[:2], bounds[2:], strict=True))
    return xp.clip(alike(a, low, high)[0] if not hasattr(a, "shape") else a, low, high)


@numpy_function("copy")
def copy(a: Any, order: Any = REFUSED, subok: Any = REFUSED) -> Any:
    return copying.copy(a)


@numpy_function("astype")
def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    return xp.astype(x, dtype_like(x, dtype), copy=copy)


def _like(name: str) -> None:
    make = getattr(xp, name)

    @numpy_function(name)
    def made(
        a: Any, dtype: Any = None, order: Any = REFUSED, subok: Any = REFUSED, shape: Any = REFUSED, *,
        device: Any = None,
    ) -> Any:  # fmt: skip
        return make(a, dtype=dtype_like(a, dtype))


for _name in ("zeros_like", "ones_like", "empty_like"):
    _like(_name)


@numpy_function("full_like")
def full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: Any = REFUSED, subok: Any = REFUSED, shape: Any = REFUSED, *,
    device: Any = None,
) -> Any:  # fmt: skip
    return xp.full_like(a, fill_value, dtype=dtype_like(a, dtype))


@numpy_function("iscomplexobj")
def iscomplexobj(x: Any) -> Any:
    return as_variable(x).node.spec.complex


@numpy_function("isrealobj")
def isrealobj(x: Any) -> Any:
    return not as_variable(x).node.spec.complex


@numpy_function("result_type")
def result_type(*arrays_and_dtypes: Any) -> Any:
    lead: Any = lead_of(*arrays_and_dtypes)
    plain = [x.dtype if isinstance(x, Variable) else x for x in arrays_and_dtypes]
    return lead.node.spec.backend.namespace.result_type(*plain)
