"""Data-parallel training on several processes: gradients are averaged, over MPI or over torch.distributed (gloo).

Each process has a copy of the model and its part of every batch. The average of their gradients is the gradient of the
whole batch, so the parameters equal the parameters of a single process up to rounding in double precision, which the
program checks.

    mpirun -n 2 python examples/chainer/data_parallel.py        over MPI, with mpi4py
    python examples/chainer/data_parallel.py --processes 2      over gloo, without MPI
"""

import argparse
import multiprocessing
import os
import socket
import tempfile
from pathlib import Path
from typing import Any, Protocol

import common
import numpy as np
from convnet import ConvNet

import xpgrad as chainer
import xpgrad.functions as F
import xpgrad.links as L

BATCH, STEPS = 64, 60


class Communicator(Protocol):
    """Interface of the processes that take part in training."""

    rank: int
    size: int

    def sum(self, a: np.ndarray) -> None:
        """Replace `a` by its sum over all processes."""


class Alone:
    """One process."""

    rank, size = 0, 1

    def sum(self, a: np.ndarray) -> None:
        """Do not change `a`."""


class MPI:
    """Processes that mpirun has started."""

    def __init__(self) -> None:
        import mpi4py.MPI

        self._mpi, self._world = mpi4py.MPI, mpi4py.MPI.COMM_WORLD
        self.rank, self.size = self._world.Get_rank(), self._world.Get_size()

    def sum(self, a: np.ndarray) -> None:
        """Replace `a` by its sum over all processes."""
        self._world.Allreduce(self._mpi.IN_PLACE, a)


class Gloo:
    """Processes of torch.distributed; address and port are in the environment."""

    def __init__(self, rank: int, size: int) -> None:
        import torch

        self._torch = torch
        torch.distributed.init_process_group("gloo", rank=rank, world_size=size)
        self.rank, self.size = rank, size

    def sum(self, a: np.ndarray) -> None:
        """Replace `a` by its sum over all processes."""
        self._torch.distributed.all_reduce(self._torch.from_numpy(a))

    def close(self) -> None:
        """Leave the other processes."""
        self._torch.distributed.destroy_process_group()


class AveragedGradients:
    """A hook of optimizers: the gradients of all processes are averaged before the update, in one message."""

    name, call_for_each_param, timing, priority = "AveragedGradients", False, "pre", 1000

    def __init__(self, communicator: Communicator) -> None:
        self.communicator = communicator

    def __call__(self, optimizer: Any) -> None:
        params = [param for _, param in sorted(optimizer.target.namedparams()) if param.grad is not None]
        message = np.concatenate([param.grad.reshape(-1) for param in params])
        self.communicator.sum(message)
        message /= self.communicator.size
        start = 0
        for param in params:
            param.grad = message[start : start + param.size].reshape(param.shape)
            start += param.size


def train(communicator: Communicator, steps: int = STEPS, *, quiet: bool = True) -> dict[str, np.ndarray]:
    """Train the net of convnet.py, and return its parameters by name."""
    x, t, x_test, t_test = common.digits()
    x, x_test = x.astype(np.float64), x_test.astype(np.float64)
    chainer.random.seed(0)  # all processes begin with the same model
    with chainer.using_config("dtype", np.dtype("float64")):
        model = L.Classifier(ConvNet())
        model(x[:1], t[:1])  # gives the layers their sizes
    optimizer = chainer.optimizers.MomentumSGD(lr=0.05).setup(model)
    optimizer.add_hook(AveragedGradients(communicator))
    rng, bar = np.random.default_rng(0), common.Bar(quiet)
    with chainer.using_config("train", False):  # without dropout, whose random numbers differ between processes
        step = common.stepper(optimizer, lambda x, t: F.softmax_cross_entropy(model.predictor(x), t), False)
        order = [rng.choice(len(t), BATCH, replace=False) for _ in range(steps)]
        for batch in bar.over(order, steps, lambda: f"process {communicator.rank}"):
            own = np.array_split(batch, communicator.size)[communicator.rank]
            step(x[own], t[own])
        if not quiet:
            model(x_test, t_test)
            print(f"accuracy on the scans held out after {steps} steps: {float(model.accuracy.array):.1%}")
    return {name: param.array for name, param in model.namedparams()}


def difference(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> float:
    """Return the largest difference of two models' parameters, relative to the largest of each."""
    return max(float(abs(found[name] - a).max() / abs(a).max()) for name, a in expected.items())


def _worker(rank: int, size: int, steps: int, folder: str, quiet: bool) -> None:
    communicator = Gloo(rank, size)
    np.savez(Path(folder) / str(rank), **train(communicator, steps, quiet=quiet or rank > 0))
    communicator.close()


def over_gloo(size: int, steps: int = STEPS, *, quiet: bool = True) -> list[dict[str, np.ndarray]]:
    """Train in `size` new processes, and return the parameters that each has at the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free.getsockname()[1]))
    start = multiprocessing.get_context("spawn").Process
    with tempfile.TemporaryDirectory() as folder:
        processes = [start(target=_worker, args=(rank, size, steps, folder, quiet)) for rank in range(size)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        if any(process.exitcode for process in processes):
            raise RuntimeError(f"a process failed: exit codes {[process.exitcode for process in processes]}")
        return [dict(np.load(Path(folder) / f"{rank}.npz")) for rank in range(size)]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--processes", type=int, help="start so many, over gloo; otherwise mpirun has started them")
    parser.add_argument("--steps", type=int, default=STEPS)
    options = parser.parse_args()
    if options.processes:
        found, rank, how = over_gloo(options.processes, options.steps, quiet=False), 0, "gloo"
    else:
        communicator = MPI()
        found, rank, how = [train(communicator, options.steps, quiet=communicator.rank > 0)], communicator.rank, "MPI"
    if rank == 0:
        far = max(difference(each, train(Alone(), options.steps)) for each in found)
        print(f"largest difference from one process, over {how}: {far:.1e}")


if __name__ == "__main__":
    main()
