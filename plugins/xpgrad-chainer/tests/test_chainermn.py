"""ChainerMN's calls in one process."""

import numpy as np
import pytest


def test_program_of_one_process() -> None:
    import chainer
    import chainermn

    comm = chainermn.create_communicator("naive")
    assert (comm.rank, comm.size, comm.bcast_obj([3])) == (0, 1, [3])
    data = chainermn.scatter_dataset(list(range(6)), comm, shuffle=True, seed=1)
    assert sorted(data[:]) == list(range(6)) != list(data[:])
    model = chainer.Sequential(chainermn.links.MultiNodeBatchNormalization(3, comm))
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(), comm).setup(model)
    optimizer.update(lambda: chainer.functions.sum(model(np.eye(3, dtype=np.float32)) ** 2))
    assert optimizer.t == 1


def test_several_processes_are_rejected(monkeypatch) -> None:
    import chainermn

    monkeypatch.setenv("PMI_SIZE", "2")
    with pytest.raises(RuntimeError, match="expected one process, got 2 by MPI; start the program without mpiexec"):
        chainermn.create_communicator("naive")
    with pytest.raises(ValueError, match="expected one of naive"):
        chainermn.create_communicator("fast")
