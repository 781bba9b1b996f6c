"""Noise for regularisation, active only in training."""

import math
from typing import Any, Literal, overload

from xpgrad import array_api
from xpgrad.array_api import expand_dims, matmul, matrix_transpose, reshape
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.backend import random
from xpgrad.backend.checks import require_together
from xpgrad.backend.spec import Spec
from xpgrad.config import config
from xpgrad.functions.activation import softmax
from xpgrad.functions.checks import invalid, known_spec, real_floating, require_axis
from xpgrad.graph.variable import Variable, as_array, as_variable
from xpgrad.types import AnyArray, Array, Operand, Shape

__all__ = ["dropout", "gaussian", "gumbel_softmax", "simplified_dropconnect", "zoneout"]


@overload
def dropout(
    x: AnyArray, ratio: float = 0.5, *, mask: AnyArray | None = None, return_mask: Literal[False] = False
) -> Variable: ...


@overload
def dropout(
    x: AnyArray, ratio: float = 0.5, *, mask: AnyArray | None = None, return_mask: Literal[True]
) -> tuple[Variable, Array]: ...


def dropout(x: AnyArray, ratio: float = 0.5, *, mask: AnyArray | None = None, return_mask: bool = False) -> Any:
    """Set random elements of `x` to 0 and scale up the remaining elements, while `config.train` is True.

    Parameters
    ----------
    x : Variable or array, real floating-point
    ratio : float
        Probability with which an element is dropped, from 0 to below 1. The remaining elements are multiplied by ``1 /
        (1 - ratio)``, which keeps the mean. Numbers come from `xpgrad.random` on the device of `x`.
    mask : array, shape of `x`, optional
        Factors to use instead of random factors.
    return_mask : bool
        Return the mask too, for use in another call.

    Returns
    -------
    Variable, or tuple of Variable and array
        Outside of training it is `x` itself, and the mask is the argument `mask`.

    Raises
    ------
    ValueError
        `ratio` is out of range.
    InvalidType
        `x` is not real floating-point, or `mask` has another shape or dtype.
    """
    _check_ratio("dropout", ratio)
    spec = real_floating(x, "dropout")
    x = as_variable(x)
    if not config.train:
        return (x, mask) if return_mask else x
    if mask is None:
        backend = spec.backend
        kept = backend.follow(backend.xp.astype)(_kept(spec, spec.shape, ratio), spec.dtype)
        mask = backend.restore(backend.xp.multiply(kept, 1.0 / (1.0 - ratio)))
    else:
        found = known_spec(mask, "dropout")
        if found.shape != spec.shape or found.dtype != spec.dtype:
            raise invalid("dropout", "mask of the shape and dtype of x", f"x is {spec!r}, mask is {found!r}")
    y = x * mask
    return (y, mask) if return_mask else y


def zoneout(h: AnyArray, x: AnyArray, ratio: float = 0.5) -> Variable:
    """Return `x`, where random elements keep the value that `h` has, while `config.train` is True.

    Parameters
    ----------
    h, x : Variable or array, real floating-point, of one shape and dtype
        The state before and after a step.
    ratio : float
        Probability with which an element is taken from `h`, from 0 to 1.

    Returns
    -------
    Variable
        Outside of training it is `x` itself.

    Raises
    ------
    ValueError
        `ratio` is out of range.

    References
    ----------
    Krueger and others: Zoneout: Regularizing RNNs by randomly preserving hidden activations, 2017.
    """
    _check_ratio("zoneout", ratio, inclusive=True)
    before, spec = real_floating(h, "zoneout", "h"), real_floating(x, "zoneout")
    if before.shape != spec.shape or before.dtype != spec.dtype:
        raise invalid("zoneout", "h and x of one shape and dtype", f"h is {before!r}, x is {spec!r}")
    return array_api.where(_kept(spec, spec.shape, ratio), x, h) if config.train else as_variable(x)


@overload
def gaussian(
    mean: AnyArray, ln_var: AnyArray, *, eps: AnyArray | None = None, return_eps: Literal[False] = False
) -> Variable: ...


@overload
def gaussian(
    mean: AnyArray, ln_var: AnyArray, *, eps: AnyArray | None = None, return_eps: Literal[True]
) -> tuple[Variable, Array]: ...


@in_single_precision
def gaussian(mean: AnyArray, ln_var: AnyArray, *, eps: AnyArray | None = None, return_eps: bool = False) -> Any:
    """Return a sample of a normal distribution: ``mean + eps * exp(ln_var / 2)``, elementwise.

    Parameters
    ----------
    mean, ln_var : Variable or array, real floating-point, of one shape and dtype
        Mean, and logarithm of the variance.
    eps : array, shape and dtype of `mean`, optional
        Numbers to use instead of random ones from `xpgrad.random`, which are standard normal.
    return_eps : bool
        Return the numbers too, for use in another call.

    Returns
    -------
    Variable, or tuple of Variable and array

    References
    ----------
    Kingma, Welling: Auto-encoding variational Bayes, 2014, section 2.4.
    """
    spec = real_floating(mean, "gaussian", "mean")
    given = {"ln_var": ln_var} if eps is None else {"ln_var": ln_var, "eps": eps}
    for name, other in given.items():
        found = real_floating(other, "gaussian", name)
        if found.shape != spec.shape or found.dtype != spec.dtype:
            raise invalid(
                "gaussian", f"{name} of the shape and dtype of mean", f"mean is {spec!r}, {name} is {found!r}"
            )
    noise = random.normal_like(spec) if eps is None else as_array(eps)
    y = as_variable(mean) + array_api.exp(0.5 * as_variable(ln_var)) * noise
    return (y, noise) if return_eps else y


@in_single_precision
def gumbel_softmax(log_pi: AnyArray, tau: Operand = 0.1, axis: int = 1) -> Variable:
    """Return nearly one-hot samples of a categorical distribution: softmax of logits with Gumbel noise.

    Parameters
    ----------
    log_pi : Variable or array, real floating-point
        Logarithms of the probabilities along `axis`, up to a constant. An input of shape () has one category.
    tau : float or Variable
        Temperature, positive; the lower it is, the closer the sample is to a one-hot vector.
    axis : int

    Returns
    -------
    Variable, shape of `log_pi`
        Positive, with sum 1 along `axis`.

    Raises
    ------
    InvalidType
        `log_pi` is not real floating-point, or has no such axis.

    References
    ----------
    Jang, Gu, Poole: Categorical reparameterization with Gumbel-softmax, 2017.
    """
    spec = real_floating(log_pi, "gumbel_softmax", "log_pi")
    if not spec.ndim:
        return array_api.ones_like(log_pi)
    require_axis(spec, axis, "gumbel_softmax")
    uniform = random.uniform_like(spec.backend.spec_for(spec.shape, spec.wide, spec.device))
    positive = array_api.maximum(uniform, float(spec.backend.finfo(spec.wide).smallest_normal))
    gumbel = array_api.astype(-array_api.log(-array_api.log(positive)), spec.dtype, copy=False)
    return softmax((as_variable(log_pi) + gumbel) / tau, axis=axis)


@in_single_precision
def simplified_dropconnect(
    x: AnyArray,
    W: AnyArray,
    b: AnyArray | None = None,
    ratio: float = 0.5,
    train: bool = True,
    mask: AnyArray | None = None,
    use_batchwise_mask: bool = True,
) -> Variable:
    """Return ``x W^T + b`` with random elements of `W` set to 0 and the remaining elements scaled up.

    Parameters
    ----------
    x : Variable or array, shape (N, ...), real floating-point
        The axes after the first are one of length K.
    W : Variable or array, shape (M, K), real floating-point
    b : Variable or array, shape (M,), real floating-point, optional
    ratio : float
        Probability with which an element is dropped, from 0 to below 1. The remaining elements are multiplied by ``1 /
        (1 - ratio)``, which keeps the mean.
    train : bool
        If False, keep all elements, regardless of `config.train`.
    mask : array of bool or numbers, shape (N, M, K), or (M, K) without `use_batchwise_mask`, optional
        Where `W` is kept, instead of a random mask from `xpgrad.random`.
    use_batchwise_mask : bool
        Draw a mask for each example, which takes memory for N times the elements of `W`; else one for all.

    Returns
    -------
    Variable, shape (N, M), of the dtype of `x`

    Raises
    ------
    ValueError
        `ratio` is out of range.

    References
    ----------
    Wan, Zeiler, Zhang, LeCun, Fergus: Regularization of neural networks using DropConnect, 2013.
    """
    name = "simplified_dropconnect"
    _check_ratio(name, ratio)
    spec, matrix = real_floating(x, name), real_floating(W, name, "W")
    size = math.prod(spec.shape[1:])
    if spec.ndim < 2 or matrix.ndim != 2 or matrix.shape[1] != size:
        raise invalid(name, f"x of shape (N, ...) and W of shape (M, {size})", f"x is {spec!r}, W is {matrix!r}")
    if b is not None:
        offset = real_floating(b, name, "b")
        if offset.shape != matrix.shape[:1]:
            raise invalid(name, f"b of shape {matrix.shape[:1]}, one for each row of W", f"b is {offset!r}")
    ratio = ratio if train else 0.0
    shape = (spec.shape[0], *matrix.shape) if use_batchwise_mask else matrix.shape
    require_together(name, x, W, b, mask)
    x, weights = reshape(x, shape=(spec.shape[0], size)), as_variable(W)
    if mask is None and not ratio:
        y = matmul(x, matrix_transpose(weights))
    else:
        kept = _kept(spec, shape, ratio) if mask is None else as_array(mask)
        if tuple(kept.shape) != shape:
            raise invalid(name, f"mask of shape {shape}", f"mask is of shape {tuple(kept.shape)}")
        weights = weights * (array_api.astype(kept, matrix.dtype) * (1.0 / (1.0 - ratio)))
        if use_batchwise_mask:
            y = array_api.squeeze(matmul(weights, expand_dims(x, axis=2)), axis=2)
        else:
            y = matmul(x, matrix_transpose(weights))
    return array_api.astype(y if b is None else y + as_variable(b), spec.dtype, copy=False)


def _check_ratio(function: str, ratio: float, inclusive: bool = False) -> None:
    if not (0.0 <= ratio < 1.0 or (inclusive and ratio == 1.0)):
        raise ValueError(f"{function}: ratio must be from 0 to {'' if inclusive else 'below '}1, got {ratio}")


def _kept(spec: Spec, shape: Shape, ratio: float) -> Array:
    """Return a bool array on the device of `spec`, each element False with the probability `ratio`."""
    drawn = random.uniform_like(spec if shape == spec.shape else spec.backend.spec_for(shape, spec.dtype, spec.device))
    return spec.backend.xp.greater_equal(drawn, ratio)
