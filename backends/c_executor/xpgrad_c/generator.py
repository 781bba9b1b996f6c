"""The C source of a fused group.

The space of a group is computed in chunks, and a chunk in blocks of columns or row by row. The nodes of a group fall in
three phases: scalars and values per column that every chunk needs, values per row or point, and values known after
the last chunk, when partial results of reductions are combined in the order of their indices. So results do not
depend on how chunks are shared among threads.
"""

from dataclasses import dataclass, field

from xpgrad_c.functions import ITEMSIZES, SELECT, has_row, prototype
from xpgrad_c.nodes import EFFECTS, LEAVES, Node, NodeSpace, nodes_of
from xpgrad_c.phases import Phase, bytes_of
from xpgrad_c.pieces import PieceWriter, Places
from xpgrad_c.reductions import STORED, identity, reduction
from xpgrad_fusion.group import Fused
from xpgrad_fusion.statements import REDUCTIONS

__all__ = ["FLAGS", "LIBRARIES", "GroupSource", "generate", "has_row"]

FLAGS = (
    *("-O3", "-march=native", "-fopenmp-simd", "-fwrapv", "-fno-strict-aliasing"),
    *("-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"),
    *(f"-fno-builtin-{name}" for name in ("sin", "sinf", "cos", "cosf")),
)
"""Flags of the compiler, except those for shared libraries; results follow all rules of floating point.

gcc would replace the sine and cosine of a number by one call of `sincos`, which has no vector version.
"""

LIBRARIES = ("-lmvec", "-lm")
"""Linked libraries; without vector math only ``-lm``."""

PLACEHOLDER = "GROUP"
"""The name of the functions in `GroupSource.text`."""

CHUNK = 32768
"""Minimum number of elements of a chunk."""
KEPT = 2**18
"""Limit of the bytes that a block keeps between loops, except for the smallest blocks."""

# Pieces pass values in memory; gcc 12, if it optimizes several pieces together, drops some of the stores.
PRELUDE = """\
#include <stdint.h>
#include <string.h>
#ifndef XPGRADPRELUDE
#define XPGRADPRELUDE
#if defined(__GNUC__) && !defined(__clang__)
#define PIECE static __attribute__((noipa))
#else
#define PIECE static __attribute__((noinline))
#endif
{select}#endif
{prototypes}"""


@dataclass(frozen=True, slots=True)
class GroupSource:
    """C source of a group.

    ``void NAME(char *const *arrays, long first, long last, char *scratch, char *partials)`` computes the chunks from
    `first` to before `last`, and ``void NAME_end(char *const *arrays, char *partials)`` the steps after the last chunk.
    `arrays` has the addresses of the inputs and then of the outputs.

    Attributes
    ----------
    name : str
        Of the functions.
    text : str
        A complete source, in which `PLACEHOLDER` marks the name. One file may contain several such texts.
    chunks : int
        Number of chunks of the space, which may run in any order and concurrently.
    scratch : int
        Bytes of memory, aligned to 64 bytes, that each concurrent call needs.
    partials : int
        Bytes of memory, aligned to 64 bytes, that all chunks of one computation share.
    ends : bool
        Whether ``NAME_end`` must be called after the last chunk.
    """

    name: str
    text: str
    chunks: int
    scratch: int
    partials: int
    ends: bool


def generate(fused: Fused, name: str, *, vector_math: bool = True) -> GroupSource | None:
    """Return the C source of a group, or None if a statement has no row.

    Parameters
    ----------
    fused : Fused
    name : str
        Name of the C functions, on which the text does not depend.
    vector_math : bool
        Whether the C library has glibc's functions for vectors. Without, functions of libm have no row.
    """
    if fused.rows * fused.columns == 0 or not all(has_row(item, vector_math=vector_math) for item in fused.statements):
        return None
    space = nodes_of(fused)
    if space is None:
        return None
    return _Generator(space, len(fused.inputs), vector_math=vector_math).source(name)


@dataclass(slots=True)
class _Memory:
    """Allocator of scratch memory."""

    size: int = 0
    free: dict[int, list[int]] = field(default_factory=dict)

    def take(self, size: int) -> int:
        if self.free.get(size):
            return self.free[size].pop()
        if size == 8:  # eight numbers in 64 bytes, so that rows stay aligned
            self.free[8] = [self.size + 8 * i for i in range(7, 0, -1)]
            self.size += 64
            return self.size - 64
        self.size += size
        return self.size - size

    def give(self, offset: int, size: int) -> None:
        self.free.setdefault(size, []).append(offset)


class _Generator:
    def __init__(self, space: NodeSpace, inputs: int, *, vector_math: bool) -> None:
        self.space, self.inputs, self.vector_math = space, inputs, vector_math
        self.outputs: dict[Node, list[int]] = {}
        for number, node in enumerate(space.outputs):
            if node.op not in EFFECTS:
                self.outputs.setdefault(node, []).append(number)
        self.first, self.main, self.end = self._phases()
        rows, columns = space.rows, space.columns
        if space.flat:
            self.group = self._block()  # columns or rows per partial result
            per_chunk = max(1, CHUNK // self.group)
            self.groups = -(-columns // self.group)
        else:
            self.group = min(64, max(8, -(-CHUNK // columns)), rows)
            per_chunk = max(1, CHUNK // (self.group * columns))
            self.groups = -(-rows // self.group)
        if not self.main.nodes:
            self.groups = 1
        self.per_chunk = min(per_chunk, self.groups)
        self.chunks = -(-self.groups // self.per_chunk)

    def _phases(self) -> tuple[Phase, Phase, Phase]:
        """Return the phases at the head of each chunk, in the chunk, and after the last chunk."""
        nodes = self.space.nodes
        effects = {node for node in nodes if node.op in EFFECTS}
        wanted = {node for node in self.space.outputs if not _inside(node)}
        end = _closure(nodes, wanted | {node for node in effects if not _inside(node)}, late=True)
        wanted = {node for node in self.space.outputs if _inside(node)} | {node for node in end if node.terminal}
        inside = _closure(nodes, wanted | {node for node in effects if _inside(node)})
        before = [node for node in inside if not _inside(node) and not node.terminal]
        first = Phase(before, set())
        outside = {node for node in before if not (node.vector and first.again(node))}
        main = Phase([node for node in inside if _inside(node) or node.terminal], outside)
        return Phase(_closure(nodes, outside), set()), main, Phase(end, set(), last=True)

    def _block(self) -> int:
        """Return the number of columns per block of a flat space."""
        for block in (4096, 2048, 1024, 512):
            memory = _Memory()
            self._place(self.main, memory, block)
            if memory.size <= KEPT:
                break
        return min(block, self.space.columns)

    def _place(self, phase: Phase, memory: _Memory, count: int) -> dict[Node, int]:
        """Return the offsets in `memory` of the values of `count` columns that a phase keeps."""
        offsets: dict[Node, int] = {}
        ends: dict[int, list[Node]] = {}
        for node, last in phase.kept.items():
            ends.setdefault(last, []).append(node)
        for number, piece in enumerate(phase.pieces):
            for node in piece.nodes:
                stored = node in self.outputs and (phase.last or _inside(node))
                if node in phase.kept and not stored and not (node.terminal and node.vector):
                    offsets[node] = memory.take(bytes_of(node.dtype, count) if node.vector else 8)
            for node in ends.get(number, ()):
                if node in offsets and node.vector:
                    memory.give(offsets[node], bytes_of(node.dtype, count))
        return offsets

    def source(self, name: str) -> GroupSource:
        """Return the C source."""
        space, columns = self.space, self.space.columns
        terminals = [node for node in self.main.nodes if node.terminal]
        scratch, partials = _Memory(), 0
        first = Places(columns, str(columns), self.inputs)
        width = "n" if space.flat and self.groups > 1 else str(columns)
        main, end = Places(columns, width, self.inputs), Places(columns, str(columns), self.inputs)
        for node in self.first.nodes:
            if node in self.first.kept or node in self.main.outside:
                first.offsets[node] = scratch.take(bytes_of(node.dtype, columns if node.vector else 1))
        main.outputs = {node: numbers for node, numbers in self.outputs.items() if _inside(node)}
        end.outputs = {node: numbers for node, numbers in self.outputs.items() if not _inside(node)}
        for node in terminals:
            size, each = ITEMSIZES[node.dtype], columns if node.level == "column" else 1
            end.partials[node], end.counts[node] = f"(partials + {partials})", self.groups
            if space.flat:
                main.partial[node] = f"(partials + {partials} + start / {self.group} * {size})"
            elif node.level == "column":
                main.partial[node] = f"(partials + {partials} + row / {self.group} * {columns * size})"
            else:
                main.partials[node] = f"(s + {scratch.take(bytes_of(node.dtype, self.group))})"
                main.partial[node] = f"({main.partials[node]} + row % {self.group} * {size})"
            partials += bytes_of(node.dtype, self.groups * each)
        main.offsets = {**first.offsets, **self._place(self.main, scratch, self.group if space.flat else columns)}
        after = _Memory()
        end.offsets = {**self._place(self.end, after, columns)}
        functions: list[str] = []
        calls = [
            self._pieces(phase, places, letter, functions)
            for phase, places, letter in ((self.first, first, "a"), (self.main, main, "b"), (self.end, end, "c"))
        ]
        ends = bool(self.end.pieces)
        if ends:
            functions.append(
                f"void {PLACEHOLDER}_end(char *const *arrays, char *partials) {{\nchar *s = partials + {partials};\n"
                f"const long row = 0, start = 0, n = {columns};\n{calls[2]}}}\n"
            )
        body = self._flat(calls[1]) if space.flat else self._by_rows(calls[1], terminals, end, main)
        finish = f"if (first < last) {PLACEHOLDER}_end(arrays, partials);\n" if ends and self.chunks == 1 else ""
        before = f"{{\nconst long row = 0, start = 0, n = {columns};\n{calls[0]}}}\n" if calls[0] else ""
        functions.append(
            f"void {PLACEHOLDER}(char *const *arrays, long first, long last, char *s, char *partials) {{\n"
            f"{before}{body if self.main.nodes else ''}{finish}}}\n"
        )
        text = PRELUDE.format(select=SELECT, prototypes=self._prototypes()) + self._helpers() + "\n".join(functions)
        return GroupSource(name, text, self.chunks, scratch.size, partials + after.size, ends and self.chunks > 1)

    def _pieces(self, phase: Phase, places: Places, letter: str, functions: list[str]) -> str:
        """Append the C functions of a phase, and return C code that calls these functions."""
        calls = ""
        for number in range(len(phase.pieces)):
            name = f"{PLACEHOLDER}_{letter}{number}"
            functions.append(PieceWriter(phase, number, places).text(name))
            calls += f"{name}(arrays, s, partials, row, start, n);\n"
        return calls

    def _flat(self, calls: str) -> str:
        columns, block = self.space.columns, self.group
        chunk = self.per_chunk * block
        return (
            f"const long row = 0, stop = last * {chunk} < {columns} ? last * {chunk} : {columns};\n"
            f"for (long start = first * {chunk}; start < stop; start += {block}) {{\n"
            f"const long n = stop - start < {block} ? stop - start : {block};\n{calls}}}\n"
        )

    def _by_rows(self, calls: str, terminals: list[Node], end: Places, main: Places) -> str:
        rows, columns, group = self.space.rows, self.space.columns, self.group
        head = tail = ""
        for node in terminals:
            kept = f"(({STORED[node.dtype]} *){end.partials[node]})"
            if node.level == "column":
                head += (
                    f"for (long i = 0; i < {columns}; i++) "
                    f"{kept}[group * {columns} + i] = {identity(node.op, node.dtype)};\n"
                )
            else:
                of_rows = f"({STORED[node.dtype]} *){main.partials[node]}"
                tail += f"{kept}[group] = {node.op}_{node.dtype}({of_rows}, stop - group * {group});\n"
        return (
            f"const long start = 0, n = {columns};\n"
            f"for (long group = first * {self.per_chunk}; group < last * {self.per_chunk} && group < {self.groups}; "
            f"group++) {{\nconst long stop = (group + 1) * {group} < {rows} ? (group + 1) * {group} : {rows};\n{head}"
            f"for (long row = group * {group}; row < stop; row++) {{\n{calls}}}\n{tail}}}\n"
        )

    def _prototypes(self) -> str:
        found = {prototype(node.op, node.operands[0].dtype) for node in self.space.nodes if node.operands}
        attribute = '__attribute__((simd("notinbranch"))) ' if self.vector_math else ""
        return "".join(f"{attribute}{text}\n" for text in sorted(found) if text)

    def _helpers(self) -> str:
        return "".join(
            reduction(*pair) for pair in sorted({(n.op, n.dtype) for n in self.space.nodes if n.op in REDUCTIONS})
        )


def _inside(node: Node) -> bool:
    """Whether a node has a number a row, or at each point."""
    return node.level in ("row", "point")


def _closure(nodes: list[Node], wanted: set[Node], *, late: bool = False) -> list[Node]:
    """Return, in order, `wanted` and the nodes they need; if `late`, without operands of terminal reductions."""
    found = set(wanted)
    for node in reversed(nodes):
        if node in found and not (late and node.terminal):
            found.update(node.operands)
    return [node for node in nodes if node in found and node.op not in LEAVES]
