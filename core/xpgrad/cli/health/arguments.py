"""Arguments with which kernels of plugins are compared with the default bodies and rules that they replace."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice, product
from types import SimpleNamespace
from typing import Any

from xpgrad.backend.geometry import Geometry
from xpgrad.backend.kernels import Declaration, table
from xpgrad.cli.health.samples import Samples
from xpgrad.graph.definition import TOGETHER
from xpgrad.types import Array, Dtype

Call = tuple[Sequence[Any], dict[str, Any]]
"""Arrays by position, and parameters by name."""
MAX_CALLS = 24  # calls of one kernel with different parameters
ONE_WINDOW = Geometry((2, 2), (2, 2), (1, 1), (0, 0), (1, 1), (1, 1))
GEOMETRIES = (
    Geometry((3, 4), (2, 2), (1, 2), (0, 0), (1, 1), (2, 2)),
    Geometry((3, 4), (2, 2), (2, 2), (1, 0), (1, 1), (2, 2)),  # windows reach beyond the image
)
PARAMETERS: dict[str, tuple[Any, ...]] = {
    "alpha": (1.0,), "axes": ((0,), 1), "axis": (-1, (-1,), (0,), None), "beta": (1.0,), "copy": (None,),
    "correction": (0.0,), "descending": (False, True), "dtype": (None,), "eps": (0.001,), "exponent": (2.0,),
    "fill": (-1.0,), "full_matrices": (False, True), "geometry": (ONE_WINDOW,), "groups": (1,), "ignore_label": (-1,),
    "include_initial": (False, True), "invert": (False,), "k": (0, 1), "keepdims": (False, True), "label_num": (3,),
    "m": (1, 2), "mode": ("reduced", "complete"), "n": (None, 1, 2), "norm": ("backward", "ortho"), "offset": (0, 1),
    "ord": (3.0,), "repeats": (2,), "rtol": (None, 0.1), "s": (None,), "scale": (1.0,), "shape": ((1, -1), (1, 3)),
    "shift": (1,), "side": ("left",), "slope": (0.2,), "sorter": (None,), "stable": (True,), "upper": (False, True),
    "z": (1.0,),
}  # fmt: skip
"""Values of the parameters of kernels that have no samples of their own."""


def options(**values: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Yield every combination of the values of parameters."""
    return (dict(zip(values, each, strict=True)) for each in product(*values.values()))


def calls(s: Samples, declaration: Declaration) -> Iterator[Call]:
    """Yield arguments of a kernel; those for which it has no result are among them."""
    base, _, name = declaration.name.rpartition(".")
    definition: Any = table.definition(base)
    if definition is not None and name in definition.vjps:
        yield from _of_rule(s, definition, name)
    elif declaration.name in OWN:
        yield from OWN[declaration.name](s)
    elif PARAMETERS.keys() >= set(declaration.parameters):
        chosen = {name: PARAMETERS[name] for name in declaration.parameters}
        arrays = s.arrays(declaration.arrays, table.definition(declaration.name))
        yield from product(arrays, list(islice(options(**chosen), MAX_CALLS)))


def _of_rule(s: Samples, definition: Any, x: str) -> Iterator[Call]:
    """Yield consistent arguments of a gradient rule, computed from the arguments of its primitive."""
    for arrays, parameters in list(calls(s, definition.kernel)):
        values = dict(zip(definition.inputs, arrays, strict=True)) | parameters
        inputs = arrays[0] if definition.variadic else arrays
        with suppress(Exception):  # the primitive needs other arrays or parameters
            y = s.backend.restore(s.xp.kernel(definition.kernel.name)(*arrays, **parameters))
            specs = tuple(None if array is None else s.backend.spec(array) for array in inputs)
            values |= {f"{name}_spec": spec for name, spec in zip(definition.inputs, specs, strict=False)}
            values |= {"y": y, "specs": specs}
            if (x == TOGETHER or values[x] is not None) and s.backend.spec(y).differentiable:
                gy = s.xp.astype(s.numbers(*y.shape), y.dtype)
                yield [gy, *(values[name] for name in definition.asks[x])], {}


def _matrices(s: Samples, shapes: Iterable[tuple[int, ...]], symmetric: bool = False) -> Iterator[Array]:
    """Yield real matrices, and complex matrices if the library has them."""
    for shape in shapes:
        x, twist = s.numbers(*shape), range(max(shape[-2:]))
        yield x + s.xp.matrix_transpose(x) if symmetric else x
        with suppress(Exception):
            values = [[complex(1 / (1 + i + j), math.sin(i - j)) for j in twist] for i in twist]
            yield s.near(values, "complex64")[: shape[-2], : shape[-1]]


def _attention(s: Samples) -> Iterator[Call]:
    q, k, v = s.numbers(2, 3, 4), s.numbers(2, 5, 4), s.numbers(2, 5, 2)
    for mask, parameters in product((None, s.mask(2, 3, 5)), list(options(scale=(0.5,), keep=(False, True)))):
        yield [q, k, v, mask], parameters


def _attention_backward(s: Samples) -> Iterator[Call]:
    for (*inputs, mask), parameters in list(_attention(s)):
        y, weights = s.xp.kernel("attention")(*inputs, mask, **parameters)
        for needed in (True, True, True), (True, False, True):
            yield [s.numbers(2, 3, 2), *inputs, y], {"mask": mask, "weights": weights, "scale": 0.5, "needed": needed}


def _convolution(s: Samples, shape: tuple[int, ...], outputs: int) -> Iterator[Call]:
    for geometry, groups in product(GEOMETRIES, (1, 2)):
        filters = s.numbers(4, 2 // groups, 2, 2)
        for b in None, s.numbers(outputs):
            yield [s.numbers(*shape), filters, b], {"geometry": geometry, "groups": groups}


def _filter_backward(s: Samples) -> Iterator[Call]:
    for parameters in options(geometry=GEOMETRIES, groups=(1, 2)):
        yield [s.numbers(*IMAGES), s.numbers(2, 4, 2, 2)], parameters


def _windowed(s: Samples, shape: tuple[int, ...], **more: Iterable[Any]) -> Iterator[Call]:
    return product([[s.numbers(*shape)]], list(options(geometry=GEOMETRIES, **more)))


def _max_pool_gradient(s: Samples, shape: tuple[int, ...]) -> Iterator[Call]:
    x = s.numbers(*IMAGES)
    for geometry, images in product(GEOMETRIES, (x, s.xp.round(x))):  # rounded numbers are equal to others
        top = s.xp.max_pool(images, geometry=geometry)
        yield [s.numbers(*shape), images, top], {"geometry": geometry}


def _max_unpool(s: Samples, shape: tuple[int, ...]) -> Iterator[Call]:
    indexes = s.integers([[[[0, 1], [2, 3]], [[3, 3], [0, 0]]], [[[1, 0], [1, 2]], [[2, 2], [3, 1]]]])
    return product([[s.numbers(*shape), indexes]], list(options(geometry=GEOMETRIES)))


def _cross_entropy(s: Samples) -> Iterator[Call]:
    x, weights = s.numbers(3, 4), s.positive(4)
    scores, chosen = (None, s.xp.log_softmax(x, axis=1)), {"normalize": (False, True), "reduce": ("mean", "no")}
    for labels, score, weight in product(LABELS, scores, (None, weights)):
        for parameters in options(**chosen, ignore_label=(-1,)):
            yield [x, s.integers(labels), score, weight], parameters


def _labels(s: Samples, *weights: bool) -> Iterator[Call]:
    spec = s.backend.spec(s.numbers(3, 4))
    for labels, weighted in product(LABELS, weights or [None]):
        more = [] if weighted is None else [s.positive(4) if weighted else None]
        yield [s.integers(labels), *more], {"spec": spec, "ignore_label": -1}


def _drawn(s: Samples) -> Iterator[Call]:
    dtype: Dtype = s.numbers(1).dtype
    device, generator = s.device.handle, s.host.generator(0)
    yield [], {"shape": (64, 64), "dtype": dtype, "device": device, "generator": generator}


def _indices(s: Samples) -> list[Any]:
    return [(slice(0, 2), 1), (slice(None, None, 2),), (s.integers([0, 2, 0]),)]


def _scattered(s: Samples) -> Iterator[Call]:
    spec = s.backend.spec(s.numbers(3, 4))
    parts = [(index, s.numbers(*shape)) for index, shape in zip(_indices(s), ((2,), (2, 4), (3, 4)), strict=True)]
    for i, j in (0, 1), (2, 3), (0, 3):
        yield [spec, parts[i:j]], {}


def _written(s: Samples) -> Iterator[Call]:
    for index, shape in zip(_indices(s)[:2], ((2,), (2, 4)), strict=True):  # an order of writing is not promised
        for u in s.numbers(*shape), 0:
            yield [s.numbers(3, 4), u], {"index": index}


def _representatives(s: Samples) -> Iterator[Call]:
    places = {"first": s.integers([0, 1]), "inverse": s.integers([0, 1, 0, 1]), "counts": s.integers([2, 2])}
    yield [s.near([0.5, 2.0, 0.5, 2.0])], places


def _complex(s: Samples, **more: Any) -> Iterator[Call]:
    return product([[s.near([0.5 + 1j, -1.25 - 0.5j, 2j], "complex64")]], list(options(**more)))


def _positive(s: Samples, count: int, **more: Any) -> Iterator[Call]:
    return product([[s.positive(3) for _ in range(count)]], list(options(**more)))


def _cofactor_changes(s: Samples) -> Iterator[Call]:
    x = s.numbers(*SQUARE)
    yield [s.numbers(*SQUARE), x, s.xp.linalg.det(x)], {}


def _normalization(s: Samples, arrays: str, parameters: str) -> Iterator[Call]:
    """Yield samples of rows and of batches, with their statistics."""
    for shape, axis, features in ((2, 3, 4), (2,), (4,)), ((4, 3, 2, 2), (0, 2, 3), (1, 3, 1, 1)):
        x, eps = s.numbers(*shape), 0.001
        mean, var = s.xp.mean(x, axis=axis, keepdims=True), s.xp.var(x, axis=axis, keepdims=True)
        inverse = 1.0 / s.xp.sqrt(var + eps)
        values = {
            "x": x, "g": s.numbers(*shape), "gamma": s.positive(*features), "beta": s.numbers(*features),
            "mean": mean, "inverse": inverse, "direction": (x - mean) * inverse, "axis": axis, "eps": eps,
            "shape": features,
        }  # fmt: skip
        yield [values[name] for name in arrays.split()], {name: values[name] for name in parameters.split()}


def _decomposed(s: Samples, *shapes: tuple[int, ...], symmetric: bool = False, **more: Any) -> Iterator[Call]:
    return product([[x] for x in _matrices(s, shapes, symmetric)], list(options(**more)))


LABELS = [3, 2, 0], [3, -1, 0]
"""Of classes, and one that is ignored."""
IMAGES, SMALL, SQUARE = (2, 2, 3, 4), (2, 2, 2, 2), (2, 3, 3)
OWN: dict[str, Callable[[Samples], Iterable[Call]]] = {
    "attention": _attention,
    "attention_backward": _attention_backward,
    **dict.fromkeys(["complex_sign", "conj", "imag", "real"], _complex),
    "concat": lambda s: product([[[s.numbers(2, 3), s.numbers(2, 3)]]], list(options(axis=(0, 1, None)))),
    "convolution": lambda s: _convolution(s, IMAGES, 4),
    "convolution_filter_backward": _filter_backward,
    "cornered": lambda s: [([s.numbers(3, 4), s.mask(3, 4), s.numbers(3, 4)], {})],
    "corrections": lambda s: [([s.positive(3) for _ in range(4)], {"rmax": 1.5, "dmax": 0.5, "eps": 0.001})],
    "cross_entropy": _cross_entropy,
    "fold": lambda s: _windowed(s, (2, 2, 2, 2, 2, 2)),
    "getitem": lambda s: product([[s.numbers(3, 4)]], list(options(index=_indices(s)))),
    "labels_count": _labels,
    "labels_one_hot": _labels,
    "labels_weight": lambda s: _labels(s, False, True),
    "linalg.cofactor_changes": _cofactor_changes,
    "linalg.cofactor_derivatives": lambda s: [([s.numbers(2, 1, 3, 3), s.numbers(*SQUARE)], {})],
    "linalg.eig": lambda s: _decomposed(s, SQUARE),
    "linalg.eigh": lambda s: _decomposed(s, SQUARE, symmetric=True),
    "linalg.expand_diagonal": lambda s: product(
        [[s.numbers(2, 3)]], list(options(rows=(3,), columns=(4,), offset=(0, 1)))
    ),
    "linalg.qr": lambda s: _decomposed(s, SQUARE, (4, 2), (2, 4), mode=("reduced", "complete")),
    "linalg.svd": lambda s: _decomposed(s, SQUARE, (4, 2), (2, 4), full_matrices=(False, True)),
    "max_pool": lambda s: _windowed(s, IMAGES),
    "max_pool_argmax": lambda s: _windowed(s, IMAGES),
    "max_pool_backward": lambda s: _max_pool_gradient(s, SMALL),
    "max_pool_gather": lambda s: _max_pool_gradient(s, IMAGES),
    "max_unpool": lambda s: _max_unpool(s, SMALL),
    "max_unpool_backward": lambda s: _max_unpool(s, IMAGES),
    "moments": lambda s: _normalization(s, "x", "axis"),
    "normalized": lambda s: _normalization(s, "x gamma beta mean inverse", "axis eps"),
    "normalized_backward": lambda s: _normalization(s, "g x gamma mean inverse", "axis eps"),
    "normalized_gamma_backward": lambda s: _normalization(s, "g x mean inverse", "axis eps shape"),
    "random_normal": _drawn,
    "random_uniform": _drawn,
    "representatives": _representatives,
    "scatter_add": _scattered,
    "setitem": _written,
    "special.carlson": lambda s: _positive(s, 3, i=(0, 1), j=(0, 1), k=(0, 1)),
    **dict.fromkeys([f"special.complex_{name}" for name in ("erf", "erfc", "loggamma", "wofz")], _complex),
    "special.complex_polygamma_of": lambda s: _complex(s, n=(0, 1, 2)),
    "special.elliptic_of": lambda s: product(
        [[s.positive(3), 0.5 * s.positive(3)]], list(options(n=(0, 1), power=(-0.5, 0.5)))
    ),
    "special.kve_integral": lambda s: _positive(s, 2, m=(0, 1), k=(0, 1), nodes=(100,)),
    "special.yn_of": lambda s: _positive(s, 1, n=(0, 1)),
    "standardize": lambda s: _normalization(s, "x mean inverse", "axis eps"),
    "standardize_backward": lambda s: _normalization(s, "g direction inverse", "axis"),
    "stack": lambda s: product([[[s.numbers(2, 3), s.numbers(2, 3)]]], list(options(axis=(0, 1, -1)))),
    "sum_of_members": lambda s: [([s.numbers(3)], {"level": SimpleNamespace(size=3)})],
    "sum_pool": lambda s: _windowed(s, IMAGES),
    "transposed_convolution": lambda s: _convolution(s, (2, 4, 2, 2), 2),
    "unpool": lambda s: _windowed(s, SMALL),
    "where": lambda s: [([s.mask(3, 4), s.numbers(3, 4), s.numbers(3, 4)], {})],
    "windows": lambda s: _windowed(s, IMAGES, fill=(0.0, -1.0)),
}
"""Samples of kernels whose arguments must be consistent."""
