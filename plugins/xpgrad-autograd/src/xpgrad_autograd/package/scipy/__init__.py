"""Functions of SciPy of arrays whose derivatives are taken."""

from xpgrad_autograd.package.scipy import integrate, linalg, signal, special, stats

__all__ = ["integrate", "linalg", "signal", "special", "stats"]
