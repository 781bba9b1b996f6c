"""The door to JAX's differentiation: ``xpgrad.interop.jax.function`` and ``xpgrad.interop.from_jax``."""

from xpgrad_jax.interop.ours import function
from xpgrad_jax.interop.theirs import JaxFunction, from_jax

__all__ = ["JaxFunction", "from_jax", "function"]


def __dir__() -> list[str]:
    return __all__
