"""Contractions by Einstein's summation, in steps with two arrays, along a path from opt_einsum."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.array_api.linear_algebra import matmul, tensordot
from xpgrad.array_api.manipulation import permute_dims, reshape
from xpgrad.array_api.statistical import sum as sum_
from xpgrad.errors import ShapeError
from xpgrad.graph.operands import as_variables
from xpgrad.graph.variable import Variable
from xpgrad.types import Shape


@dataclass(frozen=True)
class ContractionStep:
    """One step of a contraction: positions of the operands that are multiplied, and the labels of their product."""

    taken: tuple[int, ...]
    kept: str


@dataclass(frozen=True)
class Contraction:
    """A contraction of operands of known shapes: the labels of each operand's axes, the steps, and the output's labels.

    A label that has length 1 in one operand and more in another is dropped from the first; `dropped` has these labels
    for each operand.
    """

    labels: tuple[str, ...]
    dropped: tuple[str, ...]
    steps: tuple[ContractionStep, ...]
    output: str


@in_single_precision
def einsum(subscripts: Any, /, *operands: Any, optimize: Any = "auto") -> Variable:
    """Sum of products over labelled axes.

    Parameters
    ----------
    subscripts : str
        Labels of the axes of each operand, and of the output: ``"ij,jk->ik"``. Without an arrow the output has
        the labels that occur once, in alphabetical order. An ellipsis represents axes that broadcast; a label that
        occurs twice in one operand takes its diagonal. Or the first operand, if a list of int with its labels follows
        each operand, and the labels of the output come last.
    *operands : Variable or array, numeric
    optimize : str, bool or tuple of tuples
        Name of a path finder of opt_einsum, or a path in its format; True is ``"auto"``, and False contracts from left
        to right.

    Returns
    -------
    Variable
        Each step is a matrix product or a `tensordot`; labels of a single operand are summed first.

    Raises
    ------
    ShapeError
        A label has two lengths other than 1, or an operand's numbers of axes and labels differ.
    """
    equation, arrays = _parsed(subscripts, operands)
    xs = as_variables("einsum", *arrays)
    finder = {True: "auto", False: None}.get(optimize, optimize) if isinstance(optimize, bool) else optimize
    plan = contraction(equation, tuple(x.shape for x in xs), finder)
    terms = [_single(x, *each) for x, each in zip(xs, zip(plan.labels, plan.dropped, strict=True), strict=True)]
    for step in plan.steps:
        chosen = [terms[i] for i in step.taken]
        terms = [term for i, term in enumerate(terms) if i not in step.taken]
        product, *others = chosen
        for other in others:
            product = _pair(product, other, step.kept)
        terms.append(product)
    ((y, labels),) = terms
    y, labels = _summed(y, labels, plan.output)
    return _ordered(y, labels, plan.output)


def _parsed(subscripts: Any, operands: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    """Return subscripts as text, also from the interleaved form with lists of int, and the operands."""
    if isinstance(subscripts, str):
        return subscripts.replace(" ", ""), operands
    items = [subscripts, *operands]
    letters = [_letters(part) for part in items[1::2]]
    arrays = items[0::2]
    if len(items) % 2:
        return f"{','.join(letters)}->{_letters(arrays[-1])}", arrays[:-1]
    return ",".join(letters), arrays


def _letters(axes: Any) -> str:
    alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return "".join(
        "..." if axis is Ellipsis else alphabet[26:][axis] if axis < 26 else alphabet[axis - 26] for axis in axes
    )


class _Shaped(NamedTuple):
    """The attributes of an operand that the parser of opt_einsum requires."""

    shape: Shape


@functools.lru_cache(1024)
def contraction(equation: str, shapes: tuple[Shape, ...], optimize: Any) -> Contraction:
    """Return the contraction for `equation` and operands of `shapes`."""
    from opt_einsum import contract_path
    from opt_einsum.parser import parse_einsum_input  # takes 20 ms

    try:
        inputs, output, _ = parse_einsum_input([equation, *map(_Shaped, shapes)])
    except ValueError as error:
        raise ShapeError(f"einsum: {error}; got {equation!r} for shapes {', '.join(map(str, shapes))}") from None
    terms = inputs.split(",")
    lengths = _lengths(terms, shapes, equation)
    dropped = tuple(
        "".join({label for label, n in zip(term, shape, strict=True) if n == 1 != lengths[label]})
        for term, shape in zip(terms, shapes, strict=True)
    )
    labels = [
        "".join(dict.fromkeys(label for label in term if label not in gone))
        for term, gone in zip(terms, dropped, strict=True)
    ]
    steps: list[ContractionStep] = []
    # Without a path finder, from left to right: each product is appended, and is an operand of the next step.
    path: Any = [(0, n) for n in (1, *range(len(labels) - 2, 0, -1))][: len(labels) - 1]
    if optimize and len(labels) > 2:
        reduced = [tuple(lengths[label] or 1 for label in term) for term in labels]  # opt_einsum 3.3 divides by costs
        path = contract_path(f"{','.join(labels)}->{output}", *reduced, shapes=True, optimize=optimize)[0]
    for taken in path:
        rest = [term for i, term in enumerate(labels) if i not in taken]
        wanted = set(output).union(*rest)
        kept = "".join(dict.fromkeys(label for i in taken for label in labels[i] if label in wanted))
        steps.append(ContractionStep(tuple(taken), kept))
        labels = [*rest, kept]
    return Contraction(tuple(terms), dropped, tuple(step for step in steps if len(step.taken) > 1), output)


def _lengths(terms: Sequence[str], shapes: Sequence[Shape], equation: str) -> dict[str, int]:
    lengths: dict[str, int] = {}
    for term, shape in zip(terms, shapes, strict=True):
        if len(term) != len(shape):
            raise ShapeError(f"einsum: expected {len(term)} axes for {term!r} of {equation!r}, got shape {shape}")
        own: dict[str, int] = {}
        for label, n in zip(term, shape, strict=True):
            if own.setdefault(label, n) != n:
                raise ShapeError(f"einsum: a diagonal needs equal lengths, got shape {shape} for {term!r}")
            if lengths.setdefault(label, n) == 1:
                lengths[label] = n
            elif n not in (1, lengths[label]):
                raise ShapeError(
                    f"einsum: label {label!r} of {equation!r} has the lengths {lengths[label]} and {n}; "
                    f"got shapes {', '.join(map(str, shapes))}"
                )
    return lengths


def _single(x: Variable, labels: str, dropped: str) -> tuple[Variable, str]:
    """Return an operand with every label once: without dropped axes, and with diagonals where labels repeat."""
    if dropped:
        x = reshape(x, shape=tuple(n for n, label in zip(x.shape, labels, strict=True) if label not in dropped))
        labels = "".join(label for label in labels if label not in dropped)
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            n = x.shape[first]
            rest = [i for i in range(len(labels)) if i not in (first, second)]
            x = permute_dims(x, axes=(*rest, first, second))
            x = reshape(x, shape=(*x.shape[:-2], n * n))[..., :: n + 1] if n else reshape(x, shape=x.shape[:-1])
            labels = "".join(labels[i] for i in rest) + label
    return x, labels


def _summed(x: Variable, labels: str, wanted: str) -> tuple[Variable, str]:
    axes = tuple(i for i, label in enumerate(labels) if label not in wanted)
    if not axes:
        return x, labels
    dtype = None if x.node.spec.differentiable else x.dtype
    return sum_(x, axis=axes, dtype=dtype), "".join(label for label in labels if label in wanted)


def _ordered(x: Variable, labels: str, wanted: str) -> Variable:
    return x if labels == wanted else permute_dims(x, axes=tuple(map(labels.index, wanted)))


def _pair(term1: tuple[Variable, str], term2: tuple[Variable, str], kept: str) -> tuple[Variable, str]:
    """Return the product of two operands summed over the labels that are not `kept`, and its labels."""
    x1, left = _summed(*term1, wanted=kept + term2[1])
    x2, right = _summed(*term2, wanted=kept + left)
    batch = [label for label in left if label in right and label in kept]
    summed = [label for label in left if label in right and label not in kept]
    rows = [label for label in left if label not in right]
    columns = [label for label in right if label not in left]
    labels = "".join(batch + rows + columns)
    if not batch:
        axes = [left.index(s) for s in summed], [right.index(s) for s in summed]
        return tensordot(x1, x2, axes=axes), labels
    lengths = dict(zip(left, x1.shape, strict=True)) | dict(zip(right, x2.shape, strict=True))
    if not summed:
        x1 = reshape(
            _ordered(x1, left, "".join(batch + rows)), shape=_shape(lengths, batch + rows) + (1,) * len(columns)
        )
        x2 = _ordered(x2, right, "".join(batch + columns))
        return x1 * reshape(x2, shape=_shape(lengths, batch) + (1,) * len(rows) + _shape(lengths, columns)), labels
    b, m, k, n = (math.prod(_shape(lengths, part)) for part in (batch, rows, summed, columns))
    x1 = reshape(_ordered(x1, left, "".join(batch + rows + summed)), shape=(b, m, k))
    x2 = reshape(_ordered(x2, right, "".join(batch + summed + columns)), shape=(b, k, n))
    return reshape(matmul(x1, x2), shape=_shape(lengths, batch + rows + columns)), labels


def _shape(lengths: dict[str, int], labels: Sequence[str]) -> Shape:
    return tuple(lengths[label] for label in labels)
