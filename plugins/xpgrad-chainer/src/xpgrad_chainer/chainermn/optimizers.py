"""Optimizers that average gradients over processes."""

from typing import Any


def create_multi_node_optimizer(
    actual_optimizer: Any, communicator: Any, double_buffering: bool = False, zero_fill: bool = True
) -> Any:
    """Return the optimizer, since one process has the gradients of all."""
    return actual_optimizer
