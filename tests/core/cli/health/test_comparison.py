"""Comparisons of other plugins' kernels with those of xpgrad: wrong ones are named, and no right ones."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from xpgrad import get_device
from xpgrad.backend.kernels import KernelNamespace, is_own, table
from xpgrad.backend.scattering import scatter_add_by_sorting
from xpgrad.cli.health import comparison
from xpgrad.cli.health.comparison import foreign_kernels
from xpgrad.graph.lazy import dense
from xpgrad_numpy.kernels.rows import POINTWISE

DEVICE = get_device("@numpy")
USUAL = KernelNamespace(DEVICE.backend)
Run = Callable[[Mapping[str, Any]], dict[str, Any]]


@pytest.fixture
def compare() -> Iterator[Run]:
    """A function that compares kernels as if the plugin p had given them for NumPy."""
    xp = DEVICE.backend.xp
    before = xp._providers

    def run(kernels: Mapping[str, Any]) -> dict[str, Any]:
        xp.set_providers([("p", kernels)])
        return foreign_kernels(DEVICE)

    yield run
    xp.set_providers(before)


def usual(name: str) -> Callable[..., Any]:
    """Return the default body of a kernel, or its gradient rule."""
    declaration = table.find(name)
    assert declaration is not None
    reference = USUAL.reference(declaration)
    assert reference is not None
    return reference


def changed(name: str, change: Callable[..., Any], **given: Any) -> Callable[..., Any]:
    """Return the default body of a kernel with its results changed, or called with other parameters."""
    default = usual(name)
    return lambda *arrays, **parameters: change(default(*arrays, **parameters | given))


def same(y: Any) -> Any:
    return y


def first_of_ties(g: Any, x: Any, top: Any, geometry: Any) -> Any:
    nudged = x - 1e-6 * np.arange(x.size, dtype=x.dtype).reshape(x.shape)
    return USUAL.max_pool_backward(g, nudged, USUAL.max_pool(nudged, geometry=geometry), geometry=geometry)


def drawn(draw: Callable[..., Any]) -> Callable[..., Any]:
    rng = np.random.default_rng(1)
    return lambda shape, dtype, device, generator: np.asarray(draw(rng, shape), dtype)


FULL = True, True, True
WRONG = {
    "linalg.eig: lengths": (lambda x: (np.linalg.eig(x)[0], 2 * np.linalg.eig(x)[1]), "eigenvectors of the lengths"),
    "linalg.eig: values": (lambda x: (-np.linalg.eig(x)[0], np.linalg.eig(x)[1]), "eigenvalues whose powers"),
    "linalg.eig: order": (lambda x: (np.linalg.eig(x)[0][..., ::-1], np.linalg.eig(x)[1]), "for 1 [+] x v - v w"),
    "linalg.eig: real": (lambda x: (np.linalg.eigvalsh(x), np.linalg.eigh(x)[1]), "float32 .*, expected complex64"),
    "linalg.eigh: order": (changed("linalg.eigh", lambda y: (y[0][..., ::-1], y[1][..., ::-1])), "eigenvalues "),
    "linalg.eigh: rows": (changed("linalg.eigh", lambda y: (y[0], y[1].swapaxes(-1, -2))), "for v w v.H"),
    "linalg.qr: factor": (changed("linalg.qr", lambda y: (y[0], 2 * y[1])), "for q triu"),
    "linalg.qr: order": (changed("linalg.qr", lambda y: y[::-1]), "float32|for q"),
    "linalg.qr: mode": (changed("linalg.qr", same, mode="reduced"), "expected float32 .*complete"),
    "linalg.svd: rows": (changed("linalg.svd", lambda y: (y[0], y[1], y[2].swapaxes(-1, -2))), "for u s vh|expected"),
    "linalg.svd: order": (changed("linalg.svd", lambda y: (y[0], y[1][..., ::-1], y[2])), "singular values"),
    "random_uniform: law": (drawn(lambda rng, shape: rng.random(shape) ** 2), "with the mean 0.3"),
    "random_uniform: range": (drawn(lambda rng, shape: 1 - np.floor(rng.random(shape) * 8) / 8), "beyond the range"),
    "random_uniform: one by one": (drawn(lambda rng, shape: np.linspace(0, 0.99, 4096).reshape(shape)), "correlation"),
    "random_uniform: seed": (drawn(lambda rng, shape: np.random.default_rng(0).random(shape)), "the same numbers"),
    "random_uniform: shape": (drawn(lambda rng, shape: rng.random(shape[1:])), r"\(64,\), expected float32 \(64, 64\)"),
    "random_normal: law": (drawn(lambda rng, shape: rng.random(shape)), "distribution function is wrong by"),
    "random_normal: variance": (drawn(lambda rng, shape: 1.5 * rng.standard_normal(shape)), "wrong by"),
    "random_normal: NaN": (drawn(lambda rng, shape: np.full(shape, np.nan)), "beyond the range"),
    "attention: mask": (lambda q, k, v, mask, **given: usual("attention")(q, k, v, None, **given), " as "),
    "attention: scale": (changed("attention", same, scale=1.0), "as element"),
    "attention: keep": (changed("attention", same, keep=False), "NoneType, expected ndarray with .*keep=True"),
    "attention_backward: scale": (changed("attention_backward", same, scale=1.0), "as element"),
    "attention_backward: needed": (changed("attention_backward", same, needed=FULL), "ndarray, expected None"),
    "transposed_convolution: bias": (
        lambda x, W, b, **given: USUAL.transposed_convolution(x, W, None, **given), "as element .*groups=1",
    ),
    "transposed_convolution: flip": (
        lambda x, W, b, **given: USUAL.transposed_convolution(x, W[..., ::-1], b, **given), "as element",
    ),
    "convolution_filter_backward: batch": (changed("convolution_filter_backward", lambda y: y / 2), "as element"),
    "max_pool_backward: ties": (first_of_ties, "as element .*geometry"),
    "max_pool_gather: sums": (changed("max_pool_gather", lambda y: 2 * y), "as element|expected"),
    "max_unpool_backward: place": (lambda x, indexes, geometry: x[:, :, :2, :2], "as element|expected"),
    "fold: overlap": (changed("fold", lambda y: np.clip(y, -1, 1)), "as element"),
    "cross_entropy: normalize": (changed("cross_entropy", same, normalize=True), "expected .*normalize=False"),
    "cross_entropy: labels": (changed("cross_entropy", same, ignore_label=-2), "expected|IndexError: label -1"),
    "cross_entropy.x: scale": (lambda gy, *more: usual("cross_entropy.x")(2 * gy, *more), "expected"),
    "labels_weight: weight": (lambda t, w, **given: USUAL.labels_weight(t, None, **given), "expected"),
    "tanh.x: output": (lambda gy, *more: gy * (1 - more[0]), "expected"),
    "scatter_add: repeated": (lambda spec, parts: scatter_add_by_sorting(spec, parts[:1]), "expected|as element"),
    "sin: large": (lambda x: np.cos(x) if x.size > 2**15 else NotImplemented, "as element 0, expected"),
    "relu: negative": (lambda x: x, "expected"),
}  # fmt: skip
"""Kernels that are wrong in one way, and the reported difference."""


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_kernel_is_named_with_its_difference(compare: Run, case: str) -> None:
    name, (kernel, text) = case.partition(":")[0], WRONG[case]
    found = compare({name: kernel})
    assert list(found["faults"]) == [f"{name} of p"], found
    assert re.search(text, found["faults"][f"{name} of p"])
    assert found["compared"] == 1


RIGHT = {
    "linalg.eig": lambda x: (np.linalg.eig(x)[0][..., ::-1], -1j * np.linalg.eig(x)[1][..., ::-1]),
    "linalg.eigh": changed("linalg.eigh", lambda y: (y[0], -y[1])),
    "linalg.qr": changed("linalg.qr", lambda y: (-y[0], -y[1])),
    "linalg.svd": changed("linalg.svd", lambda y: (-y[0], y[1], -y[2])),
    "random_normal": drawn(lambda rng, shape: rng.standard_normal(shape)),
    "random_uniform": drawn(lambda rng, shape: rng.integers(2**24, size=shape) / 2**24),
}


def test_other_signs_orders_and_random_numbers_are_right(compare: Run) -> None:
    assert compare(RIGHT) == {"compared": len(RIGHT), "faults": {}, "uncompared": {}}


def declared() -> list[str]:
    """Return the names of all kernels that xpgrad declares."""
    for name in "", "special.":
        table.find(name)  # imports the modules that declare others
    bodies = {name: declaration.body or declaration.rule for name, declaration in table.declared.items()}
    return [name for name, body in bodies.items() if body is None or is_own(body)]


def test_the_kernels_of_numpy_agree_with_the_default_bodies(compare: Run) -> None:
    kernels = {name: kernel for name in declared() if (kernel := USUAL.find(name)) is not None}
    found = compare(kernels)
    assert found["faults"] == {}
    assert set(found["uncompared"].values()) == {"it declines every sample"}
    of_large = {f"{name.removesuffix('_x')}.x of p" for name in POINTWISE if name.endswith("_x")}
    of_rules = "cumulative_prod.x", "normalized.gamma", "normalized.together", "prod.x", "special.huber.r"
    of_large |= {f"{name} of p" for name in of_rules}
    assert found["uncompared"].keys() == of_large
    assert found["compared"] == len(kernels) - len(found["uncompared"])


def off(y: Any) -> Any:
    """Return a wrong result of the same shape and dtype."""
    if isinstance(y, (tuple, list)):
        return tuple(map(off, y))
    y = dense(y, False)
    if y is None or y.dtype == np.bool_:
        return y if y is None else ~y
    return np.asarray(2 * y + 1, y.dtype)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_every_kernel_is_compared_or_has_a_reason(compare: Run) -> None:
    bodies = {name: scatter_add_by_sorting if name == "scatter_add" else usual(name) for name in declared()}
    wrong = {name: lambda *xs, f=f, **given: off(f(*xs, **given)) for name, f in bodies.items()}
    found = compare(wrong)
    named = {key.removesuffix(" of p") for key in found["faults"]}
    assert {key.removesuffix(" of p") for key in found["uncompared"]} == wrong.keys() - named
    reasons = "expected a gradient with respect to x only|returns no number"
    assert all(re.search(reasons, why) for why in found["uncompared"].values())
    assert len(named) > 700


def test_kernels_without_samples_have_a_reason(compare: Run) -> None:
    found = compare({"sin": lambda x: NotImplemented})
    assert found == {"compared": 0, "faults": {}, "uncompared": {"sin of p": "it declines every sample"}}


def test_comparisons_that_take_long_end_with_a_reason(compare: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "MAX_SECONDS", -1)
    found = compare({"sin": np.sin})
    assert found == {"compared": 0, "faults": {}, "uncompared": {"sin of p": "the comparison of others took -1 s"}}
