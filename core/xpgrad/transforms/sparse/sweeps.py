"""One evaluation of a function, and its Jacobian as a map of vectors of the host."""

from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.config import backprop_mode, called_with
from xpgrad.errors import DtypeError, GradientError
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.transforms.call import Call, Mode
from xpgrad.transforms.products import Pushforward, linear_pullback
from xpgrad.transforms.vectors import arrays_of, vector_of
from xpgrad.types import Array

HALVES = ("float16", "bfloat16", "float32")


class Sweeps:
    """The Jacobian of one call of a function: by the elements of one argument, rows by the elements of the output.

    Attributes
    ----------
    shape : tuple of int
        Number of elements of all outputs, and of all leaves of the argument.
    dtype : dtype of the host
        float32 if all of them are of 32 bits or fewer, else float64.
    eps : float
        The largest difference between 1 and the next number, of their dtypes.
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
        self.call = call = Call(name, f, argnums, False, args, kwargs, allow_constant=allow_constant)
        specs = [x._node.spec for x in (*call.roots, *call.outputs)]
        if any(spec.complex for spec in specs):
            raise DtypeError(f"{name}: expected real numbers, got complex ones; differentiate real and imaginary parts")
        self.shape = (sum(y.size for y in call.outputs), sum(x.size for x in call.roots))
        known = [spec for spec in specs if spec.differentiable]
        single = all(spec.backend.dtype_name(spec.dtype) in HALVES for spec in known)
        xp = plugins.host.namespace
        self.dtype = xp.float32 if single else xp.float64
        self.eps = max(float(spec.backend.namespace.finfo(spec.dtype).eps) for spec in known)
        self._maps: dict[bool, Callable[..., list[Variable]]] = {}

    def products(self, seeds: Array, *, forward: bool) -> Array:
        """Return the products with the rows of a matrix: ``seeds @ J.T`` by forward mode, or ``seeds @ J`` by reverse.

        All are float64 arrays of the host.
        """
        return called_with(backprop_mode(False), self._products, seeds, forward)

    def _products(self, seeds: Array, forward: bool) -> Array:
        xp, call = plugins.host.namespace, self.call
        references, results = (call.roots, call.outputs) if forward else (call.outputs, call.roots)
        linear = self._map(forward)
        rows = [vector_of(linear(_like(references, seed), recorded=False)) for seed in seeds]
        return xp.stack(rows) if rows else xp.zeros((0, sum(x.size for x in results)), dtype=xp.float64)

    def _map(self, forward: bool) -> Callable[..., list[Variable]]:
        if forward not in self._maps:
            self._maps[forward] = Pushforward(self.call) if forward else linear_pullback(self.call)
        return self._maps[forward]


def _like(references: Sequence[Variable], seed: Array) -> list[Variable]:
    """Return the elements of `seed` as Variables like `references`."""
    places = [(x._node.spec, x.device) for x in references]
    return [constant_variable(array) for array in arrays_of(seed, places)]
