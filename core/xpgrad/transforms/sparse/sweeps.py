"""One evaluation of a function, and its Jacobian as a map of vectors of the host."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.config import backprop_mode, called_with
from xpgrad.errors import BatchError, BatchWarning, DtypeError, GradientError, XpgradError
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.transforms.batch.vmap import vmap
from xpgrad.transforms.call import Evaluation, Mode, places_of
from xpgrad.transforms.callers import depth
from xpgrad.transforms.forward import jvp
from xpgrad.transforms.jacobians.batches import chunk_of, specs_of
from xpgrad.transforms.matrices import REFUSALS
from xpgrad.transforms.products import Pushforward, linear_pullback, vjp
from xpgrad.transforms.surroundings import Surroundings
from xpgrad.transforms.trees import flatten
from xpgrad.transforms.vectors import host_array, placed
from xpgrad.types import Array

HALVES = ("float16", "bfloat16", "float32")


class Sweeps:
    """The Jacobian of one call of a function, with rows for the output's and columns for one argument's elements.

    Attributes
    ----------
    shape : tuple of int
        Number of elements of all outputs, and of all leaves of the argument.
    dtype : dtype of the host
        float32 if all of them have 32 bits or fewer, else float64.
    eps : float
        The largest difference between 1 and the next number in their dtypes.
    surroundings : Surroundings
        Surroundings of the evaluation, in which further evaluations repeat it.
    """

    def __init__(
        self, name: str, f: Callable[..., Any], argnums: int, args: tuple[Any, ...], kwargs: dict[str, Any],
        allow_constant: bool,
    ) -> None:  # fmt: skip
        if Mode().variables:
            raise GradientError(
                f"{name}: expected a call outside of other transforms, got one inside: its result is a SciPy array, "
                "through which no gradient flows; use jacobian there"
            )
        self.surroundings = Surroundings(())
        self.call = call = Evaluation(name, f, argnums, False, args, kwargs, allow_constant=allow_constant)
        self._f, self._args, self._kwargs = f, args, kwargs
        (self._place,) = places_of(argnums, len(args), name)
        specs = [x._node.spec for x in (*call.roots, *call.outputs)]
        if any(spec.complex for spec in specs):
            raise DtypeError(
                f"{name}: expected real numbers, got complex numbers; differentiate real and imaginary parts"
            )
        self.shape = (sum(y.size for y in call.outputs), sum(x.size for x in call.roots))
        known = [spec for spec in specs if spec.differentiable]
        single = all(spec.backend.dtype_name(spec.dtype) in HALVES for spec in known)
        xp = plugins.host.namespace
        self.dtype = xp.float32 if single else xp.float64
        self.eps = max(float(spec.backend.namespace.finfo(spec.dtype).eps) for spec in known)
        self._batched = True

    def products(self, seeds: Array, *, forward: bool) -> Array:
        """Return the products with the rows of a matrix: ``seeds @ J.T`` by forward mode, or ``seeds @ J`` by reverse.

        All are float64 arrays of the host. They are computed by one batched sweep, or several if memory is short; one
        by one where a function refuses batches.
        """
        call = self.call
        references, results = (call.roots, call.outputs) if forward else (call.outputs, call.roots)
        xp = plugins.host.namespace
        size = chunk_of(None, max(1, len(seeds)), specs_of(call))
        parts = [xp.zeros((0, sum(x.size for x in results)), dtype=xp.float64)]
        for start in range(0, len(seeds), size):
            leaves = list(_split(seeds[start : start + size], references))
            parts.append(called_with(backprop_mode(False), self._swept, leaves, results, forward))
        return xp.concat(parts)

    def _swept(self, seeds: list[Variable], results: Sequence[Variable], forward: bool) -> Array:
        """Return the products with a batch of seeds."""
        if self._batched:
            try:
                along = vmap(self._pushed if forward else self._pulled, randomness="same")
                return _rows(self.surroundings.again(None, along, *seeds), results)
            except REFUSALS as error:
                if isinstance(error, XpgradError) and not isinstance(error, BatchError):
                    raise
                refusal = error
            self._batched = False
            warnings.warn(
                f"{self.call.name}: computed by a sweep for each color, since the function refuses batches: {refusal}",
                BatchWarning,
                stacklevel=depth(),
            )
        product = Pushforward(self.call) if forward else linear_pullback(self.call)
        count = seeds[0].shape[0] if seeds else 0
        found = [product([seed[i, ...] for seed in seeds], recorded=False) for i in range(count)]
        return plugins.host.namespace.concat([_rows([y[None, ...] for y in row], results) for row in found])

    def _of_roots(self, *roots: Variable) -> list[Any]:
        """Return the leaves of the function's result."""
        (argument,) = self.call.arguments
        passed = list(self._args)
        passed[self._place] = argument.replaced(iter(roots))
        return flatten(self._f(*passed, **self._kwargs))[0]

    def _primals(self) -> list[Variable]:
        return [constant_variable(x._array) for x in self.call.roots]

    def _pulled(self, *seeds: Variable) -> list[Variable]:
        """Return gradients of the roots, from cotangents of the outputs."""
        _, pullback = vjp(self._of_roots, *self._primals(), allow_constant=True)
        return list(pullback(list(seeds)))

    def _pushed(self, *seeds: Variable) -> list[Variable]:
        """Return tangents of the outputs from tangents of the roots."""
        _, tangents = jvp(self._of_roots, self._primals(), seeds, allow_constant=True)
        return list(tangents)


def _split(seeds: Array, references: Sequence[Variable]) -> Iterator[Variable]:
    """Yield the elements of the rows of `seeds` as a batch of Variables like each of `references`."""
    start = 0
    for x in references:
        part = seeds[:, start : start + x.size]
        start += x.size
        yield constant_variable(placed(part, x._node.spec, x.device, (len(seeds), *x.shape)))


def _rows(found: Sequence[Variable], results: Sequence[Variable]) -> Array:
    """Return a batch of Variables like `results` as the rows of a matrix on the host."""
    xp = plugins.host.namespace
    parts = [xp.reshape(host_array(y), (-1, x.size)) for y, x in zip(found, results, strict=True) if x.size]
    return xp.concat(parts, axis=1)
