"""Chainer's memory layouts: arrays of xpgrad have only the default layout, None."""

from typing import Any

CUDNN_CHANNEL_FIRST_X = None
CUDNN_CHANNEL_LAST_X = "CUDNN_CHANNEL_LAST_X"
CUDNN_CHANNEL_FIRST_W = None
CUDNN_CHANNEL_LAST_W = "CUDNN_CHANNEL_LAST_W"


def get_raw_shape(arr_or_var: Any) -> tuple[int, ...]:
    """Return the shape of the data."""
    return tuple(arr_or_var.shape)


def _transpose_shape(shape: Any, src_layout: Any, dst_layout: Any) -> tuple[int, ...]:
    """Return a shape whose channels are moved from one layout to another."""
    order = {None: "first", CUDNN_CHANNEL_LAST_X: "last", CUDNN_CHANNEL_LAST_W: "last"}
    source, target = order[src_layout], order[dst_layout]
    if source == target:
        return tuple(shape)
    batch, *rest = shape
    return (batch, *rest[1:], rest[0]) if target == "last" else (batch, rest[-1], *rest[:-1])


def get_semantic_shape(arr_or_var: Any, *, assumed_layout: Any = None) -> tuple[int, ...]:
    """Return the shape of an array of a layout with its channels first."""
    return _transpose_shape(arr_or_var.shape, assumed_layout, None)
