"""Transforms of functions: gradients, products, Jacobians, checkpoints, and user-defined derivatives."""

from typing import TYPE_CHECKING

from xpgrad.listing import listed as _listed
from xpgrad.transforms.custom import custom_vjp, stop_gradient
from xpgrad.transforms.gradient import grad, value_and_grad
from xpgrad.transforms.implicit import custom_linear_solve, custom_root
from xpgrad.transforms.matrices import hessian, jacfwd, jacobian, jacrev
from xpgrad.transforms.products import hvp, jvp, vjp
from xpgrad.transforms.recomputed import checkpoint
from xpgrad.transforms.sparse.jacobians import sparse_hessian, sparse_jacobian

__all__ = [
    "checkpoint", "custom_linear_solve", "custom_root", "custom_vjp", "grad", "hessian", "hvp", "jacfwd", "jacobian",
    "jacrev", "jvp", "sparse_hessian", "sparse_jacobian", "stop_gradient", "value_and_grad", "vjp",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
