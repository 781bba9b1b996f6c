"""L-BFGS through SciPy."""

from collections.abc import Callable
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.chainer.parameter import Parameter
from xpgrad.optimizers.hyperparameter import Hyperparameter, HyperparameterProxy
from xpgrad.optimizers.optimizer import Optimizer
from xpgrad.optimizers.update_rule import store
from xpgrad.transforms.vectors import arrays_of, vector_of
from xpgrad.types import Array


class LBFGS(Optimizer):
    """L-BFGS-B of SciPy (Byrd, Lu, Nocedal and Zhu, 1995), for losses without noise: the same data in each call.

    ``update(lossfun, *args)`` is one call of ``scipy.optimize.minimize``, which evaluates the loss many times.
    Parameters become those with the smallest loss that it found.

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
        What SciPy returned in the last update.
    """

    max_iter = HyperparameterProxy("max_iter")
    max_eval = HyperparameterProxy("max_eval")
    gtol = HyperparameterProxy("gtol")
    ftol = HyperparameterProxy("ftol")
    history_size = HyperparameterProxy("history_size")

    def __init__(
        self, max_iter: int = 20, max_eval: int = 15000, gtol: float = 1e-5, ftol: float = 1e-9, history_size: int = 10
    ) -> None:
        super().__init__()
        self.hyperparam = Hyperparameter()
        for name, value in (
            ("max_iter", max_iter), ("max_eval", max_eval), ("gtol", gtol), ("ftol", ftol),
            ("history_size", history_size),
        ):  # fmt: skip
            setattr(self.hyperparam, name, value)
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
        try:
            from scipy.optimize import minimize  # an optional library
        except ImportError as error:
            raise ImportError("LBFGS: needs SciPy; pip install scipy") from error
        if any(param._array is None for param in self.target.params()):
            lossfun(*args, **kwds)  # which initialises them
        self.call_hooks("pre")
        params = [param for param in self.target.params() if param.update_rule is None or param.update_rule.enabled]
        specs = [(param._node.spec, param.device) for param in params]

        def evaluated(vector: Array) -> tuple[float, Array]:
            _set(params, arrays_of(vector, specs))
            loss = lossfun(*args, **kwds)
            self.target.cleargrads()
            loss.backward()
            zero = plugins.host.namespace.zeros
            grads = [zero(param.shape) if param.grad is None else param.grad for param in params]
            return float(loss.array), vector_of(grads)

        h, start = self.hyperparam, vector_of([param.array for param in params])
        options = {
            "maxiter": h.max_iter,
            "maxfun": h.max_eval,
            "gtol": h.gtol,
            "ftol": h.ftol,
            "maxcor": h.history_size,
        }
        try:
            self.result = minimize(evaluated, start, jac=True, method="L-BFGS-B", options=options)
        except BaseException:
            _set(params, arrays_of(start, specs))
            raise
        _set(params, arrays_of(self.result.x, specs))
        self.t += 1
        self.call_hooks("post")


def _set(params: list[Parameter], arrays: Any) -> None:
    for param, array in zip(params, arrays, strict=True):
        store(param, array)
