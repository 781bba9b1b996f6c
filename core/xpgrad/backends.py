"""Chainer's modules for its two optional libraries: `backends.cuda` and `backends.intel64`.

They are for programs that were written against Chainer: `xpgrad.get_device` and `Variable.to_device` do all of it, for
every library.
"""

import sys

from xpgrad.chainer import cuda, intel64

__all__ = ["cuda", "intel64"]

__path__: list[str] = []  # so that `import xpgrad.backends.cuda` finds the two that follow
sys.modules |= {f"{__name__}.cuda": cuda, f"{__name__}.intel64": intel64}
