"""The C function of one piece of a phase."""

from dataclasses import dataclass, field

from xpgrad_c.functions import C_TYPES, expression, literal
from xpgrad_c.nodes import Node
from xpgrad_c.phases import Phase, Piece
from xpgrad_c.reductions import STORED, combined
from xpgrad_fusion.statements import REDUCTIONS

PARAMETERS = "char *const *arrays, char *s, char *partials, long row, long start, long n"


@dataclass(slots=True)
class Places:
    """Memory locations of the values of one phase.

    Attributes
    ----------
    columns : int or str
        Columns of the space; a C expression if the number is known only at run time.
    width : str
        The number of columns of a loop, in C.
    inputs : int
        The number of inputs of the group.
    offsets : dict from Node to int or str
        Where in the scratch memory a value is kept, in bytes.
    outputs : dict from Node to list of int
        Numbers of the outputs that a node computes.
    partials : dict from Node to str
        The address of the partial results of a terminal reduction, in C.
    partial : dict from Node to str
        The address in a chunk of that partial result which the present block or row belongs to.
    counts : dict from Node to int
        The number of partial results.
    """

    columns: int | str
    width: str
    inputs: int
    offsets: dict[Node, int | str] = field(default_factory=dict)
    outputs: dict[Node, list[int]] = field(default_factory=dict)
    partials: dict[Node, str] = field(default_factory=dict)
    partial: dict[Node, str] = field(default_factory=dict)
    counts: dict[Node, int] = field(default_factory=dict)

    def array(self, number: int, node: Node, *, constant: bool) -> str:
        """Return the address of the numbers of an input or output for this row and block, in C."""
        base = f"(({'const ' if constant else ''}{STORED[node.dtype]} *)arrays[{number}])"
        if node.level == "point":
            return f"{base} + (row * {self.columns} + start)"
        return f"{base} + row" if node.level == "row" else base

    def kept(self, node: Node) -> str:
        """Return the address of the stored value of a node, in C."""
        if node in self.partials:
            return f"(({STORED[node.dtype]} *){self.partials[node]})"
        if node not in self.offsets:
            return self.array(self.inputs + self.outputs[node][0], node, constant=False)
        return f"(({STORED[node.dtype]} *)(s + {self.offsets[node]}))"


class PieceWriter:
    """Writes one piece.

    Parameters
    ----------
    phase, number
        The piece is number `number` of this phase.
    places
        Locations of the values of the phase.
    """

    def __init__(self, phase: Phase, number: int, places: Places) -> None:
        self.phase, self.number, self.places = phase, number, places
        self.piece: Piece = phase.pieces[number]
        self.head: list[str] = []
        self.body: list[str] = []
        self.names: dict[Node, str] = {}
        self.pointers: dict[str, str] = {}

    def text(self, name: str, parameters: str = PARAMETERS) -> str:
        """Return the C function."""
        for node in self.piece.nodes:
            self._compute(node)
        lines = [f"PIECE void {name}({parameters}) {{", *self.head]
        if self.piece.vector:
            lines += ["#pragma omp simd", f"for (long i = 0; i < {self.places.width}; i++) {{", *self.body, "}"]
        else:
            lines += self.body
        return "\n".join([*lines, "}\n"])

    def _compute(self, node: Node) -> None:
        places = self.places
        if node.terminal:
            self._reduce_space(node)
            return
        if node.op == "zeros":
            size, number = node.value
            self.body.append(f"memset(arrays[{places.inputs + number}], 0, {size} * sizeof({STORED[node.dtype]}));")
            return
        if node.op == "add_at":
            index, number = node.value
            y = self._pointer(f"(({STORED[node.dtype]} *)arrays[{places.inputs + number}])", node.dtype, constant=False)
            self.body.append(f"{y}[{index}] += {self._name(node.operands[0])};")
            return
        kept = node in places.offsets or node in places.outputs
        if not kept and self.phase.again(node):
            return  # computed where it is used
        if node.op in REDUCTIONS:
            self._define(node, self._reduction(node))
        elif node not in self.names:
            self._define(node, self._expression(node))
        name, index = self.names[node], "i" if node.vector else "0"
        if node in places.offsets:
            self.body.append(f"{self._element(node)} = {name};")
        for number in places.outputs.get(node, ()):
            y = places.array(places.inputs + number, node, constant=False)
            self.body.append(f"{self._pointer(y, node.dtype, constant=False)}[{index}] = {name};")

    def _reduction(self, node: Node) -> str:
        return f"{node.op}_{node.dtype}({self._whole(node.operands[0])}, {self.places.width})"

    def _reduce_space(self, node: Node) -> None:
        """Write the partial result of this row or block, or combine all partial results."""
        places, x, call = self.places, node.operands[0], f"{node.op}_{node.dtype}"
        if self.phase.last:
            if node.level == "column":
                self.body.append(f"{call}_columns({places.kept(node)}, {places.counts[node]}, {places.columns});")
            else:
                self._define(node, f"{call}({places.kept(node)}, {places.counts[node]})")
                if node in places.offsets:
                    kept = f"(({STORED[node.dtype]} *)(s + {places.offsets[node]}))"
                    self.body.append(f"*{kept} = {self.names[node]};")
            return
        partial = f"(({STORED[node.dtype]} *){places.partial[node]})"
        if self.piece.vector:
            y = self._pointer(partial, node.dtype, constant=False)
            self.body.append(f"{y}[i] = {combined(node.op, node.dtype, f'{y}[i]', self._name(x))};")
        else:
            value = f"{call}({self._whole(x)}, {places.width})" if x.vector else self._name(x)
            self.body.append(f"*{partial} = {value};")

    def _whole(self, x: Node) -> str:
        """Return the address of all numbers of a node."""
        if x.op == "load":
            return self.places.array(x.value, x, constant=True)
        return self.places.kept(x)

    def _define(self, node: Node, text: str, lines: list[str] | None = None) -> None:
        self.names[node] = f"v{node.number}"
        (self.body if lines is None else lines).append(f"const {C_TYPES[node.dtype]} v{node.number} = {text};")

    def _expression(self, node: Node) -> str:
        operands = [self._name(item) for item in node.operands]
        return expression(node.op, node.dtype, [item.dtype for item in node.operands], operands)

    def _name(self, node: Node) -> str:
        """Return the name in C of the number of a node, which is read or computed first where it has none yet."""
        if node in self.names:
            return self.names[node]
        if node.op == "constant":
            self.names[node] = literal(node.value, node.dtype) or "0"
            return self.names[node]
        if node.op == "load":
            x = self._pointer(self.places.array(node.value, node, constant=True), node.dtype, constant=True)
            text = f"{x}[{'i' if node.vector else '0'}]"
        elif node.op == "element":
            number, index = node.value
            address = f"((const {STORED[node.dtype]} *)arrays[{number}])"
            text = f"{self._pointer(address, node.dtype, constant=True)}[{index}]"
        elif self._computes(node):
            text = self._expression(node)
        else:
            text = self._element(node)
        self._define(node, text, self.body if node.vector else self.head)
        return self.names[node]

    def _computes(self, node: Node) -> bool:
        """Whether a node is computed here, and not read."""
        return self.phase.home.get(node) == self.number or self.phase.again(node)

    def _element(self, node: Node) -> str:
        """Return a C expression for the stored value of a node; few pointers shorten compilation."""
        index = "i" if node.vector else "0"
        if node in self.places.offsets and node not in self.places.partials:
            return f"(({STORED[node.dtype]} *)(s + {self.places.offsets[node]}))[{index}]"
        return f"{self._pointer(self.places.kept(node), node.dtype, constant=False)}[{index}]"

    def _pointer(self, address: str, dtype: str, *, constant: bool) -> str:
        if address not in self.pointers:
            name = self.pointers[address] = f"p{len(self.pointers)}"
            self.head.append(f"{'const ' if constant else ''}{STORED[dtype]} *restrict {name} = {address};")
        return self.pointers[address]
