"""Our functions in another framework's differentiation: calls that are recorded, and pulled by its engine."""

from collections.abc import Callable, Sequence

from xpgrad.backend.current import call_on
from xpgrad.backend.levels import around
from xpgrad.config import backprop_mode, called_with
from xpgrad.errors import GraphError
from xpgrad.graph.backward import backward
from xpgrad.graph.variable import Variable, constant_variable, variable_over
from xpgrad.transforms.capture import CapturedRun
from xpgrad.transforms.leaves import root
from xpgrad.types import Array


def values(title: str, f: Callable[[list[Variable]], list[Variable]], arrays: Sequence[Array]) -> list[Array]:
    """Return the arrays of the results of `f` for Variables over `arrays`, on their device, without recording."""
    _check_outside(title)
    found = called_with(backprop_mode(False), _called, f, [constant_variable(x) for x in arrays])
    return [y._array for y in found]


def _called(f: Callable[[list[Variable]], list[Variable]], inputs: list[Variable]) -> list[Variable]:
    """Return ``f(inputs)``, called with the device of the first input as current device."""
    found: list[Variable] = call_on(inputs[0]._array, f, inputs) if inputs else f(inputs)
    return found


class Recorded:
    """A recorded call of a function of ours, on arrays.

    Parameters
    ----------
    title : str
    f : callable
        Takes and returns a list of Variables.
    arrays : sequence of array
    active : sequence of int
        The arrays to differentiate by.

    Attributes
    ----------
    outputs : list of array or None
    live : list of bool
        Which outputs depend on an active array, or on a Variable that the function captured.
    """

    def __init__(
        self, title: str, f: Callable[[list[Variable]], list[Variable]], arrays: Sequence[Array], active: Sequence[int]
    ) -> None:
        _check_outside(title)
        chosen = set(active)
        inputs = [root(x) if i in chosen else constant_variable(x) for i, x in enumerate(arrays)]
        results: list[Variable] = []

        def run() -> list[Variable]:
            results.extend(_called(f, inputs))
            return [y for y in results if y._node.requires_grad]

        self._set(CapturedRun(run, [inputs[i] for i in active]), list(active), len(arrays), list(results))

    def _set(self, trace: CapturedRun, active: list[int], count: int, results: Sequence[Variable | None]) -> None:
        self.trace, self.active, self.count = trace, active, count
        self.outputs = [None if y is None else y._array for y in results]
        self.live = [y is not None and y._node.requires_grad for y in results]

    @property
    def captures(self) -> bool:
        """Whether the function captures Variables that require a gradient."""
        return bool(self.trace.captured)

    def captured(self) -> list[Variable]:
        """Return the captured Variables."""
        found = [(node, node.get_variable_or_none()) for node in self.trace.captured]
        return [variable_over(node, None) if x is None else x for node, x in found]

    def pull(
        self, cotangents: Sequence[Array | None], targets: Sequence[int], *, accumulate: bool
    ) -> list[Array | None]:
        """Return the gradients of the arrays `targets`; gradients of captured Variables are added to their `grad`.

        Parameters
        ----------
        cotangents : sequence of array or None
            One for each output.
        targets : sequence of int
        accumulate : bool
            Whether captured Variables get gradients.
        """
        gys = self._seeds(cotangents, constant_variable)
        wanted = [self.active.index(i) for i in targets if i in self.active]
        captured = self.captured() if accumulate else []
        more = range(len(self.active), len(self.active) + len(captured))
        found = dict(zip([*wanted, *more], self.trace.gradients(gys, [*wanted, *more], recorded=False), strict=True))
        pairs = [(x, g) for x, i in zip(captured, more, strict=True) if (g := found[i]) is not None]
        if pairs:
            backward([x for x, _ in pairs], [g for _, g in pairs])
        taken = [found.get(self.active.index(i)) if i in self.active else None for i in targets]
        return [None if g is None else g._array for g in taken]

    def pulled(self, cotangents: Sequence[Array | None], targets: Sequence[int]) -> "Recorded":
        """Return the recorded call of `pull`: from the arrays and the cotangents that are not None to the gradients."""
        seeds = self._seeds(cotangents, root)
        wanted = [self.active.index(i) for i in targets if i in self.active]
        trace, gradients = self.trace.pulled(seeds, wanted)
        found = dict(zip(wanted, gradients, strict=True))
        results = [found.get(self.active.index(i)) if i in self.active else None for i in targets]
        made = object.__new__(Recorded)
        places = iter(range(self.count, self.count + len(cotangents)))
        given = [(next(places), live) for live, g in zip(self.live, cotangents, strict=True) if g is not None]
        more = [i for i, live in given if live]
        made._set(trace, [*self.active, *more], self.count + len(given), results)
        return made

    def _seeds(self, cotangents: Sequence[Array | None], make: Callable[[Array], Variable]) -> list[Variable | None]:
        """Return the cotangents of the outputs in the graph as Variables."""
        pairs = zip(cotangents, self.live, strict=True)
        return [None if g is None else make(g) for g, live in pairs if live]


def _check_outside(title: str) -> None:
    level = around()
    if level is not None:
        raise GraphError(
            f"{title}: expected a call outside of {level.title}, whose arrays other frameworks cannot take"
        )
