"""Links as trees for `xpgrad.transforms`: the leaves are the parameters of a link and of all below it.

A parameter at several places is one leaf, under the first of its paths. Rebuilding gives a copy of the links
with other objects in place of the parameters; persistent values and all other objects are shared. Values assigned to
attributes of such a copy end with the copy; an array assigned to a persistent Variable is seen outside.
`xpgrad.transforms` imports the module when it first meets a link.
"""

import functools
from collections.abc import Sequence
from typing import Any

from xpgrad.array_api import stack as stack_arrays
from xpgrad.errors import StructureError, UnknownArray
from xpgrad.graph.parameter import Parameter
from xpgrad.models.link import Link
from xpgrad.models.plan import LinkPlan, plan_of
from xpgrad.transforms.containers import Container
from xpgrad.transforms.trees import flatten


def container_of(kind: type) -> Container | None:
    """Return how links are taken apart; None for other types."""
    return LINK if issubclass(kind, Link) else None


def stack(links: Sequence[Link]) -> Any:
    """Return a batch of models for `vmap`: a link whose parameters are those of `links` stacked along a new first axis.

    Parameters
    ----------
    links : sequence of Link
        Models of one structure. Persistent values are taken from the first model.

    Raises
    ------
    StructureError
        The sequence is empty, or the structures differ.
    """
    if not isinstance(links, Sequence):
        raise TypeError(f"stack: expected a sequence of links, got {type(links).__name__}")
    if not links:
        raise StructureError("stack: expected one link or more, got none")
    leaves, structure = flatten(links[0])
    rows = [leaves, *(structure.leaves_of(link, f"stack: link {i}") for i, link in enumerate(links[1:], 1))]
    return structure.build([stack_arrays(list(column)) for column in zip(*rows, strict=True)])


def _keys(root: Link) -> tuple[str, ...]:
    """Return the paths of the leaves."""
    return plan_of(root).paths


@functools.lru_cache(maxsize=4096)
def _parts(path: str) -> tuple[list[str], str]:
    *names, last = path[1:].split("/")
    return names, last


def _child(root: Link, path: str) -> Any:
    """Return the leaf at a path."""
    names, last = _parts(path)
    for name in names:
        root = root._child_at(name)
    return root.__dict__[last]


def _emptied(root: Link) -> LinkPlan:
    """Return the tree without its leaves."""
    plan = plan_of(root)
    for path in plan.paths:
        leaf = _child(root, path)
        if isinstance(leaf, Parameter) and leaf._array is None:
            raise UnknownArray(
                f"{type(root).__name__}: the Parameter {path} is uninitialised; call the model once, or initialize its "
                "parameters, before a transform gets it"
            )
    return plan


def _same(root: Link, empty: LinkPlan) -> bool:
    """Return whether a tree has the plan `empty`, whatever its leaves."""
    return empty.is_of(root) or plan_of(root).equals(empty)


LINK = Container(_keys, _child, _emptied, LinkPlan.build, lambda root, empty: True, _same)
