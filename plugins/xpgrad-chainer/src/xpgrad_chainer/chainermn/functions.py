"""Differentiable communication within one process."""

from typing import Any

from xpgrad import functions


def allgather(comm: Any, x: Any) -> tuple[Any, ...]:
    """Return a tuple of the Variable."""
    gathered: tuple[Any, ...] = comm.allgather(x)
    return gathered


def alltoall(comm: Any, xs: Any) -> tuple[Any, ...]:
    """Return a tuple of the only Variable."""
    exchanged: tuple[Any, ...] = comm.alltoall(xs)
    return exchanged


def bcast(comm: Any, x: Any, root: int = 0) -> Any:
    """Return the Variable."""
    return comm.bcast(x, root=root)


def gather(comm: Any, x: Any, root: int = 0) -> tuple[Any, ...]:
    """Return a tuple of the Variable."""
    gathered: tuple[Any, ...] = comm.gather(x, root)
    return gathered


def scatter(comm: Any, xs: Any, root: int = 0) -> Any:
    """Return the only Variable."""
    return comm.scatter(xs, root)


def send(x: Any, communicator: Any, rank: int, tag: int = 0) -> Any:
    """Raise an error, since no other process exists."""
    return communicator.send(x, rank, tag)


def recv(communicator: Any, rank: int, delegate_variable: Any = None, tag: int = 0, force_tuple: bool = False) -> Any:
    """Raise an error, since no other process exists."""
    return communicator.recv(rank, tag)


def pseudo_connect(delegate_variable: Any, *actual_variables: Any) -> Any:
    """Return the Variables, with a connection in the graph to `delegate_variable`, which gets a gradient of 0."""
    if delegate_variable is None:
        return actual_variables[0] if len(actual_variables) == 1 else actual_variables
    nothing = 0 * functions.sum(delegate_variable)
    connected = tuple(x + functions.cast(nothing, x.dtype) for x in actual_variables)
    return connected[0] if len(connected) == 1 else connected
