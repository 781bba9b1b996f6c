"""`load`: the function of a generated source, which tracebacks can show."""

import linecache
import weakref
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xpgrad.transforms.trace.source import ProgramSource

_numbers = count(1)


def load(source: "ProgramSource", name: str) -> Callable[..., tuple[Any, ...]]:
    """Return the function of a source, registered in `linecache` as long as the function exists."""
    file = f"<program {name} {next(_numbers)}>"
    objects = {"__name__": f"xpgrad.program of {name}", **source.objects}  # of this library, see `is_trusted`
    exec(compile(source.text, file, "exec"), objects)  # noqa: S102 - a source generated here
    run: Callable[..., tuple[Any, ...]] = objects.pop(source.name)  # else it would be a cycle
    linecache.cache[file] = len(source.text), None, source.text.splitlines(keepends=True), file
    weakref.finalize(run, linecache.cache.pop, file, None).atexit = False
    return run
