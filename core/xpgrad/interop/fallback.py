"""Programs that the compiler of a framework runs, and that run in Python where it fails."""

import warnings
from collections.abc import Callable
from typing import Any

from xpgrad.backend.contract import PluginWarning
from xpgrad.types import Array

Run = Callable[..., tuple[Array, ...]]


def falling_back(
    compiler: str, compiled: Run, function: Run, constants: tuple[Array, ...], name: str,
    finish: Callable[..., tuple[Array, ...]] | None = None,
) -> Run:  # fmt: skip
    """Return a function that calls `compiled`, and from its first failure on `function`, which is the same in Python.

    If `function` also fails, the user sees its error.

    Parameters
    ----------
    compiler : str
        The package and its compiler, for the warning about the failure.
    compiled, function : callable
    constants : tuple of array
        Arguments after those of a call.
    name : str
        Of the program.
    finish : callable, optional
        ``finish(outputs, inputs)`` returns what a call returns for the outputs of `compiled`.
    """
    used = compiled

    def run(*arrays: Any) -> tuple[Array, ...]:
        nonlocal used
        try:
            outputs = tuple(used(*arrays, *constants))
            return outputs if finish is None or used is function else finish(outputs, (*arrays, *constants))
        except Exception as error:
            if used is function:
                raise
            outputs = function(*arrays, *constants)
            used = function
            text = f"{compiler} of the program of {name} failed, so it runs call by call: "
            warnings.warn(f"{text}{type(error).__name__}: {error}", PluginWarning, stacklevel=2)
            return outputs

    return run
