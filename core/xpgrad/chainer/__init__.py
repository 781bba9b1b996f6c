"""Chainer's interface: names that programs written for Chainer import and call."""

from xpgrad.chainer import contents as contents  # binds methods of Variable, as does `moves`
from xpgrad.chainer import moves as moves
