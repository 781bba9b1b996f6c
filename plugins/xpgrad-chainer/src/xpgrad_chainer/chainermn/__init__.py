"""ChainerMN for one process; training on several devices is that of ``examples/chainer/data_parallel.py``."""

from xpgrad_chainer.chainermn import iterators, links
from xpgrad_chainer.chainermn.communicator import (
    CommunicatorBase,
    create_communicator,
    create_multi_node_evaluator,
    create_multi_node_optimizer,
    scatter_dataset,
)

__all__ = [
    "CommunicatorBase",
    "create_communicator",
    "create_multi_node_evaluator",
    "create_multi_node_optimizer",
    "iterators",
    "links",
    "scatter_dataset",
]
