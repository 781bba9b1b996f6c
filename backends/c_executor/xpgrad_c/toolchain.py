"""`Toolchain`: the compiler, cache, loaded libraries and failures of a process."""

import contextlib
import json
import os
import time
from collections import deque
from dataclasses import dataclass

from xpgrad_c.cache import Cache, default_directory
from xpgrad_c.compiler import Compiler, found, known, supported
from xpgrad_c.elf import check_dependencies
from xpgrad_c.library import SharedLibrary
from xpgrad_c.process import TIMEOUT, Build, BuildError, Closing

FAILURES = 3
"""Consecutive failures after which no further library is compiled."""
LAST_FAILURE = "last-failure.json"


@dataclass(frozen=True, slots=True)
class ToolchainState:
    """ToolchainState of compilation in a process.

    Attributes
    ----------
    off : str or None
        The reason why compilation is disabled, if it is disabled.
    compiler : Compiler or None
        None before the first use.
    folder : str
        The folder of the cache.
    loaded : int
        Number of libraries loaded in this process.
    failures : tuple of str
        The latest failures in this process.
    """

    off: str | None
    compiler: Compiler | None
    folder: str
    loaded: int
    failures: tuple[str, ...]


class Toolchain:
    """A compiler, and a cache for the compiled libraries.

    Parameters
    ----------
    cache : Cache
    timeout : float
        Seconds for one run of the compiler.
    """

    def __init__(self, cache: Cache, timeout: float = TIMEOUT) -> None:
        self.cache, self.timeout = cache, timeout
        self.off: str | None = supported()
        self.failures: deque[str] = deque(maxlen=8)
        self._compiler: Compiler | None = None
        self._libraries: dict[str, SharedLibrary] = {}
        self._failed = 0

    def known_compiler(self) -> Compiler | None:
        """Return the compiler, if it is known without starting it."""
        if self._compiler is None and self.off is None:
            self._compiler = known(self.cache)
        return self._compiler

    def compiler(self) -> Compiler | None:
        """Return the compiler, searching for it if necessary; None if no compiler works."""
        if self.known_compiler() is None and self.off is None:
            try:
                self._compiler = found(self.cache, self.timeout)
            except Closing:
                raise
            except (BuildError, OSError) as error:
                self.off = str(error)
                self._note(str(error))
        return self._compiler

    def loaded(self, compiler: Compiler, text: str) -> SharedLibrary | None:
        """Return the library of a source if any process has compiled it, else None."""
        return self.stored(compiler.key(text))

    def stored(self, key: str) -> SharedLibrary | None:
        """Return the library with a key of `Compiler.key`, or None."""
        library = self._libraries.get(key)
        if library is None and (content := self.cache.read(f"{key}.so")) is not None:
            with (
                contextlib.suppress(BuildError, OSError, AttributeError),
                Build(self.cache) as build,
            ):  # a library that cannot be loaded is compiled again
                library = self._load(key, content, build)
        return library

    def _load(self, key: str, content: bytes, build: Build) -> SharedLibrary:
        """Load a library from a copy that no other process can change between its check and now."""
        try:
            check_dependencies(content)
        except ValueError as error:
            raise BuildError(f"a compiled library cannot be loaded: {error}") from None
        return self._libraries.setdefault(key, SharedLibrary(build.write("checked.so", content)))

    def made(self, compiler: Compiler, text: str) -> SharedLibrary | None:
        """Return the library of a source, compiled if necessary; None after a failure, which is recorded."""
        library = self.loaded(compiler, text)
        if library is not None or self.off is not None:
            return library
        key = compiler.key(text)
        try:
            self.cache.create()
            with Build(self.cache) as build:
                content = compiler.compile(text, build, self.timeout)
                library = self._load(key, content, build)
                self.cache.write(f"{key}.so", content, build.folder)
        except Closing:
            raise
        except (BuildError, OSError, AttributeError) as error:
            self._failed += 1
            text = str(error)
            if "did not end" in text or self._failed >= FAILURES:
                self.off = text
            self._note(text)
            return None
        self._failed = 0
        return library

    def _note(self, text: str) -> None:
        self.failures.append(text)
        content = json.dumps({"text": text, "time": time.time()}).encode()
        with contextlib.suppress(BuildError, OSError), Build(self.cache) as build:
            self.cache.write(LAST_FAILURE, content, build.folder)

    def last_failure(self) -> tuple[str, float] | None:
        """Return the text and the time of the last failure of any process."""
        data = self.cache.read(LAST_FAILURE)
        try:
            found = json.loads(data or b"")
            return str(found["text"]), float(found["time"])
        except (KeyError, TypeError, ValueError):
            return None

    def state(self) -> ToolchainState:
        """Return the state of compilation in this process."""
        return ToolchainState(self.off, self._compiler, self.cache.path, len(self._libraries), tuple(self.failures))


_toolchains: dict[tuple[str, str, str], Toolchain] = {}


def toolchain() -> Toolchain:
    """Return the toolchain of this process, for the folder and the compilers that the environment names."""
    key = default_directory(), os.environ.get("CC", ""), os.environ.get("PATH", "")
    found = _toolchains.get(key)
    return _toolchains.setdefault(key, Toolchain(Cache(key[0]))) if found is None else found
