"""Products of inputs with weights, sums and products with an array for some axes, and embeddings."""

import math
from typing import Any

from xpgrad import array_api
from xpgrad.array_api import expand_dims, matmul, reshape
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.array_api.shared.lazy_product import product
from xpgrad.array_api.shared.precision import narrowed, widened
from xpgrad.backend.spec import Spec
from xpgrad.config import WATCHED, config, switches
from xpgrad.functions.checks import (
    KnownCombinations,
    all_labels,
    integral,
    invalid,
    known_spec,
    real_floating,
    require_real_floating,
)
from xpgrad.functions.mixed import in_dtype_of, mixed, unified
from xpgrad.graph.primitive import primitive
from xpgrad.graph.variable import Variable, as_array, as_variable
from xpgrad.types import AnyArray, Array, Namespace, Shape

__all__ = ["bias", "bilinear", "embed_id", "linear", "linear_interpolate", "scale"]


@primitive(
    label="linear",
    x=lambda xp, gy, W: xp.matmul(gy, W),
    W=lambda xp, gy, x, W_spec: product(xp, gy, x, W_spec),
    b=lambda xp, gy: xp.sum(gy, axis=0),
)
def affine(xp: Namespace, x: AnyArray, W: AnyArray, b: AnyArray | None, /) -> Array:
    """Product of the rows of `x` with the rows of `W`, plus `b` if it is not None; the kernel of `linear`."""
    if b is None:
        return xp.matmul(x, xp.matrix_transpose(W))
    spec = xp.spec_of(x)
    x, W, b = (widened(xp, each, spec) for each in (x, W, b))
    return narrowed(xp, xp.matmul(x, xp.matrix_transpose(W)) + b, spec)


def linear(x: AnyArray, W: AnyArray, b: AnyArray | None = None, n_batch_axes: int = 1) -> Variable:
    """Return the affine map ``x @ W.T + b``, which a fully connected layer computes.

    Parameters
    ----------
    x : Variable or array, shape (*B, *S), real floating-point
        The first `n_batch_axes` axes count examples; the remaining axes are flattened to one feature axis.
    W : Variable or array, shape (out, in)
        `in` is the number of elements of S.
    b : Variable or array, shape (out,), optional
    n_batch_axes : int
        At least 1.

    Returns
    -------
    Variable, shape (*B, out)
        In the dtype of `x`. With `W` or `b` of another dtype it is computed in their common dtype, float32 at least.

    Raises
    ------
    ValueError
        `n_batch_axes` is less than 1.
    """
    x_spec = (isinstance(x, Variable) and x._node.spec) or known_spec(x, "linear")
    W_spec = (isinstance(W, Variable) and W._node.spec) or known_spec(W, "linear")
    b_spec = None if b is None else (isinstance(b, Variable) and b._node.spec) or known_spec(b, "linear")
    if n_batch_axes == 1 and (x_spec, W_spec, b_spec) in _matrices:
        return affine(x, W, b)
    batch, features = _checked(x_spec, W_spec, b_spec, n_batch_axes)
    if mixed(x_spec, W_spec, b_spec):
        x, W, b = unified("linear", x, W, b)
        return in_dtype_of(x_spec, linear(x, W, b, n_batch_axes))
    if x_spec.ndim == 2 and n_batch_axes == 1:
        _matrices.add((x_spec, W_spec, b_spec))
        return affine(x, W, b)
    y = affine(reshape(x, shape=(math.prod(batch), features)), W, b)
    return reshape(y, shape=(*batch, W_spec.shape[0]))


_matrices = KnownCombinations()


def _checked(x: Spec, W: Spec, b: Spec | None, n_batch_axes: int) -> tuple[Shape, int]:
    """Return the shape of the batch and the number of features, if shapes and dtypes fit."""
    for spec, name in (x, "x"), (W, "W"), (b, "b"):
        if spec is not None:
            require_real_floating(spec, "linear", name)
    if n_batch_axes < 1:
        raise ValueError(f"linear: n_batch_axes must be at least 1, got {n_batch_axes}")
    if x.ndim <= n_batch_axes:
        raise invalid("linear", f"x with more than {n_batch_axes} axes", f"x is {x!r}")
    features = math.prod(x.shape[n_batch_axes:])
    if W.ndim != 2 or W.shape[1] != features:
        raise invalid("linear", f"W of shape (out, {features}), for the features of x", f"x is {x!r}, W is {W!r}")
    if b is not None and b.shape != W.shape[:1]:
        raise invalid("linear", f"b of shape {W.shape[:1]}, as W is {W!r}", f"b is {b!r}")
    return x.shape[:n_batch_axes], features


@in_single_precision
def bilinear(
    e1: AnyArray, e2: AnyArray, W: AnyArray, V1: AnyArray | None = None, V2: AnyArray | None = None,
    b: AnyArray | None = None,
) -> Variable:  # fmt: skip
    """Return a bilinear form of two vectors for each output, plus linear maps of both.

    Parameters
    ----------
    e1, e2 : Variable or array, shapes (N, *J) and (N, *K), real floating-point
        Flattened to matrices with the columns J and K.
    W : Variable or array, shape (J, K, L)
    V1, V2, b : Variable or array, shapes (J, L), (K, L) and (L,), optional
        All of them or none.

    Returns
    -------
    Variable, shape (N, L)
        The sum over j and k of ``e1[j] * e2[k] * W[j, k]``, plus ``e1 @ V1 + e2 @ V2 + b``.

    Raises
    ------
    ValueError
        One or two of `V1`, `V2` and `b` are None.

    References
    ----------
    Socher, Chen, Manning, Ng: Reasoning with neural tensor networks for knowledge base completion, 2013.
    """
    more = {"V1": V1, "V2": V2, "b": b}
    missing = [name for name, x in more.items() if x is None]
    if len(missing) in (1, 2):
        raise ValueError(f"bilinear: expected all of V1, V2 and b, or none; {' and '.join(missing)} is None")
    given = {"e1": e1, "e2": e2, "W": W, **({} if missing else more)}
    specs = {name: require_real_floating(known_spec(x, "bilinear"), "bilinear", name) for name, x in given.items()}
    left, right, weight = specs["e1"], specs["e2"], specs["W"]
    n, j, k, out = left.shape[:1], math.prod(left.shape[1:]), math.prod(right.shape[1:]), weight.shape[-1:]
    if left.ndim < 2 or right.ndim < 2 or right.shape[:1] != n or weight.shape != (j, k, *out):
        expect = "e1 of shape (N, *J), e2 of shape (N, *K) and W of shape (J, K, L)"
        raise invalid("bilinear", expect, f"e1 is {left!r}, e2 is {right!r}, W is {weight!r}")
    for name, shape in ("V1", (j, *out)), ("V2", (k, *out)), ("b", out):
        if name in specs and specs[name].shape != shape:
            raise invalid("bilinear", f"{name} of shape {shape}, as W is {weight!r}", f"{name} is {specs[name]!r}")
    a, c = reshape(e1, shape=(*n, j)), reshape(e2, shape=(*n, k))
    products = reshape(expand_dims(a, axis=2) * expand_dims(c, axis=1), shape=(*n, j * k))
    y = matmul(products, reshape(W, shape=(j * k, *out)))
    return y if V1 is None or V2 is None or b is None else y + matmul(a, V1) + matmul(c, V2) + b


def bias(x: AnyArray, y: AnyArray, axis: int = 1) -> Variable:
    """Return the sum of `x` and `y`, which is repeated along the axes of `x` that it lacks.

    Parameters
    ----------
    x : Variable or array, real floating-point
    y : Variable or array, real floating-point
        Of the shape of `x` from `axis` on, as far as it has axes.
    axis : int
        The axis of `x` that is the first axis of `y`.
    """
    return as_variable(x) + _aligned("bias", x, y, axis)


def scale(x: AnyArray, y: AnyArray, axis: int = 1) -> Variable:
    """Return the product of `x` and `y`, repeated along the axes of `x` that it lacks; arguments as for `bias`."""
    return as_variable(x) * _aligned("scale", x, y, axis)


@in_single_precision
def linear_interpolate(p: AnyArray, x: AnyArray, y: AnyArray) -> Variable:
    """Return ``p * x + (1 - p) * y``, elementwise, for arrays of one shape and dtype.

    Parameters
    ----------
    p, x, y : Variable or array, real floating-point
    """
    specs = [real_floating(each, "linear_interpolate", name) for name, each in (("p", p), ("x", x), ("y", y))]
    if any(spec.shape != specs[0].shape or spec.dtype != specs[0].dtype for spec in specs):
        actual = "p is {!r}, x is {!r}, y is {!r}".format(*specs)
        raise invalid("linear_interpolate", "p, x and y of one shape and dtype", actual)
    p = as_variable(p)
    return p * as_variable(x) + (1.0 - p) * as_variable(y)


def _aligned(function: str, x: Any, y: Any, axis: int) -> Variable:
    """Return `y` with axes of length 1 inserted for axes present only in `x`."""
    spec, part = real_floating(x, function), real_floating(y, function, "y")
    after = spec.ndim - axis - part.ndim
    if axis < 0 or after < 0 or spec.shape[axis : axis + part.ndim] != part.shape:
        raise invalid(function, f"y of the shape of x from axis {axis} on", f"x is {spec!r}, y is {part!r}")
    return reshape(y, shape=(1,) * axis + part.shape + (1,) * after)


def embed_id(x: AnyArray, W: AnyArray, ignore_label: int | None = None) -> Variable:
    """Return the rows of `W` with the indices in `x`; gradients of an index that occurs more than once are summed.

    Parameters
    ----------
    x : Variable or array, shape S, integer
    W : Variable or array, shape (V, K), real floating-point
    ignore_label : int, optional
        For this index the row is zeros.

    Returns
    -------
    Variable, shape (*S, K)

    Raises
    ------
    ValueError
        In debug mode, an index in `x` is neither a row number nor `ignore_label`. Otherwise the result is up to the
        array's library.
    """
    numbers, rows = integral(x, "embed_id", "x"), real_floating(W, "embed_id", "W")
    if rows.ndim != 2:
        raise invalid("embed_id", "W of shape (V, K)", f"W is {rows!r}")
    count = rows.shape[0]
    if switches().mode & WATCHED and config.debug and not all_labels(as_array(x), rows.backend, count, ignore_label):
        other = "" if ignore_label is None else f", nor ignore_label {ignore_label}"
        raise ValueError(f"embed_id: an element of x is not the index of a row, 0 to {count - 1}{other}")
    flat = array_api.reshape(x, shape=(math.prod(numbers.shape),))
    if ignore_label is None:
        y = array_api.take(W, flat.array, axis=0)
    else:
        ignored = array_api.equal(flat, ignore_label)
        y = array_api.take(W, array_api.where(ignored, array_api.zeros_like(flat), flat).array, axis=0)
        y = array_api.where(array_api.expand_dims(ignored, axis=1), 0.0, y)
    return array_api.reshape(y, shape=(*numbers.shape, rows.shape[1]))
