"""`vmap`: a function of one member, called once for all members of a batch."""

import functools
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Literal

from xpgrad import array_api
from xpgrad.backend import random
from xpgrad.backend.indexing import at_axis
from xpgrad.config import called_with
from xpgrad.errors import BatchError, ShapeError
from xpgrad.graph.variable import Variable
from xpgrad.transforms.batch import ports
from xpgrad.transforms.batch.axes import Axes, axes_of
from xpgrad.transforms.batch.level import BatchLevel
from xpgrad.transforms.call import Mode
from xpgrad.transforms.enclosing.node import Output, left
from xpgrad.transforms.enclosing.port import Port
from xpgrad.transforms.leaves import as_leaf, is_array
from xpgrad.transforms.trees import Structure, flatten, where

Randomness = Literal["different", "same"]


def vmap(
    f: Callable[..., Any], in_axes: Axes = 0, out_axes: Axes = 0, chunk_size: int | None = None,
    axis_name: str | None = None, *, randomness: Randomness = "different",
) -> Callable[..., Any]:  # fmt: skip
    """Return `f`, a function of one member, as a function of a batch: one call for all members.

    Parameters
    ----------
    f : callable
        Takes and returns trees of Variables. It sees shapes without the axis of the batch.
    in_axes : int, None, or tuple of these or of trees of these
        The axis of the batch in each positional argument; None for what is the same for all members. One integer is
        for all arguments. An integer in place of a tree is for all of its leaves. Keyword arguments have axis 0.
    out_axes : int, None, or tree of these
        Where the axis of the batch is in what is returned; None for what is the same for all members, returned once.
    chunk_size : int, optional
        At most so many members are computed at a time, which bounds the memory.
    axis_name : str, optional
        The name of the batch, for `psum`, `pmean` and `axis_index` within `f`, and for messages.
    randomness : {"different", "same"}
        Whether each member draws random numbers of its own.

    Returns
    -------
    callable
        Takes the arguments of `f` with the axis of the batch. Arrays give arrays and Variables Variables; what depends
        on captured Variables that require a gradient is connected to them.

    Raises
    ------
    ShapeError
        The batches of two arguments have different sizes, or an argument has no such axis.
    BatchError
        The function needs the value of a member, or calls a function that has no rule for batches.

    Notes
    -----
    Within the function ``float(x)`` and ``if x > 0`` raise, since each member has a value of its own; use `xp.where`.
    Names and meaning are those of ``jax.vmap``.
    """
    if not callable(f):
        raise TypeError(f"vmap: expected a function, got {type(f).__name__}")
    if chunk_size is not None and (not isinstance(chunk_size, int) or chunk_size < 1):
        raise ValueError(f"vmap: chunk_size must be a positive integer or None, got {chunk_size!r}")
    if randomness not in ("different", "same"):
        raise ValueError(f"vmap: randomness must be 'different' or 'same', got {randomness!r}")

    @functools.wraps(f, updated=())
    def batched(*args: Any, **kwargs: Any) -> Any:
        batch = Arguments(axis_name, args, kwargs, in_axes)
        if chunk_size is None or batch.size <= chunk_size:
            results, structure = batch.called(f, out_axes, randomness)
        else:
            results, structure = _in_chunks(batch, f, out_axes, randomness, chunk_size)
        return structure.build(batch.for_user(y) for y, _ in results)

    return batched


Result = tuple[Any, int | None]
"""A Variable outside, or another object; and the axis of the batch, None if it has none."""


class Arguments:
    """The arguments of one call, and the axis of the batch in each of their leaves.

    Attributes
    ----------
    size : int
        Number of members.
    """

    def __init__(self, name: str | None, args: tuple[Any, ...], kwargs: dict[str, Any], in_axes: Axes) -> None:
        title = "vmap" if name is None else f"vmap over {name}"
        self.name, self.title, self.mode = name, title, Mode(args, kwargs)
        positional, self.structure = flatten((args, kwargs))
        given = _axes_of_arguments(title, args, kwargs, in_axes)
        self.leaves: list[Any] = []
        self.axes: list[int | None] = []
        sizes: dict[int, str] = {}
        for leaf, axis, path in zip(positional, given, self.structure.paths(), strict=True):
            what = f"{title}: argument{where(path[1:])}"
            if axis is None and not is_array(leaf):
                self.leaves.append(leaf)
                self.axes.append(None)
                continue
            x = as_leaf(leaf, what)
            if axis is not None:
                if not -len(x.shape) <= axis < len(x.shape):
                    raise ShapeError(
                        f"{what} has no axis {axis}, its shape is {x.shape}; pass in_axes=None for what is the same "
                        "for all members"
                    )
                axis %= len(x.shape)
                sizes.setdefault(x.shape[axis], f"{where(path[1:]) or ' 0'} of shape {x.shape} along axis {axis}")
            self.leaves.append(x)
            self.axes.append(axis)
        if not sizes:
            raise ValueError(f"{title}: no argument has an axis of the batch; give at least one an axis by in_axes")
        if len(sizes) > 1:
            (n, first), (m, second) = list(sizes.items())[:2]
            raise ShapeError(
                f"{title}: the batch has one size for all arguments, got {n} in argument{first}, and {m} in "
                f"argument{second}"
            )
        (self.size,) = sizes

    def part(self, start: int, stop: int) -> "Arguments":
        """Return the arguments for some of the members."""
        part: Arguments = object.__new__(Arguments)
        part.__dict__ |= self.__dict__
        part.size = stop - start
        part.leaves = [
            x if axis is None else x[at_axis(axis, slice(start, stop))]
            for x, axis in zip(self.leaves, self.axes, strict=True)
        ]
        return part

    def called(self, f: Callable[..., Any], out_axes: Axes, randomness: str) -> tuple[list[Result], Structure]:
        """Return the leaves of what `f` returns for all members, outside, and their structure."""
        level = BatchLevel(self.title, self.size, randomness, self.name)
        level.home = next(x.device for x, axis in zip(self.leaves, self.axes, strict=True) if axis is not None)
        inside = [self._entered(level, x, axis) for x, axis in zip(self.leaves, self.axes, strict=True)]
        args, kwargs = self.structure.build(inside)
        outputs, structure, axes = level.run(_returned, level, f, args, kwargs, out_axes)
        level.store()
        flat = left(level, outputs, unshared=True)
        return [(y, axis) for (y,), axis in zip(flat, axes, strict=True)], structure

    def _entered(self, level: BatchLevel, x: Any, axis: int | None) -> Any:
        if not isinstance(x, Variable):
            return x
        if x._array is None:
            return x
        port: Port = ports.shared(level) if axis is None else ports.member(level, axis)
        return level.entered((x,), port.inward((x._array,)), port).inside

    def for_user(self, y: Any) -> Any:
        """Return a result as the user receives it: a Variable if arguments were, or if it is connected."""
        if self.mode.variables or not isinstance(y, Variable) or y._node.requires_grad:
            return y
        return y._array


def _returned(
    level: BatchLevel, f: Callable[..., Any], args: Any, kwargs: Any, out_axes: Axes
) -> tuple[list[Output], Structure, list[int | None]]:
    """Call `f`, and return its results as outputs, with the axis of the batch in each."""
    result = f(*args, **kwargs)
    leaves, structure = flatten(result)
    axes = list(axes_of(level.title, "out_axes", out_axes, structure, "what the function returned"))
    outputs, places = [], []
    for leaf, axis, path in zip(leaves, axes, structure.paths(), strict=True):
        what = f"{level.title}: what the function returned{where(path)}"
        y = as_leaf(leaf, what)
        if axis is None:
            if y._array.batched:
                raise BatchError(
                    f"{what} has a value for each member, but out_axes is None; give an axis, or reduce it after the "
                    "call"
                )
            outputs.append(Output(y, ports.only(level)))
        else:
            ndim = len(y.shape) + 1
            if not -ndim <= axis < ndim:
                raise ShapeError(f"{what}: out_axes is {axis}, but the result has {ndim} axes with that of the batch")
            axis %= ndim
            outputs.append(Output(y, ports.member(level, axis)))
        places.append(axis)
    return outputs, structure, places


def _in_chunks(
    batch: Arguments, f: Callable[..., Any], out_axes: Axes, randomness: str, chunk: int
) -> tuple[list[Result], Structure]:
    """Return what `Arguments.called` does, computed for at most `chunk` members at a time."""
    stops = [*range(chunk, batch.size, chunk), batch.size]
    devices = {x.device for x in batch.leaves if isinstance(x, Variable)}
    states = random.snapshot(devices) if randomness == "same" else None
    first = batch.part(0, stops[0]).called(f, out_axes, randomness)
    parts = [first]
    for start, stop in pairwise(stops):
        replayed = {} if states is None else random.replaying(states)
        parts.append(called_with(replayed, batch.part(start, stop).called, f, out_axes, randomness))
    structure = parts[0][1]
    joined: list[Result] = []
    for pieces in zip(*(results for results, _ in parts), strict=True):
        axis = pieces[0][1]
        joined.append(pieces[-1] if axis is None else (array_api.concat([y for y, _ in pieces], axis=axis), axis))
    return joined, structure


# Axes


def _axes_of_arguments(
    title: str, args: tuple[Any, ...], kwargs: dict[str, Any], in_axes: Axes
) -> Iterator[int | None]:
    """Yield the axis of the batch for each leaf of ``(args, kwargs)``."""
    if isinstance(in_axes, (tuple, list)):
        if len(in_axes) != len(args):
            raise ValueError(
                f"{title}: in_axes must be an integer, None or a tuple with one for each positional argument; got "
                f"{len(in_axes)} for {len(args)} arguments"
            )
        given: Sequence[Any] = in_axes
    elif in_axes is None or hasattr(in_axes, "__index__"):
        given = [in_axes] * len(args)
    else:
        raise TypeError(f"{title}: in_axes must be an integer, None or a tuple, got {type(in_axes).__name__}")
    for i, (axes, x) in enumerate(zip(given, args, strict=True)):
        yield from axes_of(title, "in_axes", axes, flatten(x)[1], f"argument {i}")
    for x in kwargs.values():
        yield from axes_of(title, "in_axes", 0, flatten(x)[1], "")
