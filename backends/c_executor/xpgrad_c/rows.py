"""C source of a library's kernels for arrays with any number of rows and columns.

A kernel has the statements of its default body. It calls the array library's loops for functions of libm, on one row
or block in the cache, and adds in the order of the library's sums, so that results are bitwise equal to the default
body, for any number of threads.
"""

from collections.abc import Sequence
from typing import NamedTuple

from xpgrad.plugin import Backend, RowKernel
from xpgrad.transforms.trace.calls import Value
from xpgrad_c.functions import C_TYPES, ITEMSIZES, ROWS, SELECT, has_row
from xpgrad_c.generator import PRELUDE
from xpgrad_c.nodes import LEAVES, Node, nodes_of
from xpgrad_c.phases import Phase
from xpgrad_c.pieces import PARAMETERS, PieceWriter, Places
from xpgrad_c.reductions import reduction
from xpgrad_fusion.group import Fused
from xpgrad_fusion.space import Space, Unfusible
from xpgrad_fusion.statements import REDUCTIONS, Statement
from xpgrad_fusion.symbols import Builder, Symbol

EXAMPLE = {"point": (1021, 1031), "row": (1021, 1), "column": (1031,), "one": ()}
"""Shapes with which a body is called; a constant equal to the number of columns depends on the shape."""
COUNT = 1031.0
BLOCK = 1024
"""Columns that are computed before the next ones, where they are independent."""
APART = 320
"""Bytes between values of a row: at the same place in two pages, what is read next waits for what is written."""
CALLED = frozenset(op for op, row in ROWS.items() if row.vector and op not in ("pow", "atan2", "hypot"))
"""Functions that are computed by the library's loops."""
SIZES = ", long columns, long stride"
ADDED = "char *const *arrays, char *s, long row, long start, long columns, long stride"
ADDED_ARGUMENTS = "arrays, s, row, start, columns, stride"
"""What a function that adds along a row takes, and what it is called with."""
SUMMED = 8
"""Operands of a sum with at most this many cheap operations on stored values are computed while they are added."""

# Blocks of up to 128 numbers in eight sums each, and pairs of blocks: the order of NumPy's sums along a row.
_PAIRWISE = """\
#define {name}_at(place) ({{ const long i = place; {body} {value}; }})
static {type} {name}_pair({parameters}, long first, long n) {{
    {head}
    if (n < 8) {{
        {type} y = -0.0;
        for (long at = 0; at < n; at++) y += {name}_at(first + at);
        return y;
    }}
    if (n <= 128) {{
        {type} r[8];
        long at = 8;
        for (int k = 0; k < 8; k++) r[k] = {name}_at(first + k);
        for (; at < n - n % 8; at += 8)
            for (int k = 0; k < 8; k++) r[k] += {name}_at(first + at + k);
        {type} y = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
        for (; at < n; at++) y += {name}_at(first + at);
        return y;
    }}
    const long half = n / 2 / 8 * 8;
    return {name}_pair({arguments}, first, half) + {name}_pair({arguments}, first + half, n - half);
}}
static {type} {name}({parameters}, long n) {{ return 0 + {name}_pair({arguments}, 0, n); }}
"""
_EACH = """\
int {name}_each(char *const *arrays, const long *sizes, long count, long width) {{
    for (long i = 0; i < count; i++)
        if (!{name}(arrays + i * width, 1, sizes[i], 0, sizes[i])) return 0;
    return 1;
}}
"""
_LOOPS = """\
static struct {{ void (*run)(char **, const long *, const long *, void *); void *data; }} loops[{count}];
void set_loop(long number, void *run, void *data) {{
    loops[number].run = (void (*)(char **, const long *, const long *, void *))run;
    loops[number].data = data;
}}
"""
_LOOP = """\
static void {op}_{dtype}_n(const {type} *x, {type} *y, long n) {{
    char *arrays[2] = {{(char *)x, (char *)y}};
    const long steps[2] = {{sizeof *x, sizeof *y}};
    loops[{number}].run(arrays, &n, steps, loops[{number}].data);
}}
static inline {type} {op}_{dtype}_1({type} x) {{
    {type} y;
    {op}_{dtype}_n(&x, &y, 1);
    return y;
}}
"""


class RowSource(NamedTuple):
    """The C function of a kernel, ``int NAME(char *const *arrays, long rows, long columns, long first, long last)``.

    It computes the rows, or `by_column` the columns, from `first` to before `last`, and returns 0 without memory for
    scratch. Arrays are the inputs, then the outputs.

    Attributes
    ----------
    text : str
    levels : tuple of str
        Levels of the results; "point" for kernels without rows.
    by_column, flat, whole : bool
        Whether it computes columns; whether elements, for which a second function, ``NAME_each``, takes groups of
        arrays; whether it computes rows, all in one call, see `RowFunction`.
    called : frozenset of tuple
        Functions and dtypes of the library's loops that the kernel calls.
    reductions : frozenset of tuple
        Operations and dtypes of the reductions that the kernel calls.
    """

    text: str
    levels: tuple[str, ...]
    by_column: bool
    flat: bool
    whole: bool
    called: frozenset[tuple[str, str]]
    reductions: frozenset[tuple[str, str]]


class _RowPhase(Phase):
    def loops(self, node: Node) -> bool:
        """Whether a generated loop over the columns computes a node, and not a loop of the library."""
        return not (node.op in CALLED and node.vector) and Phase.loops(self, node)

    def needed(self, node: Node) -> list[tuple[Node, bool]]:
        if self.added(node):
            return [(item, False) for item in node.operands[0].operands]
        return Phase.needed(self, node)

    def added(self, node: Node) -> bool:
        """Whether a node is a sum along a row whose operand is computed while it is added."""
        return node.op == "sum" and not node.terminal and 0 < self.cost(node.operands[0]) <= SUMMED


class _RowWriter(PieceWriter):
    def __init__(self, phase: _RowPhase, number: int, places: Places, kernel: str) -> None:
        PieceWriter.__init__(self, phase, number, places)
        self.rows, self.kernel, self.sums = phase, kernel, ""

    def _compute(self, node: Node) -> None:
        if node.op in CALLED and node.vector:
            x, places = node.operands[0], self.places
            self.body.append(f"{node.op}_{node.dtype}_n({self._whole(x)}, {places.kept(node)}, {places.width});")
            return
        PieceWriter._compute(self, node)

    def _reduction(self, node: Node) -> str:
        if not self.rows.added(node):
            return PieceWriter._reduction(self, node)
        name = f"{self.kernel}_sum_{node.number}"
        self.sums += _AddedWriter(self.rows, self.number, self.places, name).function(node.operands[0])
        return f"{name}({ADDED_ARGUMENTS}, n)"

    def _expression(self, node: Node) -> str:
        if node.op in CALLED:
            return f"{node.op}_{node.dtype}_1({self._name(node.operands[0])})"
        return PieceWriter._expression(self, node)

    def _name(self, node: Node) -> str:
        if node.op == "constant" and node.value == COUNT:
            return f"(({C_TYPES[node.dtype]})columns)"
        return PieceWriter._name(self, node)


class _AddedWriter(_RowWriter):
    def function(self, node: Node) -> str:
        """Return the C function that adds the numbers of a node along a row."""
        value = self._name(node)
        head, body = " ".join(self.head), " ".join(self.body)
        return _sum(self.kernel, node.dtype, ADDED, ADDED_ARGUMENTS, value, head, body)

    def _computes(self, node: Node) -> bool:
        return node not in self.places.offsets and node not in self.places.outputs


def row_source(backend: Backend, kernel: RowKernel, dtype: str) -> RowSource | None:
    """Return the source of a kernel for arrays of a dtype; None if its body has unsupported statements."""
    found = _nodes(backend, kernel, dtype)
    if found is None:
        return None
    nodes, outputs, flat = found
    phase = _RowPhase(nodes, set())
    places = Places("columns", "n", len(kernel.levels))
    for number, node in enumerate(outputs):
        if node.terminal:
            places.partial[node] = f"(arrays[{places.inputs + number}] + start * {ITEMSIZES[node.dtype]})"
        else:
            places.outputs.setdefault(node, []).append(number)
    kept = [n for n in nodes if n in phase.kept or (n.op in CALLED and n.vector)]
    vectors = [n for n in kept if n.vector and n not in places.outputs]
    scalars = [n for n in kept if not n.vector and n not in places.outputs]
    places.offsets |= {node: f"{i} * stride" for i, node in enumerate(vectors)}
    places.offsets |= {node: f"{len(vectors)} * stride + {8 * i}" for i, node in enumerate(scalars)}
    name, functions, calls = f"{kernel.name}_{dtype}", "", ""
    for number in range(len(phase.pieces)):
        writer = _RowWriter(phase, number, places, name)
        text = writer.text(f"{name}_{number}", f"{PARAMETERS}{SIZES}")
        if writer.body:
            functions += writer.sums + text
            calls += f"{name}_{number}(arrays, s, 0, row, start, n, columns, stride);\n"
    by_column = flat or all(node.terminal for node in outputs)
    zeros = "".join(
        f"memset({places.partial[node]}, 0, n * {ITEMSIZES[node.dtype]});\n" for node in outputs if node.terminal
    )
    length = f"(last - first < {BLOCK} ? last - first : {BLOCK})" if by_column else "columns"
    size = ITEMSIZES[dtype]
    loop = f"const long start = 0, n = columns;\n{zeros}for (long row = first; row < last; row++) {{\n{calls}}}\n"
    if by_column:
        loop = (
            f"for (long start = first; start < last; start += {BLOCK}) {{\n"
            f"const long n = last - start < {BLOCK} ? last - start : {BLOCK};\n"
            f"{zeros}for (long row = 0; row < rows; row++) {{\n{calls}}}\n}}\n"
        )
    text = (
        f"{functions}int {name}(char *const *arrays, long rows, long columns, long first, long last) {{\n"
        f"const long stride = ({size} * {length} + 63) / 64 * 64 + {APART};\n"
        f"char *s = aligned_alloc(64, {len(vectors)} * stride + {-(-8 * len(scalars) // 64) * 64} + 64);\n"
        f"if (!s) return 0;\n{loop}free(s);\nreturn 1;\n}}\n"
    )
    if flat:
        text += _EACH.format(name=name)
    called = frozenset((node.op, node.dtype) for node in nodes if node.op in CALLED)
    reductions = frozenset((node.op, node.dtype) for node in nodes if node.op in REDUCTIONS)
    whole = not by_column and any(node.terminal for node in outputs)
    return RowSource(text, tuple(node.level for node in outputs), by_column, flat, whole, called, reductions)


def _nodes(backend: Backend, kernel: RowKernel, dtype: str) -> tuple[list[Node], list[Node], bool] | None:
    """Return the nodes of a kernel in order, its result nodes, and whether it has neither rows nor sums."""
    one = backend.spec(backend.asarray(1.0, backend.namespace.asarray(1.0, dtype=dtype).dtype))
    builder = Builder(backend, Space(EXAMPLE["point"], 1), lambda item: _accepts(item, dtype))
    try:
        loaded = [
            builder.load(number, backend.spec_for(EXAMPLE[level], one.dtype, one.device))
            for number, level in enumerate(kernel.levels)
        ]
        found = kernel.formula(builder, *loaded)
        symbols: Sequence[Symbol] = found if isinstance(found, (tuple, list)) else [found]
        values = [Value(symbol.spec, f"y{number}") for number, symbol in enumerate(symbols)]
        levels = {value: builder.space.level(value.spec.shape) for value in values}
    except Unfusible:
        return None
    results = tuple(symbol.statement for symbol in symbols)
    rows, columns = EXAMPLE["point"]
    fused = Fused(rows, columns, (), tuple(values), levels, tuple(builder.statements), results, ())
    space = nodes_of(fused)
    if space is None:
        return None
    outputs = [node.operands[0] if node.late and not node.terminal else node for node in space.outputs]
    nodes = [node for node in space.nodes if node.op not in LEAVES and (not node.late or node in outputs)]
    if any(node.late and not (node.terminal and node.level == "column") for node in (*nodes, *outputs)):
        return None
    return nodes, outputs, space.flat and not any(node.op in REDUCTIONS for node in nodes)


def _accepts(statement: Statement, dtype: str) -> bool:
    own = (statement.dtype, *(item.dtype for item in statement.operands))
    if statement.op in REDUCTIONS and statement.op not in ("sum", "max", "min"):
        return False
    has_loop = statement.op in CALLED or statement.op not in ROWS or not ROWS[statement.op].vector
    return has_loop and all(item in (dtype, "bool") for item in own) and has_row(statement)


def rows_text(sources: Sequence[RowSource]) -> tuple[str, list[tuple[str, str]]]:
    """Return the text of a library of kernels, and the loops of the library that it needs, by their numbers."""
    loops = sorted({item for source in sources for item in source.called})
    text = "#include <stdlib.h>\n" + PRELUDE.format(select=SELECT, prototypes="") + _LOOPS.format(count=len(loops) or 1)
    for number, (op, dtype) in enumerate(loops):
        text += _LOOP.format(op=op, dtype=dtype, type=C_TYPES[dtype], number=number)
    for op, dtype in sorted({item for source in sources for item in source.reductions}):
        memory = f"sum_{dtype}", dtype, f"const {C_TYPES[dtype]} *x", "x", "x[i]"
        text += _sum(*memory) if op == "sum" else reduction(op, dtype)
    return text + "".join(source.text for source in sources), loops


def _sum(name: str, dtype: str, parameters: str, arguments: str, value: str, head: str = "", body: str = "") -> str:
    """Return the C functions that add a value along a row, after statements for the row and for each number."""
    values = {"parameters": parameters, "arguments": arguments, "value": value, "head": head, "body": body}
    return _PAIRWISE.format(name=name, type=C_TYPES[dtype], **values)
