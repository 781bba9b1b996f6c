"""Calls of functions of ours with arrays of the host: a call itself, its gradients, and its tangents."""

import copy
from collections.abc import Iterable, Sequence
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np

import xpgrad
from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad.errors import GradientError, ShapeError, StructureError
from xpgrad.interop.framework import shared
from xpgrad.interop.ours import Recorded, values
from xpgrad.plugin import Device
from xpgrad.transforms import jvp, vjp
from xpgrad.transforms.leaves import as_leaf, is_array
from xpgrad_jax import dtypes

Described: Any = jax.ShapeDtypeStruct  # JAX has no type for its constructor


class Call:
    """A function of a list of Variables, and its description for JAX.

    Attributes
    ----------
    title : str
    device : Device
    vmap_method : str
    results : list of jax.ShapeDtypeStruct
    """

    title: str
    device: Device
    vmap_method: str
    results: list[Any]

    def listed(self, inputs: list[Variable]) -> list[Variable]:
        """Return the outputs as Variables, differentiable to any order."""
        raise NotImplementedError

    def evaluated(self, arrays: list[Any]) -> Sequence[Any]:
        """Return the outputs for arrays on the device, None for zeros."""
        return values(self.title, self.listed, arrays)

    def called(self, *arrays: Any) -> tuple[Any, ...]:
        """Return the outputs for arrays on the host, as JAX expects them."""
        given = [shared(np.asarray(x), self.device) for x in arrays]
        outputs = self.evaluated(given)
        if len(outputs) != len(self.results):
            raise StructureError(f"{self.title}: expected {len(self.results)} arrays, got {len(outputs)}")
        return tuple(self._host(y, like) for y, like in zip(outputs, self.results, strict=True))

    def batched(self, size: int) -> Self:
        """Return the call for a batch of this size, with an axis in front of all arguments and results."""
        found = copy.copy(self)
        found.results = [Described((size, *y.shape), y.dtype) for y in self.results]
        return found

    def _host(self, y: Any, like: Any) -> Any:
        if y is None:
            return np.zeros(like.shape, like.dtype)
        host = np.asarray(shared(y, xpgrad.get_device("@numpy")))
        if host.dtype != like.dtype or host.shape != like.shape:
            raise ShapeError(
                f"{self.title}: expected {like.dtype.name} {tuple(like.shape)} as of the first call or in shapes, got "
                f"{host.dtype.name} {host.shape}"
            )
        return host

    def check(self) -> None:
        """Raise `GradientError` if the function is known to capture Variables that require a gradient."""


class Forward(Call):
    """A call of a function of ours.

    Parameters
    ----------
    arguments : tuple
        The leaves of the arguments without arrays, their structure, and where arrays are among the leaves.
    """

    def __init__(self, title: str, f: Any, arguments: Any, device: Device, vmap_method: str) -> None:
        self.title, self.f, self.arguments, self.device, self.vmap_method = title, f, arguments, device, vmap_method
        self.result: Any = None
        self.captures = False

    def listed(self, inputs: list[Variable]) -> list[Variable]:
        """Return the Variables that the function returns, and store their tree structure."""
        leaves, structure, places = self.arguments
        given = dict(zip(places, inputs, strict=True))
        args, kwargs = structure.unflatten([given.get(i, leaf) for i, leaf in enumerate(leaves)])
        pairs, tree = jax.tree_util.tree_flatten_with_path(self.f(*args, **kwargs))
        which = [is_array(leaf) for _, leaf in pairs]
        made = [
            as_leaf(leaf, f"{self.title}: output{jax.tree_util.keystr(path)}")
            for (path, leaf), n in zip(pairs, which, strict=True) if n
        ]  # fmt: skip
        if self.result is None:
            self.result = tree, [None if n else leaf for (_, leaf), n in zip(pairs, which, strict=True)], which
        return made

    def build(self, outputs: Sequence[Any]) -> Any:
        """Return the function's result with jax arrays in place of Variables."""
        tree, rest, which = self.result
        remaining = iter(outputs)
        return tree.unflatten([next(remaining) if n else leaf for leaf, n in zip(rest, which, strict=True)])

    def learn(self, arrays: Sequence[Any], shapes: Any) -> None:
        """Determine shapes and dtypes of the outputs from `shapes`, or from a call with other numbers."""
        if shapes is not None:
            flat: Any = jax.tree.flatten(shapes)
            leaves, tree = flat
            self.result = tree, [None] * len(leaves), [True] * len(leaves)
            self.results = [Described(tuple(x.shape), np.dtype(x.dtype)) for x in leaves]
        else:
            samples = [shared(sample(x.shape, x.dtype), self.device) for x in arrays]
            try:
                recorded = Recorded(self.title, self.listed, samples, [])
            except Exception as error:
                error.add_note(
                    f"in {self.title}, called with numbers between 1 and 2 to find out what it returns; "
                    "shapes=jax.ShapeDtypeStruct(...) makes that unnecessary"
                )
                raise
            self.captures = recorded.captures
            outputs: list[Any] = recorded.outputs
            backends = [xpgrad.get_device_from_array(y).backend for y in outputs]
            named = [(y.shape, b.dtype_name(y.dtype)) for y, b in zip(outputs, backends, strict=True)]
            self.results = [Described(tuple(shape), jnp.dtype(name)) for shape, name in named]
        self._check_dtypes(x.dtype for x in self.results)

    def at_once(self, arrays: Sequence[Any]) -> list[Any]:
        """Return the outputs for arrays with values, as jax arrays."""
        outputs = self.evaluated([shared(np.asarray(x), self.device) for x in arrays])
        host = [shared(y, xpgrad.get_device("@numpy")) for y in outputs]
        self._check_dtypes(y.dtype for y in host)
        return [jnp.array(y) for y in host]

    def _check_dtypes(self, given: Iterable[Any]) -> None:
        for i, dtype in enumerate(given):
            dtypes.checked(dtype, f"{self.title}: output {i}")

    def check(self) -> None:
        """Raise `GradientError` if the function captures Variables that require a gradient."""
        if self.captures:
            raise GradientError(captured(self.title))


class Linear(Call):
    """A call that is linear in its last arguments: gradients or tangents by the arguments `targets` of another call.

    Parameters
    ----------
    call : Call
    arguments : sequence of array
        The arguments of `call`, which are the first arguments of this call.
    targets : sequence of int
    """

    def __init__(self, call: Call, arguments: Sequence[Any], targets: Sequence[int]) -> None:
        self.call, self.count, self.targets = call, len(arguments), list(targets)
        self.title, self.device = call.title, call.device
        self.vmap_method = "broadcast_all" if call.vmap_method == "expand_dims" else call.vmap_method
        self.live = [inexact(y) for y in call.results]
        self.results = self.described(arguments)

    def described(self, arguments: Sequence[Any]) -> list[Any]:
        """Return shapes and dtypes of the results."""
        raise NotImplementedError

    def transposed(self, arguments: Sequence[Any]) -> "Linear":
        """Return the transposed linear function, at the same arguments."""
        raise NotImplementedError

    def chosen(self, inputs: list[Variable]) -> tuple[Any, list[Variable]]:
        """Return the call as a function of its inputs `targets`, to its live outputs, and these inputs."""
        primals = inputs[: self.count]

        def function(*values: Variable) -> list[Variable]:
            given = dict(zip(self.targets, values, strict=True))
            outputs = self.call.listed([given.get(i, x) for i, x in enumerate(primals)])
            return [y for y, live in zip(outputs, self.live, strict=True) if live]

        return function, [primals[i] for i in self.targets]


class Tangents(Linear):
    """The tangents of the floating-point outputs of a call, from its arguments and the tangents of `targets`."""

    def described(self, arguments: Sequence[Any]) -> list[Any]:
        """Return shapes and dtypes of the tangents."""
        return [y for y, live in zip(self.call.results, self.live, strict=True) if live]

    def transposed(self, arguments: Sequence[Any]) -> Linear:
        """Return the pullback."""
        return Gradient(self.call, arguments, self.targets)

    def listed(self, inputs: list[Variable]) -> list[Variable]:
        """Return the tangents as Variables."""
        function, primals = self.chosen(inputs)
        found: list[Variable] = jvp(function, tuple(primals), tuple(inputs[self.count :]), allow_constant=True)[1]
        return found


class Gradient(Linear):
    """The pullback of a call, from its arguments and the cotangents of its floating-point outputs."""

    def described(self, arguments: Sequence[Any]) -> list[Any]:
        """Return shapes and dtypes of the gradients."""
        return [Described(arguments[i].shape, arguments[i].dtype) for i in self.targets]

    def transposed(self, arguments: Sequence[Any]) -> Linear:
        """Return the tangents."""
        return Tangents(self.call, arguments, self.targets)

    def listed(self, inputs: list[Variable]) -> list[Variable]:
        """Return the gradients as Variables."""
        function, primals = self.chosen(inputs)
        _, pullback = vjp(function, *primals, allow_constant=True)
        return [conjugate(g) for g in pullback([conjugate(g) for g in inputs[self.count :]])]

    def evaluated(self, arrays: list[Any]) -> Sequence[Any]:
        """Return the gradients for arrays."""
        recorded = Recorded(self.title, self.call.listed, arrays[: self.count], self.targets)
        if recorded.captures:
            raise GradientError(captured(self.title))
        given = iter([conjugate(Variable(g))._array for g in arrays[self.count :]])
        cotangents = [next(given) if live else None for live in self.live]
        found = recorded.pull(cotangents, self.targets, accumulate=False)
        return [None if g is None else conjugate(Variable(g))._array for g in found]


def captured(title: str) -> str:
    """Return the error message for captured Variables."""
    return (
        f"{title}: expected a function whose Variables are all arguments, got one that uses another one that requires "
        "a gradient, which JAX cannot give; pass its array as an argument, or make it with requires_grad=False"
    )


def conjugate(x: Variable) -> Variable:
    """Return the conjugate of a Variable, the convention of JAX for cotangents; real Variables are unchanged."""
    return xp.conj(x) if x.node.spec.complex else x


def inexact(x: Any) -> bool:
    """Return whether an array or its description has floating-point numbers."""
    return bool(jnp.issubdtype(x.dtype, jnp.inexact))


def sample(shape: tuple[int, ...], dtype: Any) -> Any:
    """Return distinct numbers between 1 and 2, or zeros for integers and booleans."""
    if not jnp.issubdtype(dtype, jnp.inexact):
        return np.zeros(shape, dtype)
    numbers = 1 + np.modf(np.arange(1, int(np.prod(shape)) + 1) * 0.6180339887498949)[0]
    return numbers.reshape(shape).astype(dtype)
