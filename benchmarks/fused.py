"""TORCH: functions of neural networks over torch tensors, forward and backward, compared with torch's gradients.

Each case has from 10^5 elements on. A limit that is missed has its reason in the README of `xpgrad-torch`.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.harness import Case, Data, Run, Workload

Function = Callable[..., Any]
LIMIT = "1.1t"


def case(name: str, ours: Callable[[Any], Function], theirs: Callable[[Any], Function], *shapes: Any) -> Case:
    """Return a case from factories of the functions in `xpgrad.functions` and `torch`, and the shapes of the arrays.

    A shape may have a scale for its values, as a pair; a cotangent of the output's shape is the same for both.
    """

    def inputs() -> Data:
        rng = np.random.default_rng(0)
        pairs = [shape if isinstance(shape[0], tuple) else (shape, 1.0) for shape in shapes]
        return {f"x{i}": rng.standard_normal(s, np.float32) * np.float32(c) for i, (s, c) in enumerate(pairs)}

    def in_torch(torch: ModuleType, data: Data) -> Run:
        leaves = [torch.tensor(x, requires_grad=True) for x in data.values()]
        function = theirs(torch)
        seed = _seed(torch, function(*leaves))

        def run() -> tuple[object, ...]:
            for leaf in leaves:
                leaf.grad = None
            function(*leaves).backward(seed)
            return tuple(leaf.grad for leaf in leaves)

        return run

    def in_xpgrad(xpgrad: ModuleType, data: Data) -> Run:
        import torch  # in the process of a contestant that has loaded it, or may skip this one

        leaves = [xpgrad.Variable(torch.tensor(x)) for x in data.values()]
        function = ours(xpgrad.functions)
        seed = _seed(torch, function(*leaves).array)

        def run() -> tuple[object, ...]:
            for leaf in leaves:
                leaf.cleargrad()
            y = function(*leaves)
            y.grad = seed
            y.backward()
            return tuple(leaf.grad for leaf in leaves)

        return run

    return Case(name, inputs, {"t": in_torch, "xpgrad": in_xpgrad}, (LIMIT,), rtol=1e-4)


def _seed(torch: Any, y: Any) -> Any:
    return torch.tensor(np.random.default_rng(1).standard_normal(tuple(y.shape), np.float32))


def _convolved(convolve: Function, relu: Function) -> Function:
    return lambda x, W, U: relu(convolve(relu(convolve(x, W)), U))


IMAGES, FILTERS, WIDE = (32, 16, 32, 32), ((32, 16, 3, 3), 0.1), (2048, 1024)
BATCHES = (32, 32, 32, 32)
CASES = (
    case("convolution_2d", lambda F: lambda x, W: F.convolution_2d(x, W, pad=1),
         lambda t: lambda x, W: t.conv2d(x, W, padding=1), IMAGES, FILTERS),
    case("convolution_2d, stride 2", lambda F: lambda x, W: F.convolution_2d(x, W, pad=1, stride=2),
         lambda t: lambda x, W: t.conv2d(x, W, padding=1, stride=2), IMAGES, FILTERS),
    case("deconvolution_2d", lambda F: lambda x, W: F.deconvolution_2d(x, W, pad=1),
         lambda t: lambda x, W: t.conv_transpose2d(x, W, padding=1), BATCHES, FILTERS),
    case("depthwise_convolution_2d", lambda F: lambda x, W: F.depthwise_convolution_2d(x, W, pad=1),
         lambda t: lambda x, W: t.conv2d(x, W.transpose(0, 1), padding=1, groups=16), IMAGES, (1, 16, 3, 3)),
    case("two convolutions with relu", lambda F: _convolved(lambda x, W: F.convolution_2d(x, W, pad=1), F.relu),
         lambda t: _convolved(lambda x, W: t.conv2d(x, W, padding=1), t.relu),
         (32, 3, 32, 32), ((16, 3, 3, 3), 0.2), FILTERS),
    case("average_pooling_2d", lambda F: lambda x: F.average_pooling_2d(x, 2),
         lambda t: lambda x: t.nn.functional.avg_pool2d(x, 2), IMAGES),
    case("max_pooling_2d", lambda F: lambda x: F.max_pooling_2d(x, 2), lambda t: lambda x: t.max_pool2d(x, 2), IMAGES),
    case("max_pooling_2d, 3 x 3", lambda F: lambda x: F.max_pooling_2d(x, 3, 2, 1, cover_all=False),
         lambda t: lambda x: t.max_pool2d(x, 3, 2, 1), IMAGES),
    case("softmax", lambda F: F.softmax, lambda t: lambda x: t.softmax(x, 1), WIDE),
    case("log_softmax", lambda F: F.log_softmax, lambda t: lambda x: t.log_softmax(x, 1), WIDE),
    case("softmax_cross_entropy",
         lambda F: lambda x: F.softmax_cross_entropy(x, _labels()),
         lambda t: lambda x: t.nn.functional.cross_entropy(x, _labels()), WIDE),
    case("layer_normalization", lambda F: F.layer_normalization,
         lambda t: lambda x, g, b: t.layer_norm(x, (1024,), g, b), WIDE, (1024,), (1024,)),
    case("batch_normalization", lambda F: F.batch_normalization,
         lambda t: lambda x, g, b: t.nn.functional.batch_norm(x, None, None, g, b, True, 0.1, 2e-5),
         BATCHES, (32,), (32,)),
    case("group_normalization", lambda F: lambda x, g, b: F.group_normalization(x, 4, g, b),
         lambda t: lambda x, g, b: t.group_norm(x, 4, g, b), BATCHES, (32,), (32,)),
    case("relu", lambda F: F.relu, lambda t: t.relu, WIDE),
    case("clipped_relu", lambda F: lambda x: F.clipped_relu(x, z=1.0),
         lambda t: lambda x: t.nn.functional.hardtanh(x, 0.0, 1.0), WIDE),
    case("leaky_relu", lambda F: F.leaky_relu, lambda t: lambda x: t.nn.functional.leaky_relu(x, 0.2), WIDE),
    case("elu", lambda F: F.elu, lambda t: t.nn.functional.elu, WIDE),
    case("tanh", lambda F: F.tanh, lambda t: t.tanh, WIDE),
    case("sigmoid", lambda F: F.sigmoid, lambda t: t.sigmoid, WIDE),
    case("softplus", lambda F: F.softplus, lambda t: t.nn.functional.softplus, WIDE),
    case("swish, beta 1", lambda F: lambda x: F.swish(x, 1.0), lambda t: t.nn.functional.silu, WIDE),
    case("attention", lambda F: F.scaled_dot_product_attention,
         lambda t: lambda q, k, v: t.softmax(q @ k.mT * 0.125, -1) @ v, *[(8, 256, 64)] * 3),
)  # fmt: skip


def _labels() -> Any:
    import torch  # as above

    return torch.arange(WIDE[0]) % WIDE[1]


WORKLOADS = {"TORCH": Workload("functions over torch's tensors, forward and backward, float32", CASES)}
