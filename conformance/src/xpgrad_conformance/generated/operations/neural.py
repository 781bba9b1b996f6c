"""Activations, softmax and derived functions, affine maps, norms, attention."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.layers import layer, lengths
from xpgrad_conformance.generated.operation import operation, operations
from xpgrad_conformance.generated.points import SPECIAL, ranges
from xpgrad_conformance.generated.sample import Argument, Sample
from xpgrad_conformance.generated.sizes import LARGEST

LOUD = 1000.0
"""An element at the end of a row that makes all other elements negligible."""
ROWS = 300_000
"""The longest axis of functions that need several arrays of memory."""


@operations(needs=())
def _activation(draw: Draw, name: str, units: float = 8.0, **choices: tuple[float, ...]) -> Iterator[Sample]:
    """Yield samples of an elementwise function, with a choice of its parameters.

    Its derivative jumps at 0 at most.
    """

    def chosen(draw: Draw) -> dict[str, Any]:
        return {key: draw.pick(values) for key, values in choices.items()}

    for n in lengths(draw, LARGEST):
        yield layer(name, draw.array((n,), axes=("n",)), units=units, scale=1.0, **chosen(draw))
    x = Argument(draw.rng.permutation(np.asarray(SPECIAL, draw.dtype)), ("n",))
    yield layer(name, x, units=units, scale=lambda x, **rest: np.maximum(1.0, np.abs(x)), **chosen(draw))
    for low, high in ranges(draw.dtype, "beyond", "under", "above"):
        x = draw.array((19,), low=low, high=high, axes=("n",))
        yield layer(name, x, units=units, scale=lambda x, **rest: np.maximum(1.0, np.abs(x)), **chosen(draw))
    for row in draw.combinations(n=(1, 7, 33, 257), layout=draw.layouts()):
        x = draw.array((row["n"], 5), low=-30.0, high=30.0, axes=("n", "m"), layout=row["layout"])
        yield layer(name, x, units=units, scale=lambda x, **rest: np.maximum(1.0, np.abs(x)), **chosen(draw))


@operations(needs=())
def _along(draw: Draw, name: str, scale: Callable[..., Any], units: float = 32.0) -> Iterator[Sample]:
    """Yield samples of a function along one axis."""
    for n in lengths(draw, ROWS, 1):
        last = draw.pick((1, 2, 3, 7, 9, 33)) if n < 600 else 3
        for shape, axis in (((2, n), 1), ((n, last), 0), ((2, n, last), 1))[: 1 if n > 5000 else 3]:
            axes = tuple("n" if k == axis else f"m{k}" for k in range(len(shape)))
            x = draw.array(shape, axes=axes, low=-5.0, high=5.0, layout=draw.pick(draw.layouts()))
            yield replace(layer(name, x, units=units, scale=scale, axis=axis), summed=n // 4)
    for n in (515, 1030, 4099) if not draw.quick else (4099,):
        for shape, axis in ((2, n), 1), ((n, 3), 0):
            x = draw.array(shape, low=-5.0, high=5.0)
            np.moveaxis(x.host, axis, 0)[-1] = LOUD
            loud = scale if scale is _share else _of_loud
            yield layer(name, x, units=units, scale=loud, axis=axis)
    for low, high in ((-80.0, -60.0), (60.0, 80.0), (-0.01, 0.01)):
        x = draw.array((3, 40), low=low, high=high, axes=("m", "n"))
        yield layer(name, x, units=8 * units, scale=scale, axis=1)
    for values, smooth in (((-np.inf,), True), ((*SPECIAL, np.nan), False), ((-np.inf, np.nan, np.inf), False)):
        x = draw.array((6, 9), low=-5.0, high=5.0, axes=("m", "n"))
        x.host[:4, :7] = draw.rng.choice(np.asarray(values, draw.dtype), (4, 7))
        x.host[0, :] = values[0]
        rows = replace(x, host=x.host[1:]) if smooth else x  # a row that contains only -inf has no derivative
        yield replace(layer(name, rows, units=units, scale=scale, axis=1, smooth=smooth), far=True)
    for low, high in ranges(draw.dtype, "beyond", "under"):
        x = draw.array((3, 40), low=low, high=high, axes=("m", "n"))
        yield layer(name, x, units=units, scale=scale if scale is _share else _of_loud, axis=1)


def _logarithmic(x: Any, axis: int) -> Any:
    """Return the magnitude of rounding errors in logarithms of sums, for sums computed term by term."""
    return np.asarray(12.0 + x.shape[axis] / 500)


def _of_loud(x: Any, axis: int) -> Any:
    """Return the same where one term is by far the largest."""
    return np.asarray(2 * LOUD)


def _share(x: Any, axis: int) -> Any:
    """Return the same of shares of sums."""
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True) * (1 + x.shape[axis] / 500)


@operation("F.linear", needs=())
def _linear(draw: Draw) -> Iterator[Sample]:
    for n in lengths(draw, 70_000):
        sizes = ((n, 3, 2), (2, n, 3), (3, 2, n)) if n < 5000 else ((n, 2, 1),)
        for rows, inputs, outputs in sizes:
            bias = bool(draw.rng.integers(2))
            arrays = [
                draw.array((rows, inputs), "integers", axes=("r", "i"), layout=draw.pick(draw.layouts())),
                draw.array((outputs, inputs), "integers", axes=("o", "i"), layout=draw.pick(draw.layouts())),
                draw.array((outputs,), "integers", axes=("o",)),
            ]
            yield layer("F.linear", *arrays[: 2 + bias])
    for layout in draw.layouts():
        x, weight = (draw.array(s, axes=a, layout=layout) for s, a in (((33, 17), ("r", "i")), ((9, 17), ("o", "i"))))
        yield layer("F.linear", x, weight, units=64.0, scale=12.0)


def _labels(draw: Draw, n: int, classes: int, ignored: bool) -> Argument:
    found = draw.rng.integers(-1 if ignored else 0, classes, n)
    return Argument(found.astype("int64" if draw.has("int64") else "int32"), ("n",), kept=True)


@operation("F.softmax_cross_entropy", needs=())
def _cross_entropy(draw: Draw) -> Iterator[Sample]:
    for n in lengths(draw, 70_000, 1):
        for rows, classes in ((n, 3), (4, n)):
            reduce = draw.pick(["mean", "no"])
            options = {"ignore_label": -1, "reduce": reduce, "normalize": bool(draw.rng.integers(2))}
            options["enable_double_backprop"] = True
            x = draw.array((rows, classes), low=-4.0, high=4.0, axes=("n", ""), layout=draw.pick(draw.layouts()))
            t = _labels(draw, rows, classes, ignored=bool(draw.rng.integers(2)))
            if t.host.max(initial=-1) < 0:
                continue
            yield layer("F.softmax_cross_entropy", x, t, units=64.0, scale=16.0, **options)


@operations(needs=())
def _standardized(draw: Draw, name: str) -> Iterator[Sample]:
    for n in lengths(draw, 5000, 2):
        for rows, features in ((n, 4), (5, n)):
            rest = int(draw.rng.choice([1, 3])) if n < 5000 and name != "F.layer_normalization" else 0
            shape = (rows, features + features % 2, *([rest] if rest else []))
            if name == "F.group_normalization":
                groups = 2 if shape[1] % 2 == 0 else 1
                if np.prod(shape[1:]) // groups < 2:
                    continue
            x = draw.array(shape, low=-3.0, high=3.0, layout=draw.pick(draw.layouts()[:-1]))
            gamma, beta = draw.array(shape[1:2], low=0.5, high=1.5), draw.array(shape[1:2])
            options: dict[str, Any] = {"groups": 2} if name == "F.group_normalization" else {}
            yield layer(name, x, gamma, beta, units=256.0, scale=8.0, **options)


@operation("F.scaled_dot_product_attention", needs=())
def _attention(draw: Draw) -> Iterator[Sample]:
    for n in lengths(draw, 1100, 1):
        for queries, keys, width in ((n, 3, 4), (3, n, 4), (2, 5, n)):
            heads = int(draw.rng.integers(1, 4))
            arrays = [
                draw.array((heads, queries, width), axes=("h", "q", "w"), layout=draw.pick(draw.layouts())),
                draw.array((heads, keys, width), axes=("h", "k", "w"), layout=draw.pick(draw.layouts())),
                draw.array((heads, keys, 3), axes=("h", "k", "v"), layout=draw.pick(draw.layouts())),
            ]
            kind = draw.rng.integers(3)
            if kind == 1:
                arrays.append(Argument(draw.rng.integers(0, 4, (queries, keys)) > 0, ("q", "k")))
            elif kind == 2:
                arrays.append(draw.array((queries, keys), axes=("q", "k")))
            yield layer("F.scaled_dot_product_attention", *arrays, units=256.0, scale=8.0)


ACTIVATIONS = (
    *(_activation(f"F.{name}") for name in ("sigmoid", "relu", "hard_sigmoid")),
    _activation("F.softplus", beta=(1.0, 2.0)),
    _activation("F.leaky_relu", slope=(0.2, 0.5, -0.1)),
    _activation("F.elu", alpha=(1.0, 0.5)),
    _activation("F.clipped_relu", z=(1.5, 6.0)),
    _activation("F.selu", units=16.0),
)
ALONG = (_along("F.softmax", _share), _along("F.log_softmax", _logarithmic), _along("F.logsumexp", _logarithmic))
NORMS = tuple(_standardized(f"F.{name}") for name in ("batch_normalization", "layer_normalization"))
