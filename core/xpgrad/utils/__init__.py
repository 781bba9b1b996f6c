"""Small tools for authors of functions, under Chainer's names."""

from xpgrad.utils import type_check

__all__ = ["type_check"]
