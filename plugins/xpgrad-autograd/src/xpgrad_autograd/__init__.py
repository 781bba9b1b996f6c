"""Programs written for HIPS autograd, run by xpgrad: ``import autograd`` finds the modules of this package.

    python -m xpgrad_autograd script.py
    python -m xpgrad_autograd -m pytest tests

or ``xpgrad_autograd.install()`` before the program imports autograd.
"""

from xpgrad.interop.stand_in import StandIn

__all__ = ["install", "stand_in", "uninstall"]

stand_in = StandIn("autograd", f"{__name__}.package")


def install() -> None:
    """Serve ``import autograd`` by xpgrad in this process, whether autograd is installed or not.

    Call it before the program imports autograd: names already imported from the real package are not replaced.
    """
    stand_in.install()


def uninstall() -> None:
    """Serve ``import autograd`` by the real package again."""
    stand_in.uninstall()
