"""Boxes, nodes and traces."""

from xpgrad_autograd.boxes import Box, is_box, value_of
from xpgrad_autograd.derivatives import notrace_primitive, primitive
from xpgrad_autograd.nodes import Node, TraceStack, constant, new_box, register_notrace, toposort, trace, trace_stack

isbox, getval = is_box, value_of
box_types, box_type_mappings = Box.types, Box.type_mappings

__all__ = [
    "Box", "Node", "TraceStack", "box_type_mappings", "box_types", "constant", "getval", "isbox", "new_box",
    "notrace_primitive", "primitive", "register_notrace", "toposort", "trace", "trace_stack",
]  # fmt: skip
