"""Names that programs import from autograd's module of rules; xpgrad defines the rules."""

from xpgrad_autograd.derivatives import defjvp, defvjp, primitive_jvps, primitive_vjps

__all__ = ["defjvp", "defvjp", "primitive_jvps", "primitive_vjps"]
