"""Kernels in which blocks of threads reduce together: all the statements of some rows, or a part of one reduction."""

from collections.abc import Collection, Iterator, Mapping

from xpgrad_cupy.fusion.launches import BlockKernel
from xpgrad_cupy.fusion.table import TYPES, reduction
from xpgrad_cupy.fusion.text import Scope
from xpgrad_fusion.statements import REDUCTIONS, Statement

NAME = "xpgrad_fused_blocks"
MAX_THREADS = 1024
ROW_THREADS = 128
"""Threads of a block that computes several short rows."""
PER_THREAD = 8
"""Elements of a row for each of its threads, as long as there are not too many threads."""
CHUNK, CHUNK_THREADS = 4096, 256
"""Elements that one block reduces, so that a thread adds up no more than 16 of them one after the other."""


def rows_kernel(
    scope: Scope, rows: int, columns: int, reductions: Collection[Statement], writes: Mapping[int, Statement]
) -> BlockKernel:
    """Return the kernel that computes `reductions` over the columns, and the statements that use their results.

    A row is computed by `lanes` threads of a block. Statements at level "row" and "one" are computed by each of these;
    those at "point" and "column" in loops: one loop for the reductions that can be computed together, and a last loop
    for results. Each loop computes the values that it needs again.
    """
    lanes = power_of_two(min(max(columns // PER_THREAD, 1), MAX_THREADS))
    slots = max(ROW_THREADS // lanes, 1)
    index = {"point": "i", "row": "row", "column": "j", "one": "0"}
    needed = scope.needed([*reductions, *writes.values()])
    depths = depths_of(needed)
    uniform = [s for s in needed if s.level in ("row", "one") and s not in reductions]
    loop = f"for (long long j = lane; j < {columns}; j += {lanes}) {{"
    place = f"const long long i = row * {columns} + j;"
    stops = {*reductions, *uniform}
    lines = [
        "const int lane = threadIdx.x, thread = threadIdx.y * blockDim.x + threadIdx.x;",
        f"const long long at = (long long)blockIdx.x * {slots} + threadIdx.y;",
        f"const long long row = at < {rows} ? at : {rows - 1};",  # all threads of a block meet at its barriers
    ]
    for depth in range(max(depths.values()) + 1):
        lines += scope.lines([s for s in uniform if depths[s] == depth], index)
        now = [s for s in reductions if depths[s] == depth + 1]
        if not now:
            continue
        lines += [line for s in now for line in declared(scope, s)]
        inner = scope.needed([s.operands[0] for s in now], stops)
        body = [place, *scope.lines(inner, index), *(accumulated(scope, s) for s in now)]
        lines += [loop, *body, "}"]
        lines += [line for s in now for line in joined(scope, s, lanes)]
    lines.append(f"if (at >= {rows}) return;")
    looped = {number: s for number, s in writes.items() if s.level in ("point", "column")}
    if looped:
        body = [place, *scope.lines(scope.needed(list(looped.values()), stops), index)]
        for number, s in looped.items():
            body.append(("" if s.level == "point" else "if (row == 0) ") + written(scope, number, s, index))
        lines += [loop, *body, "}"]
    for number, s in writes.items():
        if number not in looped:
            guard = "lane == 0" if s.level == "row" else "lane == 0 && row == 0"
            lines.append(f"if ({guard}) {written(scope, number, s, index)}")
    outputs = {number: s.dtype for number, s in writes.items()}
    source = source_of(lines, scope.reads, outputs, lanes * slots)
    return BlockKernel(source, NAME, tuple(scope.reads), tuple(outputs), -(-rows // slots), (lanes, slots))


def chunks_kernel(
    scope: Scope, s: Statement, segments: int, length: int, index: Mapping[str, str], write: int
) -> BlockKernel:
    """Return the kernel that reduces each chunk of `segments` segments of `length` elements each.

    It writes one result a chunk; the text of `index` may contain the element ``i`` of all, ``j`` of a segment, and the
    number ``segment``.
    """
    chunks = -(-length // CHUNK)
    lanes = min(CHUNK_THREADS, power_of_two(length))
    inner = scope.needed(s.operands)
    dtype = s.dtype if chunks == 1 else reduction(s.op, s.dtype).dtype
    lines = [
        "const int lane = threadIdx.x, thread = threadIdx.x;",
        f"const long long segment = blockIdx.x / {chunks}, first = (long long)(blockIdx.x % {chunks}) * {CHUNK};",
        f"const long long last = first + {CHUNK} < {length} ? first + {CHUNK} : {length};",
        *declared(scope, s),
        f"for (long long j = first + lane; j < last; j += {lanes}) {{",
        f"const long long i = segment * {length} + j;",
        *scope.lines(inner, index),
        accumulated(scope, s),
        "}",
        *joined(scope, s, lanes, dtype),
        f"if (lane == 0) y{write}[blockIdx.x] = {scope.names[s]};",
    ]
    source = source_of(lines, scope.reads, {write: dtype}, lanes)
    return BlockKernel(source, NAME, tuple(scope.reads), (write,), segments * chunks, (lanes, 1))


def depths_of(statements: Collection[Statement]) -> dict[Statement, int]:
    """Return for each statement how many reductions have to be done, one after the other, before it can be computed."""
    depths: dict[Statement, int] = {}
    for s in statements:
        before = max((depths.get(item, 0) for item in s.operands), default=0)
        depths[s] = before + (s.op in REDUCTIONS)
    return depths


def declared(scope: Scope, s: Statement) -> Iterator[str]:
    """Yield the declaration of a thread's partial result."""
    how = reduction(s.op, s.dtype)
    yield f"{TYPES[how.dtype]} r{scope.names[s]} = {how.identity};"


def accumulated(scope: Scope, s: Statement) -> str:
    """Return the line that adds an element."""
    how = reduction(s.op, s.dtype)
    kind, name = TYPES[how.dtype], scope.names[s]
    taken = f"const {kind} a = r{name}, b = ({kind}){scope.names[s.operands[0]]};"
    return f"{{ {taken} r{name} = {how.combined}; }}"


def joined(scope: Scope, s: Statement, lanes: int, dtype: str | None = None) -> Iterator[str]:
    """Yield the lines that combine the partial results of a row's threads in a fixed order."""
    how = reduction(s.op, s.dtype)
    kind, name, result = TYPES[how.dtype], scope.names[s], TYPES[dtype or s.dtype]
    yield f"{result} {name};"
    yield f"{{ {kind}* all = ({kind}*)shared; all[thread] = r{name}; __syncthreads();"
    yield f"for (int n = {lanes // 2}; n > 0; n /= 2) {{"
    yield f"if (lane < n) {{ const {kind} a = all[thread], b = all[thread + n]; all[thread] = {how.combined}; }}"
    yield "__syncthreads(); }"
    yield f"{name} = ({result})all[thread - lane]; __syncthreads(); }}"


def written(scope: Scope, number: int, s: Statement, index: Mapping[str, str]) -> str:
    """Return the line that writes a result."""
    return f"y{number}[{index[s.level]}] = {scope.names[s]};"


def source_of(lines: Collection[str], reads: Mapping[int, str], writes: Mapping[int, str], threads: int) -> str:
    """Return the source of a kernel."""
    params = [f"const {TYPES[dtype]}* __restrict__ x{number}" for number, dtype in reads.items()]
    params += [f"{TYPES[dtype]}* __restrict__ y{number}" for number, dtype in writes.items()]
    head = f'extern "C" __global__ void __launch_bounds__({threads}) {NAME}({", ".join(params)}) {{'
    return "\n".join([head, f"__shared__ double shared[{threads}];", *lines, "}", ""])


def power_of_two(number: int) -> int:
    """Return the least power of two that is not below `number`."""
    return 1 << (number - 1).bit_length()
