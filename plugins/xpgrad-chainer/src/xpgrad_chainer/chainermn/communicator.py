"""A communicator of one process, and what ChainerMN makes with it."""

import os
from typing import Any

import numpy as np

from xpgrad.datasets import SubDataset

NAMES = ("naive", "flat", "hierarchical", "two_dimensional", "single_node", "non_cuda_aware", "pure_nccl", "dummy")
SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS")
"""Variables by which launchers of MPI specify the number of processes."""


class CommunicatorBase:
    """A communicator whose only process has rank 0: collective operations return their argument."""

    rank = intra_rank = inter_rank = 0
    size = intra_size = inter_size = 1

    def bcast_obj(self, obj: Any, root: int = 0) -> Any:
        """Return the object."""
        return obj

    def gather_obj(self, obj: Any, root: int = 0) -> list[Any]:
        """Return a list of the object."""
        return [obj]

    def allreduce_obj(self, obj: Any) -> Any:
        """Return the object."""
        return obj

    bcast = allreduce = bcast_obj

    def split(self, color: int, key: int) -> "CommunicatorBase":
        """Return a communicator of one process."""
        return CommunicatorBase()

    def bcast_data(self, model: Any) -> None:
        """Keep the parameters, which no other process shares."""

    def multi_node_mean_grad(self, model: Any, zero_fill: bool = False) -> None:
        """Keep the gradients, which are their own mean."""

    def finalize(self) -> None:
        """Release no resources."""


def create_communicator(communicator_name: str = "naive", mpi_comm: Any = None, **options: Any) -> CommunicatorBase:
    """Return a communicator of one process; all names of ChainerMN have the same result.

    Raises
    ------
    ValueError
        If ChainerMN has no communicator of this name.
    RuntimeError
        If MPI runs several processes, which would train separately.
    """
    if communicator_name not in NAMES:
        raise ValueError(f"create_communicator: expected one of {', '.join(NAMES)}, got {communicator_name!r}")
    sizes = [int(size) for name in SIZES if (size := os.environ.get(name, "")).isdecimal()]
    size = max([1, *sizes] if mpi_comm is None else [mpi_comm.Get_size()])
    if size > 1:
        raise RuntimeError(
            f"create_communicator: expected one process, got {size} by MPI; start the program without mpiexec, or "
            "average gradients as examples/chainer/data_parallel.py in the sources of xpgrad does"
        )
    return CommunicatorBase()


def create_multi_node_optimizer(actual_optimizer: Any, communicator: CommunicatorBase, **options: Any) -> Any:
    """Return the optimizer, since one process has the gradients of all."""
    return actual_optimizer


def create_multi_node_evaluator(actual_evaluator: Any, communicator: CommunicatorBase) -> Any:
    """Return the evaluator, since one process has all results."""
    return actual_evaluator


def scatter_dataset(
    dataset: Any, comm: CommunicatorBase, root: int = 0, shuffle: bool = False, seed: int | None = None, **options: Any
) -> SubDataset:
    """Return the whole data set, in random order with `shuffle`."""
    order = np.random.RandomState(seed).permutation(len(dataset)).tolist() if shuffle else None
    return SubDataset(dataset, 0, len(dataset), order)
