"""Fits a gradient to its array: sums over broadcast axes and casts between precisions; other differences raise."""

from typing import Any

from xpgrad.backend.checks import broadcast, is_shape
from xpgrad.backend.spec import Spec
from xpgrad.errors import ChangedArray, DtypeError, ShapeError
from xpgrad.graph.lazy import Lazy
from xpgrad.graph.node import FunctionBase
from xpgrad.graph.slot import slot
from xpgrad.graph.variable import Variable
from xpgrad.types import Shape
from xpgrad.watch.inspection import annotated


def fit(gx: Any, spec: Spec, f: Any, elementwise: bool) -> Any:
    """Return a gradient with the shape and dtype of its array, summed over broadcast axes, and cast."""
    if isinstance(gx, Lazy):
        return gx
    xp: Any = slot.functions if type(gx) is Variable else spec.backend.xp
    shape, given = spec.shape, gx.shape
    if given != shape:
        if elementwise and f.pullback is not None and getattr(f.input, "spec", spec).shape != given:
            _check_inputs(f, given)  # other functions may have operands that are not among their inputs
        if elementwise and (given[-len(shape) :] == shape or broadcast((shape, given)) == given):
            gx = xp.sum_to(gx, shape=shape)
        if gx.shape != shape:
            raise annotated(ShapeError(_text(f, "shape", shape, tuple(gx.shape))), f)
    if gx.dtype is not spec.dtype and gx.dtype != spec.dtype:
        backend = spec.backend
        if not backend.is_kind(gx.dtype, ("real floating", "complex floating")):
            raise annotated(DtypeError(_text(f, "dtype", spec.dtype, gx.dtype)), f)
        if backend.is_kind(gx.dtype, "complex floating") and not spec.complex:
            gx = xp.real(gx)
        gx = xp.astype(gx, spec.dtype)
    return gx


def _text(f: FunctionBase, what: str, expected: Any, got: Any) -> str:
    return (
        f"{f.label}: {what} of gradients returned from backward is incorrect: expected {expected} as the input, "
        f"got {got}"
    )


def _check_inputs(f: FunctionBase, shape: Shape) -> None:
    """Raise if all inputs are Variables and do not broadcast to `shape`, the shape of the output."""
    inputs = f.input_nodes
    for node in inputs:  # most have an input of this shape
        if node is not None and node.spec.shape == shape:
            return
    shapes = [node.spec.shape for node in inputs if node is not None]
    known = len(shapes) == len(f.pullback.definition.inputs)
    if known and not is_shape(shape, broadcast(shapes)):
        raise ChangedArray(
            f"{f.label}: the shape of an array was changed in place after the forward computation: inputs of shapes "
            f"{', '.join(map(str, shapes))} gave a gradient of shape {tuple(shape)}"
        )
