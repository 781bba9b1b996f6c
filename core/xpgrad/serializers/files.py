"""Files that are written whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

File = str | os.PathLike[str] | IO[bytes]


@contextmanager
def written(file: File) -> Iterator[IO[bytes]]:
    """Return a binary file to write to, which takes the place of `file` when the block ends without an error.

    A file object is written to as it is.
    """
    if not isinstance(file, (str, os.PathLike)):
        yield file
        return
    path = os.path.realpath(file)
    folder, name = os.path.split(path)
    unfinished = os.path.join(folder, f".{name}.{secrets.token_hex(4)}.part")
    try:
        with _created(unfinished, file) as opened:
            yield opened
            opened.flush()
            os.fsync(opened.fileno())
        os.replace(unfinished, path)
    except BaseException:
        if os.path.exists(unfinished):
            os.remove(unfinished)
        raise


def _created(unfinished: str, file: str | os.PathLike[str]) -> IO[bytes]:
    """Return the new file `unfinished`; an error names the `file` that was asked for, the only one that users know."""
    try:
        return open(unfinished, "xb")
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(file)) from None  # of the class that belongs to errno


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
