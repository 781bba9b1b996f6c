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


def test_training_resumes_from_a_checkpoint(tmp_path) -> None:
    import chainer
    import chainermn
    from chainer import training

    def run(length, fails=False):
        comm = chainermn.create_communicator()
        comm.mpi_comm.Barrier()
        optimizer = chainer.optimizers.SGD().setup(chainer.links.Classifier(chainer.links.Linear(2, 3)))
        data = chainer.datasets.TupleDataset(np.eye(2, dtype="f"), np.zeros(2, "i"))
        iterator = chainer.iterators.SerialIterator(chainermn.scatter_dataset(data, comm), 2)
        trainer = training.Trainer(training.updaters.StandardUpdater(iterator, optimizer), (length, "epoch"))
        trainer.out = str(tmp_path)
        checkpointer = chainermn.create_multi_node_checkpointer("run", comm, cp_interval=2)
        checkpointer.maybe_load(trainer, optimizer)
        start = trainer.updater.iteration
        trainer.extend(checkpointer, trigger=(1, "iteration"))
        trainer.extend(chainermn.extensions.ObservationAggregator(comm, "main/loss", "mean"))
        if fails:
            checkpointer.finalize = lambda: None
        trainer.run()
        assert trainer.observation["mean"].item() == trainer.observation["main/loss"].item()
        return start, sorted(path.name for path in tmp_path.iterdir())

    assert run(3, fails=True) == (0, ["run.0.2", "run.0.3"])
    assert run(5) == (3, [])


def test_communication_within_one_process() -> None:
    import chainer
    import chainermn
    import chainermn.functions as mn

    comm = chainermn.create_communicator("flat")
    x, y = chainer.Variable(np.ones(2, "f")), chainer.Variable(np.ones(3, "f"))
    assert mn.bcast(comm, x) is x is mn.alltoall(comm, [x])[0] is mn.scatter(comm, mn.gather(comm, x))
    chainer.functions.sum(mn.pseudo_connect(x, y)).backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([0, 0], [1, 1, 1])
    model = chainermn.MultiNodeChainList(comm)
    model.add_link(chainer.links.Linear(2, 4))
    model.add_link(chainer.links.Linear(4, 3))
    assert model(np.eye(2, dtype="f")).shape == (2, 3)
    with pytest.raises(ValueError, match="expected rank_in to be None or 0, got 1"):
        model.add_link(chainer.links.Linear(2, 4), rank_in=1)
    with pytest.raises(RuntimeError, match="send: no process has rank 1"):
        mn.send(x, comm, 1)
