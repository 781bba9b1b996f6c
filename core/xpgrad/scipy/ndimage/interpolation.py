"""Images at other places: at given coordinates, shifted, zoomed, rotated or transformed linearly."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad import array_api as xpa
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.array_api.shared.axes import checked_axes
from xpgrad.errors import GradientError, ShapeError
from xpgrad.graph.variable import Variable, as_array, as_variable
from xpgrad.scipy.ndimage.filters import per_axis
from xpgrad.scipy.ndimage.splines import along_axis, at_points, checked_order, coefficients
from xpgrad.scipy.operands import beside, inexact, known, numbers_beside, real_part_of
from xpgrad.special import cosdg, sindg
from xpgrad.transforms.vectors import host_array
from xpgrad.types import AnyArray, as_list, integers


def _index_dtype(x: Variable) -> Any:
    return x.node.spec.backend.namespace.arange(0, device=x.node.spec.device).dtype


@in_single_precision
def map_coordinates(
    input: AnyArray, coordinates: Any, order: int = 3, mode: str = "constant", cval: float = 0.0, prefilter: bool = True
) -> Variable:
    """Return the values of a spline through an image at coordinates.

    Parameters
    ----------
    input : Variable or array, shape of N axes, floating-point
    coordinates : Variable or array, shape (N, *S)
        Differentiable; gradients are 0 outside the image in the modes "constant" and "nearest" (with an order below 2).
    order : int, 0 to 5
        With 0 the nearest element, whose gradient by coordinates is 0; with 1 linear interpolation.
    mode : str
        "reflect", "mirror", "nearest", "grid-wrap" and "grid-constant" continue the image beyond its edges; "constant"
        uses `cval` there, and "wrap" identifies the last element with the first.
    cval : float
    prefilter : bool
        If False, `input` has the coefficients of the spline.

    Returns
    -------
    Variable, shape S
    """
    x = inexact(input, "map_coordinates")
    c = beside(xpa.real(x) if x.node.spec.complex else x, coordinates, "map_coordinates")
    if not c.ndim or c.shape[0] != x.ndim or not x.ndim:
        raise ShapeError(
            f"map_coordinates: expected coordinates of shape ({x.ndim}, ...) for an image with {x.ndim} axes, at least "
            f"one, got {c.shape}"
        )
    checked_order(order, "map_coordinates")
    parts = [c[i, ...] for i in range(x.ndim)]
    return _sampled(x, parts, order, mode, cval, prefilter, "map_coordinates")


def _sampled(
    x: Variable, parts: list[Variable], order: int, mode: str, cval: float, prefilter: bool, name: str
) -> Variable:
    filtered, margin = coefficients(x, order, mode, cval, prefilter, name)
    return at_points(filtered, parts, order, mode, cval, _index_dtype(x), margin)


def _by_axes(
    x: Variable, coordinates: list[Variable], order: int, mode: str, cval: float, prefilter: bool, name: str
) -> Variable:
    """Return the values of a spline on a grid, given by the coordinates along each axis."""
    checked_order(order, name)
    y, margin = coefficients(x, order, mode, cval, prefilter, name)
    within: Any = None
    moved = mode == "grid-constant" and (isinstance(cval, Variable) or cval != 0)
    y = y - cval if moved else y
    for axis, c in enumerate(coordinates):
        y, inside = along_axis(y, axis, c, order, mode, _index_dtype(x), margin)
        if inside is not None:
            inside = xpa.reshape(inside, (-1, *(1,) * (x.ndim - axis - 1)))
            within = inside if within is None else within & inside
    if moved:
        return y + cval
    return y if within is None else xpa.where(within, y, cval)


@in_single_precision
def shift(
    input: AnyArray, shift: Any, order: int = 3, mode: str = "constant", cval: float = 0.0, prefilter: bool = True
) -> Variable:
    """Return an image shifted along each axis.

    Parameters
    ----------
    input : Variable or array, floating-point
    shift : float, sequence of float, or Variable or array, shape () or (N,)
        The shift along each axis, differentiable.
    order, mode, cval, prefilter
        As for `map_coordinates`.
    """
    x = inexact(input, "shift")
    by = xpa.broadcast_to(beside(real_part_of(x), shift, "shift"), (x.ndim,))
    grid = [numbers_beside(x, 0, n) - by[i] for i, n in enumerate(x.shape)]
    return _by_axes(x, grid, order, mode, cval, prefilter, "shift")


@in_single_precision
def zoom(
    input: AnyArray, zoom: Any, order: int = 3, mode: str = "constant", cval: float = 0.0, prefilter: bool = True, *,
    grid_mode: bool = False,
) -> Variable:  # fmt: skip
    """Return an image with more or fewer elements along each axis.

    Parameters
    ----------
    input : Variable or array, floating-point
    zoom : float or sequence of float
        The factor for each axis; it decides the shape, and has no gradient.
    order, mode, cval, prefilter
        As for `map_coordinates`.
    grid_mode : bool
        Distances are those between the edges of the elements, not between their centres.
    """
    x = inexact(input, "zoom")
    given = zoom if isinstance(zoom, Sequence) else [zoom]
    if any(isinstance(each, Variable) and each.node.requires_grad for each in given):
        raise GradientError("zoom: there is no gradient by zoom, which decides the shape; use affine_transform")
    factors = [
        float(f)
        for f in per_axis(zoom if isinstance(zoom, (int, float)) else as_list(zoom, "factors"), x.ndim, "zoom", "zoom")
    ]
    shape = [round(n * f) for n, f in zip(x.shape, factors, strict=True)]
    if min(shape, default=0) < 0:
        raise ShapeError(f"zoom: expected factors that are not negative, got {zoom!r}")
    if tuple(shape) == x.shape and all(f == 1 for f in factors) and prefilter:
        return x
    grid = []
    for n, m in zip(x.shape, shape, strict=True):
        numbers = numbers_beside(x, 0, m)
        if grid_mode:
            grid.append((numbers + 0.5) * (n / m) - 0.5 if m else numbers)
        else:
            grid.append(numbers * ((n - 1) / (m - 1)) if m > 1 else numbers)
    return _by_axes(x, grid, order, mode, cval, prefilter, "zoom")


@in_single_precision
def affine_transform(
    input: AnyArray, matrix: Any, offset: Any = 0.0, output_shape: Sequence[int] | None = None, order: int = 3,
    mode: str = "constant", cval: float = 0.0, prefilter: bool = True,
) -> Variable:  # fmt: skip
    """Return an image whose element `o` is interpolated from `input` at ``matrix @ o + offset``.

    Parameters
    ----------
    input : Variable or array, with N axes, floating-point
    matrix : Variable or array, shape (N, N), (N,) for a diagonal, (N, N + 1) or (N + 1, N + 1)
        An additional column contains the offset. Differentiable.
    offset : float, sequence of float, or Variable or array, shape () or (N,)
        Added to the coordinates, differentiable.
    output_shape : sequence of int, optional
        By default the shape of `input`.
    order, mode, cval, prefilter
        As for `map_coordinates`.

    Returns
    -------
    Variable, shape `output_shape`
    """
    x = inexact(input, "affine_transform")
    real, n = real_part_of(x), x.ndim
    m = beside(real, matrix, "affine_transform")
    shape = x.shape if output_shape is None else integers(output_shape, "affine_transform")
    if m.ndim == 2 and m.shape[1] == n + 1 and m.shape[0] in (n, n + 1):
        last = [float(each == n) for each in range(n + 1)]
        if m.shape[0] > n and known(m) and host_array(as_array(m[n])).tolist() != last:
            raise ValueError(f"affine_transform: expected {last} as the last row of the matrix, got {m[n]}")
        m, by = m[:n, :n], m[:n, n]
    else:
        by = xpa.broadcast_to(beside(real, offset, "affine_transform"), (n,))
    if m.shape not in ((n,), (n, n)) or len(shape) != n:
        raise ShapeError(
            f"affine_transform: expected a matrix of shape ({n}, {n}) and {n} numbers as output_shape, got {m.shape} "
            f"and {shape}"
        )
    numbers = [numbers_beside(x, 0, count) for count in shape]
    if m.ndim == 1:
        grid = [m[i] * numbers[i] + by[i] for i in range(n)]
        return _by_axes(x, grid, order, mode, cval, prefilter, "affine_transform")
    checked_order(order, "affine_transform")
    places = [xpa.reshape(each, (-1, *(1,) * (n - i - 1))) for i, each in enumerate(numbers)]
    parts = []
    for i in range(n):
        total: Any = by[i]
        for j, place in enumerate(places):
            total = total + m[i, j] * place
        parts.append(xpa.broadcast_to(total, shape))
    return _sampled(x, parts, order, mode, cval, prefilter, "affine_transform")


@in_single_precision
def geometric_transform(
    input: AnyArray, mapping: Callable[..., Any], output_shape: Sequence[int] | None = None, order: int = 3,
    mode: str = "constant", cval: float = 0.0, prefilter: bool = True, extra_arguments: tuple[Any, ...] = (),
    extra_keywords: dict[str, Any] | None = None,
) -> Variable:  # fmt: skip
    """Return an image whose elements are interpolated from `input` at places that a function computes.

    Parameters
    ----------
    input : Variable or array, with N axes, floating-point
    mapping : callable
        Takes a tuple of the N coordinates of all elements of the result, Variables of its shape, and returns those in
        `input`; Variables that it captures have gradients.
    output_shape : sequence of int, optional
        By default the shape of `input`.
    order, mode, cval, prefilter
        As for `map_coordinates`.
    extra_arguments, extra_keywords
        Further arguments of `mapping`.
    """
    x = inexact(input, "geometric_transform")
    shape = x.shape if output_shape is None else integers(output_shape, "geometric_transform")
    grid = [
        xpa.broadcast_to(xpa.reshape(numbers_beside(x, 0, n), (-1, *(1,) * (len(shape) - i - 1))), shape)
        for i, n in enumerate(shape)
    ]
    places = mapping(tuple(grid), *as_list(extra_arguments, "arguments"), **(extra_keywords or {}))
    return map_coordinates(x, xpa.stack(list(xpa.broadcast_arrays(*places))), order, mode, cval, prefilter)


@in_single_precision
def rotate(
    input: AnyArray, angle: Any, axes: tuple[int, int] = (1, 0), reshape: bool = True, order: int = 3,
    mode: str = "constant", cval: float = 0.0, prefilter: bool = True,
) -> Variable:  # fmt: skip
    """Return an image rotated in the plane of two axes.

    Parameters
    ----------
    input : Variable or array, with at least two axes, floating-point
    angle : float, or Variable, shape ()
        In degrees, differentiable. With `reshape`, its value decides the shape.
    axes : pair of int
    reshape : bool
        The result contains the whole of `input`.
    order, mode, cval, prefilter
        As for `map_coordinates`.
    """
    x = inexact(input, "rotate")
    if x.ndim < 2:
        raise ShapeError(f"rotate: expected an image with at least two axes, got shape {x.shape}")
    first, second = sorted(checked_axes(axes, x.ndim, "rotate"))
    real = real_part_of(x)
    turn = beside(real, angle, "rotate")
    c, s = cosdg(turn), sindg(turn)
    shape = list(x.shape)
    if reshape:
        radians = math.radians(float(as_variable(angle).array) if not isinstance(angle, (int, float)) else angle)
        rows, columns = x.shape[first], x.shape[second]
        cosine, sine = abs(math.cos(radians)), abs(math.sin(radians))
        cosine, sine = (0.0 if each < 1e-15 else each for each in (cosine, sine))
        shape[first] = int(cosine * rows + sine * columns + 0.5)
        shape[second] = int(sine * rows + cosine * columns + 0.5)
    centre = [(n - 1) / 2 for n in (x.shape[first], x.shape[second])]
    out = [(n - 1) / 2 for n in (shape[first], shape[second])]
    moved = xpa.moveaxis(x, (first, second), (0, 1))
    i = numbers_beside(x, 0, shape[first])[:, None] - out[0]
    j = numbers_beside(x, 0, shape[second]) - out[1]
    parts = [c * i + s * j + centre[0], c * j - s * i + centre[1]]
    planes = xpa.reshape(moved, (*moved.shape[:2], -1))
    checked_order(order, "rotate")
    turned = [_sampled(planes[:, :, k], parts, order, mode, cval, prefilter, "rotate") for k in range(planes.shape[2])]
    y = xpa.reshape(xpa.stack(turned, axis=2), (shape[first], shape[second], *moved.shape[2:]))
    return xpa.moveaxis(y, (0, 1), (first, second))
