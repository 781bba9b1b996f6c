"""Links of ChainerMN."""

import copy
from typing import Any

from xpgrad.links import BatchNormalization
from xpgrad.models import ChainList, Link


class MultiNodeBatchNormalization(BatchNormalization):
    """Batch normalization with statistics over all processes, of which there is one."""

    def __init__(
        self, size: Any, comm: Any, decay: float = 0.9, eps: float = 2e-5, dtype: Any = None, **options: Any
    ) -> None:
        options.pop("communication_backend", None)
        super().__init__(size, decay, eps, dtype, **options)


def create_mnbn_model(link: Any, comm: Any, communication_backend: str = "auto") -> Any:
    """Return a copy of a link, whose batch normalizations have statistics over all processes, here one."""
    return copy.deepcopy(link)


class MultiNodeChainList(ChainList):
    """Links of a model that is divided between processes; one process has all links, which follow each other."""

    def __init__(self, comm: Any) -> None:
        super().__init__()
        self._comm = comm

    def add_link(self, link: Link, rank_in: Any = None, rank_out: Any = None) -> None:
        """Append a link, whose input and output belong to this process.

        Raises
        ------
        ValueError
            `rank_in` or `rank_out` is the rank of another process.
        """
        for name, rank in (("rank_in", rank_in), ("rank_out", rank_out)):
            if rank not in (None, self._comm.rank):
                raise ValueError(f"MultiNodeChainList: expected {name} to be None or {self._comm.rank}, got {rank}")
        super().append(link)

    def forward(self, *inputs: Any) -> Any:
        """Return the output of the last link."""
        for link in self:
            output = link(*inputs)
            inputs = output if isinstance(output, tuple) else (output,)
        return inputs[0] if len(inputs) == 1 else inputs


def create_multi_node_n_step_rnn(
    actual_link: Any, communicator: Any, rank_in: int | None = None, rank_out: int | None = None
) -> Any:
    """Return the link, whose states are not passed to another process.

    Raises
    ------
    ValueError
        `rank_in` or `rank_out` is not None.
    """
    if rank_in is not None or rank_out is not None:
        raise ValueError(f"create_multi_node_n_step_rnn: expected no ranks in one process, got {rank_in}, {rank_out}")
    return actual_link
