"""Functions and classes that define primitives and kinds of values."""

from xpgrad_autograd.boxes import Box
from xpgrad_autograd.derivatives import (
    def_linear,
    defjvp,
    defjvp_argnum,
    defjvp_argnums,
    defvjp,
    defvjp_argnum,
    defvjp_argnums,
    notrace_primitive,
    primitive,
)
from xpgrad_autograd.nodes import JVPNode, SparseObject, VJPNode, register_notrace
from xpgrad_autograd.spaces import VSpace, vspace

__all__ = [
    "Box", "JVPNode", "SparseObject", "VJPNode", "VSpace", "def_linear", "defjvp", "defjvp_argnum", "defjvp_argnums",
    "defvjp", "defvjp_argnum", "defvjp_argnums", "notrace_primitive", "primitive", "register_notrace", "vspace",
]  # fmt: skip
