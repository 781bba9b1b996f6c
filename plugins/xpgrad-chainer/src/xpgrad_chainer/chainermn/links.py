"""Links of ChainerMN."""

from typing import Any

from xpgrad.links import BatchNormalization


class MultiNodeBatchNormalization(BatchNormalization):
    """Batch normalization with statistics over all processes, of which there is one."""

    def __init__(
        self, size: Any, comm: Any, decay: float = 0.9, eps: float = 2e-5, dtype: Any = None, **options: Any
    ) -> None:
        options.pop("communication_backend", None)
        super().__init__(size, decay, eps, dtype, **options)
