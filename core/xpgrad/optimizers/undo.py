"""`GradientJournal`, `model_restored`: undo changes of gradients, states and models if an update fails."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from xpgrad.graph.assignments import journal
from xpgrad.graph.parameter import Parameter
from xpgrad.graph.undo import UndoJournal
from xpgrad.models.link import Link
from xpgrad.optimizers.packed import gradient


class GradientJournal(UndoJournal):
    """Context manager that gives parameters back their gradients, and update rules their states, if the block raises.

    Variables, persistent values and states of links that the block replaces are restored, too.

    Parameters
    ----------
    params : sequence of Parameter
    arrays : bool
        Whether the block may write to the arrays of the gradients, which are copied then.
    """

    def __init__(self, params: Sequence[Parameter], arrays: bool = False) -> None:
        super().__init__()
        self._gradients: list[tuple[Any, ...]] = []
        for param in params:
            extra, rule = param._node.extra, param.update_rule
            scale, state = extra and extra.loss_scale, rule and rule._state and rule._state.copy()
            self._gradients.append((param, param._grad, param._grad_valid, scale, rule, state))
            if arrays and param._grad is not None:
                self.keep(gradient(param))

    def __enter__(self) -> None:
        self._outer = journal.get()
        journal.set(self)

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        try:
            if kind is not None:
                self.restore()
        finally:
            journal.set(self._outer)

    def restore(self) -> None:
        """Restore the recorded contents of all objects, gradients and states."""
        super().restore()
        for param, grad, valid, scale, rule, state in self._gradients:
            param._grad, param._grad_valid = grad, valid
            if param._node.extra is not None:
                param._node.extra.loss_scale = scale
            if rule is not None:
                rule._state, rule._held = state, None


@contextmanager
def model_restored(model: Link) -> Iterator[None]:
    """On errors, give links back persistent values and states, and remove arrays that parameters got meanwhile."""
    links = [link for link in model.links() if link._persistent or hasattr(link, "states")]
    held = [(link.__dict__, link.__dict__.copy()) for link in links]
    values = [link.__dict__.get(name) for link in links for name in link._persistent]
    undo = UndoJournal([*values, *(param for param in model.params() if param._array is None)])
    for value in values:
        undo.keep(value)
    try:
        yield
    except BaseException:
        undo.restore()
        for now, before in held:
            now.update(before)
        raise
