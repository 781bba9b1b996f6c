"""A communicator of one process."""

import os
from typing import Any

NAMES = ("naive", "flat", "hierarchical", "two_dimensional", "single_node", "non_cuda_aware", "pure_nccl", "dummy")
SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS")
"""Variables by which launchers of MPI specify the number of processes."""


class _OneProcess:
    """The methods of an MPI communicator that programs call besides those of `CommunicatorBase`."""

    rank, size = 0, 1

    def Barrier(self) -> None:  # noqa: N802 - MPI's name
        """Return at once, since no other process exists."""

    def Get_rank(self) -> int:  # noqa: N802 - MPI's name
        """Return 0."""
        return 0

    def Get_size(self) -> int:  # noqa: N802 - MPI's name
        """Return 1."""
        return 1

    def bcast(self, obj: Any, root: int = 0) -> Any:
        """Return the object."""
        return obj


class CommunicatorBase:
    """A communicator whose only process has rank 0: collective operations return their argument."""

    rank = intra_rank = inter_rank = 0
    size = intra_size = inter_size = 1
    mpi_comm = _OneProcess()

    def __init__(self) -> None:
        self._config: dict[str, Any] = {}

    def set_config(self, name: str, value: Any = True, **options: Any) -> None:
        """Keep an entry of the configuration, which has no effect for one process."""
        self._config[name] = value

    def get_config(self, name: str | None = None) -> Any:
        """Return an entry of the configuration, or all entries."""
        return dict(self._config) if name is None else self._config[name]

    def bcast_obj(self, obj: Any, max_buf_len: int | None = None, root: int = 0) -> Any:
        """Return the object."""
        return obj

    def gather_obj(self, obj: Any, root: int = 0) -> list[Any]:
        """Return a list of the object."""
        return [obj]

    def allreduce_obj(self, obj: Any) -> Any:
        """Return the object."""
        return obj

    bcast = bcast_obj
    allreduce = allreduce_obj

    def gather(self, data: Any, root: int = 0) -> tuple[Any, ...]:
        """Return a tuple of the array."""
        return (data,)

    def allgather(self, x: Any) -> tuple[Any, ...]:
        """Return a tuple of the array."""
        return (x,)

    def alltoall(self, xs: Any) -> tuple[Any, ...]:
        """Return a tuple of the only array."""
        return (_only(xs, "alltoall"),)

    def scatter(self, xs: Any, root: int = 0) -> Any:
        """Return the only array."""
        return _only(xs, "scatter")

    def send(self, data: Any, dest: int, tag: int = 0) -> None:
        """Raise an error, since no other process exists."""
        raise RuntimeError(f"send: no process has rank {dest}; the only one has rank 0")

    def recv(self, source: int, tag: int = 0) -> Any:
        """Raise an error, since no other process exists."""
        raise RuntimeError(f"recv: no process has rank {source}; the only one has rank 0")

    send_obj, recv_obj = send, recv

    def split(self, color: int, key: int) -> "CommunicatorBase":
        """Return a communicator of one process."""
        return CommunicatorBase()

    def bcast_data(self, model: Any) -> None:
        """Keep the parameters, which no other process shares."""

    def multi_node_mean_grad(self, model: Any, zero_fill: bool = False) -> None:
        """Keep the gradients, which are their own mean."""

    broadcast_data = bcast_data
    allreduce_grad = multi_node_mean_grad

    def finalize(self) -> None:
        """Release no resources."""


def _only(xs: Any, name: str) -> Any:
    if len(xs) != 1:
        raise ValueError(f"{name}: expected one array, that of the only process, got {len(xs)}")
    return xs[0]


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
