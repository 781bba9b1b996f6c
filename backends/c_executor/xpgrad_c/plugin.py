"""The plugin of the executor ``c``: imported when the first function is compiled, or the first kernel in C is used."""

from collections.abc import Callable, Mapping
from typing import Any

from xpgrad.plugin import Backend, hookimpl, programs_of

xpgrad_api = (1, 1)


def in_host_memory(program: Any) -> bool:
    """Return whether all arrays have addresses in host memory: others may be immutable, lazy, or on a GPU."""
    backend = program.backend
    specs = {value.spec.device: value.spec for value in program.values() if value.spec.backend is backend}
    return backend is not None and all(
        programs_of(backend).address(backend.empty(backend.spec_for((), spec.dtype, spec.device)))
        for spec in specs.values()
    )


class Executor:
    """The executor ``c``, and the compiler of NumPy's kernels in C.

    Its parts are imported at their first use: most programs with arrays have no compiled function and no large kernel.
    """

    def __call__(self, program: Any) -> Any:
        """Return a function that runs a program whose arrays are in host memory, or a text, why not."""
        from xpgrad_c.executor import c_executor

        return c_executor(program) if in_host_memory(program) else "its arrays are not in host memory"

    def wait(self, timeout: float | None = None) -> bool:
        """Wait at most `timeout` seconds for running compilations; return whether all have finished."""
        from xpgrad_c.executor import wait

        return wait(timeout)

    @property
    def row_functions(self) -> Callable[..., Mapping[str, Any]] | None:
        """A function that compiles kernels along rows, see `xpgrad_c.kernels`; None if ``XPGRAD_CODEGEN`` is 0."""
        from xpgrad_c.disabling import disabled

        if disabled() is not None:
            return None
        from xpgrad_c.kernels import row_functions

        return row_functions

    @property
    def c_library(self) -> Callable[..., Any] | None:
        """A function that compiles C source, see `xpgrad_c.written`; None if ``XPGRAD_CODEGEN`` is 0."""
        from xpgrad_c.disabling import disabled

        if disabled() is not None:
            return None
        from xpgrad_c.written import Written

        return Written


EXECUTOR = Executor()


@hookimpl(trylast=True)  # after the executors of other plugins
def xpgrad_executor(backend: Backend) -> Executor:
    """Return the executor, which declines the programs of backends whose arrays are not in host memory."""
    return EXECUTOR


@hookimpl
def xpgrad_report() -> Mapping[str, Any]:
    """Return the state of the compiler and its cache."""
    from xpgrad_c.health import report

    return report()
