"""`Scope`: the C++ text of statements, at one point of a loop."""

from collections.abc import Collection, Iterator, Mapping

from xpgrad_cupy.fusion.table import TYPES, expression, literal
from xpgrad_fusion.statements import Statement

ELEMENT = "element"


class Scope:
    """The text of statements, and the arrays that it reads.

    Parameters
    ----------
    statements : sequence of Statement
        All of a group, in order.
    known : mapping from Statement to int
        The numbers of the arrays that already hold results.

    Attributes
    ----------
    reads : dict from int to str
        The numbers of the arrays that the text reads, in order, and the names of their types.
    """

    def __init__(
        self, statements: Collection[Statement], known: Mapping[Statement, int], dtypes: Mapping[int, str]
    ) -> None:
        self.names = {statement: f"v{number}" for number, statement in enumerate(statements)}
        self.known, self._dtypes = known, dtypes
        self.reads: dict[int, str] = {}

    def needed(self, results: Collection[Statement], found: Collection[Statement] = ()) -> list[Statement]:
        """Return the statements that `results` need, including `results`, in order, without `found`."""
        needed, stack = set[Statement](), list(results)
        while stack:
            statement = stack.pop()
            if statement not in needed and statement not in found:
                needed.add(statement)
                if statement not in self.known:
                    stack += statement.operands
        return [statement for statement in self.names if statement in needed]

    def lines(self, statements: Collection[Statement], index: Mapping[str, str]) -> Iterator[str]:
        """Yield a line for each statement; `index` is the text of the place in arrays of each level."""
        for statement in statements:
            text = self.text(statement, index)
            yield f"const {TYPES[statement.dtype]} {self.names[statement]} = ({TYPES[statement.dtype]})({text});"

    def text(self, statement: Statement, index: Mapping[str, str]) -> str:
        """Return the text of a statement."""
        if statement in self.known:
            return self.read(self.known[statement], index[statement.level])
        if statement.op == "load":
            return self.read(statement.value, index[statement.level])
        if statement.op == ELEMENT:
            number, place = statement.value
            return self.read(number, str(place))
        if statement.op == "constant":
            return literal(statement.value, statement.dtype)
        operands = [self.names[item] for item in statement.operands]
        if statement.op == "cast":
            return f"{operands[0]} != 0" if statement.dtype == "bool" else operands[0]
        if statement.op == "where":
            kind = TYPES[statement.dtype]
            return f"{operands[0]} ? ({kind}){operands[1]} : ({kind}){operands[2]}"
        return expression(statement.op, statement.operands[0].dtype, operands)

    def read(self, number: int, place: str) -> str:
        """Return the text of one element of an array."""
        self.reads[number] = self._dtypes[number]
        return f"x{number}[{place}]"
