"""PyTorch's protocol `__torch_function__`, which dispatches ``torch.sin(v)`` to xpgrad's function.

PyTorch also calls the protocol for ``tensor * v``. The tables load with the first function.
"""

import math
from typing import Any

import torch

from xpgrad import Variable
from xpgrad.errors import BackendMismatch
from xpgrad.transforms.enclosing.array import TransformedArray

REFLECTED = {
    "add": "__radd__", "sub": "__rsub__", "mul": "__rmul__", "div": "__rtruediv__", "true_divide": "__rtruediv__",
    "pow": "__rpow__", "matmul": "__rmatmul__", "lt": "__gt__", "le": "__ge__", "gt": "__lt__", "ge": "__le__",
    "eq": "__eq__", "ne": "__ne__",
}  # fmt: skip
"""Methods of the second operand by the names of operators of tensors."""


def torch_function(
    cls: type, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
) -> Any:
    """Return the result of a function of PyTorch on Variables over tensors; see `xpgrad_torch.functions.call`.

    Raises
    ------
    TypeError
        The function writes into a tensor, also by an argument such as `out=`.
    BackendMismatch
        A Variable holds another library's array.
    """
    from xpgrad_torch.functions import call  # the tables, which most programs do not need

    options = kwargs or {}
    name = func.__name__
    for x in (*args, *options.values()):
        _check(name, x)
    return call(func, args, options)


def _check(name: str, x: Any) -> None:
    if isinstance(x, Variable):
        spec = x.node.spec
        if spec is None or spec.backend.root.name != "torch":
            raise BackendMismatch(
                f"torch.{name}: expected Variables over torch tensors, got one on {x.device}; call "
                "v.to_device('@torch'), or use the functions of xpgrad.array_api, which are for all libraries"
            )
    elif isinstance(x, (list, tuple)):
        for each in x:
            _check(name, each)


def function_of_arrays(
    cls: type[TransformedArray], func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
) -> Any:
    """Return the result of a function of PyTorch on the arrays of a transformation: a compiled function records it.

    A function that writes into a tensor takes the values of these arrays, which no program can have.
    """
    if any(issubclass(kind, Variable) for kind in types):
        return NotImplemented  # whose protocol calls the function
    backend, options, name = cls.backend, kwargs or {}, func.__name__
    if name == "__setitem__" or name.startswith("__i") or (name.endswith("_") and not name.startswith("__")):
        given = backend.replaced((args, options), lambda x: x.exported())
        return func(*given[0], **given[1])
    reflected = REFLECTED.get(name.strip("_"))
    if reflected is not None and len(args) == 2 and not options and type(args[1]) is cls and type(args[0]) is not cls:
        return getattr(args[1], reflected)(args[0])
    return backend.array_function(func, args, options)


class Size(int):
    """The number of elements of an array of a transformation, which returns the shape if it is called."""

    shape: torch.Size

    def __new__(cls, shape: Any) -> "Size":
        """Return the number of elements of an array of this shape."""
        made = super().__new__(cls, math.prod(shape))
        made.shape = torch.Size(shape)
        return made

    def __call__(self, dim: int | None = None) -> Any:
        """Return the shape, or the length of one axis, as the method of tensors does."""
        return self.shape if dim is None else self.shape[dim]


def _size(x: TransformedArray) -> int:
    return Size(x.shape) if x.backend.root.name == "torch" else math.prod(x.shape)


def bind() -> None:
    """Give Variable and the arrays of transformations the protocol, and those of tensors the method `size`."""
    setattr(TransformedArray, "size", property(_size))  # noqa: B010 - it is declared as a number
    for kind, function in ((Variable, torch_function), (TransformedArray, function_of_arrays)):
        setattr(kind, "__torch_function__", classmethod(function))  # noqa: B010 - it is not declared
