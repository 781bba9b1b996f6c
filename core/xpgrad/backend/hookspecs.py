"""The contract between xpgrad and a plugin: six hooks, called when a backend or device is selected, not per operation.

A plugin module may declare the range of versions of this contract that it supports: ``xpgrad_api = (1, 1)``.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pluggy

from xpgrad.backend.backend import Backend
from xpgrad.backend.device import Device
from xpgrad.types import Array, Kernel

hookspec = pluggy.HookspecMarker("xpgrad")
hookimpl = pluggy.HookimplMarker("xpgrad")


@hookspec
def xpgrad_backend() -> Backend:  # type: ignore[empty-body]  # a hookspec has no body
    """Return the backend of this plugin, or raise `BackendUnavailable` with a message that names the missing part.

    Called once, when the backend is requested by name or the first of its arrays is used.
    """


@hookspec
def xpgrad_kernels(backend: Backend) -> Mapping[str, Kernel]:  # type: ignore[empty-body]  # a hookspec has no body
    """Return implementations of kernels by name for `backend`, which may belong to another plugin.

    A kernel takes the arrays by position and the parameters by name, writes to none of the arrays, and may return
    `NotImplemented` before it has any effect; then the next provider or the default is called.
    """


@hookspec(firstresult=True)
def xpgrad_transfer(source: Device, target: Device) -> Callable[[Array], Array] | None:
    """Return a function that copies an array from `source` to `target` directly, or None.

    Called once for each pair of devices, and again after another plugin has been loaded. The function may decline an
    array by returning `NotImplemented`.
    """


@hookspec(firstresult=True)
def xpgrad_device(specifier: Any) -> Device | None:
    """Return the device for a `specifier` that is not of a standard form, or None."""


@hookspec
def xpgrad_executor(backend: Backend) -> Callable[[Any], Any] | None:
    """Return ``executor(program)`` for the programs of `backend`, which returns a function that runs one, or None.

    Called when a function has been compiled. The executor returns a function that takes the arrays of
    ``program.inputs`` and returns a tuple of new arrays, one for each of ``program.outputs``, that share no memory with
    each other or with other arrays. An executor may decline a program by returning `NotImplemented` or a text, the
    reason; then comes the next plugin, and in the end xpgrad itself. An executor with the attribute
    ``on_request = True`` is used only by ``compile(executor=...)``, by its name.

    An executor may have further attributes, each of which may be None:

    - ``wait(timeout)`` waits, at most for a number of seconds, until nothing is compiled in the background, and
      returns whether that is so.
    - ``row_functions(backend, kernels, dtype, loop)`` compiles formulas for the kernels of a backend, see
      `xpgrad.plugin.RowKernel`, and returns a `RowFunction` by the name of each kernel that it can compile.
    - ``c_library(text, flags)`` compiles C source for the kernels of a backend. The result has the methods
      ``build()``, which compiles now and returns whether that was possible, and ``library()``, which returns None,
      for the whole process, unless the library was compiled by an earlier one; ``library().address(name)`` is the
      address of a function.
    """


@hookspec
def xpgrad_report() -> Mapping[str, Any]:  # type: ignore[empty-body]  # a hookspec has no body
    """Return the state of an executor for `xpgrad doctor`, which loads the plugins in the group ``xpgrad.executors``.

    The mapping has the keys ``line``, one line of text, ``facts``, a dictionary of JSON values, and ``findings``, a
    list of tuples ``(level, kind, text, remedy)``, where the level is "wrong" or "advice".
    """
