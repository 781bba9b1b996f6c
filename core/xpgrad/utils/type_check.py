"""Checks of inputs in `FunctionNode.check_type_forward`: ``type_check.expect(in_types[0].ndim == 2)``."""

from xpgrad.graph.type_check import (
    InvalidType,
    TypeInfo,
    TypeInfoTuple,
    argname,
    eval,
    expect,
    expect_broadcast_shapes,
    prod,
    same_types,
)

_argname = argname  # what functions written for Chainer call it

__all__ = [
    "InvalidType",
    "TypeInfo",
    "TypeInfoTuple",
    "argname",
    "eval",
    "expect",
    "expect_broadcast_shapes",
    "prod",
    "same_types",
]
