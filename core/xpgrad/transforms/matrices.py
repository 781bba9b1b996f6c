"""`jacobian` and `hessian`: matrices of derivatives, computed by rows or by columns."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from xpgrad import array_api
from xpgrad.config import backprop_mode, called_with
from xpgrad.errors import DtypeError
from xpgrad.graph.node import FunctionBase
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.transforms.call import Call
from xpgrad.transforms.gradient import documented, grad
from xpgrad.transforms.leaves import zeros_like
from xpgrad.transforms.products import Pushforward, linear_pullback

JacobianMode = Literal["reverse", "forward", "auto"]
FORWARD_COST = 2
"""Cost of a column in rows, rounded up; a sweep for a column passes through the graph of a recorded sweep."""


def jacobian(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, mode: JacobianMode = "reverse", has_aux: bool = False,
    holomorphic: bool = False, *, allow_constant: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """Return the Jacobian of `f` as a function.

    Parameters
    ----------
    f : callable
        Returns a tree of Variables.
    argnums : int or sequence of int
        The positional arguments to differentiate by: trees of Variables, arrays or scalars.
    mode : {"reverse", "forward", "auto"}
        "reverse" takes a sweep for each element of the output, "forward" one for each element of the arguments. "auto"
        chooses the faster one, but reverse mode if a gradient is the user's code (a `FunctionNode`, `custom_vjp`,
        `checkpoint`), which may not be differentiable itself.
    has_aux : bool
        `f` returns ``(output, aux)``; the result is ``(jacobian, aux)``.
    holomorphic : bool
        Whether `f` of complex arguments is holomorphic; the result is then the complex derivative.
    allow_constant : bool
        As for `value_and_grad`.

    Returns
    -------
    callable
        Takes the arguments of `f`. Its result has the structure of the output, with a tree like the argument in place
        of each leaf (a tuple of them for a sequence of `argnums`). A leaf has the shape of the output's leaf, then that
        of the argument's; an integer leaf of an argument gives None. Types are as for `grad`.

    Raises
    ------
    DtypeError
        A complex output of complex arguments, without `holomorphic`.

    Notes
    -----
    A real output's derivative by a complex argument is its gradient ``∂/∂x + i ∂/∂y``, so that the Jacobian of a real
    number is what `grad` gives. A complex output's derivative by a real argument is that of its real part plus i times
    that of its imaginary part.
    """
    if mode not in ("reverse", "forward", "auto"):
        raise ValueError(f"jacobian: mode must be 'reverse', 'forward' or 'auto', got {mode!r}")

    @documented(f, "jacobian")
    def matrix(*args: Any, **kwargs: Any) -> Any:
        call = Call("jacobian", f, argnums, has_aux, args, kwargs, allow_constant=allow_constant)
        return _matrix(call, mode, has_aux, holomorphic)

    return matrix


def _matrix(call: Call, mode: JacobianMode, has_aux: bool = False, holomorphic: bool = False) -> Any:
    """Return the result of a function that `jacobian` returns."""
    _check(call, holomorphic)
    forward = mode == "forward" or (mode == "auto" and _is_tall(call))
    by = _by_columns if forward else _by_rows
    blocks = by(call) if call.mode.recorded else called_with(backprop_mode(False), by, call)
    found = call.structure.build(call.over_arguments([call.mode.for_user(block) for block in row]) for row in blocks)
    return (found, call.aux_for_user()) if has_aux else found


def jacrev(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, *, allow_constant: bool = False
) -> Callable[..., Any]:
    """Return `jacobian` of `f` by reverse mode, the faster one for fewer outputs than arguments."""
    return jacobian(f, argnums, "reverse", has_aux, allow_constant=allow_constant)


def jacfwd(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, *, allow_constant: bool = False
) -> Callable[..., Any]:
    """Return `jacobian` of `f` by forward mode, the faster one for more outputs than arguments."""
    return jacobian(f, argnums, "forward", has_aux, allow_constant=allow_constant)


def hessian(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, *, allow_constant: bool = False
) -> Callable[..., Any]:
    """Return the Hessian of `f`, which returns one real number, as a function: the Jacobian of its gradient.

    The result has the structure of the argument, with a tree like the argument in place of each leaf; for a sequence of
    `argnums` both are tuples. The shape of a leaf is that of both leaves, concatenated. The arguments are real.
    `allow_constant` is as for `value_and_grad`, and applies to the gradient, too.
    """
    gradient = grad(f, argnums, allow_constant=allow_constant)

    @documented(f, "hessian")
    def matrix(*args: Any, **kwargs: Any) -> Any:
        return _matrix(
            Call("hessian", gradient, argnums, False, args, kwargs, allow_constant=allow_constant), "reverse"
        )

    return matrix


def _check(call: Call, holomorphic: bool) -> None:
    if holomorphic:
        return
    if any(y._node.spec.complex for y in call.outputs) and any(x._node.spec.complex for x in call.roots):
        raise DtypeError(
            "jacobian: a complex output of a complex argument has a Jacobian only if the function is holomorphic; pass "
            "holomorphic=True, or differentiate real and imaginary parts"
        )


def _is_tall(call: Call) -> bool:
    """Return whether forward mode is faster than reverse mode, and is supported by all functions."""
    rows, columns = (sum(x.size for x in side) for side in (call.outputs, call.roots))
    if rows <= FORWARD_COST * (columns + 1):
        return False
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


def _by_rows(call: Call) -> list[list[Variable]]:
    """Return one block for each output and root, by a sweep for each element of the outputs."""
    gradients, recorded = linear_pullback(call), call.mode.recorded
    blocks = []
    for index, y in enumerate(call.outputs):
        rows: list[list[Variable]] = [[] for _ in call.roots]
        for seed in _basis(y):
            found = gradients(_alone(call.outputs, index, seed), recorded=recorded)
            if y._node.spec.complex:
                other = gradients(_alone(call.outputs, index, _turned(seed)), recorded=recorded)
                found = [
                    array_api.conj(g) if x._node.spec.complex else g + 1j * h
                    for x, g, h in zip(call.roots, found, other, strict=True)
                ]
            for row, g in zip(rows, found, strict=True):
                row.append(g)
        blocks.append([_stacked(row, y, x, 0) for row, x in zip(rows, call.roots, strict=True)])
    return blocks


def _by_columns(call: Call) -> list[list[Variable]]:
    """Return one block for each output and root, by a sweep for each element of the roots."""
    push, recorded = Pushforward(call), call.mode.recorded
    blocks: list[list[Variable]] = [[] for _ in call.outputs]
    for index, x in enumerate(call.roots):
        columns: list[list[Variable]] = [[] for _ in call.outputs]
        for seed in _basis(x):
            found = push(_alone(call.roots, index, seed), recorded=recorded)
            if x._node.spec.complex and not all(y._node.spec.complex for y in call.outputs):
                other = push(_alone(call.roots, index, _turned(seed)), recorded=recorded)
                found = [
                    t if y._node.spec.complex else t + 1j * u
                    for y, t, u in zip(call.outputs, found, other, strict=True)
                ]
            for column, t in zip(columns, found, strict=True):
                column.append(t)
        for block, column, y in zip(blocks, columns, call.outputs, strict=True):
            block.append(_stacked(column, y, x, -1))
    return blocks


def _alone(references: Sequence[Variable], index: int, seed: Variable) -> list[Variable]:
    return [seed if i == index else zeros_like(x) for i, x in enumerate(references)]


def _turned(seed: Variable) -> Variable:
    """Return `seed` times the imaginary unit."""
    backend = seed._node.spec.backend
    return constant_variable(backend.restore(backend.xp.multiply(seed._array, 1j)))


def _basis(x: Variable) -> Iterator[Variable]:
    """Yield arrays like `x` that are 1 at one element and 0 elsewhere."""
    spec = x._node.spec
    xp = spec.backend.xp
    places = xp.reshape(xp.arange(spec.size, device=spec.device), shape=spec.shape)
    cast = spec.backend.follow(xp.astype)
    for i in range(spec.size):
        yield constant_variable(spec.backend.restore(cast(xp.equal(places, i), spec.dtype)))


def _stacked(parts: list[Variable], y: Variable, x: Variable, axis: int) -> Variable:
    """Return the derivatives of `y` by `x` from those of, or by, single elements; without any, an empty array."""
    shape = (*y.shape, *x.shape)
    if not parts:
        lead = zeros_like(x if x._node.spec.complex else y)
        return constant_variable(
            x._node.spec.backend.namespace.zeros(shape, dtype=lead.dtype, device=x._node.spec.device)
        )
    return array_api.reshape(array_api.stack(parts, axis=axis), shape)
