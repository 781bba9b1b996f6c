"""Running a compiler: in a new process group, with a time limit, and writing to one folder only."""

import contextlib
import os
import select
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import ClassVar

from xpgrad_c.cache import Cache

TIMEOUT = 120.0
"""Seconds after which a compiler counts as hanging."""
MAX_BYTES = 2**28
"""Maximum size of the output of a compiler, in bytes."""
TICK = 0.05  # seconds between two checks of a process
SHOWN = 2000  # characters of a compiler's messages in an error
SEARCHED = "PATH", "LD_LIBRARY_PATH"
"""Variables with directories in which a compiler looks for its programs and libraries."""
PASSED = "SDKROOT", "DEVELOPER_DIR", "MACOSX_DEPLOYMENT_TARGET"
"""Other variables that a compiler gets; none of those that change its results or its output."""
IN_DIRECTORY = 'cd -- "$0" && exec "$@"'
"""The script of the shell that starts a compiler in its directory."""


class BuildError(Exception):
    """A compiler has failed; the message gives the reason."""


class Closing(BuildError):
    """The interpreter ends."""


class Build:
    """A temporary folder, and the process that writes there. The context manager ends and removes both."""

    _lock = threading.Lock()
    _open: ClassVar["set[Build]"] = set()
    _closing = False

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self.folder = ""
        self._process: int | None = None

    def __enter__(self) -> "Build":
        with Build._lock:
            if Build._closing:
                raise Closing("the interpreter ends")
            self.folder = self._cache.temporary()
            Build._open.add(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """End the process, and remove the folder."""
        process, self._process = self._process, None
        if process is not None:
            kill(process)
        shutil.rmtree(self.folder, ignore_errors=True)
        Build._open.discard(self)

    def path(self, name: str) -> str:
        """Return the path of a file in the folder."""
        return os.path.join(self.folder, name)

    def write(self, name: str, content: bytes) -> str:
        """Write a file in the folder, and return its path."""
        with open(self.path(name), "xb") as file:
            file.write(content)
        return self.path(name)

    def run(self, command: list[str], timeout: float) -> str:
        """Run a command, and return its output.

        Raises
        ------
        BuildError
            It cannot be started, does not end in time, or fails.
        """
        output = self.path("output")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        environment = compiler_environment() | {"TMPDIR": self.folder}
        with Build._lock:
            if Build._closing:
                raise Closing("the interpreter ends")
            try:
                process = os.posix_spawn(
                    "/bin/sh",
                    ["/bin/sh", "-c", IN_DIRECTORY, self.folder, *command],
                    environment,
                    file_actions=[
                        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                        (os.POSIX_SPAWN_OPEN, 1, output, flags, 0o600),
                        (os.POSIX_SPAWN_DUP2, 1, 2),
                    ],
                    setpgroup=0,  # so that processes started by the compiler can be ended together
                )
            except OSError as error:
                raise BuildError(f"{command[0]} cannot be started: {error.strerror}") from None
            self._process = process
        code = self._wait(process, timeout, command[0])
        self._process = None
        with open(output, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - SHOWN))
            printed = file.read().decode(errors="replace").strip()
        if code:
            how = f"ended by signal {-code}" if code < 0 else f"failed with exit code {code}"
            raise BuildError(f"{command[0]} {how}: {printed or 'it printed nothing'}")
        return printed

    def _wait(self, process: int, timeout: float, name: str) -> int:
        """Return the exit code of the process; 0 if other code has already collected it."""
        ends = time.monotonic() + timeout
        with watched(process) as wait:
            while True:
                try:
                    found, status = os.waitpid(process, os.WNOHANG)
                except ChildProcessError:  # collected by a handler of SIGCHLD: the library is checked anyway
                    return 0
                if found:
                    return os.waitstatus_to_exitcode(status)
                if time.monotonic() > ends:
                    self.end()
                    raise BuildError(f"{name} did not end within {timeout:g} s")
                if size(self.folder) > MAX_BYTES:
                    self.end()
                    raise BuildError(f"{name} wrote more than {MAX_BYTES:,} bytes")
                wait(min(TICK, max(0.0, ends - time.monotonic())))

    @classmethod
    def close(cls) -> None:
        """End all builds, and begin no more: the interpreter ends."""
        with cls._lock:
            cls._closing = True
            for build in list(cls._open):
                build.end()

    @classmethod
    def forget(cls) -> None:
        """Forget the builds of the parent, in a forked process."""
        cls._lock = threading.Lock()
        cls._open = set()


def compiler_environment() -> dict[str, str]:
    """Return the environment of a compiler: absolute search paths, no variables that add files or flags."""
    kept = {name: os.environ[name] for name in PASSED if name in os.environ}
    searched = {name: absolute(os.environ.get(name, "")) for name in SEARCHED}
    return kept | {name: value for name, value in searched.items() if value} | {"LC_ALL": "C", "CCACHE_DISABLE": "1"}


def absolute(path: str) -> str:
    """Return a search path without its relative and empty entries, which name the current directory."""
    return os.pathsep.join(filter(os.path.isabs, path.split(os.pathsep)))


@contextlib.contextmanager
def watched(process: int) -> Iterator[Callable[[float], object]]:
    """Yield a function that waits for the end of a process, at most some seconds."""
    descriptor = -1
    with contextlib.suppress(AttributeError, OSError):
        descriptor = os.pidfd_open(process)
    try:
        if descriptor < 0:
            yield lambda seconds: time.sleep(min(seconds, 0.01))
            return
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        yield lambda seconds: poll.poll(seconds * 1e3)
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def kill(process: int) -> None:
    """End a process and its children, and wait at most a second for the process to end."""
    for stop in (os.killpg, os.kill):
        with contextlib.suppress(OSError):
            stop(process, signal.SIGKILL)
    ends = time.monotonic() + 1.0
    while time.monotonic() < ends:
        try:
            if os.waitpid(process, os.WNOHANG)[0]:
                return
        except ChildProcessError:
            return
        time.sleep(0.001)


def size(folder: str) -> int:
    """Return the number of bytes of the files in a folder."""
    total = 0
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            with contextlib.suppress(OSError):
                total += entry.stat(follow_symlinks=False).st_size
    return total
