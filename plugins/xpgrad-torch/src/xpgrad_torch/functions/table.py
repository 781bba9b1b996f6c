"""How PyTorch's functions are defined for Variables: with PyTorch's own argument names."""

from collections.abc import Callable, Mapping
from typing import Any

import torch

from xpgrad import Variable, as_variable

Function = Callable[..., Any]
TABLE: dict[str, Function] = {}
"""From the name that a function of PyTorch gives itself, such as ``linalg_solve``, to our function."""


def torch_function(*names: str) -> Callable[[Function], Function]:
    """Enter the decorated function in the table under PyTorch's `names`."""

    def enter(function: Function) -> Function:
        for name in names:
            TABLE[name] = function
        return function

    return enter


def torch_functions(rows: Mapping[str, Function]) -> None:
    """Enter functions, lambdas with PyTorch's argument names, by their names, separated by a space."""
    for names, function in rows.items():
        torch_function(*names.split())(function)


def variable(x: Any, lead: Any = None) -> Any:
    """Return a Variable over the tensor `x`, or over a scalar in the dtype of `lead`."""
    if isinstance(x, (bool, int, float, complex)) and lead is not None:
        return as_variable(torch.as_tensor(x, dtype=lead.dtype, device=lead.array.device))
    tensor: Any = x
    return as_variable(tensor)


def indices(x: Any) -> torch.Tensor:
    """Return the tensor of indices of a Variable or tensor."""
    return as_variable(x).array  # type: ignore[no-any-return]  # a tensor


def axes(dim: Any) -> Any:
    """Return `dim` as an axis or axes, None for all of them, which PyTorch also writes as an empty tuple."""
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
