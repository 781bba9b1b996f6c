"""Observations of the current process: output, memory, and the places of errors."""

import ctypes
import linecache
import os
import sys
import sysconfig
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

MAX_TEXT = 300


class Chatter:
    """Standard output of Python and of compiled code, captured in a file from creation on."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - open until the process ends
        os.dup2(self._file.fileno(), 1)

    def read(self) -> str:
        """Return the output so far, truncated to `MAX_TEXT` bytes."""
        sys.stdout.flush()
        try:
            ctypes.CDLL(None).fflush(None)  # compiled code has a separate buffer
        except (AttributeError, OSError, TypeError):  # a platform where the C library has another name
            pass
        size = os.fstat(self._file.fileno()).st_size
        self._file.seek(0)
        text = self._file.read(MAX_TEXT).decode(errors="replace").strip()
        self._file.seek(0, os.SEEK_END)  # descriptor 1 is the same open file
        return text + (" ..." if size > MAX_TEXT else "")


@contextmanager
def channel() -> Iterator[tuple[TextIO, Chatter]]:
    """Yield the process's standard output, for the caller only; the `Chatter` captures all other output."""
    sys.stdout.flush()
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        yield out, Chatter()


def memory() -> int | None:
    """Return the memory of the process in bytes, its peak if the system reports no more, or None."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        pass
    try:
        import resource
    except ImportError:  # Windows
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def place_of(error: BaseException) -> dict[str, Any] | None:
    """Return file, line and source of the innermost third-party code that raised an error."""
    if isinstance(error, SyntaxError) and error.filename is not None and error.lineno is not None:
        return placed(error.filename, error.lineno)
    frames = [(frame.filename, frame.lineno or 0) for frame in traceback.extract_tb(error.__traceback__)]
    return innermost(frames[::-1])


def innermost(frames: list[tuple[str, int]]) -> dict[str, Any] | None:
    """Return the first frame outside the standard library and xpgrad; frames are ordered outwards."""
    foreign = (frame for frame in frames if not _is_own(frame[0]))
    return next((placed(*frame) for frame in foreign), None)


def placed(file: str, line: int) -> dict[str, Any]:
    """Return file, line and source of a line."""
    return {"file": file, "line": line, "source": linecache.getline(file, line).strip()}


def _is_own(file: str) -> bool:
    if file.startswith("<"):
        return True
    path, paths = Path(file), sysconfig.get_paths()
    standard = [Path(paths[name]) for name in ("stdlib", "platstdlib")]
    if path.is_relative_to(Path(__file__).parents[2]):
        return True
    return any(path.is_relative_to(root) for root in standard) and not {"site-packages", "dist-packages"} & set(
        path.parts
    )
