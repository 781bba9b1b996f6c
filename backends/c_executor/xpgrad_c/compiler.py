"""`Compiler`: the C compiler of the machine, its flags, and whether it calls vector functions."""

import ctypes
import functools
import hashlib
import itertools
import json
import os
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from xpgrad_c.cache import Cache
from xpgrad_c.elf import check_dependencies
from xpgrad_c.functions import BINARY_LIBM
from xpgrad_c.generator import FLAGS, LIBRARIES
from xpgrad_c.process import TIMEOUT, Build, BuildError, absolute
from xpgrad_c.processor import machine_key

FORMAT = "1"
"""Version of the stored format."""
NAMES = "cc", "gcc", "clang"
ANSWER = 10.0  # seconds for a compiler to print its version
STANDARD = "-std=gnu11", "-w"
LINKED = "-shared", "-fPIC"
VECTOR = (), ("-fveclib=libmvec",)
"""Flags that make GCC and Clang call vector functions, if the declarations do not suffice."""
PROBED = "exp", "tanh", "erfc", "hypot", "pow"
"""Functions for which glibc added vector versions in successive releases; the last release has all of these."""
EXPONENTIAL = "expf"  # the function of the probe that `check_probe` calls


def probe_text(*, attribute: bool) -> str:
    """Return a source with a loop for some functions of libm, with a declaration that lets GCC use vectors."""
    head = '__attribute__((simd("notinbranch"))) ' if attribute else ""
    lines = []
    for name, (kind, suffix) in itertools.product(PROBED, (("float", "f"), ("double", ""))):
        count = 2 if name in BINARY_LIBM else 1
        given = ", ".join(["x[i]"] * count)
        lines.append(f"{head}{kind} {name}{suffix}({', '.join([kind] * count)});")
        lines.append(f"void probe_{name}{suffix}(const {kind} *x, {kind} *y, long n) {{")
        lines.append(f"#pragma omp simd\nfor (long i = 0; i < n; i++) y[i] = {name}{suffix}({given});\n}}")
    return "\n".join([*lines, ""])


@dataclass(frozen=True, slots=True)
class Compiler:
    """A compiler whose compiled probe ran correctly.

    Attributes
    ----------
    command : tuple of str
        The absolute path of the compiler, followed by the user's arguments.
    version : str
        The first line of the output of ``--version``.
    flags, libraries : tuple of str
        Arguments before and after the source.
    vector_math : bool
        Whether loops call vector versions of functions such as the exponential.
    """

    command: tuple[str, ...]
    version: str
    flags: tuple[str, ...]
    libraries: tuple[str, ...]
    vector_math: bool

    def key(self, text: str) -> str:
        """Return a name for the library compiled from a source on this machine."""
        made = [FORMAT, identity(self.command), self.version, *self.flags, *self.libraries, machine_key(), text]
        return hashlib.sha256("\0".join(made).encode()).hexdigest()

    def compile(self, text: str, build: Build, timeout: float = TIMEOUT) -> bytes:
        """Return the shared library of a source.

        Raises
        ------
        BuildError
            The compiler fails, or hangs.
        """
        source, library = build.write("source.c", text.encode()), build.path("library.so")
        build.run([*self.command, *self.flags, *LINKED, "-o", library, source, *self.libraries], timeout)
        try:
            with open(library, "rb") as file:
                return file.read()
        except OSError:
            raise BuildError(f"{self.command[0]} has made no library, and does not say why") from None


def candidates() -> Iterator[tuple[str, ...]]:
    """Yield the commands that may be compilers: ``CC``, then the usual names.

    Relative and empty entries of the search path are ignored, as is a ``CC`` with a relative path: a command in the
    current directory is not trusted.
    """
    seen, path = set(), absolute(os.environ.get("PATH", ""))
    try:
        own = tuple(shlex.split(os.environ.get("CC", "")))
    except ValueError:
        own = ()
    for words in (own, *((name,) for name in NAMES)):
        program = shutil.which(words[0], path=path) if words else None
        if program is not None and os.path.isabs(program) and (found := (program, *words[1:])) not in seen:
            seen.add(found)
            yield found


def identity(command: tuple[str, ...]) -> str:
    """Return a text that changes with the program that a command runs."""
    try:
        real = os.path.realpath(command[0])
        found = os.stat(real)
    except OSError:
        return " ".join(command)
    return f"{' '.join(command)}\n{real} {found.st_size} {found.st_mtime_ns}"


def record_name(command: tuple[str, ...]) -> str:
    """Return the name of the cache file that describes a compiler."""
    made = "\0".join([FORMAT, identity(command), *FLAGS, *STANDARD, probe_text(attribute=True), machine_key()])
    return f"compiler-{hashlib.sha256(made.encode()).hexdigest()}.json"


def known(cache: Cache) -> Compiler | None:
    """Return the compiler stored by an earlier process, without starting a compiler."""
    for command in candidates():
        data = cache.read(record_name(command))
        if data is not None:
            try:
                facts = json.loads(data)
                return Compiler(
                    tuple(facts["command"]),
                    facts["version"],
                    tuple(facts["flags"]),
                    tuple(facts["libraries"]),
                    facts["vector_math"],
                )
            except (KeyError, TypeError, ValueError):
                continue
    return None


def found(cache: Cache, timeout: float = TIMEOUT) -> Compiler:
    """Return the first compiler that works, and store its description.

    Raises
    ------
    BuildError
        No compiler works; the message contains the error of each candidate.
    OSError
        The folder of the cache cannot be used.
    """
    why = []
    cache.create()
    for command in candidates():
        try:
            with Build(cache) as build:
                compiler = probed(command, build, timeout)
                content = json.dumps(asdict(compiler)).encode()
                cache.write(record_name(command), content, build.folder)
            return compiler
        except BuildError as error:
            why.append(str(error))
    raise BuildError("; ".join(why) or f"no C compiler: {', '.join(NAMES)} are not on the path, and CC is not set")


def probed(command: tuple[str, ...], build: Build, timeout: float) -> Compiler:
    """Return the compiler of a command, after a compiled function has returned correct results."""
    version = next(iter(build.run([*command, "--version"], min(ANSWER, timeout)).splitlines()), "")
    failure: BuildError | None = None
    for number, (extra, libraries, vector) in enumerate(_variants()):
        flags = (*FLAGS, *STANDARD, *extra)
        source = build.write(f"probe{number}.c", probe_text(attribute=vector and not extra).encode())
        library = build.path(f"probe{number}.so")
        try:
            build.run([*command, *flags, *LINKED, "-o", library, source, *libraries], timeout)
            has_vectors = check_probe(library)
        except BuildError as error:
            if not os.path.isdir(build.folder):  # it was ended
                raise
            failure = error
            continue
        if vector and not has_vectors:
            continue
        return Compiler(command, version, flags, libraries, vector)
    raise failure or BuildError(f"{command[0]} cannot compile")


def _variants() -> Iterator[tuple[tuple[str, ...], tuple[str, ...], bool]]:
    for extra in VECTOR:
        yield extra, LIBRARIES, True
    yield (), ("-lm",), False


def check_probe(path: str) -> bool:
    """Return whether the compiled probe calls vector functions; raise `BuildError` if it does not compute."""
    try:
        with open(path, "rb") as file:
            content = file.read()
        check_dependencies(content)
        has_vectors = b"_ZGV" in content
        library = ctypes.CDLL(path)
        count = 19
        x, y = (ctypes.c_float * count)(*(0.25 * i - 2.0 for i in range(count))), (ctypes.c_float * count)()
        getattr(library, f"probe_{EXPONENTIAL}")(x, y, ctypes.c_long(count))
    except (OSError, AttributeError, ValueError) as error:
        raise BuildError(f"the library that the compiler wrote cannot be loaded: {error}") from None
    for given, result in zip(x, y, strict=True):
        expected = 2.718281828459045**given
        if not abs(result - expected) <= 1e-5 * expected:
            raise BuildError(f"the library that the compiler wrote computes exp({given:g}) = {result:g}")
    return has_vectors


@functools.cache
def supported() -> str | None:
    """Return why this platform cannot run compiled code, or None."""
    if not hasattr(os, "posix_spawn") or not hasattr(os, "geteuid"):
        return "it needs a POSIX system"
    if ctypes.sizeof(ctypes.c_void_p) != 8 or ctypes.sizeof(ctypes.c_long) != 8:
        return "it needs a 64-bit system"
    return None
