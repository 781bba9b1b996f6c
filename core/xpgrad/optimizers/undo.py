"""`gradients_restored`, `model_restored`: undo changes of gradients, states and models if an update fails."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from xpgrad.chainer.parameter import Parameter
from xpgrad.chainer.undo import UndoJournal
from xpgrad.graph.assignments import journal
from xpgrad.models.link import Link
from xpgrad.optimizers.packed import gradient


@contextmanager
def gradients_restored(params: Sequence[Parameter], arrays: bool = False) -> Iterator[None]:
    """Give parameters back their gradients, and update rules their states, if the block raises.

    Variables, persistent values and states of links that the block replaces are restored, too.

    Parameters
    ----------
    params : sequence of Parameter
    arrays : bool
        Whether the block may write to the arrays of the gradients, which are copied then.
    """
    held = [(param, param._grad, param._grad_valid, param._node.extra) for param in params]
    scales = [None if extra is None else extra.loss_scale for *_, extra in held]
    rules = [(rule, rule._state and rule._state.copy()) for p in params if (rule := p.update_rule) is not None]
    undo = UndoJournal(None)
    for param, grad, *_ in held if arrays else ():
        if grad is not None:
            undo.keep(gradient(param))
    outer = journal.get()
    try:
        journal.set(undo)
        yield
    except BaseException:
        undo.restore()
        for (param, grad, valid, _), scale in zip(held, scales, strict=True):
            param._grad, param._grad_valid = grad, valid
            if param._node.extra is not None:
                param._node.extra.loss_scale = scale
        for rule, state in rules:
            rule._state, rule._held = state, None
        raise
    finally:
        journal.set(outer)


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


def needs_preparation(param: Parameter) -> bool:
    """Return whether an update first divides the gradient by the factor of the loss, or makes a state."""
    rule = param.update_rule
    return param._node.extra is not None or (rule is not None and (rule._state is None or rule._use_fp32_update))
