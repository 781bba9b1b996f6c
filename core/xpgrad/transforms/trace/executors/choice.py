"""The executor of a program: that of the first plugin that takes it, else the one of the core."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from xpgrad.backend.backend import Backend
from xpgrad.backend.contract import PluginWarning
from xpgrad.backend.executors import executor_name
from xpgrad.backend.naming import is_interrupt, text_of
from xpgrad.backend.plugins import plugins
from xpgrad.errors import CompileWarning, PluginError, TraceError
from xpgrad.transforms.callers import depth
from xpgrad.transforms.trace.calls import Composite
from xpgrad.transforms.trace.executors.options import Options
from xpgrad.transforms.trace.executors.python import python_executor
from xpgrad.transforms.trace.program import Program

Run = Callable[..., tuple[Any, ...]]
Executor = Callable[[Program], Any]
"""Returns a `Run`, or for a program that it declines `NotImplemented` or a text, the reason."""

EXACT = "python"
"""The executor that gives the eager results to the bit, and takes every program."""


EXECUTORS: dict[str, Executor] = {EXACT: python_executor}
"""The core's own executors by name."""
FORMER = {"host": EXACT}
"""Executors of earlier versions by name, and the executors that replace them."""


class Chosen(NamedTuple):
    """An executor's name, and the function that it has made of a program."""

    name: str
    run: Run


def checked_executor(name: str | None, exact: bool) -> str | None:
    """Return the name of an executor; raise ValueError unless there is, or could be, this one, exact if it must be."""
    if name is None:
        return None
    name = FORMER.get(name, name)
    registered = [executor_name(entry.module) for entries in plugins.installed.executors.values() for entry in entries]
    beside = [executor_name(entry.module) for entries in plugins.installed.modules.values() for entry in entries]
    own = dict.fromkeys((*registered, *EXECUTORS))
    if name not in {*own, *beside, *plugins.names(), *map(executor_name, plugins.records)}:
        raise ValueError(
            f"compile: there is no executor {name!r}; there are {', '.join(own)}, and those of plugins, by the "
            "names of their backends"
        )
    if exact and name != EXACT:
        raise ValueError(f"compile: exact=True needs the executor {EXACT!r}, got {name!r}")
    return name


def executor_for(program: Program, backend: Backend | None, name: str | None = None) -> Run:
    """Return a function that runs the program: it takes the inputs' arrays and returns a tuple of new arrays.

    An executor that declines the program, or fails, with a warning, leaves it to the next one.
    """
    return chosen(program, backend, Options(executor=name)).run


def chosen(program: Program, backend: Backend | None, options: Options) -> Chosen:
    """Return the executor that runs a program, and its function: the one asked for, else the best that takes it.

    Raises
    ------
    TraceError
        The one asked for does not take it, and `options` are strict.
    """
    for call in program.calls:
        for item in call.kwargs.values():
            if isinstance(item, Composite):
                item.prepare(options)
    wanted = EXACT if options.exact else options.executor
    if backend is None:  # it has no arrays
        return Chosen(EXACT, python_executor(program))
    if wanted is not None:
        reasons = []
        for name, executor, plugin in _executors(backend):
            run = _run(executor, program, plugin) if name == wanted else None
            if callable(run):
                return Chosen(name, run)
            reasons += [] if run is None else [f" ({run})"]
        text = f"the executor {wanted!r} does not take programs of {backend.name} like {program.name}{''.join(reasons)}"
        if options.strict:
            raise TraceError(f"compile: {text}")
        if not options.declined:
            options.declined = True
            warnings.warn(f"compile: {text}; the next best one runs it", CompileWarning, stacklevel=depth())
    for name, executor, plugin in _executors(backend):
        if name == wanted or getattr(executor, "on_request", False):
            continue
        run = _run(executor, program, plugin)
        if callable(run):
            return Chosen(name, run)
    return Chosen(EXACT, python_executor(program))


def _executors(backend: Backend) -> Iterator[tuple[str, Executor, str]]:
    """Yield name, function and plugin of all executors for a backend; the plugin is empty for the core's own."""
    for plugin, executor in plugins.executors(backend):
        if callable(executor):
            yield executor_name(plugin), executor, plugin
        elif executor is not None and executor is not NotImplemented:
            text = f"plugin {plugin}: its hook xpgrad_executor returned {type(executor).__name__}, expected a function"
            warnings.warn(text, PluginWarning, stacklevel=4)
    for name, executor in EXECUTORS.items():
        yield name, executor, ""


def wait(timeout: float | None = None) -> bool:
    """Wait until the executors of all loaded backends compile nothing in the background; return whether that is so.

    Parameters
    ----------
    timeout : float, optional
        Seconds to wait for each executor.
    """
    found = {id(each): each for backend in plugins.backends() for _, each in plugins.executors(backend)}
    ended = [each.wait(timeout) for each in found.values() if getattr(each, "wait", None) is not None]
    return all(ended)


def _run(executor: Executor, program: Program, plugin: str) -> Run | str | None:
    """Return what an executor makes of a program, a text or None if it declines, None if it is a plugin's and fails."""
    try:
        run = executor(program)
        _check_made(run)
    except BaseException as error:  # third-party code: the program runs without it
        if not plugin or is_interrupt(error):
            raise
        text = f"plugin {plugin}: its executor failed for {program.name}: {text_of(error)}"
        warnings.warn(text, PluginWarning, stacklevel=4)
        return None
    return None if run is NotImplemented else run


def _check_made(run: object) -> None:
    """Raise `PluginError` unless an executor has made a function, or declined."""
    if run is not None and run is not NotImplemented and not isinstance(run, str) and not callable(run):
        raise PluginError(f"expected a function, NotImplemented or a text, got {type(run).__name__}")
