"""`row_functions`: the kernels of a backend along rows, compiled."""

import ctypes
from collections.abc import Callable, Mapping, Sequence

from xpgrad.plugin import Backend, RowFunction, RowKernel
from xpgrad.types import Dtype
from xpgrad_c.rows import RowSource, row_source, rows_text
from xpgrad_c.toolchain import toolchain
from xpgrad_c.written import Written

POINTER, LONG = ctypes.c_void_p, ctypes.c_long
Loop = Callable[[str, Dtype], tuple[int, int | None] | None]


def row_functions(
    backend: Backend, kernels: Sequence[RowKernel], dtype: Dtype, loop: Loop
) -> Mapping[str, RowFunction]:
    """Return the functions of kernels for arrays of one dtype, by name, except kernels that cannot be compiled.

    Functions missing from the cache are compiled immediately. A failure is noted for `xpgrad doctor`.

    Parameters
    ----------
    backend : Backend
    kernels : sequence of RowKernel
    dtype : dtype
    loop : callable
        ``loop(name, dtype)`` returns the address of the library's own loop for a function such as ``exp``, with the
        signature of NumPy's loops, and the address of its data; None if the library has none.
    """
    try:
        return _row_functions(backend, kernels, dtype, loop)
    except Exception as error:  # the backend's other kernels compute everything
        toolchain().failures.append(f"kernels of rows: {type(error).__name__}: {error}")
        return {}


def _row_functions(
    backend: Backend, kernels: Sequence[RowKernel], dtype: Dtype, loop: Loop
) -> Mapping[str, RowFunction]:
    name_of_dtype = backend.dtype_name(dtype)
    sources: dict[str, RowSource] = {}
    for kernel in kernels:
        source = row_source(backend, kernel, name_of_dtype)
        if source is not None and all(loop(name, dtype) for name, _ in source.called):
            sources[kernel.name] = source
    text, called = rows_text(list(sources.values()))
    written = Written(text)
    library = written.library() if written.build() else None
    if library is None:
        return {}
    set_loop = ctypes.CFUNCTYPE(None, LONG, POINTER, POINTER)(library.address("set_loop"))
    for number, (name, _) in enumerate(called):
        set_loop(number, *(loop(name, dtype) or ()))
    kind = ctypes.CFUNCTYPE(ctypes.c_int, POINTER, *[LONG] * 4)
    of_groups = ctypes.CFUNCTYPE(ctypes.c_int, POINTER, POINTER, LONG, LONG)
    found = {}
    for name, source in sources.items():
        own = f"{name}_{name_of_dtype}"
        each = of_groups(library.address(f"{own}_each")) if source.flat else None
        found[name] = RowFunction(kind(library.address(own)), source.levels, source.by_column, each, source.whole)
    return found
