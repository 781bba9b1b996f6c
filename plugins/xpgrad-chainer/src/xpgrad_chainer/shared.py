"""Links within two chains of a model: Chainer counts and updates their parameters once for each."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from xpgrad import Parameter
from xpgrad.models import Link
from xpgrad.optimizers.packed import Packs

_prepared: Callable[..., Callable[[], list[Parameter]]] = Packs.prepared


def params(link: Link, include_uninit: bool = True) -> Iterator[Parameter]:
    """Iterate over the parameters of this link and of all links below, those of shared links several times."""
    for name in sorted(link._params):
        parameter = vars(link)[name]
        if include_uninit or getattr(parameter, "_array", parameter) is not None:
            yield parameter
    for _, child in link._named_children():
        yield from child.params(include_uninit)


def prepared(packs: Packs, given: Sequence[Parameter]) -> Callable[[], list[Parameter]]:
    """Return a function that updates parameters, and returns those to be updated further."""
    if len({*map(id, given)}) == len(given):
        return _prepared(packs, given)
    once = {id(param): param for param in given}
    step = _prepared(packs, list(once.values()))
    again = [param for param in given if once.pop(id(param), None) is None]
    return lambda: [*step(), *again]


MEMBERS: tuple[tuple[type, str, Any], ...] = ((Link, "params", params), (Packs, "prepared", prepared))
"""Methods of links and optimizers as Chainer has them."""
