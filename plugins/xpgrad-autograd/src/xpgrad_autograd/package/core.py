"""Derivatives of functions of one argument, rules and vector spaces."""

from xpgrad_autograd.boxes import Box, is_box, value_of
from xpgrad_autograd.derivatives import (
    def_linear,
    defjvp,
    defjvp_argnum,
    defjvp_argnums,
    defvjp,
    defvjp_argnum,
    defvjp_argnums,
    make_jvp,
    make_vjp,
    primitive_jvps,
    primitive_vjps,
    primitive_with_deprecation_warnings,
)
from xpgrad_autograd.nodes import (
    JVPNode,
    Node,
    SparseObject,
    VJPNode,
    add_outgrads,
    backward_pass,
    sum_outgrads,
    toposort,
    trace,
)
from xpgrad_autograd.spaces import VSpace, vspace

getval, isbox, primitive = value_of, is_box, primitive_with_deprecation_warnings

__all__ = [
    "Box", "JVPNode", "Node", "SparseObject", "VJPNode", "VSpace", "add_outgrads", "backward_pass", "def_linear",
    "defjvp", "defjvp_argnum", "defjvp_argnums", "defvjp", "defvjp_argnum", "defvjp_argnums", "getval", "isbox",
    "make_jvp", "make_vjp", "primitive", "primitive_jvps", "primitive_vjps", "primitive_with_deprecation_warnings",
    "sum_outgrads", "toposort", "trace", "vspace",
]  # fmt: skip
