"""`locked`: one trainer at a time writes to a directory."""

import os
import platform
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

NAME = ".trainer.lock"
BYTE = 2**30
"""What Windows locks: a byte behind the text, which others can read then."""
MAX_TRIES = 100
_held: set[int] = set()  # descriptors, which a forked process closes: it would keep the directory locked


@contextmanager
def locked(directory: str) -> Iterator[None]:
    """Context manager that locks a directory against other trainers, in this process and in other processes.

    Nothing waits. The system unlocks the directory of a process that has ended; a forked process has no lock.

    Raises
    ------
    RuntimeError
        The directory is locked.
    """
    path, owner = os.path.join(directory, NAME), os.getpid()
    descriptor = _opened(path)
    try:
        yield
    finally:
        if os.getpid() == owner and descriptor in _held:
            _release(path, descriptor)


def _opened(path: str) -> int:
    """Return the descriptor of the locked file at a path."""
    for _ in range(MAX_TRIES):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        _held.add(descriptor)
        try:
            problem = _lock(descriptor)
            if _is_at(path, descriptor):
                _described(path, descriptor, problem)
                return descriptor
        except BaseException:
            if _lock(descriptor) is None:
                _release(path, descriptor)
            else:
                _close(descriptor)
            raise
        _close(descriptor)  # who held the lock has removed the file meanwhile
    raise RuntimeError(f"Trainer.run: {path} is made and removed by others all the time; pass another out=")


def _described(path: str, descriptor: int, problem: OSError | None) -> None:
    """Write who holds the lock, or raise or warn where it cannot be had."""
    folder = os.path.abspath(os.path.dirname(path))
    if isinstance(problem, BlockingIOError | PermissionError):
        holder = os.pread(descriptor, 200, 0).decode(errors="replace") if hasattr(os, "pread") else ""
        raise RuntimeError(
            f"Trainer.run: expected a directory to which no other trainer writes, got {folder}, used by "
            f"{holder or 'another one'}; pass another out=, or wait for its end"
        )
    if problem is not None:
        warnings.warn(f"Trainer.run: {folder} cannot be locked ({problem}); run one trainer there", stacklevel=6)
        return
    os.ftruncate(descriptor, 0)
    os.write(descriptor, f"process {os.getpid()} on {platform.node()}".encode())


def _lock(descriptor: int) -> OSError | None:
    """Lock a file; return the error if the file is locked already."""
    try:
        if sys.platform == "win32":
            os.lseek(descriptor, BYTE, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            os.lseek(descriptor, 0, os.SEEK_SET)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error
    return None


def _is_at(path: str, descriptor: int) -> bool:
    """Return whether the open file is still at the path, because the last holder may have removed it."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _release(path: str, descriptor: int) -> None:
    with suppress(OSError):  # Windows does not remove open files
        if _is_at(path, descriptor):
            os.remove(path)
    _close(descriptor)


def _close(descriptor: int) -> None:
    _held.discard(descriptor)
    os.close(descriptor)


def _forget() -> None:
    for descriptor in [*_held]:
        _close(descriptor)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
