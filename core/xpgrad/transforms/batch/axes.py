"""Axes of the batch for the leaves of trees."""

from typing import Any

from xpgrad.errors import StructureError
from xpgrad.transforms.containers import container_of
from xpgrad.transforms.trees import LEAF, Structure

Axes = Any
"""An integer, None, or a tree of these whose leaves stand for whole trees of arrays."""


def check_chunk_size(title: str, chunk_size: Any) -> None:
    """Raise ValueError unless `chunk_size` is a positive integer or None."""
    if chunk_size is not None and not (_is_integer(chunk_size) and chunk_size >= 1):
        raise ValueError(f"{title}: chunk_size must be a positive integer or None, got {chunk_size!r}")


def axes_of(
    title: str, name: str, axes: Axes, structure: Structure, what: str, *, flags: bool = False
) -> list[int | None]:
    """Return the axis of the batch for each leaf of a tree of `structure`, of which `axes` is a prefix.

    With `flags` the leaves of `axes` may be True and False, which are returned as 1 and 0.
    """
    if axes is None or _is_integer(axes) or (flags and isinstance(axes, bool)):
        axis = None if axes is None else axes.__index__()
        return [axis] if structure is LEAF else [axis] * len(structure.paths())
    if structure.kind is None:
        raise StructureError(f"{title}: {name} for {what}: expected an integer or None, got {type(axes).__name__}")
    if isinstance(axes, dict):
        parts = axes
    elif isinstance(axes, (tuple, list)):
        parts = dict(enumerate(axes))
    elif (container := container_of(type(axes))) is not None:
        parts = {key: container.child(axes, key) for key in container.keys(axes)}
    else:
        raise StructureError(
            f"{title}: {name} for {what}: expected an integer, None or a tree, got {type(axes).__name__}"
        )
    if parts.keys() != set(structure.keys):
        wanted, got = (", ".join(map(repr, keys)) or "nothing" for keys in (structure.keys, parts))
        raise StructureError(f"{title}: {name} for {what}: expected items {wanted}, got {got}")
    found: list[int | None] = []
    for key, child in zip(structure.keys, structure.children, strict=True):
        found += axes_of(title, name, parts[key], child, f"{what}[{key!r}]", flags=flags)
    return found


def _is_integer(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)
