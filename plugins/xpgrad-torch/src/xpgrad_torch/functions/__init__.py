"""PyTorch's functions of Variables: one table, from the names of PyTorch to functions with its arguments."""

import inspect
import re
from typing import Any, NoReturn

import torch

from xpgrad import Variable
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.interop import foreign
from xpgrad_torch.functions import elementwise, layers, losses, matrices, networks, reductions, shapes, special
from xpgrad_torch.functions.table import TABLE, NoRule, torch_function, variable
from xpgrad_torch.interop.theirs import Torch

CHAPTERS = elementwise, layers, losses, matrices, networks, reductions, shapes, special
NUMPYS = {"axis": "dim", "keepdims": "keepdim", "x": "input", "x1": "input", "x2": "other"}
"""NumPy's argument names, which PyTorch accepts, too."""

COMPOSITIONS = """gelu silu mish softsign tanhshrink celu layer_norm normalize cosine_similarity pairwise_distance
scaled_dot_product_attention mse_loss l1_loss huber_loss smooth_l1_loss binary_cross_entropy
binary_cross_entropy_with_logits nll_loss cross_entropy kl_div"""
"""Functions that are computed in single precision if all arrays are in half: intermediate results may overflow."""
TABLE |= {name: in_single_precision(TABLE[name]) for name in COMPOSITIONS.split()}


PYTORCH = Torch()
WRITES = re.compile(r".*[^_]_|__(set|delete|setitem|delitem|i(?!nvert|ndex|nt).*)__")


@torch_function("grad")
def grad(*args: Any, **options: Any) -> NoReturn:
    """Refuse to compute gradients of Variables by ``torch.autograd.grad``."""
    raise TypeError("torch.autograd.grad is for tensors; use xpgrad.grad")


def call(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return the result of a function of PyTorch on Variables.

    PyTorch computes functions and arguments of which xpgrad has no rule, with its own gradients.

    Raises
    ------
    TypeError
        The function writes into a tensor.
    """
    name = function.__name__
    title = "torch." + re.sub("^(linalg|fft|special)_", r"\1.", name)
    given = {NUMPYS.get(key, key): value for key, value in options.items()}
    if given.pop("out", None) is not None or given.pop("inplace", False):
        raise TypeError(
            f"{title}: out= and inplace= are not for Variables; write y = f(x), "
            "a tensor that is written to has no gradient of it"
        )
    try:
        try:
            return _by_rule(name, args, given)
        except NoRule:
            return _by_pytorch(title, function, args, options)
    except Exception as error:
        if not str(error).startswith("torch."):
            error.args = (f"{title}: {error}", *error.args[1:])
        raise


def _by_rule(name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return the result of our function; NoRule if there is none that takes these arguments."""
    function = TABLE.get(name)
    if function is None:
        raise NoRule
    try:
        return function(*args, **options)
    except TypeError:
        try:
            inspect.signature(function).bind(*args, **options)
        except TypeError:
            raise NoRule from None
        raise


def _by_pytorch(title: str, function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return the result of PyTorch's function, connected to the graph by PyTorch's gradients."""
    if WRITES.fullmatch(function.__name__):
        raise TypeError(f"{title} writes into its tensor, so it is not for Variables; write y = f(x)")
    leaves = PYTORCH.flatten((args, options))[0]
    for x in leaves:
        if isinstance(x, torch.Tensor):
            variable(x)  # raises for a tensor with PyTorch's own tape
    arrays = [x.array for x in leaves if isinstance(x, Variable)]
    versions = [x._version for x in arrays if isinstance(x, torch.Tensor)]
    result = foreign.call(title, PYTORCH, None, function, args, options)
    if versions != [x._version for x in arrays if isinstance(x, torch.Tensor)]:
        raise TypeError(f"{title} has written to the array of a Variable; give it a tensor instead")
    return result
