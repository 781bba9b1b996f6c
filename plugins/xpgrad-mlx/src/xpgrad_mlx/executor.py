"""The executor of compiled functions: `mlx.core.compile` of a program as a whole, which fuses elementwise functions."""

import functools
from typing import TYPE_CHECKING, Any

import mlx.core as mx

from xpgrad.interop import fallback

if TYPE_CHECKING:
    from xpgrad.transforms.trace.program import Program

falling_back = functools.partial(fallback.falling_back, "xpgrad-mlx: mlx.core.compile")


class Executor:
    """Runs a program by `mlx.core.compile`; on the CPU only if its name is given.

    There MLX writes C++ for each group of elementwise functions and calls the compiler, which takes a second for each.
    """

    def __init__(self) -> None:
        self.on_request = mx.default_device().type == mx.cpu

    def __call__(self, program: "Program") -> Any:
        """Return the compiled program, or a text if it has effects or no inputs."""
        if not program.inputs or any(call.draws or call.writes for call in program.calls):
            return "it has no arguments, draws, or writes to arrays"
        opened, constants = program.with_constants_as_inputs()
        function = opened.function()
        return falling_back(mx.compile(function), function, constants, program.name)
