"""The executor of compiled functions: `mlx.core.compile` of a program as a whole, which fuses elementwise functions."""

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import mlx.core as mx

from xpgrad.plugin import PluginWarning
from xpgrad_mlx.memory import Array

if TYPE_CHECKING:
    from xpgrad.transforms.trace.program import Program

Run = Callable[..., tuple[Array, ...]]


class Executor:
    """Runs a program by `mlx.core.compile`; on the CPU only if its name is given.

    There MLX writes C++ for each group of elementwise functions and calls the compiler, which takes a second for each.
    """

    def __init__(self) -> None:
        self.on_request = mx.default_device().type == mx.cpu

    def __call__(self, program: "Program") -> Any:
        """Return the compiled program, or `NotImplemented` if it has effects or no inputs."""
        if not program.inputs or any(call.draws or call.writes for call in program.calls):
            return NotImplemented
        opened, constants = program.with_constants_as_inputs()
        function = opened.function()
        return falling_back(mx.compile(function), function, constants, program.name)


def falling_back(compiled: Run, function: Run, constants: tuple[Array, ...], name: str) -> Run:
    """Return a function that calls `compiled`, and from its first failure on `function`, which is the same in Python.

    If `function` also fails, the user sees its error.
    """
    used = compiled

    def run(*arrays: Array) -> tuple[Array, ...]:
        nonlocal used
        try:
            return tuple(used(*arrays, *constants))
        except Exception as error:
            if used is function:
                raise
            outputs = function(*arrays, *constants)
            used = function
            text = f"xpgrad-mlx: mlx.core.compile of the program of {name} failed, so it runs call by call: "
            warnings.warn(f"{text}{type(error).__name__}: {error}", PluginWarning, stacklevel=2)
            return outputs

    return run
