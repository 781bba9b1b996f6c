"""Jacobians by a sweep for each element: for functions that cannot be computed for a batch."""

from collections.abc import Iterator, Sequence

from xpgrad import array_api
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.transforms.call import Evaluation
from xpgrad.transforms.leaves import derivatives, turned, zeros_like
from xpgrad.transforms.products import Pushforward, linear_pullback


def by_rows(call: Evaluation) -> list[list[Variable]]:
    """Return one block for each output and root, computed in one sweep per element of the outputs."""
    gradients, recorded = linear_pullback(call), call.mode.recorded
    blocks = []
    for index, y in enumerate(call.outputs):
        rows: list[list[Variable]] = [[] for _ in call.roots]

        def pull(seed: Variable, index: int = index) -> list[Variable]:
            return gradients(_alone(call.outputs, index, seed), recorded=recorded)

        for seed in _basis(y):
            for row, g in zip(rows, derivatives(pull, seed, y, call.roots), strict=True):
                row.append(g)
        blocks.append([_stacked(row, y, x, 0) for row, x in zip(rows, call.roots, strict=True)])
    return blocks


def by_columns(call: Evaluation) -> list[list[Variable]]:
    """Return one block for each output and root, computed in one sweep per element of the roots."""
    push, recorded = Pushforward(call), call.mode.recorded
    blocks: list[list[Variable]] = [[] for _ in call.outputs]
    for index, x in enumerate(call.roots):
        columns: list[list[Variable]] = [[] for _ in call.outputs]
        for seed in _basis(x):
            found = push(_alone(call.roots, index, seed), recorded=recorded)
            if x._node.spec.complex and not all(y._node.spec.complex for y in call.outputs):
                other = push(_alone(call.roots, index, turned(seed)), recorded=recorded)
                found = [
                    t if y._node.spec.complex else t + 1j * u
                    for y, t, u in zip(call.outputs, found, other, strict=True)
                ]
            for column, t in zip(columns, found, strict=True):
                column.append(t)
        for block, column, y in zip(blocks, columns, call.outputs, strict=True):
            block.append(_stacked(column, y, x, -1))
    return blocks


def _alone(references: Sequence[Variable], index: int, seed: Variable) -> list[Variable]:
    return [seed if i == index else zeros_like(x) for i, x in enumerate(references)]


def _basis(x: Variable) -> Iterator[Variable]:
    """Yield arrays like `x` that are 1 at one element and 0 at all other elements."""
    spec = x._node.spec
    xp = spec.backend.xp
    places = xp.reshape(xp.arange(spec.size, device=spec.device), shape=spec.shape)
    cast = spec.backend.follow(xp.astype)
    for i in range(spec.size):
        yield constant_variable(spec.backend.restore(cast(xp.equal(places, i), spec.dtype)))


def _stacked(parts: list[Variable], y: Variable, x: Variable, axis: int) -> Variable:
    """Return the derivatives of `y` by `x` from derivatives of, or by, single elements; an empty array without any."""
    shape = (*y.shape, *x.shape)
    if not parts:
        lead = zeros_like(x if x._node.spec.complex else y)
        return constant_variable(
            x._node.spec.backend.namespace.zeros(shape, dtype=lead.dtype, device=x._node.spec.device)
        )
    return array_api.reshape(array_api.stack(parts, axis=axis), shape)
