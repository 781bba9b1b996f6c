"""`Packing`: the leaves of one tree after the other, all of which have the structure of the first."""

from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.backend.checks import same_place
from xpgrad.backend.spec import Spec
from xpgrad.errors import StructureError, UnknownArray
from xpgrad.graph.variable import Variable
from xpgrad.transforms.leaves import as_leaf
from xpgrad.transforms.trees import Structure, flatten, where

Opened = Callable[[Any], "Sequence[Any] | None"]


class Packing:
    """Trees of Variables of one structure and one list of specs.

    Parameters
    ----------
    title : str
        Begins the errors: ``scan: the carry``.
    advice : str
        Ends them.
    structure : Structure
    specs : sequence of Spec
        One for each leaf.

    Attributes
    ----------
    build : callable
        Returns the tree of a list of leaves.
    """

    def __init__(self, title: str, advice: str, structure: Structure, specs: Sequence[Spec]) -> None:
        self.title, self.advice, self.structure, self.specs = title, advice, structure, list(specs)
        self.build = _builder(structure)
        self._opened = _opener(structure)

    def leaves(self, tree: Any, step: int | str) -> list[Variable]:
        """Return the leaves of a tree that the step with this number or name returned.

        Raises
        ------
        StructureError
            The structure, or the shape, dtype or device of a leaf differs; the text names the path.
        """
        found = self._opened(tree)
        if found is not None:
            for leaf, spec in zip(found, self.specs):  # noqa: B905 - equally many, and this runs at each step
                if type(leaf) is not Variable or leaf._node.spec is not spec:
                    break
            else:
                return found if type(found) is list else list(found)
        return self._checked(tree, step)

    def _checked(self, tree: Any, step: int | str) -> list[Variable]:
        at = f"{self.title} that {step if isinstance(step, str) else f'step {step}'} returned"
        found, structure = flatten(tree)
        paths = list(self.structure.paths())
        try:
            leaves = self.structure.leaves_of(tree, at)
        except StructureError as error:
            raise StructureError(f"{error}; {self.advice}") from None
        if len(found) != len(paths):
            path = next(p for p, q in zip([*paths, None], [*structure.paths(), None], strict=False) if p != q) or ()
            raise StructureError(
                f"{at}{where(path)}: expected {len(paths)} arrays in all, got {len(found)}; {self.advice}"
            )
        made = []
        for leaf, spec, path in zip(leaves, self.specs, paths, strict=True):
            try:
                x = as_leaf(leaf, f"{at}{where(path)}")
            except UnknownArray as error:
                raise StructureError(f"{error}; {self.advice}") from None
            if not same_place(x._node.spec, spec):
                expected = f"{spec!r} on {spec.backend.device_for(spec.device)}"
                raise StructureError(
                    f"{at}{where(path)}: expected {expected}, got {x._node.spec!r} on {x.device}; {self.advice}"
                )
            made.append(x)
        return made


def _builder(structure: Structure) -> Callable[[Sequence[Any]], Any]:
    """Return a function that builds a tree from leaves, faster than `Structure.build` for simple trees."""
    kind = structure.kind
    if kind is None:
        return lambda leaves: leaves[0]
    if all(child.kind is None for child in structure.children):
        if kind is tuple:
            return tuple
        if kind is list:
            return list
        if kind is dict:
            keys = structure.keys
            return lambda leaves: dict(zip(keys, leaves))  # noqa: B905 - equally many, and this runs at each step
    return structure.build


def _opener(structure: Structure) -> Opened:
    """Return a function that extracts the leaves of a tree; None if its structure differs or is not simple."""
    kind, count = structure.kind, len(structure.children)
    if kind is None:
        return lambda tree: (tree,)
    if kind is type(None):
        return lambda tree: () if tree is None else None
    if all(child.kind is None for child in structure.children):
        if kind is tuple or kind is list:
            return lambda tree: tree if type(tree) is kind and len(tree) == count else None
        if kind is dict:
            keys = structure.keys
            return lambda tree: [tree[k] for k in keys] if type(tree) is dict and tuple(tree) == keys else None
    return lambda tree: None
