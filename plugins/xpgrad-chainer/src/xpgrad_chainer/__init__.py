"""Programs written for Chainer, run by xpgrad: ``import chainer`` finds the modules of this package.

    python -m xpgrad_chainer script.py
    python -m xpgrad_chainer -m pytest tests

or ``xpgrad_chainer.install()`` before the program imports chainer.
"""

from xpgrad.interop.stand_in import StandIn
from xpgrad_chainer.modules import ChainerModules, ChainerxModules
from xpgrad_chainer.settings import Settings

__all__ = ["install", "stand_in", "uninstall"]

stand_in = ChainerModules("chainer")
_chainerx = ChainerxModules("chainerx", "xpgrad_chx")
_chainermn = StandIn("chainermn", "xpgrad_chainer.chainermn")
_settings = Settings()


def install() -> None:
    """Serve ``chainer``, ``chainerx`` and ``chainermn`` by xpgrad in this process, whether Chainer is installed or not.

    Operators then cast arrays to the dtype of the other operand, a Variable, and functions have Chainer's labels. Call
    it before the program imports chainer: names already imported from the real package are not replaced.
    """
    stand_in.install()
    _chainerx.install()
    _chainermn.install()
    _settings.install()


def uninstall() -> None:
    """Serve ``import chainer`` by the real package again, and restore the configuration."""
    _settings.uninstall()
    _chainermn.uninstall()
    _chainerx.uninstall()
    stand_in.uninstall()
