"""ChainerMN for one process; training on several devices is that of ``examples/chainer/data_parallel.py``."""

from xpgrad_chainer.chainermn import (
    communicators,
    datasets,
    extensions,
    functions,
    global_except_hook,
    iterators,
    links,
    optimizers,
)
from xpgrad_chainer.chainermn.communicator import CommunicatorBase, create_communicator
from xpgrad_chainer.chainermn.datasets import DataSizeError, scatter_dataset, scatter_index
from xpgrad_chainer.chainermn.extensions import create_multi_node_checkpointer, create_multi_node_evaluator
from xpgrad_chainer.chainermn.links import MultiNodeChainList
from xpgrad_chainer.chainermn.optimizers import create_multi_node_optimizer

__all__ = [
    "CommunicatorBase", "DataSizeError", "MultiNodeChainList", "communicators", "create_communicator",
    "create_multi_node_checkpointer", "create_multi_node_evaluator", "create_multi_node_optimizer", "datasets",
    "extensions", "functions", "global_except_hook", "iterators", "links", "optimizers", "scatter_dataset",
    "scatter_index",
]  # fmt: skip
