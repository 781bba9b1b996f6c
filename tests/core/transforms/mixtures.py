"""Compositions of transformations, written once for xpgrad and for JAX, as functions of one array."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from tests.core.transforms.references import doubled, looped, row_by_row

import xpgrad
from xpgrad import Device, Variable, transforms
from xpgrad import array_api as xp
from xpgrad.testing.arrays import placed

Function = Callable[[Any], Any]


class Library(NamedTuple):
    """The transformations of one library, and its namespace."""

    xp: Any
    made: Callable[[Any], Any]
    """Returns an array of the library, with the values of a host array."""
    leaf: Callable[[Any], Any]
    """Returns an argument for functions of the namespace, with the values of a host array."""
    grad: Callable[..., Any]
    jvp: Callable[..., tuple[Any, Any]]
    vmap: Callable[..., Any]
    jacobian: Callable[..., Any]
    hessian: Callable[..., Any]
    compile: Callable[..., Any]
    checkpoint: Callable[..., Any]


def ours(device: Device) -> Library:
    """Return xpgrad on a device."""
    t = transforms

    def jvp(f: Function, primals: Any, tangents: Any) -> Any:
        return t.jvp(f, primals, tangents, allow_constant=True)

    def made(values: Any) -> Any:
        return placed(np.asarray(values), device)

    return Library(
        xp, made, lambda values: Variable(made(values), requires_grad=False),
        lambda f: t.grad(f, allow_constant=True), jvp, t.vmap,
        lambda f: t.jacobian(f, allow_constant=True), lambda f: t.hessian(f, allow_constant=True), xpgrad.compile,
        t.checkpoint,
    )  # fmt: skip


def by_reverse_mode(device: Device) -> Library:
    """Return these transformations computed from loops and reverse mode, uncompiled."""

    def hessian(f: Function) -> Function:
        return row_by_row(transforms.grad(f, allow_constant=True))

    return ours(device)._replace(
        jvp=doubled, vmap=looped, jacobian=row_by_row, hessian=hessian, compile=_same, checkpoint=_same
    )


def _same(f: Function) -> Function:
    return f


def of_jax() -> Library:
    """Return JAX, without transformations that change no numbers; requires 64 bits."""
    import jax

    return Library(
        jax.numpy, jax.numpy.asarray, jax.numpy.asarray, jax.grad, jax.jvp, jax.vmap, jax.jacrev, jax.hessian, _same,
        _same,
    )  # fmt: skip


def _weights(shape: tuple[int, ...], phase: float = 1.0) -> Any:
    return np.cos(phase + np.arange(np.prod(shape, dtype=int))).reshape(shape)


def _number(lib: Library, f: Function) -> Function:
    """Return a function with one number that depends on each element of the result of `f`."""

    def number(x: Any) -> Any:
        y = f(x)
        return lib.xp.sum(lib.xp.sin(y) * lib.made(_weights(y.shape)))

    return number


def _gradient(lib: Library, f: Function) -> Function:
    return lambda x: lib.grad(_number(lib, f))(x)


def _gradient_with_captured(lib: Library, f: Function) -> Function:
    """Capture the outer argument in the inner function."""
    return lambda x: lib.grad(lambda v: _number(lib, f)(v * lib.xp.tanh(x)))(x)


def _along(lib: Library, f: Function) -> Function:
    return lambda x: lib.jvp(f, (x,), (lib.made(_weights(x.shape, 2.0)),))[1]


def _along_itself(lib: Library, f: Function) -> Function:
    """Move in a direction that depends on the argument, and return value and tangent."""

    def along(x: Any) -> Any:
        y, tangent = lib.jvp(f, (x,), (lib.xp.sin(x),))
        return y * 0.5 + tangent

    return along


def _along_captured(lib: Library, f: Function) -> Function:
    """Capture the outer argument: inner and outer tangents must not be confused."""
    return lambda x: lib.jvp(lambda v: f(v * x), (lib.xp.cos(x),), (x,))[1]


def _mapped(lib: Library, f: Function) -> Function:
    """Batch captured values with arguments."""
    return lambda x: lib.vmap(lambda s: f(s * x))(lib.made([0.5, -1.0]))


def _mapped_itself(lib: Library, f: Function) -> Function:
    """Batch the argument, with an array that is not batched, and stack the results along the last axis."""

    def mapped(x: Any) -> Any:
        xs = lib.xp.stack([x, -0.5 * x], axis=-1)
        w = lib.made(_weights(x.shape, 3.0))
        return lib.vmap(lambda v, w: f(v * w), in_axes=(-1, None), out_axes=-1)(xs, w)

    return mapped


def _rows(lib: Library, f: Function) -> Function:
    """Return the Jacobian, contracted to the shape of the argument."""

    def rows(x: Any) -> Any:
        j = lib.jacobian(f)(x)
        axes = tuple(range(j.ndim - x.ndim))
        return lib.xp.sum(j * lib.made(_weights(j.shape)), axis=axes) if axes else j

    return rows


def _hessian(lib: Library, f: Function) -> Function:
    def hessian(x: Any) -> Any:
        h = lib.hessian(_number(lib, f))(x)
        return lib.xp.sum(h * lib.made(_weights(h.shape)), axis=tuple(range(x.ndim))) if x.ndim else h

    return hessian


def _compiled(lib: Library, f: Function) -> Function:
    made = lib.compile(f)

    def twice(x: Any) -> Any:
        made(x * 0.5)  # so that the next call may run a program
        return made(x)

    return twice


def _checkpointed(lib: Library, f: Function) -> Function:
    return lib.checkpoint(f)


KINDS: dict[str, tuple[Callable[[Library, Function], Function], ...]] = {
    "grad": (_gradient, _gradient_with_captured),
    "jvp": (_along, _along_itself, _along_captured),
    "vmap": (_mapped, _mapped_itself),
    "jacobian": (_rows,),
    "hessian": (_hessian,),
    "compile": (_compiled,),
    "checkpoint": (_checkpointed,),
}
"""For each transformation, a function from functions of one array to functions of one array."""
Mixture = tuple[Callable[[Library, Function], Function], ...]


def composed(lib: Library, mixture: Mixture, f: Function) -> Function:
    """Return `f` transformed by `mixture`, from the last to the first."""
    for each in reversed(mixture):
        f = each(lib, f)
    return f
