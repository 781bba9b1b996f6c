"""Optimizers, flattening, fixed points, graphs."""

from xpgrad_autograd.package.misc.flatten import flatten
from xpgrad_autograd.package.misc.tracers import const_graph, full_graph

__all__ = ["const_graph", "flatten", "full_graph"]
