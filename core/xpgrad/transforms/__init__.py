"""Transforms of functions: gradients, products, Jacobians, checkpoints, loops, and user-defined derivatives."""

from typing import TYPE_CHECKING

from xpgrad.listing import listed as _listed
from xpgrad.transforms.custom import custom_vjp, stop_gradient
from xpgrad.transforms.gradient import grad, value_and_grad
from xpgrad.transforms.implicit import custom_linear_solve, custom_root
from xpgrad.transforms.loops.conditional import while_loop
from xpgrad.transforms.loops.counted import fori_loop
from xpgrad.transforms.loops.scan import scan
from xpgrad.transforms.matrices import hessian, jacfwd, jacobian, jacrev
from xpgrad.transforms.products import hvp, jvp, vjp
from xpgrad.transforms.recomputed import checkpoint

__all__ = [
    "checkpoint", "custom_linear_solve", "custom_root", "custom_vjp", "fori_loop", "grad", "hessian", "hvp", "jacfwd", "jacobian",
    "jacrev", "jvp", "scan", "stop_gradient", "value_and_grad", "vjp", "while_loop",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
