"""P6: one and two convolutions of 3 x 3 with relu, 3 -> 16 (-> 32) channels, 32 images of 32 x 32, float32."""

import importlib
from collections.abc import Sequence
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.harness import Build, Case, Data, Run, Workload

IMAGES, SIZE, KSIZE = 32, 32, 3
CHANNELS = (3, 16, 32)


def inputs(layers: int) -> Data:
    """Images `x`, filters and biases of each layer in `parameters`, and the cotangent `seed` of the output."""
    rng = np.random.default_rng(0)
    parameters = []
    for fan_in, out in pairwise(CHANNELS[: layers + 1]):
        W = rng.standard_normal((out, fan_in, KSIZE, KSIZE), np.float32) / np.float32(KSIZE * fan_in**0.5)
        parameters += [W, rng.standard_normal(out, np.float32) / 10]
    return {
        "x": rng.standard_normal((IMAGES, CHANNELS[0], SIZE, SIZE), np.float32),
        "parameters": parameters,
        "seed": rng.standard_normal((IMAGES, CHANNELS[layers], SIZE, SIZE), np.float32),
    }


def _columns(np: ModuleType, x: Any) -> Any:
    """The windows on all images, shape (C, 3, 3, N, H, W): a copy for each element of a window."""
    n, c, h, w = x.shape
    padded = np.zeros((c, n, h + 2, w + 2), x.dtype)
    padded[..., 1:-1, 1:-1] = x.swapaxes(0, 1)
    columns = np.empty((c, KSIZE, KSIZE, n, h, w), x.dtype)
    for i in range(KSIZE):
        for j in range(KSIZE):
            columns[:, i, j] = padded[..., i : i + h, j : j + w]
    return columns


def _images(np: ModuleType, columns: Any) -> Any:
    """The sums of windows on images, shape (N, C, H, W)."""
    c, _, _, n, h, w = columns.shape
    padded = np.zeros((c, n, h + 2, w + 2), columns.dtype)
    for i in range(KSIZE):
        for j in range(KSIZE):
            padded[..., i : i + h, j : j + w] += columns[:, i, j]
    return padded[..., 1:-1, 1:-1].swapaxes(0, 1)


def by_hand(np: ModuleType, data: Data) -> Run:
    """Forward and backward in NumPy: one product of the filters and the windows of the whole batch."""
    layers = list(zip(data["parameters"][::2], data["parameters"][1::2], strict=True))

    def run() -> Sequence[object]:
        h, kept = data["x"], []
        for W, b in layers:
            columns = _columns(np, h)
            y = W.reshape(len(W), -1) @ columns.reshape(W[0].size, -1) + b[:, None]
            h = np.maximum(y, 0).reshape(len(W), IMAGES, SIZE, SIZE).swapaxes(0, 1)
            kept.append((columns, h))
        g, gradients = data["seed"], []
        for (W, _), (columns, h) in zip(reversed(layers), reversed(kept), strict=True):
            g = (g * (h > 0)).swapaxes(0, 1).reshape(len(W), -1)
            gradients += [g.sum(axis=1), (g @ columns.reshape(W[0].size, -1).T).reshape(W.shape)]
            if columns is not kept[0][0]:
                g = _images(np, (W.reshape(len(W), -1).T @ g).reshape(columns.shape))
        return gradients[::-1]

    return run


def in_torch(torch: ModuleType, data: Data) -> Run:
    """The same layers in torch eager."""
    F = torch.nn.functional
    x, seed = torch.tensor(data["x"]), torch.tensor(data["seed"])
    leaves = [torch.tensor(p, requires_grad=True) for p in data["parameters"]]

    def run() -> Sequence[object]:
        h = x
        for leaf in leaves:
            leaf.grad = None
        for W, b in zip(leaves[::2], leaves[1::2], strict=True):
            h = F.relu(F.conv2d(h, W, b, padding=1))
        h.backward(seed)
        return [leaf.grad for leaf in leaves]

    return run


def in_autograd(autograd: ModuleType, data: Data) -> Run:
    """The same layers in HIPS autograd, whose convolution has neither padding nor a bias."""
    np = autograd.numpy
    convolve = importlib.import_module("autograd.scipy.signal").convolve

    def layers(parameters: Any) -> Any:
        h = data["x"]
        for W, b in zip(parameters[::2], parameters[1::2], strict=True):
            h = np.pad(h, ((0, 0), (0, 0), (1, 1), (1, 1)), "constant")
            W = np.swapaxes(W, 0, 1)[:, :, ::-1, ::-1]
            y = convolve(h, W, axes=([2, 3], [2, 3]), dot_axes=([1], [0]), mode="valid")
            h = np.maximum(y + b[:, None, None], 0)
        return h

    def run() -> Sequence[object]:
        gradients: Sequence[object] = autograd.make_vjp(layers)(data["parameters"])[0](data["seed"])
        return gradients

    return run


def in_jax(jax: ModuleType, data: Data) -> Run:
    """The same layers in jax, compiled."""
    x, seed = jax.numpy.asarray(data["x"]), jax.numpy.asarray(data["seed"])
    parameters = [jax.numpy.asarray(p) for p in data["parameters"]]

    def layers(parameters: Any) -> Any:
        h = x
        for W, b in zip(parameters[::2], parameters[1::2], strict=True):
            h = jax.numpy.maximum(jax.lax.conv(h, W, (1, 1), "SAME") + b[:, None, None], 0)
        return h

    def forward_and_backward(parameters: Any) -> Any:
        y, vjp = jax.vjp(layers, parameters)
        return y, vjp(seed)[0]

    step = jax.jit(forward_and_backward)

    def run() -> Sequence[object]:
        gradients: Sequence[object] = jax.block_until_ready(step(parameters))[1]
        return gradients

    return run


def in_xpgrad(xpgrad: ModuleType, data: Data) -> Run:
    """The same layers in xpgrad."""
    F = xpgrad.functions
    leaves = [xpgrad.Variable(p, requires_grad=True) for p in data["parameters"]]

    def run() -> Sequence[object]:
        h = data["x"]
        for leaf in leaves:
            leaf.cleargrad()
        for W, b in zip(leaves[::2], leaves[1::2], strict=True):
            h = F.relu(F.convolution_2d(h, W, b, pad=1))
        h.grad = data["seed"]
        h.backward(retain_graph=False)
        return [leaf.grad for leaf in leaves]

    return run


def in_program(xpgrad: ModuleType, data: Data) -> Run:
    """The same layers in xpgrad, compiled."""
    F = xpgrad.functions

    def layers(parameters: Any, x: Any) -> Any:
        for W, b in zip(parameters[::2], parameters[1::2], strict=True):
            x = F.relu(F.convolution_2d(x, W, b, pad=1))
        return x

    @xpgrad.compile  # type: ignore[untyped-decorator]  # of a module that is loaded by its name
    def step(parameters: Any, x: Any, seed: Any) -> Any:
        y, pullback = xpgrad.transforms.vjp(lambda parameters: layers(parameters, x), parameters)
        return y, pullback(seed)[0]

    def run() -> Sequence[object]:
        gradients: Sequence[object] = step(data["parameters"], data["x"], data["seed"])[1]
        return gradients

    return run


CONTESTANTS: dict[str, Build | str] = {
    "h": by_hand,
    "t": in_torch,
    "autograd": in_autograd,
    "jax": in_jax,
    "xpgrad": in_xpgrad,
    "xpgrad compiled": in_program,
}


def _case(name: str, layers: int, limit: str, compiled: str, no_compiler: str) -> Case:
    return Case(
        name,
        lambda: inputs(layers),
        CONTESTANTS,
        (limit,),
        rtol=2e-4,
        compiled=(compiled,),
        no_compiler=(no_compiler,),
        alone=True,
    )


WORKLOADS = {
    "P6": Workload(
        "convolution 3 x 3 and relu, 3 -> 16 (-> 32) channels, (32, 3, 32, 32), float32",
        (
            _case("one layer", 1, "0.6h", "0.45h", "0.55h"),
            _case("two layers", 2, "0.5h", "0.45h", "0.5h"),
        ),
    ),
}
