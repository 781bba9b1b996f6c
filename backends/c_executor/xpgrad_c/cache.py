"""`Cache`: a directory for compiled libraries, in which only files that xpgrad wrote are read or removed."""

import contextlib
import hashlib
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass

from xpgrad_c.directory import CacheError, open_directory, read_own

MAGIC = b"xpgradC1"
"""The end of each file, after the checksum of its name and content."""
LIMIT = 256 * 2**20
"""Bytes of all files together; beyond that the least recently used are removed."""
ABANDONED = 3600.0
"""Seconds after which a temporary directory belongs to a process that was killed."""
TAG = "CACHEDIR.TAG"
"""The file that marks the cache, and each temporary directory in it, as made by xpgrad (bford.info/cachedir)."""
TAG_TEXT = b"Signature: 8a477f597d28d172789f06886806bc55\n# Compiled programs of xpgrad, which may be deleted.\n"
FILE = re.compile(r"[0-9a-f]{64}\.so|(compiler|program)-[0-9a-f]{64}\.json|last-failure\.json")
TEMPORARY = re.compile(r"build-[0-9a-f]{16}")


def default_directory() -> str:
    """Return the path of the cache: ``xpgrad`` in ``XPGRAD_CACHE_DIR``, or ``xpgrad/compiled`` in the user's caches.

    The cache uses a separate subdirectory because the directory named by the user may hold other files, and earlier
    versions left files without a mark in ``xpgrad``.
    """
    own = os.environ.get("XPGRAD_CACHE_DIR", "")
    if own:
        parent = os.path.join(home(), own[2:]) if own.startswith("~/") else os.path.abspath(own)
    else:
        base = os.environ.get("XDG_CACHE_HOME", "")
        return os.path.join(base if os.path.isabs(base) else os.path.join(home(), ".cache"), "xpgrad", "compiled")
    return os.path.join(parent, "xpgrad")


def home() -> str:
    """Return the user's home directory: ``HOME``, or the password database if ``HOME`` is no absolute path."""
    named = os.environ.get("HOME", "")
    if not os.path.isabs(named):
        named = os.path.expanduser("~" + _user_name())
    return named if os.path.isabs(named) else "/nonexistent"


def _user_name() -> str:
    try:
        import pwd  # POSIX only

        return pwd.getpwuid(os.geteuid()).pw_name
    except (ImportError, KeyError):
        return ""


@dataclass(frozen=True, slots=True)
class Cache:
    """Files in a directory, each with a checksum.

    Attributes
    ----------
    path : str
        The absolute path of the directory.
    """

    path: str

    def create(self) -> None:
        """Make the directory, with access only for the user, unless it exists.

        Raises
        ------
        CacheError
            It cannot be made, other users could change it, or it holds files and is not marked as a cache.
        """
        with self._opened(create=True):
            pass

    @contextlib.contextmanager
    def _opened(self, *, create: bool = False) -> Iterator[int]:
        """Yield a descriptor of the directory, after its path and its mark were checked."""
        with open_directory(self.path, create=create) as directory:
            if create and _is_new(directory):
                _mark(directory)
            if not _is_marked(directory):
                text = f"{self.path} has no {TAG} of xpgrad: it is not a cache of compiled programs"
                raise CacheError(f"{text}; remove it, or name another directory in XPGRAD_CACHE_DIR")
            yield directory

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None unless the file belongs to the user and its checksum is correct."""
        try:
            with self._opened() as directory:
                content = _content(name, directory)
                with contextlib.suppress(OSError):
                    os.utime(name, dir_fd=directory)  # the time of its last use
                return content
        except OSError:
            return None

    def write(self, name: str, content: bytes, temporary: str) -> None:
        """Store a file, which is first written in the directory `temporary`.

        Raises
        ------
        OSError
            It cannot be written, for example because the disk is full.
        """
        made = os.path.join(temporary, "made")
        with open(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(content + ending(name, content))
        with self._opened() as directory:
            os.replace(made, name, dst_dir_fd=directory)
        self.prune(keep=name)

    def temporary(self) -> str:
        """Make a directory in the cache, for a compiler and its output, and return its path."""
        name = f"build-{secrets.token_hex(8)}"
        with self._opened(create=True) as directory:
            os.mkdir(name, 0o700, dir_fd=directory)
        path = os.path.join(os.path.realpath(self.path), name)
        with open_directory(path) as made:
            _mark(made)
        return path

    def entries(self) -> list[tuple[str, int, float]]:
        """Return name, size and time of last use of each file."""
        try:
            with self._opened() as directory:
                return list(_files_in(directory))
        except OSError:
            return []

    def prune(self, keep: str = "") -> None:
        """Remove the least recently used files beyond `LIMIT`, and temporary directories of killed processes.

        Only files with a name and a checksum of the cache are removed, and only marked directories.
        """
        with contextlib.suppress(OSError), self._opened() as directory:
            for name in filter(TEMPORARY.fullmatch, names_in(directory)):
                path = os.path.join(self.path, name)
                with contextlib.suppress(OSError), open_directory(path) as made:
                    if _is_marked(made) and time.time() - os.fstat(made).st_mtime > ABANDONED:
                        shutil.rmtree(path, ignore_errors=True)
            files = sorted(_files_in(directory), key=lambda file: (file[0] == keep, file[2]))
            size = sum(file[1] for file in files)
            for name, bytes_, _ in files:
                if size <= LIMIT or name == keep:
                    break
                with contextlib.suppress(OSError):
                    _content(name, directory)
                    os.unlink(name, dir_fd=directory)
                    size -= bytes_


def names_in(directory: int) -> list[str]:
    """Return the names of the entries of an open directory."""
    descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=directory)
    try:
        return os.listdir(descriptor)
    finally:
        os.close(descriptor)


def _files_in(directory: int) -> Iterator[tuple[str, int, float]]:
    for name in filter(FILE.fullmatch, names_in(directory)):
        with contextlib.suppress(OSError):  # another process has removed it
            found = os.stat(name, dir_fd=directory, follow_symlinks=False)
            if stat.S_ISREG(found.st_mode):
                yield name, found.st_size, found.st_mtime


def _content(name: str, directory: int) -> bytes:
    """Return the content of a file; raise `CacheError` if it differs from its checksum."""
    data = read_own(name, directory)
    content = data[: -len(MAGIC) - 32]
    if data[len(content) :] != ending(name, content):
        raise CacheError(f"{name} is damaged")
    return content


def _is_new(directory: int) -> bool:
    """Return whether a directory is empty, or holds only the first bytes of the mark, which another process writes."""
    names = names_in(directory)
    return not names or (names == [TAG] and TAG_TEXT.startswith(read_own(TAG, directory)))


def _mark(directory: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    with open(os.open(TAG, flags, 0o600, dir_fd=directory), "wb") as file:
        file.write(TAG_TEXT)


def _is_marked(directory: int) -> bool:
    try:
        return read_own(TAG, directory) == TAG_TEXT
    except OSError:
        return False


def ending(name: str, content: bytes) -> bytes:
    """Return the end of a file: a checksum of its name and content, and the name of the format."""
    return hashlib.sha256(name.encode() + b"\0" + content).digest() + MAGIC
