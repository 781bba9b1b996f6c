"""`open_directory`: a descriptor of a directory that, with all those above it, only root and the user can change."""

import contextlib
import os
import stat
from collections.abc import Iterator

COMPONENT = (
    getattr(os, "O_DIRECTORY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_PATH", os.O_RDONLY)  # searching a directory does not require read permission
)


class CacheError(OSError):
    """The directory cannot be used; the message gives the reason."""


@contextlib.contextmanager
def open_directory(path: str, *, create: bool = False) -> Iterator[int]:
    """Yield a descriptor of the directory `path`, to be used as ``dir_fd``.

    Symbolic links in `path` are resolved first. Each component is then opened relative to its parent, without
    following links, and its owner and mode are read from the open descriptor.

    Parameters
    ----------
    path : str
        An absolute path.
    create : bool
        Make the components that are missing, with mode 0700.

    Raises
    ------
    CacheError
        A component is missing, is not a directory, is not owned by root or the user (the last component: by the user),
        or is writable for other users without being sticky.
    """
    names = list(filter(None, os.path.realpath(path).split("/")))
    descriptor = os.open("/", COMPONENT)
    try:
        for number, name in enumerate(names, 1):
            try:
                inner = _open_component(name, descriptor, create=create)
            except OSError as error:
                raise CacheError(f"{path}: /{'/'.join(names[:number])}: {error.strerror}") from None
            os.close(descriptor)
            descriptor = inner
            last = number == len(names)
            why = distrust(os.fstat(descriptor)) if last else distrust_parent(os.fstat(descriptor))
            if why:
                raise CacheError(f"{path} {why}" if last else f"{path}: /{'/'.join(names[:number])} {why}")
        yield descriptor
    finally:
        os.close(descriptor)


def _open_component(name: str, parent: int, *, create: bool) -> int:
    try:
        return os.open(name, COMPONENT, dir_fd=parent)
    except FileNotFoundError:
        if not create:
            raise
    with contextlib.suppress(FileExistsError):  # another process was first
        os.mkdir(name, 0o700, dir_fd=parent)
    return os.open(name, COMPONENT, dir_fd=parent)


def distrust(found: os.stat_result) -> str | None:
    """Return the reason why another user may have written a file or directory, or None."""
    if found.st_uid != os.geteuid():
        return f"belongs to another user (number {found.st_uid})"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"can be written by others (mode {stat.S_IMODE(found.st_mode):o}; expected 700)"
    return None


def distrust_parent(found: os.stat_result) -> str | None:
    """Return the reason why another user could replace a component of a path, or None."""
    if found.st_uid not in (0, os.geteuid()):
        return f"belongs to another user (number {found.st_uid}), who could put another directory there"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not found.st_mode & stat.S_ISVTX:
        mode = stat.S_IMODE(found.st_mode)
        return f"can be written by others (mode {mode:o}), who could put another directory there"
    return None


def read_own(name: str, directory: int) -> bytes:
    """Return the content of a file in an open directory, which must be a regular file that only the user can write.

    Raises
    ------
    OSError
        The file does not exist or does not meet these conditions.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # opening a pipe would wait for its writer
    descriptor = os.open(name, flags, dir_fd=directory)
    with open(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or distrust(found):
            raise CacheError(f"{name} is no file of the user's own")
        return file.read()
