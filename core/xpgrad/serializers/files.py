"""Files that are written whole or not at all, and NumPy's .npz files, as Chainer writes them."""

import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any

from xpgrad.backend.plugins import plugins
from xpgrad.serializers.dictionary import DictionarySerializer, Ignored, load

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


def save_npz(file: File, obj: Any, compression: bool = True) -> None:
    """Save an object to an .npz file, which Chainer and NumPy read.

    Parameters
    ----------
    file : str, path or binary file
        A path gets the file when it is complete.
    obj : object with a method `serialize`
        A link, an optimizer, a trainer.
    compression : bool
        Whether the file is compressed.
    """
    serializer = DictionarySerializer()
    serializer.save(obj)
    host: Any = plugins.host
    with written(file) as opened:
        host.archives().write_npz(opened, serializer.target, compression)


def load_npz(
    file: File, obj: Any, path: str = "", strict: bool = True, ignore_names: Ignored | Iterable[Ignored] | None = None
) -> None:
    """Load an object from an .npz file written by `save_npz` of xpgrad or Chainer.

    Arrays keep their device and dtype. Uninitialised parameters are initialised. If loading fails, the object is
    unchanged. No data is unpickled: the pickle of None, which Chainer writes, is recognized by its bytes, and other
    pickles are errors. An array is unpacked only after its shape was compared with the shape of the parameter.

    Parameters
    ----------
    file : str, path or binary file
    obj : object with a method `serialize`
    path : str
        The part of the file to load, such as ``updater/model:main/`` of a trainer's snapshot.
    strict : bool
        Whether names missing in the file are errors, and names unknown to a link give a warning.
    ignore_names : str, callable, or list of these, optional
        Full names, and predicates of names, of values to leave unchanged.

    Raises
    ------
    KeyError
        Names are missing; the text lists them.
    ShapeError, DtypeError
        An array in the file does not fit.
    SerializationError
        The file is damaged, or has objects other than arrays, numbers, text and None.
    """
    host: Any = plugins.host
    with read(file) as opened:
        load(host.archives().Archive(opened), obj, path, strict, ignore_names)
