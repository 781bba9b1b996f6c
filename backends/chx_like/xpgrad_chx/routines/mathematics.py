"""Mathematical functions missing in both the standard and NumPy."""

from typing import Any

from xpgrad_chx.routines.network import run

__all__ = ["erf", "rsqrt"]


def erf(x: Any) -> Any:
    """Return the error function, elementwise."""
    return run("erf", x)


def rsqrt(x: Any) -> Any:
    """Return the reciprocal of the square root, elementwise."""
    return run("rsqrt", x)
