"""Transforms of functions: gradients, products, Jacobians, checkpoints, loops, and user-defined derivatives."""

from typing import TYPE_CHECKING

from xpgrad.listing import listed as _listed
from xpgrad.transforms.custom import custom_vjp, stop_gradient
from xpgrad.transforms.gradient import grad, value_and_grad
from xpgrad.transforms.implicit import custom_linear_solve, custom_root
from xpgrad.transforms.products import linearize, vjp
from xpgrad.transforms.recomputed import checkpoint

if TYPE_CHECKING:
    from xpgrad.transforms.batch.collectives import axis_index, pmean, psum
    from xpgrad.transforms.batch.custom import custom_vmap
    from xpgrad.transforms.batch.vmap import vmap
    from xpgrad.transforms.examples import per_example
    from xpgrad.transforms.forward import hvp, jvp
    from xpgrad.transforms.laplacians import hessian_diagonal, laplacian
    from xpgrad.transforms.loops.conditional import fori_loop, while_loop
    from xpgrad.transforms.loops.odeint import odeint
    from xpgrad.transforms.loops.scan import scan
    from xpgrad.transforms.matrices import hessian, jacfwd, jacobian, jacrev
    from xpgrad.transforms.series.jet import jet
    from xpgrad.transforms.sparse.jacobians import sparse_hessian, sparse_jacobian

__all__ = [
    "axis_index", "checkpoint", "custom_linear_solve", "custom_root", "custom_vjp", "custom_vmap", "fori_loop", "grad",
    "hessian", "hessian_diagonal", "hvp", "jacfwd", "jacobian", "jacrev", "jet", "jvp", "laplacian", "linearize",
    "odeint", "per_example", "pmean", "psum", "scan", "sparse_hessian", "sparse_jacobian", "stop_gradient",
    "value_and_grad", "vjp", "vmap", "while_loop",
]  # fmt: skip

_LATE = {
    "batch.collectives": ("axis_index", "pmean", "psum"),
    "batch.custom": ("custom_vmap",),
    "batch.vmap": ("vmap",),
    "examples": ("per_example",),
    "forward": ("hvp", "jvp"),
    "laplacians": ("hessian_diagonal", "laplacian"),
    "loops.conditional": ("fori_loop", "while_loop"),
    "loops.odeint": ("odeint",),
    "loops.scan": ("scan",),
    "matrices": ("hessian", "jacfwd", "jacobian", "jacrev"),
    "series.jet": ("jet",),
    "sparse.jacobians": ("sparse_hessian", "sparse_jacobian"),
}
"""What is imported at its first use, by its module: all of it takes ten times as long as the rest."""

if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(
        __name__, __all__, {name: f"{__name__}.{module}" for module, names in _LATE.items() for name in names}
    )
