"""The executor ``cupy``: fused groups of a program are CUDA kernels; other calls run the library's functions."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import cupy

from xpgrad.errors import CompileWarning
from xpgrad.transforms.trace.executors.python import Run
from xpgrad.transforms.trace.program import Program
from xpgrad.transforms.trace.source import load
from xpgrad.types import Array
from xpgrad_cupy.fusion.launches import BlockKernel, Elementwise, Launch, LaunchPlan
from xpgrad_cupy.fusion.plan import plan_of
from xpgrad_cupy.fusion.table import Unsupported, has_row
from xpgrad_cupy.kernels.loops import AS_WRITTEN
from xpgrad_fusion.by_calls import ByCalls
from xpgrad_fusion.fuse import VIEWS, fuse
from xpgrad_fusion.group import Fused

NAME = "xpgrad_fused"


def executor(program: Program) -> Run:
    """Return the function of a program in which kernels compute groups of calls, where that takes fewer launches."""
    plans: dict[Fused, LaunchPlan] = {}

    def worth(fused: Fused) -> bool:
        try:
            plan = plans[fused] = plan_of(fused)
        except Unsupported:
            return False
        return len(plan.launches) < sum(call.name not in VIEWS for call in fused.calls)

    source = fuse(program, has_row, worth).compiled()
    for name, item in list(source.objects.items()):
        if isinstance(item, Fused):
            source.objects[name] = Kernels(item, plans[item])
    made = load(source, program.name)
    return made if program.backend is None else program.backend.follow(made)


class Kernels:
    """The kernels of a group. They are compiled in the first call, and kept on disk by CuPy.

    Parameters
    ----------
    fused : Fused
    plan : LaunchPlan
    """

    def __init__(self, fused: Fused, plan: LaunchPlan) -> None:
        self._plan, self._fused = plan, fused
        self._launches = [(launch, kernel_of(launch)) for launch in plan.launches]
        self._device = fused.outputs[0].spec.device
        self._fallback: Callable[..., Sequence[Array]] | None = None

    def __call__(self, *arrays: Array) -> Sequence[Array]:
        """Return new arrays, on the GPU of the group."""
        if self._fallback is None:
            try:
                return self._computed(arrays)
            except cupy.cuda.compiler.CompileException as error:  # only new arrays have been written to
                text = f"cupy: a fused group does not compile, and runs as {len(self._fused.calls)} calls: {error}"
                warnings.warn(text, CompileWarning, stacklevel=2)
                self._fallback = ByCalls(self._fused)
        return self._fallback(*arrays)

    def _computed(self, arrays: Sequence[Array]) -> Sequence[Array]:
        with cupy.cuda.Device(self._device.id):
            found = [*arrays, *(cupy.empty(shape, dtype) for shape, dtype in self._plan.made)]
            for launch, kernel in self._launches:
                run(launch, kernel, found)
        return [found[number] for number in self._plan.outputs]


def kernel_of(launch: Launch) -> Any:
    """Return CuPy's kernel for a launch."""
    if isinstance(launch, BlockKernel):
        return cupy.RawKernel(launch.source, launch.name, options=AS_WRITTEN)
    if isinstance(launch, Elementwise):
        reads = ", ".join(f"raw {dtype} x{number}" for number, dtype in launch.reads.items())
        writes = ", ".join(f"raw {dtype} y{number}" for number, dtype in launch.writes.items())
        return cupy.ElementwiseKernel(reads, writes, launch.operation, NAME, options=AS_WRITTEN)
    return cupy.ReductionKernel(
        ", ".join(f"{dtype} x{number}" for number, dtype in launch.reads.items()),
        f"{launch.dtype} y",
        f"mapped({', '.join(f'x{number}' for number in launch.reads)})",
        launch.combined,
        "y = a",
        launch.identity,
        f"{NAME}_over_rows",
        reduce_type=launch.inner,
        preamble=launch.preamble,
        options=AS_WRITTEN,
    )


def run(launch: Launch, kernel: Any, arrays: Sequence[Array]) -> None:
    """Run one kernel on numbered arrays."""
    reads = [arrays[number] for number in launch.reads]
    if isinstance(launch, Elementwise):
        kernel(*reads, *(arrays[number] for number in launch.writes), size=launch.size)
    elif isinstance(launch, BlockKernel):
        given = [cupy.ascontiguousarray(x) for x in reads]
        kernel((launch.blocks,), launch.threads, (*given, *(arrays[number] for number in launch.writes)))
    else:
        parts = [x.reshape(shape) for x, shape in zip(reads, launch.shapes.values(), strict=True)]
        parts[0] = cupy.broadcast_to(parts[0], launch.space)
        kernel(*parts, arrays[launch.write].reshape(launch.space[1:]), axis=0)
