"""L-BFGS through SciPy."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad import array_api
from xpgrad.backend.device import Device
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.graph.parameter import Parameter
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.optimizers.formula import real_spec
from xpgrad.optimizers.hyperparameter import Hyperparameter, HyperparameterProxy
from xpgrad.optimizers.optimizer import Optimizer
from xpgrad.optimizers.undo import GradientJournal
from xpgrad.optimizers.update_rule import store
from xpgrad.transforms.trace.compiled import compile
from xpgrad.transforms.vectors import arrays_of, vector_of
from xpgrad.types import Array


class LBFGS(Optimizer):
    """L-BFGS-B of SciPy (Byrd, Lu, Nocedal and Zhu, 1995), for losses without noise: the same data in each call.

    ``update(lossfun, *args)`` is one call of ``scipy.optimize.minimize``, which evaluates the loss many times.
    Parameters are set to the point with the smallest loss found. Real and imaginary parts of complex parameters are
    separate unknowns.

    Parameters
    ----------
    max_iter, max_eval : int
        The largest numbers of iterations and of evaluations in one update.
    gtol, ftol : float
        It ends where the largest element of the gradient, or the relative decrease of the loss, is smaller.
    history_size : int
        Number of pairs of steps and gradients that approximate the Hessian.

    Attributes
    ----------
    result : scipy.optimize.OptimizeResult or None
        SciPy's result of the last update.
    """

    max_iter, max_eval, gtol, ftol, history_size = map(
        HyperparameterProxy, ("max_iter", "max_eval", "gtol", "ftol", "history_size")
    )

    def __init__(
        self, max_iter: int = 20, max_eval: int = 15000, gtol: float = 1e-5, ftol: float = 1e-9, history_size: int = 10
    ) -> None:
        super().__init__()
        self.hyperparam = Hyperparameter()
        vars(self.hyperparam).update(
            max_iter=max_iter, max_eval=max_eval, gtol=gtol, ftol=ftol, history_size=history_size
        )
        self.result: Any = None

    def update(self, lossfun: Callable[..., Any] | None = None, *args: Any, **kwds: Any) -> None:
        """Minimise ``lossfun(*args, **kwds)`` over all parameters that are enabled.

        Raises
        ------
        TypeError
            There is no `lossfun`.
        ImportError
            SciPy is not installed.
        """
        if lossfun is None:
            raise TypeError("LBFGS.update: expected lossfun, which is evaluated many times; got None")
        if self.target is None:
            raise RuntimeError("LBFGS.update: there is no model; call setup(model) first")
        self._update(functools.partial(self._evaluated, lossfun), args, kwds)

    def compile(self, lossfun: Callable[..., Any], **options: Any) -> Callable[..., float]:
        """Return a function that makes an update, in which each evaluation of the loss and its gradient is one program.

        Parameters
        ----------
        lossfun : callable
            ``lossfun(*args, **kwds)`` returns the loss. Arrays among its arguments are Variables.
        **options
            As for `xpgrad.compile`.

        Returns
        -------
        callable
            ``step(*args, **kwds)`` returns the smallest loss that it found.
        """
        if self.target is None:
            raise RuntimeError("LBFGS.compile: there is no model; call setup(model) first")
        if not callable(lossfun):
            raise TypeError(f"LBFGS.compile: expected a function, got {type(lossfun).__name__}")
        program = compile(functools.partial(self._evaluated, lossfun), **options)

        @functools.wraps(lossfun)
        def step(*args: Any, **kwds: Any) -> float:
            self._update(program, args, kwds)
            return float(self.result.fun)

        return step

    def _evaluated(self, lossfun: Callable[..., Any], *args: Any, **kwds: Any) -> Any:
        """Return the loss, after its gradients have been stored in the parameters."""
        loss = lossfun(*args, **kwds)
        self.target.cleargrads()
        loss.backward()
        return loss

    def _update(self, evaluate: Callable[..., Any], args: tuple[Any, ...], kwds: dict[str, Any]) -> None:
        """Make an update by a function that returns the loss and stores gradients."""
        try:
            from scipy.optimize import minimize  # an optional library
        except ImportError as error:
            raise ImportError("LBFGS: needs SciPy; pip install scipy") from error
        with self._in_turn.lock:
            if any(param._array is None for param in self.target.params()):
                evaluate(*args, **kwds)  # which initialises them
            with GradientJournal([*self.target.params(False)]):
                self._search(minimize, evaluate, args, kwds)
            self.t += 1
            self.call_hooks("post")

    def _search(
        self, minimize: Callable[..., Any], evaluate: Callable[..., Any], args: tuple[Any, ...], kwds: dict[str, Any]
    ) -> None:
        """Give the parameters the values that `scipy.optimize.minimize` finds."""
        self.call_hooks("pre")
        params = [p for p in self.target.params(False) if p.update_rule is None or p.update_rule.enabled]

        def evaluated(vector: Array) -> tuple[float, Array]:
            _set(params, vector)
            loss = evaluate(*args, **kwds)
            zero = plugins.host.namespace.zeros
            grads = [zero(param.shape) if param.grad is None else param.grad for param in params]
            return float(loss.array if isinstance(loss, Variable) else loss), _vector(grads)

        h, start = self.hyperparam, _vector([param.array for param in params])
        options = {"maxiter": h.max_iter, "maxfun": h.max_eval, "gtol": h.gtol, "ftol": h.ftol}
        options["maxcor"] = h.history_size
        try:
            result = minimize(evaluated, start, jac=True, method="L-BFGS-B", options=options)
            _set(params, result.x)
        except BaseException:
            _set(params, start)
            raise
        self.result = result


def _vector(arrays: Sequence[Array]) -> Array:
    """Return the real and imaginary parts of all arrays as one vector."""
    return vector_of([part for array in arrays for part in _parts(constant_variable(array))])


def _parts(x: Variable) -> list[Variable]:
    return [array_api.real(x), array_api.imag(x)] if x._node.spec.complex else [x]


def _set(params: Sequence[Parameter], vector: Array) -> None:
    """Give parameters the values of a vector that `_vector` made."""
    specs: list[tuple[Spec, Device]] = []
    for param in params:
        spec = param._node.spec
        specs += [(real_spec(spec), param.device)] * 2 if spec.complex else [(spec, param.device)]
    arrays = arrays_of(vector, specs)
    for param in params:
        array = next(arrays)
        if param._node.spec.complex:
            re, im = (array_api.astype(constant_variable(part), param.dtype) for part in (array, next(arrays)))
            array = (re + im * 1j).array
        store(param, array)
