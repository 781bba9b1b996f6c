"""The executor of a program: that of the first plugin that takes it, else ``python``."""

import warnings
from collections.abc import Callable
from typing import Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.plugins import plugins
from xpgrad.backend.record import PluginWarning
from xpgrad.transforms.trace.executors.python import python_executor
from xpgrad.transforms.trace.program import Program


def executor_for(program: Program, backend: Backend | None) -> Callable[..., tuple[Any, ...]]:
    """Return a function that runs the program: it takes the inputs' arrays and returns a tuple of new arrays.

    A plugin that declines the program, or fails, with a warning, leaves it to the next one.
    """
    if backend is None:  # it has no arrays
        return python_executor(program)
    for plugin, executor in plugins.answers("xpgrad_executor", backend=backend):
        if executor is None or executor is NotImplemented:
            continue
        try:
            run = executor(program)
        except Exception as error:  # third-party code: the program runs without it
            text = f"plugin {plugin}: its executor failed for {program.name}: {type(error).__name__}: {error}"
            warnings.warn(text, PluginWarning, stacklevel=3)
            continue
        if run is not None and run is not NotImplemented:
            return run  # type: ignore[no-any-return]  # by the contract of the hook
    return python_executor(program)
