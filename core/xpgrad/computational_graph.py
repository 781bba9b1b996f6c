"""Chainer's name of the module that draws graphs (``xpgrad.computational_graph``); see `xpgrad.drawing`."""

from typing import TYPE_CHECKING

from xpgrad.drawing.graphs import ComputationalGraph, build_computational_graph
from xpgrad.listing import listed as _listed

__all__ = ["ComputationalGraph", "build_computational_graph"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
