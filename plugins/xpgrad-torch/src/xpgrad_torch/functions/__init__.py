"""PyTorch's functions of Variables: one table, from the names of PyTorch to functions with its arguments."""

import inspect
import re
from typing import Any, NoReturn

from xpgrad.array_api.half_precision import in_single_precision
from xpgrad_torch.functions import elementwise, layers, losses, matrices, networks, reductions, shapes, special
from xpgrad_torch.functions.table import TABLE

CHAPTERS = elementwise, layers, losses, matrices, networks, reductions, shapes, special
NUMPYS = {"axis": "dim", "keepdims": "keepdim", "x": "input", "x1": "input", "x2": "other"}
"""NumPy's argument names, which PyTorch accepts, too."""

COMPOSITIONS = """gelu silu mish softsign tanhshrink celu layer_norm normalize cosine_similarity pairwise_distance
scaled_dot_product_attention mse_loss l1_loss huber_loss smooth_l1_loss binary_cross_entropy
binary_cross_entropy_with_logits nll_loss cross_entropy kl_div"""
"""Functions that are computed in single precision if all arrays are in half: intermediate results may overflow."""
TABLE |= {name: in_single_precision(TABLE[name]) for name in COMPOSITIONS.split()}


def call(name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return the result of PyTorch's function `name` on Variables; TypeError if it is not defined."""
    title = "torch." + re.sub("^(linalg|fft|special)_", r"\1.", name)
    function = TABLE.get(name)
    if function is None:
        _refuse(name, title)
    given = {NUMPYS.get(key, key): value for key, value in options.items()}
    if given.pop("out", None) is not None or given.pop("inplace", False):
        raise TypeError(
            f"{title}: out= and inplace= are not for Variables; write y = f(x), "
            "a tensor that is written to has no gradient of it"
        )
    try:
        return function(*args, **given)
    except Exception as error:
        text = _unknown(function, args, given) or str(error)
        if not text.startswith("torch."):
            error.args = (f"{title}: {text}", *error.args[1:])
        raise


def _unknown(function: Any, args: tuple[Any, ...], given: dict[str, Any]) -> str | None:
    """Return which arguments our function does not have, or None if it has them all."""
    try:
        inspect.signature(function).bind(*args, **given)
    except TypeError as error:
        return f"{error}, which is not for Variables; where no gradient is wanted, use v.array"
    return None


def _refuse(name: str, title: str) -> NoReturn:
    if name.endswith("_") and not name.endswith("__"):
        raise TypeError(f"{title} writes into its tensor, so it is not for Variables; write y = f(x)")
    raise TypeError(
        f"{title} has no meaning for Variables here; use functions of xpgrad.array_api, xpgrad.functions or "
        f"xpgrad.ops, xpgrad.interop.from_torch({title}), which has the gradients of PyTorch, or, where no gradient "
        "is wanted, v.array"
    )
