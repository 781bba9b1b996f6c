"""A primitive of JAX that calls a function of ours, with the rules of all of JAX's transformations.

JAX's decorators have rules for one of its two modes each. The tangents of a call, which are linear, are calls of the
same primitive, and so are their transposes, the gradients: so both modes nest, to any order.
"""

import contextvars
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from xpgrad_jax.interop.calls import Call, Linear, Tangents, inexact

call_p: Any = Primitive("xpgrad_function")
call_p.multiple_results = True


class Bound:
    """A call, with the context of the thread that traced it; JAX compares the objects by identity."""

    def __init__(self, call: Call) -> None:
        self.call, self.context = call, contextvars.copy_context()

    def __repr__(self) -> str:
        return self.call.title

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        """Return the outputs; several threads may call this concurrently."""
        return self.context.copy().run(self.call.called, *arrays)


def bound(call: Call, arrays: Sequence[Any]) -> list[Any]:
    """Return the outputs of a call, as jax arrays that JAX can differentiate and batch."""
    found: list[Any] = call_p.bind(*arrays, bound=Bound(call))
    return found


def _evaluated(*arrays: Any, bound: Bound) -> list[Any]:
    return list(map(jnp.array, bound(*arrays)))


def _abstract(*avals: Any, bound: Bound) -> list[Any]:
    return [ShapedArray(y.shape, y.dtype) for y in bound.call.results]


call_p.def_impl(_evaluated)
call_p.def_abstract_eval(_abstract)


def _callback(*arrays: Any, bound: Bound) -> list[Any]:
    return list(jax.pure_callback(bound, tuple(bound.call.results), *arrays))


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, bound: Bound) -> tuple[list[Any], list[Any]]:
    call = bound.call
    call.check()
    outputs = call_p.bind(*primals, bound=bound)
    pairs = zip(primals, tangents, strict=True)
    targets = [i for i, (x, t) in enumerate(pairs) if inexact(x) and type(t) is not ad.Zero]
    found = iter(_linear(Tangents(call, primals, targets), [*primals, *(tangents[i] for i in targets)]))
    return outputs, [next(found) if inexact(y) else ad.Zero(jax.typeof(y).to_tangent_aval()) for y in outputs]


def _transpose(cotangents: Sequence[Any], *inputs: Any, bound: Bound) -> list[Any]:
    call = bound.call
    assert isinstance(call, Linear)
    arguments = inputs[: call.count]
    given = [ad.instantiate_zeros(g) for g in cotangents]  # type: ignore[no-untyped-call]  # as above
    found = _linear(call.transposed(arguments), [*arguments, *given])
    rest = zip(inputs[call.count :], found, strict=True)
    return [None] * call.count + [g if isinstance(x, ad.UndefinedPrimal) else None for x, g in rest]


def _linear(call: Linear, inputs: Sequence[Any]) -> list[Any]:
    """Return the results of a linear call; a call without results is skipped."""
    return bound(call, inputs) if call.results and len(inputs) > call.count else [
        jnp.zeros(y.shape, y.dtype) for y in call.results
    ]  # fmt: skip


def _batch(arrays: Sequence[Any], axes: Sequence[Any], *, bound: Bound) -> tuple[Any, list[int]]:
    call, mapped = bound.call, [axis is not None for axis in axes]
    moved = [jnp.moveaxis(x, axis, 0) if m else x for x, axis, m in zip(arrays, axes, mapped, strict=True)]
    size = next(x.shape[0] for x, m in zip(moved, mapped, strict=True) if m)

    def one(members: Sequence[Any]) -> list[Any]:
        remaining = iter(members)
        outputs: list[Any] = call_p.bind(
            *(next(remaining) if m else x for x, m in zip(moved, mapped, strict=True)), bound=bound
        )
        return outputs

    members = [x for x, m in zip(moved, mapped, strict=True) if m]
    if call.vmap_method == "sequential":
        outputs: Any = jax.lax.map(one, members)
    elif call.vmap_method == "sequential_unrolled":
        rows = [one([x[i] for x in members]) for i in range(size)]
        outputs = [jnp.stack(column) for column in zip(*rows, strict=True)]
    else:
        n = 1 if call.vmap_method == "expand_dims" else size
        wide = [x if m else jnp.broadcast_to(x, (n, *x.shape)) for x, m in zip(moved, mapped, strict=True)]
        outputs = call_p.bind(*wide, bound=Bound(call.batched(size)))
    return outputs, [0] * len(outputs)


ad.primitive_jvps[call_p] = _jvp
ad.primitive_transposes[call_p] = _transpose
batching.primitive_batchers[call_p] = _batch
mlir.register_lowering(call_p, mlir.lower_fun(_callback, multiple_results=True))
