"""Checks of gradients that users give: whether they fit their arrays."""

from typing import Any

from xpgrad.backend.checks import spec_of
from xpgrad.backend.holder import unwrap
from xpgrad.backend.levels import lifted_spec
from xpgrad.backend.spec import Spec
from xpgrad.errors import BackendMismatch, DeviceMismatch, DtypeError, ShapeError, UnknownArray
from xpgrad.types import Array


def check_gradient(grad: Array, wanted: Spec | None) -> None:
    """Raise unless `grad` fits an array of spec `wanted`: in type, library, dtype, shape and device, in this order."""
    given = spec_of(grad, "Variable.grad")
    if wanted is None or given is wanted:
        return
    device = wanted.backend.device_for(wanted.device)
    if given.backend is not wanted.backend:
        raise BackendMismatch(
            f"Variable.grad: expected an array of {wanted.backend.name}, got an array of {given.backend.name}; "
            f"move it with xpgrad.get_device('{device}').send(grad)"
        )
    if given.dtype != wanted.dtype:
        raise DtypeError(f"Variable.grad: expected dtype {wanted.dtype} as in the array, got {given.dtype}; cast it")
    if given.shape != wanted.shape:
        raise ShapeError(f"Variable.grad: expected shape {wanted.shape} as in the array, got {given.shape}")
    if given.device != wanted.device:
        raise DeviceMismatch(
            f"Variable.grad: expected a gradient on the array's device, {device}, got another device; move it there"
        )


def check_gradient_variable(grad: Any, wanted: Spec | None) -> None:
    """Raise if `grad` is neither None nor a Variable whose array is a gradient of an array of spec `wanted`."""
    if grad is None:
        return
    array = unwrap(grad)
    if array is grad:
        raise UnknownArray(f"Variable.grad_var: expected a Variable, got {type(grad).__name__}; assign arrays to grad")
    check_gradient(array, wanted)


def check_device(given: Spec, wanted: Spec, function: str) -> None:
    """Raise if the gradient that a function's backward returned, of spec `given`, is not on the input's device."""
    own = wanted if given.backend is wanted.backend else lifted_spec(wanted)
    if given.backend is own.backend and given.device == own.device:
        return
    places = [spec.backend.device_for(spec.device) for spec in (given, wanted)]
    text = f"{function}: backward returned a gradient on {places[0]} for an input on {places[1]}; move it"
    raise DeviceMismatch(text) if given.backend is wanted.backend else BackendMismatch(text)
