"""PyTorch's protocol `__torch_function__`, which dispatches ``torch.sin(v)`` to xpgrad's function.

PyTorch also calls the Variable's protocol for ``tensor * v``. The tables load with the first function.
"""

from typing import Any

from xpgrad import Variable
from xpgrad.errors import BackendMismatch


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


def bind() -> None:
    """Give Variable the protocol."""
    setattr(Variable, "__torch_function__", classmethod(torch_function))  # noqa: B010 - it is not declared
