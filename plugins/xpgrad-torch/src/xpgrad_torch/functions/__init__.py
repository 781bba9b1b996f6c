"""PyTorch's functions of Variables: one table, from the names of PyTorch to functions with its arguments."""

from typing import Any, NoReturn

from xpgrad_torch.functions import elementwise, losses, matrices, networks, reductions, shapes, special
from xpgrad_torch.functions.table import TABLE

CHAPTERS = elementwise, losses, matrices, networks, reductions, shapes, special
NUMPYS = {"axis": "dim", "keepdims": "keepdim", "x": "input", "x1": "input", "x2": "other"}
"""NumPy's argument names, which PyTorch accepts, too."""


def call(name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return the result of PyTorch's function `name` on Variables; TypeError if it is not defined."""
    function = TABLE.get(name)
    if function is None:
        _refuse(name)
    given = {NUMPYS.get(key, key): value for key, value in options.items()}
    if given.pop("out", None) is not None or given.pop("inplace", False):
        raise TypeError(
            f"torch.{name}: out= and inplace= are not for Variables; write y = f(x), "
            "a tensor that is written to has no gradient of it"
        )
    return function(*args, **given)


def _refuse(name: str) -> NoReturn:
    if name.endswith("_") and not name.endswith("__"):
        raise TypeError(f"torch.{name} writes into its tensor, so it is not for Variables; write y = f(x)")
    raise TypeError(
        f"torch.{name} has no meaning for Variables here; use functions of xpgrad.array_api, xpgrad.functions or "
        "xpgrad.ops, or, where no gradient is wanted, v.array"
    )
