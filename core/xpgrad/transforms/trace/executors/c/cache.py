"""`Cache`: a folder of the user's for compiled libraries, of which nothing is loaded that others could have written."""

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass

MAGIC = b"xpgradC1"
"""The end of each file, behind the checksum of what is before it."""
LIMIT = 256 * 2**20
"""Bytes of all files together; beyond that the least recently used are removed."""
ABANDONED = 3600.0
"""Seconds after which a temporary folder belongs to a process that was killed."""
TEMPORARY = "build-"


class CacheError(OSError):
    """The folder cannot be used; the text says why."""


def default_folder() -> str:
    """Return the path of the folder: ``XPGRAD_CACHE_DIR``, or ``xpgrad`` in the user's folder for caches."""
    own = os.environ.get("XPGRAD_CACHE_DIR")
    if own:
        return os.path.abspath(os.path.expanduser(own))
    base = os.environ.get("XDG_CACHE_HOME", "")
    return os.path.join(base if os.path.isabs(base) else os.path.expanduser("~/.cache"), "xpgrad")


@dataclass(frozen=True, slots=True)
class Cache:
    """Files in a folder, each with a checksum.

    Attributes
    ----------
    path : str
        The folder's absolute path.
    """

    path: str

    def check(self) -> None:
        """Raise `CacheError` unless the folder exists, belongs to the user, and only the user can write to it."""
        try:
            found = os.stat(self.path)
        except OSError as error:
            raise CacheError(f"{self.path}: {error.strerror}") from None
        if not stat.S_ISDIR(found.st_mode):
            raise CacheError(f"{self.path} is no folder")
        if why := distrust(found):
            raise CacheError(f"{self.path} {why}")
        parent = os.path.dirname(os.path.realpath(self.path))
        while True:
            above = os.stat(parent)
            if above.st_mode & stat.S_IWOTH and not above.st_mode & stat.S_ISVTX:
                raise CacheError(f"{self.path}: everybody can write to {parent}, and so put another folder there")
            if parent == os.path.dirname(parent):
                return
            parent = os.path.dirname(parent)

    def create(self) -> None:
        """Make the folder, for the user alone, unless there is one.

        Raises
        ------
        CacheError
            It cannot be made, or is not the user's own.
        """
        try:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            os.mkdir(self.path, 0o700)
        except FileExistsError:
            pass
        except OSError as error:
            raise CacheError(f"{self.path}: {error.strerror}") from None
        self.check()

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None if there is none that is the user's own, and as it was written."""
        try:
            self.check()
            data = own(os.path.join(self.path, name))
        except OSError:
            return None
        content, end = data[: -len(MAGIC) - 32], data[-len(MAGIC) - 32 :]
        if end != ending(name, content):
            return None
        with contextlib.suppress(OSError):
            os.utime(os.path.join(self.path, name))  # it was used
        return content

    def file(self, name: str) -> str | None:
        """Return the path of a file, if `read` accepts it."""
        return None if self.read(name) is None else os.path.join(self.path, name)

    def write(self, name: str, content: bytes, temporary: str) -> str:
        """Store a file, by way of the folder `temporary`, and return its path.

        Raises
        ------
        OSError
            It cannot be written, as where the disk is full.
        """
        path, made = os.path.join(self.path, name), os.path.join(temporary, "made")
        descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(descriptor, "wb") as file:
            file.write(content + ending(name, content))
        os.replace(made, path)
        self.prune(keep=name)
        return path

    def temporary(self) -> str:
        """Make a folder in the folder, for a compiler and what it writes, and return its path."""
        return tempfile.mkdtemp(prefix=TEMPORARY, dir=self.path)

    def entries(self) -> list[tuple[str, int, float]]:
        """Return name, size and time of last use of each file."""
        return [(entry.name, found.st_size, found.st_mtime) for entry, found in self._found() if entry.is_file()]

    def prune(self, keep: str = "") -> None:
        """Remove the least recently used files beyond `LIMIT`, and the temporary folders of processes long gone."""
        for entry, found in self._found():
            old = time.time() - found.st_mtime > ABANDONED
            if old and entry.name.startswith(TEMPORARY) and entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
        files = sorted(self.entries(), key=lambda file: (file[0] == keep, file[2]))
        size = sum(file[1] for file in files)
        for name, bytes_, _ in files:
            if size <= LIMIT or name == keep:
                break
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(self.path, name))
            size -= bytes_

    def _found(self) -> Iterator[tuple["os.DirEntry[str]", os.stat_result]]:
        try:
            entries = list(os.scandir(self.path))
        except OSError:
            return
        for entry in entries:
            with contextlib.suppress(OSError):  # another process has removed it
                yield entry, entry.stat(follow_symlinks=False)


def own(path: str) -> bytes:
    """Return the content of a file that only the user can write to, and raise an OSError for all else."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # a pipe would wait for what is written to it
    descriptor = os.open(path, flags)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or distrust(found):
            raise CacheError(f"{path} is no file of the user's own")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)


def distrust(found: os.stat_result) -> str | None:
    """Return why what is in a file or folder may not be the user's own, or None."""
    if found.st_uid != os.geteuid():
        return f"belongs to another user (number {found.st_uid})"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"can be written by others (mode {stat.S_IMODE(found.st_mode):o}; expected 700)"
    return None


def ending(name: str, content: bytes) -> bytes:
    """Return the end of a file: a checksum of its name and content, and the format's name."""
    return hashlib.sha256(name.encode() + b"\0" + content).digest() + MAGIC
