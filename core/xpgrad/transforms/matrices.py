"""`jacobian` and `hessian`: matrices of derivatives, computed by rows or by columns."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from xpgrad.errors import BatchError, BatchWarning, DtypeError, GradientError, XpgradError
from xpgrad.graph.node import FunctionBase
from xpgrad.graph.variable import Variable
from xpgrad.transforms.batch.axes import check_chunk_size
from xpgrad.transforms.call import Evaluation, Mode
from xpgrad.transforms.callers import depth
from xpgrad.transforms.gradient import documented, gradient_of
from xpgrad.transforms.jacobians.batches import Columns, JacobianRows
from xpgrad.transforms.jacobians.by_element import by_columns, by_rows
from xpgrad.transforms.trees import Structure

JacobianMode = Literal["reverse", "forward", "auto"]
FORWARD_COST = 2
"""Cost of a column in rows, rounded up; a sweep for a column passes through the graph of a recorded sweep."""
REFUSALS = BatchError, AttributeError, NotImplementedError, TypeError
"""Errors by which functions refuse batches: they need a value, or were written for the arrays of one library."""


def jacobian(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, mode: JacobianMode = "reverse", has_aux: bool = False,
    holomorphic: bool = False, *, allow_constant: bool = False, chunk_size: int | None = None,
) -> Callable[..., Any]:  # fmt: skip
    """Return the Jacobian of `f` as a function.

    Parameters
    ----------
    f : callable
        Returns a tree of Variables.
    argnums : int or sequence of int
        The positional arguments to differentiate by: trees of Variables, arrays or scalars.
    mode : {"reverse", "forward", "auto"}
        "reverse" has a row for each element of the output, "forward" a column for each element of the arguments. "auto"
        chooses the faster one, but reverse mode if a gradient is the user's code (a `FunctionNode`, `custom_vjp`,
        `checkpoint`), which may not be differentiable itself.
    has_aux : bool
        `f` returns ``(output, aux)``; the result is ``(jacobian, aux)``.
    holomorphic : bool
        Whether `f` of complex arguments is holomorphic; the result is then the complex derivative.
    allow_constant : bool
        As for `value_and_grad`.
    chunk_size : int, optional
        Number of rows, or columns, computed by one sweep. By default the largest number that takes at most some 256 MB
        more than a single row or column.

    Returns
    -------
    callable
        Takes the arguments of `f`. Its result has the structure of the output, with a tree like the argument in place
        of each leaf (a tuple of them for a sequence of `argnums`). A leaf has the shape of the output's leaf, then the
        shape of the argument's leaf; an integer leaf of an argument gives None. Types are as for `grad`.

    Raises
    ------
    DtypeError
        A complex output of complex arguments, without `holomorphic`.

    Notes
    -----
    All rows are computed by one sweep, with a batch of cotangents. If a function rejects batches, there is a
    `BatchWarning`, and a sweep for each element.

    A real output's derivative by a complex argument is its gradient ``∂/∂x + i ∂/∂y``, so that the Jacobian of a real
    number equals the result of `grad`. A complex output's derivative by a real argument is the derivative of its real
    part plus i times the derivative of its imaginary part.
    """
    if mode not in ("reverse", "forward", "auto"):
        raise ValueError(f"jacobian: mode must be 'reverse', 'forward' or 'auto', got {mode!r}")
    check_chunk_size("jacobian", chunk_size)

    @documented(f, "jacobian")
    def matrix(*args: Any, **kwargs: Any) -> Any:
        request = _Request("jacobian", f, argnums, args, kwargs, chunk_size, has_aux, holomorphic, allow_constant)
        return _matrix(request, mode)

    return matrix


class _Request(NamedTuple):
    """One requested Jacobian; the fields are the arguments of `jacobian`."""

    name: str
    f: Callable[..., Any]
    argnums: int | Sequence[int]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    chunk_size: int | None
    has_aux: bool = False
    holomorphic: bool = False
    allow_constant: bool = False

    def call(self) -> Evaluation:
        """Return an evaluation of the function."""
        return Evaluation(
            self.name, self.f, self.argnums, self.has_aux, self.args, self.kwargs, allow_constant=self.allow_constant
        )


def _matrix(request: _Request, mode: JacobianMode) -> Any:
    """Return the result of a function that `jacobian` returns."""
    try:
        return _in_batches(request, mode)
    except REFUSALS as error:
        if isinstance(error, XpgradError) and not isinstance(error, BatchError):
            raise
        refusal = error
    found = _one_by_one(request, mode)
    warnings.warn(
        f"{request.name}: computed by a sweep for each element, since the function refuses batches: {refusal}",
        BatchWarning,
        stacklevel=depth() + 1,
    )
    return found


def _in_batches(request: _Request, mode: JacobianMode) -> Any:
    if mode != "forward":
        rows = JacobianRows(request.name, request.chunk_size, request.call)
        call = rows.call
        if mode == "reverse" or not _is_tall(call):
            _check(request, call.outputs, call.roots)
            blocks = call.mode.computed(rows.blocks)
            return _filled(request, call.mode, call.structure, call.over_arguments, blocks, rows.aux())
    columns = Columns(
        request.name, request.chunk_size, request.f, request.argnums, request.args, request.kwargs, request.has_aux,
        request.allow_constant,
    )  # fmt: skip
    blocks = columns.mode.computed(columns.blocks)
    _check(request, columns.outputs, columns.roots)
    return _filled(request, columns.mode, columns.structure, columns.over_arguments, blocks, columns.aux())


def _one_by_one(request: _Request, mode: JacobianMode) -> Any:
    call = request.call()
    _check(request, call.outputs, call.roots)
    by = by_columns if mode == "forward" or (mode == "auto" and _is_tall(call)) else by_rows
    return _filled(request, call.mode, call.structure, call.over_arguments, call.mode.computed(by, call), call.aux)


def _filled(
    request: _Request, mode: Mode, structure: Structure, over_arguments: Callable[[Sequence[Any]], Any],
    blocks: list[list[Variable]], aux: Any,
) -> Any:  # fmt: skip
    """Return the tree of the blocks as the user receives it."""
    found = structure.build(over_arguments([mode.for_user(block) for block in row]) for row in blocks)
    return (found, mode.for_user(aux)) if request.has_aux else found


def jacrev(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, holomorphic: bool = False, *,
    allow_constant: bool = False, chunk_size: int | None = None,
) -> Callable[..., Any]:  # fmt: skip
    """Return `jacobian` of `f` by reverse mode, the faster one for fewer outputs than arguments."""
    return jacobian(f, argnums, "reverse", has_aux, holomorphic, allow_constant=allow_constant, chunk_size=chunk_size)


def jacfwd(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, holomorphic: bool = False, *,
    allow_constant: bool = False, chunk_size: int | None = None,
) -> Callable[..., Any]:  # fmt: skip
    """Return `jacobian` of `f` by forward mode, the faster one for more outputs than arguments."""
    return jacobian(f, argnums, "forward", has_aux, holomorphic, allow_constant=allow_constant, chunk_size=chunk_size)


def hessian(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, *, allow_constant: bool = False,
    chunk_size: int | None = None,
) -> Callable[..., Any]:  # fmt: skip
    """Return the Hessian of `f`, which returns one real number, as a function: the Jacobian of its gradient.

    The result has the structure of the argument, with a tree like the argument in place of each leaf; for a sequence of
    `argnums` both are tuples. Each leaf has the concatenated shapes of both leaves. The arguments are real.
    `allow_constant` is as for `value_and_grad`, and also applies to the gradient; `chunk_size` is as for `jacobian`. It
    is computed by forward mode over reverse mode; if a function rejects forward mode, by reverse over reverse mode.
    """
    check_chunk_size("hessian", chunk_size)
    gradient = gradient_of("hessian", f, argnums, allow_constant=allow_constant)

    @documented(f, "hessian")
    def matrix(*args: Any, **kwargs: Any) -> Any:
        request = _Request("hessian", gradient, argnums, args, kwargs, chunk_size, allow_constant=allow_constant)
        try:
            return _in_batches(request, "forward")
        except (*REFUSALS, GradientError):  # reverse mode supports more functions, and raises the error
            return _matrix(request, "reverse")

    return matrix


def _check(request: _Request, outputs: Sequence[Variable], roots: Sequence[Variable]) -> None:
    if request.holomorphic:
        return
    if any(y._node.spec.complex for y in outputs) and any(x._node.spec.complex for x in roots):
        raise DtypeError(
            "jacobian: a complex output of a complex argument has a Jacobian only if the function is holomorphic; pass "
            "holomorphic=True, or differentiate real and imaginary parts"
        )


def _is_tall(call: Evaluation) -> bool:
    """Return whether forward mode is faster than reverse mode, and is supported by all functions."""
    rows, columns = (sum(x.size for x in side) for side in (call.outputs, call.roots))
    return rows > FORWARD_COST * (columns + 1) and supports_forward(call)


def supports_forward(call: Evaluation) -> bool:
    """Return whether no gradient in the graph is the user's code, which forward mode might not support."""
    return not any(_may_end(f) for f in _functions(call.outputs))


def _may_end(f: FunctionBase) -> bool:
    """Return whether the gradient of `f` is the user's code, which may not be differentiable itself."""
    library, _, rest = type(f).__module__.partition(".")
    return library != "xpgrad" or rest.startswith("transforms.") or f.implementation() is not f


def _functions(outputs: Sequence[Variable]) -> Iterator[FunctionBase]:
    """Yield the functions that computed `outputs`, each once."""
    seen: set[FunctionBase] = set()
    waiting = [y._node.live_creator() for y in outputs]
    while waiting:
        f = waiting.pop()
        if f is None or f in seen:
            continue
        seen.add(f)
        yield f
        waiting.extend(node.live_creator() for node in f.inputs or () if node is not None)
