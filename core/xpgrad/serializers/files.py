"""Files that are written whole or not at all."""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

File = str | os.PathLike[str] | IO[bytes]


@contextmanager
def written(file: File, settled: bool = True) -> Iterator[IO[bytes]]:
    """Yield a binary file to write to, which replaces `file` when the block ends without an error.

    The new file has the mode of the file it replaces. It is written to the disk before it is renamed; the new name is
    also on the disk when this returns, unless `settled` is False. A symbolic link remains, and its target is replaced.
    File objects, pipes and devices are written directly.
    """
    if not isinstance(file, (str, os.PathLike)):
        yield file
        return
    path = os.path.realpath(file)
    mode = os.stat(path).st_mode if os.path.exists(path) else None
    if mode is not None and not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        with open(path, "wb") as opened:
            yield opened
        return
    folder, name = os.path.split(path)
    unfinished = os.path.join(folder, f".{name}.{secrets.token_hex(4)}.part")
    try:
        with _created(unfinished, file) as opened:
            yield opened
            if mode is not None:
                os.chmod(unfinished, stat.S_IMODE(mode))
            opened.flush()
            if settled:
                os.fsync(opened.fileno())
        os.replace(unfinished, path)
        if settled:
            _settle(folder)
    except BaseException:
        if os.path.exists(unfinished):
            os.remove(unfinished)
        raise


def _created(unfinished: str, file: str | os.PathLike[str]) -> IO[bytes]:
    """Return the new file `unfinished`; errors name `file`, because users do not know the temporary name."""
    try:
        return open(unfinished, "xb")
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(file)) from None  # of the class that belongs to errno


def _settle(folder: str) -> None:
    """Write the names in a directory to the disk, if the system supports this."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def read(file: File) -> Iterator[Any]:
    """Return a binary file to read from."""
    if isinstance(file, (str, os.PathLike)):
        with open(file, "rb") as opened:
            yield opened
    elif hasattr(file, "read"):
        yield file
    else:
        raise TypeError(
            f"load: expected a path or a binary file first, and the object second; got {type(file).__name__}"
        )
