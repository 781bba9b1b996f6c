"""`Written`: a C library whose source is a text, compiled for later processes."""

import dataclasses
import threading

from xpgrad_c.background import background
from xpgrad_c.compiler import Compiler
from xpgrad_c.disabling import disabled
from xpgrad_c.glue import GLUE
from xpgrad_c.library import SharedLibrary
from xpgrad_c.process import Closing
from xpgrad_c.toolchain import Toolchain, toolchain


class Written:
    """A library whose functions are called by address.

    At its first use a process checks the disk for the library, once. A missing library is compiled in the background
    and serves the next process, so that no result depends on how long a compiler takes.

    Parameters
    ----------
    text : str
        The source.
    flags : tuple of str
        Further flags for the compiler.
    """

    def __init__(self, text: str, flags: tuple[str, ...] = ()) -> None:
        self._text, self._flags = text + GLUE, flags
        self._lock = threading.Lock()
        self._decided = False
        self._library: SharedLibrary | None = None

    def library(self) -> SharedLibrary | None:
        """Return the library, or None for the whole process."""
        if not self._decided:
            with self._lock:
                if not self._decided:
                    self._library = self._stored()
                    self._decided = True
        return self._library

    def _stored(self) -> SharedLibrary | None:
        tools = toolchain()
        if disabled() is not None or tools.off is not None:
            return None
        compiler = tools.known_compiler()
        found = None if compiler is None else tools.loaded(self._with_flags(compiler), self._text)
        if found is None:
            background.submit(lambda: self._compile(tools))
        return found

    def build(self) -> bool:
        """Compile the library unless it is on the disk; return whether this was possible."""
        return disabled() is None and self._compile(toolchain())

    def _compile(self, tools: Toolchain) -> bool:
        try:
            compiler = tools.compiler()
            return compiler is not None and tools.made(self._with_flags(compiler), self._text) is not None
        except Closing:
            return False

    def _with_flags(self, compiler: Compiler) -> Compiler:
        return dataclasses.replace(compiler, flags=(*compiler.flags, *self._flags))
