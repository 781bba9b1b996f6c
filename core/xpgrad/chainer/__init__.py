"""Chainer's face: what programs that were written against Chainer import, and call by its names."""

from xpgrad.chainer import contents as contents  # binds methods of Variable, as does `moves`
from xpgrad.chainer import moves as moves
