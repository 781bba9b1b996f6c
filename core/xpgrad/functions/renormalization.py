"""Batch renormalization: batch normalization that agrees with the moving averages which are used later."""

from typing import Any

from xpgrad.array_api import add, astype, multiply, reshape
from xpgrad.array_api.shared.axes import reduced_count
from xpgrad.backend.kernels import kernel
from xpgrad.functions.checks import known_spec, real_floating
from xpgrad.functions.mixed import in_dtype_of, unified
from xpgrad.functions.moments import batch_axes, moving, per_feature, statistics, unbiased, update
from xpgrad.functions.normalization import fixed_batch_normalization, normalized, scale_and_shift
from xpgrad.graph.variable import Variable
from xpgrad.types import AnyArray, Array, Namespace

__all__ = ["batch_renormalization", "fixed_batch_renormalization"]


@kernel(arrays=4, parameters=("rmax", "dmax", "eps"))
def corrections(
    xp: Namespace, mean: Array, inverse: Array, known_mean: Array, known_var: Array, /, rmax: float, dmax: float,
    eps: float,
) -> tuple[Array, Array]:  # fmt: skip
    """Return factors r and summands d, clipped, that turn normalization by the batch into normalization by averages."""
    deviation = xp.sqrt(known_var + eps)
    factors = xp.clip(1.0 / (inverse * deviation), 1.0 / rmax, rmax)
    return factors, xp.clip((mean - known_mean) / deviation, -dmax, dmax)


def batch_renormalization(
    x: AnyArray, gamma: AnyArray, beta: AnyArray, rmax: float, dmax: float, eps: float = 2e-5,
    running_mean: Any = None, running_var: Any = None, decay: float = 0.9, update_statistics: bool = False,
) -> Variable:  # fmt: skip
    """Return ``(x_hat * r + d) * gamma + beta``, where x_hat is `x` with mean 0 and variance 1 over the batch.

    The factor ``r = std / running_std`` and ``d = (mean - running_mean) / running_std``, within limits, turn the result
    into `fixed_batch_normalization` with the moving averages. They are constants: no gradient passes through them.

    Parameters
    ----------
    x : Variable or array, real floating-point
    gamma, beta : Variable or array, of the shape of the axes of `x` from axis 1 on, real floating-point
    rmax : float
        The factor r is between ``1 / rmax`` and `rmax`, which is at least 1.
    dmax : float
        The modulus of d is at most `dmax`.
    eps : float
        Added to the variances.
    running_mean, running_var : array or Variable, shape of `gamma`
        Moving averages of mean and unbiased variance.
    decay : float
        Weight of the previous moving averages.
    update_statistics : bool
        Update the moving averages as `batch_normalization` does, after they have been used.

    Returns
    -------
    Variable, shape of `x`
        In the dtype of `x`, as from `batch_normalization`.

    Raises
    ------
    ValueError
        `rmax` is less than 1, or `dmax` is negative.
    TypeError
        A moving average is missing, or is an array that cannot be written to.

    References
    ----------
    Ioffe: Batch renormalization: towards reducing minibatch dependence in batch-normalized models, 2017. The paper
    averages standard deviations; this function averages variances, as in batch normalization.
    """
    name = "batch_renormalization"
    spec = real_floating(x, name)
    if rmax < 1 or dmax < 0:
        raise ValueError(f"{name}: expected rmax of at least 1 and dmax of at least 0, got {rmax} and {dmax}")
    if running_mean is None or running_var is None:
        missing = "running_mean" if running_mean is None else "running_var"
        raise TypeError(f"{name}: {missing} is required: it decides by how much the batch is corrected")
    features = known_spec(gamma, name)
    axes = batch_axes(name, spec, features, None)
    shape = per_feature(name, spec, axes, gamma=gamma, beta=beta)
    running_mean, running_var = (
        moving(name, spec, averages, which, features.shape, updated=update_statistics)
        for averages, which in ((running_mean, "running_mean"), (running_var, "running_var"))
    )
    x, gamma, beta = unified(name, x, gamma, beta, beside=(running_mean, running_var), single=True)
    mean, var, inverse = statistics(x, name, axes, eps)
    gamma, beta = reshape(gamma, shape=shape), reshape(beta, shape=shape)
    known = [astype(reshape(v, shape=shape), mean.dtype, copy=False).array for v in (running_mean, running_var)]
    backend = gamma.node.spec.backend
    pair = backend.xp.corrections(mean, inverse, *known, rmax=rmax, dmax=dmax, eps=eps)
    r, d = map(backend.stopped, pair)
    gamma, beta, count = multiply(gamma, r), add(multiply(gamma, d), beta), reduced_count(spec, axes)
    y = normalized(x, gamma, beta, mean, inverse, axis=axes, eps=eps) if count else scale_and_shift(x, gamma, beta)
    if update_statistics:
        update(decay, count, (running_mean, mean, 1.0), (running_var, var, unbiased(count)))
    return in_dtype_of(spec, y)


def fixed_batch_renormalization(
    x: AnyArray, gamma: AnyArray, beta: AnyArray, mean: AnyArray, var: AnyArray, eps: float = 2e-5
) -> Variable:
    """Return the same as `fixed_batch_normalization`: fixed statistics need no correction."""
    return fixed_batch_normalization(x, gamma, beta, mean, var, eps)
