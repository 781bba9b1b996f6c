"""`Enclosed`: the function node that connects the outputs of a transformation to its inputs."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from xpgrad.backend.levels import around
from xpgrad.backend.plugins import plugins
from xpgrad.errors import GradientError
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.transforms.call import pulled, recording
from xpgrad.transforms.enclosing.level import EnclosingLevel, EntryRoot, Port, root
from xpgrad.types import Array


class Output(NamedTuple):
    """A Variable within a transformation, and how it leaves."""

    inside: Variable
    port: Port


def left(level: EnclosingLevel, outputs: Sequence[Output], *, unshared: bool = False) -> list[list[Variable | None]]:
    """Return the outer Variables for each output, connected to the inputs on which they depend.

    Parameters
    ----------
    level : EnclosingLevel
    outputs : sequence of Output
    unshared : bool
        Whether the results are returned to the user, and must share no memory with each other or with the inputs.
    """
    found = connected(level, level.entries, outputs, unshared=unshared)
    level.outside = set()
    return found


def connected(
    level: EnclosingLevel, entries: Sequence[EntryRoot], outputs: Sequence[Output], *, unshared: bool = False
) -> list[list[Variable | None]]:
    """Return the same as `left`, with the Variables of `entries` as the inputs."""
    seen = set(level.outside) if unshared else None
    found: list[list[Variable | None]] = []
    node_outputs: list[tuple[Output, list[int | None]]] = []
    flat: list[Array] = []
    places: list[tuple[int, int]] = []
    needed = bool(entries) and recording()
    for i, output in enumerate(outputs):
        y, port = output
        depends = needed and y._node.requires_grad
        positions: list[int | None] = []
        found.append([])
        for j, array in enumerate(port.outward(y._array)):
            if array is not None and seen is not None:
                array = separated(array, seen)
            positions.append(None if array is None else len(flat))
            found[i].append(None if array is None or depends else constant_variable(array))
            if array is not None and depends:
                flat.append(array)
                places.append((i, j))
        if depends:
            node_outputs.append((output, positions))
    if flat:
        made = Enclosed(level, entries, node_outputs).connected(flat)
        for (i, j), y in zip(places, made, strict=True):
            found[i][j] = y
    return found


def separated(array: Array, seen: set[int]) -> Array:
    """Return `array`, or a copy if it shares memory with arrays in `seen`, and add its identity to `seen`."""
    backend = plugins.backend_of(array)
    if not backend.immutable and (id(array) in seen or backend.is_view(array)):
        array = backend.copy(array)
    seen.add(id(array))
    return array


class Enclosed(FunctionNode):
    """A computation within a transformation, as one function of the graph outside.

    A class, because its inputs and outputs are defined by a user's function.
    """

    of_library = True

    def __init__(
        self, level: EnclosingLevel, entries: Sequence[EntryRoot], outputs: list[tuple[Output, list[int | None]]]
    ) -> None:
        self.level: EnclosingLevel | None = level
        self.entries, self.results = list(entries), outputs
        self.owners = [(i, j) for i, e in enumerate(entries) for j, x in enumerate(e.outside) if x is not None]

    @property
    def label(self) -> str:
        """The name of the transformation."""
        return "a transformed function" if self.level is None else self.level.title

    def connected(self, arrays: Sequence[Array]) -> tuple[Variable, ...]:
        """Return Variables over the outputs' `arrays`, connected to the outer Variables."""
        inputs: list[Any] = [self.entries[i].outside[j] for i, j in self.owners]
        return self._connect(inputs, arrays)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the gradients of the inputs, by a sweep within the transformation."""
        level = self.level
        assert level is not None  # the sweep has checked it
        if (now := around()) is not level.outer:
            raise GradientError(
                f"{self.label}: expected a cotangent of the level where it was called, got one of {now!r}; call vjp or "
                "linearize within the function that is transformed, too"
            )
        wanted = sorted({self.owners[t][0] for t in target_input_indexes})
        more: list[EntryRoot] = []
        seeds = [self._seed([None if p is None else grad_outputs[p] for p in places], output.port, more)
                 for output, places in self.results]  # fmt: skip
        roots = [self.entries[i].inside for i in wanted]
        outputs = [output.inside for output, _ in self.results]
        found = level.pull(_swept, outputs, roots, seeds, recording())
        made = [(i, Output(g, self.entries[i].port)) for i, g in zip(wanted, found, strict=True) if g is not None]
        left = connected(level, [*self.entries, *more], [output for _, output in made])
        groups = {i: group for (i, _), group in zip(made, left, strict=True)}
        nothing: list[Variable | None] = []
        gxs: list[Variable | None] = []
        for i, j in (self.owners[t] for t in target_input_indexes):
            group = groups.get(i, nothing)
            gxs.append(group[j] if group else None)
        return tuple(gxs)

    def _seed(self, gys: list[Variable | None], port: Port, more: list[EntryRoot]) -> Variable | None:
        """Lift cotangents; record the inner Variable in `more` if the results should depend on it."""
        level = self.level
        assert level is not None
        if all(g is None for g in gys):
            return None
        array = port.inward([None if g is None else g._array for g in gys])
        needed = recording() and any(g is not None and g._node.requires_grad for g in gys)
        seed = root(array, needed)
        if needed:
            more.append(EntryRoot(gys, seed, port))
        return seed

    def release(self) -> None:
        """Drop the computation within."""
        super().release()
        self.level, self.entries, self.results = None, [], []


def _swept(
    outputs: list[Variable], roots: list[Variable], seeds: list[Variable | None], recorded: bool
) -> list[Variable | None]:
    return pulled(outputs, roots, seeds, recorded=recorded)
