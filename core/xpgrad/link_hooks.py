"""Link hooks that normalize weights and measure time (``xpgrad.link_hooks``)."""

import io
import math
import sys
import time
from typing import Any, NoReturn, TextIO

from xpgrad import function_hooks
from xpgrad.array_api import astype, linalg, matmul, mean, permute_dims, reshape, sqrt
from xpgrad.backend import random
from xpgrad.backend.plugins import plugins
from xpgrad.config import config, no_backprop_mode
from xpgrad.graph.parameter import Parameter
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.links import DeconvolutionND
from xpgrad.links.parameters import outside, waits
from xpgrad.listing import listed as _listed
from xpgrad.models import Link, LinkHook
from xpgrad.models.link_hook import ForwardPostprocessArgs, ForwardPreprocessArgs
from xpgrad.types import Array

__all__ = ["SpectralNormalization", "TimerHook", "WeightStandardization"]


class _WeightHook(LinkHook):
    """Base of hooks of one link that replace its weight during a call."""

    def __init__(self, eps: float, weight_name: str, name: str | None) -> None:
        self.eps, self.weight_name = eps, weight_name
        self._replaced: dict[int, tuple[Variable, Variable]] = {}
        self.name = self.name if name is None else name

    def __enter__(self) -> NoReturn:
        raise NotImplementedError(f"{type(self).__name__}: the hook is for single links; add it by link.add_hook(hook)")

    def added(self, link: Any) -> None:
        """Check the weight, and prepare the link if it is initialised."""
        if not hasattr(link, self.weight_name):
            raise ValueError(f"{type(self).__name__}: {type(link).__name__} has no weight {self.weight_name!r}")
        if not waits(getattr(link, self.weight_name)):
            self._prepare(link)

    def forward_preprocess(self, args: ForwardPreprocessArgs) -> None:
        """Put the normalized weight in place of the weight."""
        link: Any = args.link
        weight = getattr(link, self.weight_name)
        stale = self._replaced.pop(id(link), None)
        if stale is not None and weight is stale[0]:  # the call before has raised an error
            weight = link.__dict__[self.weight_name] = stale[1]
        if waits(weight):
            link.initialize_for(*args.args, **args.kwargs)
        outside(self._prepare, link)
        put = self._normalized(link, weight)
        self._replaced[id(link)] = put, weight
        link.__dict__[self.weight_name] = put

    def forward_postprocess(self, args: ForwardPostprocessArgs) -> None:
        """Put the weight back."""
        _, args.link.__dict__[self.weight_name] = self._replaced.pop(id(args.link))

    def _prepare(self, link: Any) -> None:
        """Add the attributes of the hook to the link unless they exist; its weight is initialised."""

    def _normalized(self, link: Any, weight: Variable) -> Variable:
        raise NotImplementedError


class SpectralNormalization(_WeightHook):
    """Divides the weight of a link by its largest singular value, which a power iteration finds.

    Parameters
    ----------
    n_power_iteration : int
        Number of iterations in a call; vectors stay from call to call.
    eps : float
        Added to the norms of vectors.
    use_gamma : bool
        Multiply by a learnt parameter `gamma` of the link, which is the largest singular value at first. Set up an
        optimizer after adding the hook, so that the optimizer includes `gamma`.
    factor : float, optional
        The largest singular value of the normalized weight, in place of 1.
    weight_name : str
    name : str, optional

    Attributes
    ----------
    vector_name : str
        Name of the persistent value of the link that is the vector, a `Variable`; it changes in training only.
    u, v : array
        Singular vectors of the last call.

    References
    ----------
    Miyato, Kataoka, Koyama, Yoshida: Spectral normalization for generative adversarial networks, 2018.
    """

    name = "SpectralNormalization"

    def __init__(
        self, n_power_iteration: int = 1, eps: float = 1e-6, use_gamma: bool = False, factor: float | None = None,
        weight_name: str = "W", name: str | None = None,
    ) -> None:  # fmt: skip
        if n_power_iteration < 1:
            raise ValueError(f"SpectralNormalization: n_power_iteration must be at least 1, got {n_power_iteration}")
        super().__init__(eps, weight_name, name)
        self.n_power_iteration, self.use_gamma, self.factor = n_power_iteration, use_gamma, factor
        self.vector_name = f"{weight_name}_u"
        self._vectors: dict[int, tuple[Array, Array]] = {}  # of the last call of each link, for its recomputation

    def deleted(self, link: Any) -> None:
        """Remove the attributes that the hook added to the link."""
        for name in (self.vector_name, "gamma") if self.use_gamma else (self.vector_name,):
            if name in link.__dict__:
                delattr(link, name)

    def _matrix(self, link: Any, weight: Any) -> Variable:
        """Return the weight with a row for each output."""
        if isinstance(link, DeconvolutionND):
            weight = permute_dims(weight, axes=(1, 0, *range(2, weight.ndim)))
        return reshape(weight, shape=(weight.shape[0], math.prod(weight.shape[1:])))

    def _prepare(self, link: Any) -> None:
        if self.vector_name in link.__dict__:
            return
        with no_backprop_mode():
            matrix = self._matrix(link, getattr(link, self.weight_name))
            if not matrix.shape[0]:
                raise ValueError(f"SpectralNormalization: {self.weight_name} has no outputs, shape {matrix.shape}")
            u = random.normal((matrix.shape[0],), matrix.dtype, matrix.device)
            link.add_persistent(self.vector_name, Variable(u, requires_grad=False))
            if self.use_gamma:
                wide = astype(matrix, plugins.backend_of(matrix.array).wide(matrix.dtype))
                largest = astype(linalg.svdvals(wide)[0], matrix.dtype)
                with link.init_scope():
                    link.gamma = Parameter(largest.array)

    def _normalized(self, link: Any, weight: Variable) -> Variable:
        kept, matrix = link.__dict__[self.vector_name], self._matrix(link, weight)
        with no_backprop_mode():
            if not config.in_recomputing:
                u = v = as_variable(kept.array)  # the left singular vector
                for _ in range(self.n_power_iteration):
                    v = self._unit(matmul(u, matrix))
                    u = self._unit(matmul(matrix, v))
                self._vectors[id(link)] = u.array, v.array
                if config.train:
                    kept.array = u.array
        u, v = self.u, self.v = self._vectors[id(link)]
        sigma = matmul(matmul(u, matrix), v)
        if self.factor is not None:
            sigma = sigma / self.factor
        return weight * (link.gamma / sigma) if self.use_gamma else weight / sigma

    def _unit(self, x: Variable) -> Variable:
        return x / (linalg.vector_norm(x) + self.eps)


class WeightStandardization(_WeightHook):
    """Gives the weight of each output mean 0 and variance 1.

    Parameters
    ----------
    eps : float
        Added to the variances.
    weight_name : str
    name : str, optional

    References
    ----------
    Qiao, Wang, Liu, Shen, Yuille: Weight standardization, 2019.
    """

    name = "WeightStandardization"

    def __init__(self, eps: float = 1e-5, weight_name: str = "W", name: str | None = None) -> None:
        super().__init__(eps, weight_name, name)

    def _normalized(self, link: Any, weight: Variable) -> Variable:
        axes = tuple(range(1, weight.ndim))
        centred = weight - mean(weight, axis=axes, keepdims=True)
        return centred / sqrt(mean(centred * centred, axis=axes, keepdims=True) + self.eps)


class TimerHook(LinkHook):
    """Measures how long the calls of links take.

    Devices that compute asynchronously are waited for before and after each call. The time of a link includes the time
    of the links that it calls.

    Attributes
    ----------
    call_history : list of (str, float)
        Names of the links' classes and seconds, in the order in which the calls ended.
    """

    name = "TimerHook"

    def __init__(self) -> None:
        self._times = function_hooks.TimerHook()
        self.call_history = self._times.call_history

    def added(self, link: Link | None) -> None:
        """Discard calls that were started before, but not finished because of an error."""
        self._times._running.clear()

    def forward_preprocess(self, args: ForwardPreprocessArgs) -> None:
        """Start the clock."""
        args.link.device.synchronize()
        self._times._running.append((id(args.link), time.perf_counter()))

    def forward_postprocess(self, args: ForwardPostprocessArgs) -> None:
        """Stop the clock."""
        args.link.device.synchronize()
        self._times._ended(args.link, type(args.link).__name__)

    def total_time(self) -> float:
        """Return the total time in seconds; for nested calls of links, only the outermost counts."""
        return self._times.total_time()

    def summary(self) -> dict[str, dict[str, Any]]:
        """Return the seconds (`elapsed_time`) and the number of calls (`occurrence`) by the name of the class."""
        return self._times.summary()

    def print_report(self, unit: str = "auto", file: TextIO | None = None) -> None:
        """Print the summary as a table; arguments are the same as in `xpgrad.function_hooks.TimerHook`."""
        table = io.StringIO()
        self._times.print_report(unit, table)
        print(table.getvalue().replace("FunctionName", "    LinkName", 1), end="", file=file or sys.stdout)


__getattr__, __dir__ = _listed(__name__, __all__)
