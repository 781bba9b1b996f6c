"""Sums over rows that are added up become sums over more rows: ``sum(g1) + sum(g2) + ...``. Reassociates.

So do products of rows, ``a1.T @ b1 + a2.T @ b2 + ...``.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from xpgrad.transforms.trace.calls import Call, Value, substituted
from xpgrad.transforms.trace.keys import function_key, key_of
from xpgrad.transforms.trace.lifetimes import peak_of
from xpgrad.transforms.trace.order import in_order
from xpgrad.transforms.trace.passes.products import MAX_BYTES, MAX_ROWS, MIN_CALLS, pieces, spec_like
from xpgrad.transforms.trace.program import Program


@dataclass(frozen=True, slots=True)
class Term:
    """A term of a sum that is itself a sum over the rows of arrays; terms of one key can be merged."""

    call: Call
    rows: tuple[Value, ...]
    key: Any


class Sums:
    """Finds sums of many terms in a program: `new` calls instead of others; sums of one term are `renamed`."""

    def __init__(self, program: Program) -> None:
        self.order = {call: i for i, call in enumerate(program.calls)}
        self.makers = {value: call for call in program.calls for value in call.results}
        self.uses = Counter(value for call in program.calls for value in call.operands())
        self.uses.update(item for item in program.outputs if isinstance(item, Value))
        self.new: dict[Call, list[Call]] = {}
        self.renamed: dict[Value, Any] = {}
        added = [call for call in program.calls if is_addition(call)]
        inner = {value for call in added for value in call.args if self.added(value)}
        for call in added:
            if call.results[0] not in inner:
                self._join_terms(call)

    def added(self, value: Value) -> bool:
        """Return whether a value is a sum that is needed once."""
        return self.uses[value] == 1 and value in self.makers and is_addition(self.makers[value])

    def terms(self, call: Call) -> tuple[list[Value], list[Call]]:
        """Return the terms of a sum, in order, and the additions within it."""
        terms: list[Value] = []
        within: list[Call] = []
        waiting = [*reversed(call.args)]
        while waiting:
            value = waiting.pop()
            if self.added(value):
                within.append(self.makers[value])
                waiting += reversed(self.makers[value].args)
            else:
                terms.append(value)
        return terms, within

    def term(self, value: Value) -> Term | None:
        """Return a term as a sum over rows, or None if it is not a sum or has other uses."""
        call = self.makers.get(value)
        if call is None or self.uses[value] != 1 or not (call.pure and call.single):
            return None
        if call.name == "sum_to" and call.args and isinstance(call.args[0], Value):
            x, y = call.args[0].spec, call.results[0].spec
            if x.ndim > y.ndim and x.dtype == y.dtype and x.size:
                key = function_key(call.function), key_of(call.args[1:]), key_of(call.kwargs), x.shape[1:]
                return Term(call, (call.args[0],), key)
        if call.name == "matmul" and not call.kwargs and len(call.args) == 2 and isinstance(call.args[1], Value):
            turned = self.makers.get(call.args[0]) if isinstance(call.args[0], Value) else None
            a = turned.args[0] if turned is not None and turned.name == "matrix_transpose" and turned.pure else None
            b = call.args[1]
            if isinstance(a, Value) and a.spec.ndim == 2 == b.spec.ndim and a.nbytes and a.spec.shape[0] <= MAX_ROWS:
                return Term(call, (a, b), (function_key(call.function), a.spec.shape[1:], b.spec.shape[1:]))
        return None

    def _join_terms(self, call: Call) -> None:
        values, within = self.terms(call)
        if len(values) < MIN_CALLS:
            return
        groups: dict[Any, list[Term]] = {}
        left: list[Value] = []
        for value in values:
            term = self.term(value)
            if term is None:
                left.append(value)
            else:
                groups.setdefault(term.key, []).append(term)
        for terms in groups.values():
            left += self._joined(terms)
        if len(left) == len(values):
            return
        self.new.update({addition: [] for addition in within})
        total, *others = left
        self.new[call] = []
        for other in others:
            result = call.results[0] if other is others[-1] else Value(call.results[0].spec)
            self.new[call].append(call.replaced(args=(total, other), results=(result,)))
            total = result
        if not others:
            self.renamed[call.results[0]] = total

    def _joined(self, terms: Sequence[Term]) -> Iterator[Value]:
        """Yield the values to add in place of the terms, which have one key."""
        remaining = {term.rows: term for term in terms}
        again = [term for term in terms if remaining[term.rows] is not term]  # the same rows twice
        yield from (term.call.results[0] for term in again)
        for piece in pieces(remaining.values(), lambda term: sum(value.nbytes for value in term.rows)):
            if len(piece) < MIN_CALLS:
                yield from (term.call.results[0] for term in piece)
                continue
            made, whole = [], []
            for parts in zip(*(term.rows for term in piece), strict=True):
                shape = (sum(part.spec.shape[0] for part in parts), *parts[0].spec.shape[1:])
                whole.append(Value(spec_like(parts[0], shape)))
                made.append(Call("concat", parts[0].spec.backend.xp.concat, (list(parts),), {"axis": 0}, (whole[-1],)))
            yield self._of_rows(piece, tuple(whole), made)

    def _of_rows(self, terms: Sequence[Term], rows: tuple[Value, ...], made: list[Call]) -> Value:
        """Put the calls `made`, and the sum over all rows of the terms, in place of the last term, and return it."""
        last = max((term.call for term in terms), key=self.order.__getitem__)
        if len(rows) == 2:
            turned = self.makers[last.args[0]]
            x = rows[0].spec
            first = Value(spec_like(rows[0], x.shape[::-1]))
            made.append(turned.replaced(args=(rows[0],), results=(first,)))
            rows = first, rows[1]
        result = Value(last.results[0].spec)
        made.append(last.replaced(args=(*rows, *last.args[len(rows) :]), results=(result,)))
        self.new.update({term.call: [] for term in terms})
        self.new[last] = made
        return result


def is_addition(call: Call) -> bool:
    """Return whether a call adds two arrays of the shape and dtype of the result."""
    if call.name != "add" or call.kwargs or len(call.args) != 2 or not (call.pure and call.single):
        return False
    y = call.results[0].spec
    return all(isinstance(x, Value) and x.spec.shape == y.shape and x.spec.dtype == y.dtype for x in call.args)


def sums(program: Program) -> Program:
    """Return the program with sums over rows merged.

    Sums are not merged in programs with calls that write to arrays, or if the peak of memory would increase by more
    than `MAX_BYTES`.
    """
    if any(call.writes for call in program.calls):
        return program
    found = Sums(program)
    if not found.new:
        return program
    calls = [new.substituted(found.renamed) for call in program.calls for new in found.new.get(call, (call,))]
    outputs = substituted(program.outputs, found.renamed)
    changed = program.replaced(calls=in_order(calls, program.inputs), outputs=outputs)
    return changed if peak_of(changed)[0] <= peak_of(program)[0] + MAX_BYTES else program
