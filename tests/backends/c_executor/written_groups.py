"""Groups of statements, by hand or random, their values in NumPy, and their compiled C source."""

import ctypes
import functools
import itertools
import shutil
import subprocess

import numpy as np
from tests.backends.fusion.reference import evaluate
from tests.backends.fusion.written import Writer

from xpgrad_c.generator import FLAGS, LIBRARIES, PLACEHOLDER, generate

COMPILER = shutil.which("cc") or shutil.which("gcc")
QUIET = "-Wno-unused-variable", "-Wno-psabi", "-Wno-aggressive-loop-optimizations"
"""Warnings that are no faults: vectors wider than the processor's, and a loop that is said to pass its 48 levels."""
_COUNTER = itertools.count()


@functools.cache
def vector_math():
    """Whether there are a C compiler and glibc's functions for vectors."""
    if COMPILER is None:
        return False
    text = "void *_ZGVbN4v_tanhf(void); int main(void) { return !_ZGVbN4v_tanhf; }"
    command = [COMPILER, "-x", "c", "-", "-o", "/dev/null", *LIBRARIES]
    return not subprocess.run(command, input=text, text=True, capture_output=True, check=False).returncode


def interpreted(fused, arrays):
    """Return the results of a group, statement by statement in NumPy, as the arrays of one axis that C writes."""
    return [y.reshape(-1) for y in evaluate(fused, *arrays)]


class Compiled:
    """A group in C, compiled. Memory that it does not set is not zero."""

    def __init__(self, fused, folder, *, flags=()):
        self.fused, self.source = fused, generate(fused, "run")
        assert self.source is not None
        path = folder / "group.c"
        path.write_text(self.source.text.replace(PLACEHOLDER, "run"))
        library = folder / f"group_{next(_COUNTER)}.so"  # of one path the system loads one
        command = [COMPILER, *FLAGS, *flags, "-Wall", "-Werror", *QUIET]
        subprocess.run([*command, "-shared", "-fPIC", "-o", library, path, *LIBRARIES], check=True)
        self.library = ctypes.CDLL(str(library))
        self.library.run.argtypes = [ctypes.c_void_p, ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        self.library.run.restype = None

    def __call__(self, arrays, spans=None):
        """Return the outputs; `spans` are the chunks of each call where the function is called more than once."""
        fused, source = self.fused, self.source
        outputs = []
        for output, result in zip(fused.outputs, fused.results, strict=True):
            count = output.spec.size * np.dtype(result.dtype).itemsize
            outputs.append(np.full(count, 0xFF, np.uint8).view(result.dtype))
        addresses = [array.ctypes.data for array in [*arrays, *outputs]]
        pointers = (ctypes.c_void_p * len(addresses))(*addresses)
        partials = Memory(source.partials)
        for first, last in spans or [(0, source.chunks)]:
            scratch = Memory(source.scratch)
            self.library.run(pointers, first, last, scratch.address, partials.address)
            scratch.check()
        if source.ends:
            self.library.run_end.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
            self.library.run_end(pointers, partials.address)
        partials.check()
        return outputs


class Memory:
    """Memory aligned to 64 bytes and filled with ones, with a guard of some bytes behind it."""

    def __init__(self, size):
        memory = np.full(size + 64 + 256, 0xFF, np.uint8)
        start = -memory.ctypes.data % 64
        self.behind, self.address = memory[start + size :], memory.ctypes.data + start

    def check(self):
        assert (self.behind == 0xFF).all(), "it wrote behind the end of its memory"


def random_group(rng, rows, columns, count):
    """Return a group of whole numbers, small enough that sums and products are exact, and its inputs."""
    writer = Writer(rows, columns)
    early, late = [], []  # values that may be used anywhere, and values known after the last chunk

    def data(size):
        dtype = rng.choice(["float32", "float64", "int32", "int8", "uint16", "bool"])
        return rng.integers(0, 2, size).astype(bool) if dtype == "bool" else rng.integers(0, 9, size).astype(dtype)

    for level in ("point", "point", "row", "column", "one"):
        early.append(writer.load(data(writer.shape(level)), level))
    number = writer.array(data(11))
    early.append(writer.element(number, int(rng.integers(11))))
    for _ in range(count):
        pool = late if late and rng.random() < 0.15 else early
        x = pool[max(0, len(pool) - 1 - int(rng.exponential(6)))]
        pick = rng.random()
        if pick < 0.15:
            y, pool = _reduction(rng, writer, x, early, late)
        elif pick < 0.3:
            other = rng.choice(["float32", "float64", "int32", "bool"])
            if x.dtype.startswith("float") and other == "int32":
                other = "float64"
            y = writer.cast(x, dtype=other)
        elif pick < 0.4:
            y = _unary(rng, writer, x)
        else:
            same = [item for item in (early if pool is early else [*early[-9:], *late]) if item.dtype == x.dtype]
            if pool is late:
                same = [item for item in same if item.level in ("one", "column")]
            other = same[int(rng.integers(len(same)))] if same else x
            y = _binary(rng, writer, x, other, [item for item in pool if item.dtype == "bool"])
        if y.dtype.startswith("float"):
            y = writer.maximum(writer.minimum(y, 9.0), -9.0)
        pool.append(y)
    everything = [*early[-count // 2 :], *late]
    results = [everything[int(i)] for i in rng.integers(len(everything), size=4)] + [everything[-1]]
    if rng.random() < 0.3:
        ones = [item for item in everything if item.level == "one" and item.dtype == "float32"]
        if ones:
            results.append(writer.scatter(37, [int(i) for i in rng.integers(37, size=len(ones))], *ones))
    levels = [
        rng.choice(["point", item.level]) if item in early and item.level != "array" else item.level for item in results
    ]
    return writer.fused(*results, levels=levels), writer.arrays


def _reduction(rng, writer, x, early, late):
    levels = {"point": ["row", "column", "one"], "row": ["one"], "column": ["one"], "one": ["one"]}[x.level]
    level = rng.choice(levels)
    op = rng.choice(["sum", "max", "min", "prod"])
    if x.dtype == "bool":
        x = x if op in ("max", "min") else writer.cast(x, dtype="int32")
    if op == "prod" and x.dtype.startswith("float"):
        x = writer.sign(x)
    # Operands of a row, or of a loop over columns of one number each, must not wait for other rows.
    ends = x in late or (x.level in ("point", "row") and level != "row" and writer.rows > 1)
    if x.op in ("sign", "cast") and any(item in late for item in x.operands):
        ends = True
    return writer(op, x, level=level), late if ends else early


def _unary(rng, writer, x):
    if x.dtype == "bool":
        return writer(rng.choice(["logical_not", "bitwise_invert"]), x)
    names = ["negative", "abs", "square", "sign", "logical_not", "isnan"]
    if x.dtype.startswith("float"):
        names += ["floor", "isfinite", "signbit"]
    elif x.dtype.startswith("u"):
        names = ["square", "logical_not", "bitwise_invert"]
    return writer(rng.choice(names), x)


def _binary(rng, writer, x, other, bools):
    if x.dtype == "bool":
        names = ["bitwise_and", "bitwise_or", "logical_xor", "equal", "maximum"]
    else:
        names = ["add", "subtract", "multiply", "maximum", "minimum", "less", "equal", "logical_and"]
        if bools and rng.random() < 0.3:
            return writer.where(bools[int(rng.integers(len(bools)))], x, other)
    return writer(rng.choice(names), x, other)
