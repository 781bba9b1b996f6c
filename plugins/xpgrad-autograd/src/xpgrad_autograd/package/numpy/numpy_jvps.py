"""Names that programs import from autograd's module of rules; xpgrad defines the rules."""

from xpgrad_autograd.boxes import ArrayBox
from xpgrad_autograd.derivatives import def_linear, defjvp, defjvp_argnum, defvjp, primitive_jvps, primitive_vjps
from xpgrad_autograd.nodes import JVPNode, register_notrace
from xpgrad_autograd.package.numpy.numpy_vjps import balanced_eq, match_complex, replace_zero
from xpgrad_autograd.spaces import vspace

__all__ = [
    "ArrayBox", "JVPNode", "balanced_eq", "def_linear", "defjvp", "defjvp_argnum", "defvjp", "match_complex",
    "primitive_jvps", "primitive_vjps", "register_notrace", "replace_zero", "vspace",
]  # fmt: skip
