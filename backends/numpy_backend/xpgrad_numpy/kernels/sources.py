"""C sources beside the kernels, which an executor compiles."""

import ctypes
import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import xpgrad
from xpgrad.plugin import from_executors, run_all

ROUNDED = frozenset({"scan"})  # sources whose products are rounded before they are added, as NumPy's
POINTER, LONG, INT = ctypes.c_void_p, ctypes.c_long, ctypes.c_int


def source(name: str, **constants: int) -> Any:
    """Return the library of the file ``NAME.c``, with constants defined before it, or None if nothing compiles C."""
    compiler = from_executors(xpgrad.get_device("@numpy").backend, "c_library")
    return None if compiler is None else compiled(compiler, name, **constants)


@functools.cache
def compiled(compiler: Any, name: str, **constants: int) -> Any:
    """Return what `compiler` makes of a source."""
    text = Path(__file__).with_name(f"{name}.c").read_text(encoding="utf-8")
    head = "".join(f"#define {constant} {value}\n" for constant, value in constants.items())
    return compiler(head + text, ("-fno-trapping-math", *(() if name in ROUNDED else ("-ffp-contract=fast",))))


def loaded(name: str, **constants: int) -> Any:
    """Return the library of a source, loaded, or None for the whole process."""
    made = source(name, **constants)
    return None if made is None else made.library()


def build(name: str, *variants: Mapping[str, int]) -> bool:
    """Compile a source with each of several sets of constants; return whether that was possible."""
    made = [source(name, **constants) for constants in variants]
    done = [each is not None and each.build() for each in made]
    return all(done)


def function(library: Any, name: str, result: Any, *types: Any) -> Any:
    """Return a function of a library."""
    return ctypes.CFUNCTYPE(result, *types)(library.address(name))


def in_threads(function: Any, count: int, *arguments: Any) -> None:
    """Call ``function(*arguments, first, last)`` for parts of `count`, or raise MemoryError where it returns 0."""

    def task(first: int, last: int) -> None:
        if not function(*arguments, first, last):
            raise MemoryError(f"no memory for {count} images")

    run_all(task, count)
