"""`ByCalls`: a group by calls of the library, for executors that have not compiled it, or cannot."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.transforms.trace.passes.blocks import blocks
from xpgrad.transforms.trace.passes.buffers import buffers
from xpgrad.transforms.trace.program import Program
from xpgrad.transforms.trace.source import load
from xpgrad_fusion.group import Fused


class ByCalls:
    """A function that computes a group by the library's calls: large elementwise ones block by block.

    Its source is generated at the first call: a group whose C is on the disk may never need it.
    """

    def __init__(self, fused: Fused) -> None:
        self._fused = fused

    @functools.cached_property
    def run(self) -> Callable[..., tuple[Any, ...]]:
        """The function of the generated source."""
        program = Program("fused", self._fused.inputs, self._fused.outputs, self._fused.calls)
        return load(buffers(blocks(program)).compiled(), "fused")

    def __call__(self, *arrays: Any) -> Sequence[Any]:
        """Return the outputs of the group."""
        return self.run(*arrays)
