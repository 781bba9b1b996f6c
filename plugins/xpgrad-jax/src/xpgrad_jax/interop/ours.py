"""`function`: functions of xpgrad that JAX differentiates, by callbacks to the host."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

import xpgrad
from xpgrad import Variable
from xpgrad.interop.foreign import place_of
from xpgrad.interop.ours import values
from xpgrad_jax import dtypes
from xpgrad_jax.interop.calls import Forward
from xpgrad_jax.interop.primitive import bound
from xpgrad_jax.interop.theirs import key_of

METHODS = "sequential", "sequential_unrolled", "broadcast_all", "expand_dims"
"""Values of `vmap_method` of `jax.pure_callback`."""


def function(
    f: Callable[..., Any], *, device: Any = None, shapes: Any = None, vmap_method: str = "sequential"
) -> Callable[..., Any]:
    """Return a function of ours as a function of jax arrays that takes part in JAX's differentiation.

    Parameters
    ----------
    f : callable
        A pure function: it gets Variables, in trees of arguments, and returns a tree of Variables, arrays and other
        objects.
    device : as `get_device` takes it, or None
        Where `f` computes; by default on the host, with NumPy. On a device of JAX, such as ``"@jax"``, JAX traces `f`,
        which must not depend on values then, and all of JAX's transformations work.
    shapes : tree of objects with `shape` and `dtype`, optional
        The result, as `jax.ShapeDtypeStruct`. By default `f` is called once more whenever JAX traces the function, with
        numbers between 1 and 2, and zeros for integers, to find out.
    vmap_method : {"sequential", "sequential_unrolled", "broadcast_all", "expand_dims"}
        How `jax.vmap` calls `f`, as in `jax.pure_callback`: for each batch element, or once with an axis in
        front of all arguments.

    Returns
    -------
    callable
        Takes trees with jax arrays and other objects, which are passed on, and returns a tree with jax arrays.

    Notes
    -----
    - It is a primitive of JAX over a `jax.pure_callback`, within `jax.jit` too: JAX may call `f` more than once, or not
      at all. Gradients and tangents, to any order and nested with `jax.vmap`, call `f` again.
    - `f` runs in a thread of JAX's runtime, with the configuration of xpgrad at the time of tracing. It must not call
      JAX, which may wait for that thread forever.
    - An exception within `f` arrives as an error of JAX that contains its text.

    Raises
    ------
    TypeError
        `f` is not callable.
    ValueError
        `vmap_method` is not in this list.
    GradientError
        When JAX differentiates it: `f` captures Variables that require a gradient.
    """
    if not callable(f):
        raise TypeError(f"interop.jax.function: expected a function, got {type(f).__name__}")
    if vmap_method not in METHODS:
        raise ValueError(f"interop.jax.function: expected vmap_method among {', '.join(METHODS)}, got {vmap_method!r}")
    title = f"interop.jax.function({getattr(f, '__name__', type(f).__name__)})"
    place = xpgrad.get_device("@numpy" if device is None else device)

    @functools.wraps(f, updated=())
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        pairs, structure = jax.tree_util.tree_flatten_with_path((args, kwargs))
        for path, leaf in pairs:
            if isinstance(leaf, Variable):
                raise TypeError(
                    f"{title}: {place_of(tuple(map(key_of, path)))}: expected a jax array, got a Variable; pass its "
                    "array, or call the function itself"
                )
        leaves = [leaf for _, leaf in pairs]
        places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, (jax.Array, np.ndarray, np.generic))]
        arrays = [jnp.asarray(checked(leaves[i], title, pairs[i][0])) for i in places]
        for i in places:
            leaves[i] = None
        call = Forward(title, f, (leaves, structure, places), place, vmap_method)
        if place.backend.name == "jax":
            return call.build(values(title, call.listed, arrays))
        if shapes is None and not traced(arrays):
            return call.build(call.at_once(arrays))
        call.learn(arrays, shapes)
        return call.build(bound(call, arrays))

    return wrapped


def checked(array: Any, title: str, path: Any) -> Any:
    """Return an array, or raise `DtypeError` if JAX would convert it to another dtype."""
    dtypes.checked(array.dtype, f"{title}: {place_of(tuple(map(key_of, path)))}")
    return array


def traced(arrays: Sequence[Any]) -> bool:
    """Return whether JAX traces any of `arrays`."""
    return any(isinstance(x, Tracer) for x in arrays)
