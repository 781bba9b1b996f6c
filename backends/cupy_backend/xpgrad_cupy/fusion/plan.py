"""The launches of a fused group, as few as possible."""

import math
from collections.abc import Collection

from xpgrad_cupy.fusion.blocks import CHUNK, chunks_kernel, rows_kernel
from xpgrad_cupy.fusion.launches import Elementwise, Launch, LaunchPlan, OverRows
from xpgrad_cupy.fusion.table import TYPES, Unsupported, has_row, reduction
from xpgrad_cupy.fusion.text import ELEMENT, Scope
from xpgrad_fusion.group import Fused
from xpgrad_fusion.statements import LEVELS, REDUCTIONS, Statement, level_of

LONG_ROW, FEW_ROWS, VERY_LONG_ROW = 2**13, 64, 2**16
"""Several blocks share the reduction of one row, if it is long and there are few, or if it is very long."""
MAX_ARRAYS = 100
"""Arrays of one kernel: their descriptions must fit into 4 kB."""
MAX_STATEMENTS = 4000
"""Statements of a group: NVRTC takes some 5 s for so many, once."""


def plan_of(fused: Fused) -> LaunchPlan:
    """Return the plan of a group: one launch if its reductions, if any, are over the columns of rows.

    Raises
    ------
    Unsupported
        A statement of the group has no C++ expression.
    """
    if not fused.rows * fused.columns:
        raise Unsupported("an empty space")
    if len(fused.statements) > MAX_STATEMENTS:
        raise Unsupported(f"{len(fused.statements)} statements")
    planner = Planner(fused)
    planner.all()
    return LaunchPlan(len(fused.inputs), tuple(planner.made), tuple(planner.launches), tuple(planner.outputs))


class Planner:
    """Plans the launches of a group.

    Attributes
    ----------
    known : dict from Statement to int
        The array of each result that is computed.
    """

    def __init__(self, fused: Fused) -> None:
        self.fused, self.rows, self.columns = fused, fused.rows, fused.columns
        self.launches: list[Launch] = []
        self.made: list[tuple[tuple[int, ...], str]] = []
        self.known: dict[Statement, int] = {}
        self._waiting: dict[int, Statement] = {}
        self._dtypes: dict[int, str] = {}
        for s in fused.statements:
            if not has_row(s):
                raise Unsupported(f"{s.op} of {s.dtype}")
            if s.op in ("load", ELEMENT):
                self._dtypes[s.value if s.op == "load" else s.value[0]] = s.dtype
        shapes = [value.spec.shape for value in fused.outputs]
        counts = {"point": self.rows * self.columns, "row": self.rows, "column": self.columns, "one": 1}
        for shape, s in zip(shapes, fused.results, strict=True):
            if math.prod(shape) != counts.get(s.level):  # a kernel would write beyond its end
                raise Unsupported(f"a result of shape {shape} at level {s.level}")
        self.outputs = [self.new(shape, s.dtype) for shape, s in zip(shapes, fused.results, strict=True)]
        self._waiting = dict(zip(self.outputs, fused.results, strict=True))
        if len(fused.inputs) + len(self.outputs) > MAX_ARRAYS:
            raise Unsupported(f"{len(fused.inputs) + len(self.outputs)} arrays")

    def new(self, shape: tuple[int, ...], dtype: str) -> int:
        """Return the number of a new array."""
        number = len(self.fused.inputs) + len(self.made)
        self.made.append((shape, dtype))
        self._dtypes[number] = dtype
        return number

    def scope(self) -> Scope:
        """Return a scope in which all computed results can be read."""
        return Scope(self.fused.statements, self.known, self._dtypes)

    def all(self) -> None:
        """Plan all launches."""
        needed = self.scope().needed(self.fused.results)
        ending = [s for s in needed if s.op in REDUCTIONS and self.ends(s)]
        within = [s for s in needed if s.op in REDUCTIONS and not self.ends(s)]
        if within and self.columns <= (LONG_ROW if self.rows < FEW_ROWS else VERY_LONG_ROW):
            self.over_columns(within, ending)
        else:
            for s in within:
                self.in_chunks(s, self.rows, self.columns)
        for s in ending:
            if s.level == "column":
                self.over_rows(s)
            else:
                self.in_chunks(s, 1, self.rows * self.columns)
        if self._waiting:
            self.elementwise()

    def ends(self, s: Statement) -> bool:
        """Return whether only statements at "column" and "one" use the result of a reduction."""
        return s.level == "column" or (s.level == "one" and self.rows > 1)

    def over_columns(self, reductions: list[Statement], ending: Collection[Statement]) -> None:
        """Plan the kernel of whole rows, which writes every result that does not depend on a reduction over rows."""
        after = set(ending)
        for s in self.fused.statements:
            if any(item in after for item in s.operands):
                after.add(s)
        writes = {number: s for number, s in self._waiting.items() if s not in after}
        for s in reductions:
            if ending and s not in writes.values():
                writes[self.new((self.rows,), s.dtype)] = s
        kernel = rows_kernel(self.scope(), self.rows, self.columns, reductions, writes)
        self.launches.append(kernel)
        self.has(writes)

    def has(self, written: dict[int, Statement]) -> None:
        """Record the results that a launch has written."""
        for number, s in written.items():
            self._waiting.pop(number, None)
            self.known.setdefault(s, number)

    def array_of(self, s: Statement, size: int) -> int:
        """Return the number of the array for the result of a reduction."""
        for number, item in self._waiting.items():
            if item is s:
                return number
        return self.new((size,), s.dtype)

    def in_chunks(self, s: Statement, segments: int, length: int) -> None:
        """Plan one reduction in steps, each of which leaves one result for `CHUNK` elements."""
        result = self.array_of(s, segments)
        row, column = ("segment", "j") if segments > 1 else (f"i / {self.columns}", f"i % {self.columns}")
        if self.rows == 1:
            row, column = "0", "j"
        index = {"point": "i", "row": row, "column": column, "one": "0"}
        scope, step = self.scope(), s
        while True:
            chunks = -(-length // CHUNK)
            inner = reduction(s.op, s.dtype).dtype
            write = result if chunks == 1 else self.new((segments * chunks,), inner)
            self.launches.append(chunks_kernel(scope, step, segments, length, index, write))
            if chunks == 1:
                break
            part = Statement("load", (), inner, "point", write)
            step = Statement(s.op, (part,), s.dtype, s.level)
            scope = Scope((part, step), {}, self._dtypes)
            length, index = chunks, {"point": "i"}
        self.has({result: s})

    def over_rows(self, s: Statement) -> None:
        """Plan one reduction over the rows."""
        scope = self.scope()
        inner = scope.needed(s.operands)
        if any(item.op == ELEMENT for item in inner):
            raise Unsupported("single elements in a reduction over rows")
        first: dict[str, str] = dict.fromkeys(LEVELS, "0")
        lines = list(scope.lines(inner, first))
        if not scope.reads:
            raise Unsupported("a reduction of a constant")
        sizes = {"point": (self.rows, self.columns), "row": (self.rows, 1), "column": (1, self.columns), "one": (1, 1)}
        levels = {item.value: item.level for item in inner if item.op == "load"}
        levels |= {self.known[item]: item.level for item in inner if item in self.known}
        how = reduction(s.op, s.dtype)
        kind = TYPES[how.dtype]
        params = [f"const {TYPES[dtype]} e{number}" for number, dtype in scope.reads.items()]
        # `lines` read elements of arrays: here of the arguments
        arrays = [f"const {TYPES[dtype]}* x{number} = &e{number};" for number, dtype in scope.reads.items()]
        result = f"return ({kind}){scope.names[s.operands[0]]};"
        body = "\n".join([*arrays, *lines, result])
        preamble = f"__device__ {kind} mapped({', '.join(params)}) {{\n{body}\n}}\n"
        write = self.array_of(s, self.columns)
        shapes = {number: sizes[levels[number]] for number in scope.reads}
        given = preamble, how.identity, how.combined, kind, s.dtype, scope.reads, shapes, write
        self.launches.append(OverRows(*given, space=(self.rows, self.columns)))
        self.has({write: s})

    def elementwise(self) -> None:
        """Plan the loop that computes all results that no launch has written."""
        writes = dict(self._waiting)
        level = level_of(writes.values())
        size = {"point": self.rows * self.columns, "row": self.rows, "column": self.columns, "one": 1}[level]
        index, guard = places(level, self.rows, self.columns)
        scope = self.scope()
        lines = list(scope.lines(scope.needed(list(writes.values())), index))
        for number, s in writes.items():
            text = f"y{number}[{index[s.level]}] = {scope.names[s]};"
            lines.append(f"if ({guard[s.level]}) {text}" if s.level != level else text)
        outputs = {number: s.dtype for number, s in writes.items()}
        self.launches.append(Elementwise("\n".join(lines), scope.reads, outputs, size))
        self.has(writes)


def places(level: str, rows: int, columns: int) -> tuple[dict[str, str], dict[str, str]]:
    """Return where in arrays of each level point ``i`` of a loop over `level` reads, and when it writes there."""
    row, column = (f"i / {columns}", f"i % {columns}") if rows > 1 and columns > 1 else ("i", "i")
    if level != "row" and rows == 1:
        row = "0"
    if level != "column" and columns == 1:
        column = "0"
    index = {"point": "i", "row": row, "column": column, "one": "0"}
    if level in ("row", "column"):
        index[level] = "i"
    return index, {"point": "true", "row": f"i % {columns} == 0", "column": f"i < {columns}", "one": "i == 0"}
