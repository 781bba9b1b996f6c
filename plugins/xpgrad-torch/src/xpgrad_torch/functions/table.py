"""How PyTorch's functions are defined for Variables: with PyTorch's own argument names."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import torch

from xpgrad import Variable, as_variable
from xpgrad import array_api as xp
from xpgrad.array_api.shared.axes import checked_axes
from xpgrad.errors import DtypeError, ShapeError

SCALARS = bool, int, float, complex
Function = Callable[..., Any]
TABLE: dict[str, Function] = {}
"""From the name that a function of PyTorch gives itself, such as ``linalg_solve``, to our function."""


class NoRule(Exception):
    """PyTorch is to compute a call, and its gradients, because our function does not know what is asked."""


def torch_function(*names: str) -> Callable[[Function], Function]:
    """Enter the decorated function in the table under PyTorch's `names`."""

    def enter(function: Function) -> Function:
        for name in names:
            TABLE[name] = function
        return function

    return enter


def torch_functions(rows: Mapping[str, Function]) -> None:
    """Register functions, lambdas with PyTorch's argument names, under names separated by spaces."""
    for names, function in rows.items():
        torch_function(*names.split())(function)


def variable(x: Any, lead: Any = None) -> Any:
    """Return a Variable over the tensor `x`, or over a scalar in the dtype of its promotion with `lead`."""
    if isinstance(x, SCALARS) and lead is not None:
        return as_variable(torch.as_tensor(x, dtype=promoted(lead.dtype, x), device=lead.device.handle))
    tensor: Any = x
    return as_variable(tensor)


def promoted(dtype: torch.dtype, *others: Any) -> torch.dtype:
    """Return the dtype of an operation of arrays of `dtype` with arrays, scalars and None."""
    for each in others:
        if isinstance(each, SCALARS):
            dtype = torch.result_type(torch.empty((), dtype=dtype), each)
        elif each is not None:
            dtype = torch.promote_types(dtype, each.dtype)
    return dtype


def expect_fitting(name: str, dtype: torch.dtype, **factors: Any) -> None:
    """Raise DtypeError for scalars, given by their arguments' names, that arrays of `dtype` would be promoted by."""
    for argument, factor in factors.items():
        if factor not in (0, 1) and promoted(dtype, factor) != dtype:
            raise DtypeError(f"torch.{name}: expected {argument} that fits {dtype}, got {factor!r}; cast the arrays")


def integers(x: Any, name: str) -> Any:
    """Return a Variable of indices; DtypeError unless they are integers."""
    at = as_variable(x)
    if at.dtype is torch.bool or not is_whole(at):
        raise DtypeError(f"torch.{name}: expected integers as indices, got {at.dtype}")
    return at


def from_start(at: Any, length: int) -> Any:
    """Return indices of an axis, with negative indices mapped out of range, where PyTorch raises an error."""
    return xp.where(at < 0, length, at)


def axis(dim: Any, ndim: int, name: str) -> int:
    """Return `dim` as an axis that is not negative; 0-d tensors count as having one axis."""
    return checked_axes(dim, max(ndim, 1), f"torch.{name}")[0]


def along_axis(function: Function) -> Function:
    """Return a function along an axis of `input` that treats a 0-d tensor as one with a single axis, like PyTorch."""

    @functools.wraps(function)
    def along(input: Any, *args: Any, **options: Any) -> Any:
        x = variable(input)
        if x.ndim:
            return function(x, *args, **options)
        result = function(x.reshape(1), *args, **options)
        return type(result)(*(y.reshape(()) for y in result)) if isinstance(result, tuple) else result.reshape(())

    return along


def with_ndim(name: str, **arrays: tuple[Any, int]) -> list[Any]:
    """Return Variables over arrays, checked to have the number of axes given with each."""
    found = [variable(x) for x, _ in arrays.values()]
    for x, (argument, (_, ndim)) in zip(found, arrays.items(), strict=True):
        if x.ndim != ndim:
            raise ShapeError(f"torch.{name}: expected {argument} with {ndim} axes, got shape {x.shape}")
    return found


def expect_same(name: str, what: str, **arrays: Any) -> None:
    """Raise for arrays, given by their arguments' names, that differ in `what`: their shape or dtype."""
    found = {argument: getattr(x, what) for argument, x in arrays.items()}
    if len(set(found.values())) > 1:
        got = ", ".join(f"{argument} {value}" for argument, value in found.items())
        raise (ShapeError if what == "shape" else DtypeError)(f"torch.{name}: expected the same {what}, got {got}")


def axes(dim: Any) -> Any:
    """Return `dim` as an axis or axes, None for all axes, which PyTorch also writes as an empty tuple."""
    if dim is None or dim == () or dim == []:
        return None
    return tuple(dim) if isinstance(dim, (list, tuple)) else dim


def is_whole(x: Variable) -> bool:
    """Return whether the elements are integers or booleans."""
    return not (x.dtype.is_floating_point or x.dtype.is_complex)


def floating(x: Any) -> Any:
    """Return `x`; integers become PyTorch's default floating-point dtype."""
    v = as_variable(x)
    return v.astype(torch.get_default_dtype()) if is_whole(v) else v


def refuse_generator(name: str, generator: Any) -> None:
    """Raise TypeError for a random generator of PyTorch."""
    if generator is not None:
        raise TypeError(f"torch.{name}: generator= is not for Variables; random numbers are those of xpgrad.random")
