"""Small programs on one device, whose results are those of the host: ``python -m benchmarks.gpu.programs @cupy:0``.

It prints a line of JSON for each program: its name, the seconds it took, and the traceback of a failure.
"""

import json
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import xpgrad
from xpgrad import Variable, transforms
from xpgrad import array_api as xp
from xpgrad import functions as F
from xpgrad import links as L

HOST = xpgrad.get_device("@numpy")
RNG = np.random.default_rng(0)
A = RNG.standard_normal((32, 32))
S = A @ A.T + 32 * np.eye(32)
FUNCTIONS: dict[str, Callable[[Variable], Any]] = {
    "tanh": xp.tanh,
    "softmax": lambda x: F.softmax(x, axis=1),
    "logsumexp": lambda x: F.logsumexp(x, axis=1),
    "layer_normalization": lambda x: F.layer_normalization(x, x[0], x[1]),
    "matmul": lambda x: x @ x,
    "einsum": lambda x: xpgrad.ops.einsum("ij,kj->ik", x, x),
    "inv": xp.linalg.inv,
    "solve": lambda x: xp.linalg.solve(x, xp.sin(x)),
    "cholesky": xp.linalg.cholesky,
    "eigh": lambda x: xp.linalg.eigh(x)[0],
    "svdvals": xp.linalg.svdvals,
    "qr": lambda x: xp.linalg.qr(x)[1],
    "slogdet": lambda x: xp.linalg.slogdet(x)[1],
    "fft": lambda x: xp.abs(xp.fft.fft(x)),
    "sort": xp.sort,
    "cumulative_sum": lambda x: xp.cumulative_sum(x, axis=0),
    "max": lambda x: xp.max(x, axis=1),
    "std": lambda x: xp.std(x, axis=0),
    "take": lambda x: x[[0, 3, 3]],
    "erf": F.erf,
    "gammaln": lambda x: xpgrad.special.gammaln(x * x + 1),
}
"""Functions of a symmetric positive definite matrix."""


def near(result: Any, expected: Any, tolerance: float = 1e-8) -> None:
    """Compare two arrays on any devices, relative to the largest element expected."""
    one, two = (np.asarray(HOST.send(getattr(each, "array", each))) for each in (result, expected))
    assert one.shape == two.shape, f"expected shape {two.shape}, got {one.shape}"
    error = np.max(np.abs(one - two), initial=0.0) / np.max(np.abs(two), initial=1e-300)
    assert error <= tolerance, f"relative error {error:.1e}, expected at most {tolerance:.0e}"


def gradients(device: Any) -> None:
    """Values and gradients of two orders."""
    for name, f in FUNCTIONS.items():
        found = []
        for place in (HOST, device):
            x = Variable(place.send(S))
            z = f(x)
            weights = np.cos(np.arange(z.size, dtype=float)).reshape(z.shape)
            y = xp.sum(Variable(place.send(weights)) * z**2)
            (gx,) = xpgrad.grad([y], [x], enable_double_backprop=True)
            (ggx,) = xpgrad.grad([xp.sum(gx * gx)], [x])
            found.append((y, gx, ggx))
        for result, expected in zip(found[1], found[0], strict=True):
            try:
                near(result, expected, 1e-6)
            except AssertionError as error:
                raise AssertionError(f"{name}: {error}") from None


def moves(device: Any) -> None:
    """Variables and models move to the device and back, and gradients return to the device of their leaves."""
    v = Variable(np.arange(3.0))
    v.to_device(device)
    assert v.device == device
    y = F.copy(v * v, HOST)
    y.grad = np.ones(3)
    y.backward()
    near(v.grad, 2 * np.arange(3.0))
    assert xpgrad.get_device_from_array(v.grad) == device
    v.to_cpu()
    assert isinstance(v.array, np.ndarray)


def network(device: Any) -> None:
    """A convolutional net with batch normalization has the gradients of the host."""
    xpgrad.random.seed(0)
    model = xpgrad.Sequential(
        L.Convolution2D(3, 8, 3, pad=1),
        L.BatchNormalization(8),
        F.relu,
        lambda h: F.max_pooling_2d(h, 2),
        L.Linear(512, 10),
    )
    x, t, found = RNG.standard_normal((8, 3, 16, 16)).astype(np.float32), np.arange(8) % 10, []
    for place in (HOST, device):
        model.to_device(place)
        model.cleargrads()
        F.softmax_cross_entropy(model(place.send(x)), place.send(t)).backward()
        found.append(np.concatenate([np.ravel(HOST.send(p.grad)) for p in model.params()]))
    near(found[1], found[0], 1e-3)


def training(device: Any) -> None:
    """Compiled steps of Adam decrease a loss, and the parameters stay on the device."""
    model = xpgrad.Sequential(L.Linear(20, 50), F.relu, L.Linear(50, 5))
    model.to_device(device)
    optimizer = xpgrad.optimizers.Adam().setup(model)
    step = optimizer.compile(lambda x, t: F.softmax_cross_entropy(model(x), t))
    x, t = device.send(RNG.standard_normal((64, 20)).astype(np.float32)), device.send(np.arange(64) % 5)
    losses = [float(HOST.send(getattr(loss, "array", loss))) for loss in (step(x, t) for _ in range(50))]
    assert losses[-1] < 0.9 * losses[0], losses[:: len(losses) - 1]
    assert {p.device for p in model.params()} == {device}


def programs(device: Any) -> None:
    """Compiled functions give the results of eager ones."""
    f = transforms.value_and_grad(lambda x: xp.sum(xp.tanh(x * 1.5 + 0.25) * xp.exp(-x * x)))
    g, x = xpgrad.compile(f), device.send(RNG.standard_normal(100_000))
    for _ in range(6):
        value, slope = g(x)
    expected = f(x)
    near(value, expected[0], 1e-10)
    near(slope, expected[1], 1e-10)


def transformations(device: Any) -> None:
    """Hessians, batches and forward mode."""
    x = RNG.standard_normal(5)

    def f(x: Any) -> Any:
        return xp.sum(xp.sin(x) * x**2)

    near(transforms.hessian(f)(device.send(x)), transforms.hessian(f)(x))
    batch = np.stack([x, 2 * x])
    near(transforms.vmap(transforms.grad(f))(device.send(batch)), transforms.vmap(transforms.grad(f))(batch))
    near(transforms.jvp(f, (device.send(x),), (device.send(x),))[1], transforms.jvp(f, (x,), (x,))[1])


def streams(device: Any) -> None:
    """A sweep in a stream of its own waits for nothing else, and its results are right after a synchronization."""
    library = device.backend.name
    x = RNG.standard_normal((500, 500))
    expected = 2 * x @ np.ones(500)
    v = Variable(device.send(x))
    if library == "cupy":
        import cupy

        stream = cupy.cuda.Stream()
        with stream:
            xp.sum(xp.sum(v * v, axis=1)).backward()
        stream.synchronize()
    elif library == "torch" and v.array.is_cuda:
        import torch

        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            xp.sum(xp.sum(v * v, axis=1)).backward()
        stream.synchronize()
    else:
        xp.sum(xp.sum(v * v, axis=1)).backward()
    near(xp.sum(Variable(v.grad), axis=1), expected)


def files(device: Any) -> None:
    """A model is saved from the device, and loaded into it."""
    one, two = L.Linear(3, 2), L.Linear(3, 2)
    one.to_device(device)
    two.to_device(device)
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "model.npz")
        xpgrad.serializers.save_npz(file, one)
        xpgrad.serializers.load_npz(file, two)
    near(two.W, one.W, 0.0)
    assert two.W.device == device


def random_numbers(device: Any) -> None:
    """A seed repeats the masks of dropout."""
    ones, masks = device.send(np.ones(1000, np.float32)), []
    for _ in range(2):
        xpgrad.random.seed(1)
        masks.append(F.dropout(Variable(ones), 0.5))
    near(masks[0], masks[1], 0.0)


def half_precision(device: Any) -> None:
    """Sums of float16 are accumulated in float32."""
    x = Variable(device.send(np.full((1, 70_000), 3, np.float16)))
    near(xp.mean(x), np.asarray(3.0), 1e-3)


def messages(device: Any) -> None:
    """Wrong shapes, and arrays of two libraries, are errors with both arrays in their text."""
    x = Variable(device.send(np.ones(3)))
    with_text(lambda: x @ Variable(device.send(np.ones(4))), "(4,), float64 on ")
    if device.backend.name != "numpy":
        with_text(lambda: x + Variable(np.ones(3)), "arrays of two libraries")


def with_text(f: Callable[[], Any], text: str) -> None:
    """Call a function that must raise an error with this text."""
    try:
        f()
    except (TypeError, ValueError) as error:
        if text not in str(error):
            raise
    else:
        raise AssertionError(f"expected an error with {text!r}")


def between_libraries(device: Any) -> None:
    """An array goes to each other library with a device here, and comes back."""
    from benchmarks.gpu.machine import devices

    x = RNG.standard_normal((3, 4))
    for specifier in devices(device.backend.name == "numpy" or "cpu" in device.name).values():
        v = Variable(device.send(x))
        v.to_device(specifier)
        xp.sum(v * v).backward()
        v.to_device(device)
        near(v.array, x, 1e-6)
        near(v.grad, 2 * x, 1e-6)


PROGRAMS = (
    gradients, moves, network, training, programs, transformations, streams, files, random_numbers, half_precision,
    messages, between_libraries,
)  # fmt: skip


def main() -> None:
    """Run the programs on the device named on the command line."""
    device = xpgrad.get_device(sys.argv[1])
    for program in PROGRAMS:
        start, failure = time.perf_counter(), ""
        try:
            program(device)
        except Exception:
            failure = traceback.format_exc()
        row = {"name": f"{program.__name__} {device}", "seconds": time.perf_counter() - start, "failure": failure}
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
