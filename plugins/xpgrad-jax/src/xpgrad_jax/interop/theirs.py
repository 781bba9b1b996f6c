"""`from_jax`: functions of JAX in our graph, with gradients by `jax.vjp`."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

import xpgrad
from xpgrad.errors import BackendMismatch
from xpgrad.interop.foreign import call
from xpgrad.interop.framework import Framework, Run, Tape
from xpgrad.plugin import Device
from xpgrad.transforms.trees import Path
from xpgrad.types import Array


def from_jax(f: Callable[..., Any], *, device: Any = None) -> "JaxFunction":
    """Return a function of JAX as a function of Variables of any library.

    Parameters
    ----------
    f : callable
        A pure function of jax arrays, in trees of arguments, that returns a tree of jax arrays and other objects. Pass
        ``jax.jit(f)`` to compile the function and its derivatives.
    device : as `get_device` takes it, or None
        Where JAX computes; by default where the arguments are, without a copy if JAX can use their memory.

    Returns
    -------
    JaxFunction

    Notes
    -----
    - JAX computes gradients of any order: a recorded sweep calls `f` again, for the derivative of its pullback.
    - jax arrays that `f` captures are constants; pass trainable arrays as arguments.
    - Trees are those of `jax.tree`: classes that are registered there are opened.
    - `compile` runs a function that calls it without a program, and says so.

    Raises
    ------
    TypeError
        `f` is not callable.
    DtypeError
        At a call: JAX would make 32 bits of an array of 64, because its 64 bits are not switched on.
    """
    if not callable(f):
        raise TypeError(f"from_jax: expected a function, got {type(f).__name__}")
    place = None if device is None else xpgrad.get_device(device)
    if place is not None and place.backend.name != "jax":
        raise BackendMismatch(f"from_jax: expected a device of JAX, such as '@jax:gpu:0', got {place.name!r}")
    return JaxFunction(f, place)


class JaxFunction:
    """A function of JAX as a function of Variables; see `from_jax`.

    Attributes
    ----------
    function : callable
    """

    def __init__(self, f: Callable[..., Any], device: Device | None) -> None:
        self.function, self.device = f, device
        self._framework = Jax()
        self._title = f"from_jax({getattr(f, '__name__', type(f).__name__)})"

    def __repr__(self) -> str:
        return self._title

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the function's result with Variables in place of jax arrays."""
        return call(self._title, self._framework, self.device, self.function, args, kwargs)


class Jax(Framework):
    """The framework adapter for JAX."""

    def __init__(self) -> None:
        super().__init__(xpgrad.get_device("@jax").backend.root)  # not of a transformation

    def flatten(self, tree: Any) -> tuple[list[Any], list[Path], Callable[[Sequence[Any]], Any]]:
        """Return the leaves of a tree, the path to each, and the function that builds such a tree."""
        flat: Any = jax.tree_util.tree_flatten_with_path(tree)
        pairs, structure = flat
        return [leaf for _, leaf in pairs], [tuple(map(key_of, path)) for path, _ in pairs], structure.unflatten

    def owns(self, leaf: Any) -> bool:
        """Return whether `leaf` is a jax array or a tracer."""
        return isinstance(leaf, jax.Array)

    def run(
        self, f: Callable[..., Any], call: Callable[[Sequence[Array]], Any], inputs: Sequence[Array],
        active: Sequence[int], recorded: bool,
    ) -> Run:  # fmt: skip
        """Return the results of a call, with its pullback on request."""
        found: list[Any] = []

        def function(*chosen: Any) -> tuple[list[Any], dict[int, Any]]:
            given = dict(zip(active, chosen, strict=True))
            leaves, structure = jax.tree.flatten(call([given.get(i, x) for i, x in enumerate(inputs)]))
            arrays = {i: y for i, y in enumerate(leaves) if isinstance(y, jax.Array)}
            live = {i: y for i, y in arrays.items() if jnp.issubdtype(y.dtype, jnp.inexact)} if active else {}
            found[:] = [structure, [None if i in arrays else y for i, y in enumerate(leaves)], list(live)]
            return list(live.values()), {i: y for i, y in arrays.items() if i not in live}

        chosen = [inputs[i] for i in active]
        tape: JaxTape | None = None
        if active:
            outputs, pull, rest = jax.vjp(function, *chosen, has_aux=True)
            tape = JaxTape(lambda *xs: function(*xs)[0], chosen, outputs, pull)
        else:
            outputs, rest = function()
        structure, leaves, live = found
        for i, y in rest.items():
            leaves[i] = y
        places = {i: place for place, i in enumerate(live)}
        return Run(leaves, structure.unflatten, tape, [places.get(i) for i in range(len(leaves))])

    def mapped(self, f: Callable[[Any], Any], axis: int) -> Any:
        """Return `f` for each element along an axis."""
        return jax.vmap(f, axis, axis)


class JaxTape(Tape):
    """A call of a function of JAX with its pullback.

    JAX's cotangents are the conjugates of ours.

    Parameters
    ----------
    function : callable
        From the inputs to the list of outputs.
    inputs : list of jax array
    outputs : list of jax array
    pull : callable
        The pullback that `jax.vjp` returned.
    """

    outputs: Sequence[Any]

    def __init__(
        self, function: Callable[..., list[Any]], inputs: Sequence[Any], outputs: Sequence[Any], pull: Any
    ) -> None:
        self.function, self.inputs, self.outputs, self._pull = function, inputs, outputs, pull

    def pull(self, cotangents: Sequence[Array | None], targets: Sequence[int]) -> Sequence[Array | None]:
        """Return the gradients of the inputs `targets`."""
        found = self._pull(self._filled(cotangents))
        return [jnp.conj(found[i]) for i in targets]

    def pulled(self, cotangents: Sequence[Array | None], targets: Sequence[int]) -> "JaxTape":
        """Return the tape of `pull`."""
        count = len(self.inputs)

        def gradients(*values: Any) -> list[Any]:
            remaining = iter(values[count:])
            given = [None if g is None else next(remaining) for g in cotangents]
            found = jax.vjp(self.function, *values[:count])[1](self._filled(given))
            return [jnp.conj(found[i]) for i in targets]

        inputs = [*self.inputs, *(g for g in cotangents if g is not None)]
        outputs, pull = jax.vjp(gradients, *inputs)
        return JaxTape(gradients, inputs, outputs, pull)

    def _filled(self, cotangents: Sequence[Any]) -> list[Any]:
        """Return cotangents in JAX's convention, with zeros for missing cotangents."""
        pairs = zip(self.outputs, cotangents, strict=True)
        return [jnp.zeros(y.shape, y.dtype) if g is None else jnp.conj(g) for y, g in pairs]


def key_of(key: Any) -> Any:
    """Return a key, position or name of a path of `jax.tree_util`."""
    for name in ("key", "idx", "name"):
        if hasattr(key, name):
            return getattr(key, name)
    return str(key)
