"""Run as a program: tests beyond the case table, on fake GPUs."""

import contextlib
import pickle
import warnings
from collections.abc import Iterator

import numpy as np
from tests.backends.cupy import fake

cupy = fake.install()

import xpgrad_cupy.plugin  # noqa: E402 - after the fake module

xpgrad_cupy.plugin.why_unavailable = lambda: None

import xpgrad  # noqa: E402
import xpgrad.functions as F  # noqa: E402
import xpgrad_chx  # noqa: E402
from xpgrad import ops, transforms  # noqa: E402
from xpgrad.errors import BackendUnavailable, DeviceMismatch, SpecifierError  # noqa: E402


@contextlib.contextmanager
def raises(kind: type[Exception], text: str) -> Iterator[None]:
    try:
        yield
    except kind as error:
        message = str(error)
    else:
        message = "nothing was raised"
    assert text in message, message


def devices() -> None:
    first, second = xpgrad.get_device("@cupy:0"), xpgrad.get_device(1)
    assert repr(second) == "<GpuDevice (cupy):1>"
    assert str(second) == "@cupy:1"
    assert second == xpgrad.get_device("gpu:1") == xpgrad.get_device(cupy.cuda.Device(1)) == second.from_device_id(1)
    assert first == xpgrad.get_device("@cupy") == xpgrad.get_device("gpu") == xpgrad.get_device("0")
    assert second.xp is cupy
    assert second.device == cupy.cuda.Device(1)
    assert pickle.loads(pickle.dumps(second)) == second
    with raises(BackendUnavailable, "there is no GPU 2 here, only @cupy:0, @cupy:1"):
        xpgrad.get_device(2)
    with raises(SpecifierError, "unknown device '@cupy:x'"):
        xpgrad.get_device("@cupy:x")


def broken() -> None:
    gpu = xpgrad.get_device("@cupy:1").backend
    gpu._broken[1] = "cupy: GPU 1 is listed but runs no kernel: CompileException: too new"
    with raises(BackendUnavailable, "GPU 1 is listed but runs no kernel: CompileException"):
        xpgrad.get_device("@cupy:1")
    del gpu._broken[1]
    arange = cupy.arange
    cupy.arange = lambda n: 1 / 0
    with raises(BackendUnavailable, "cupy: GPU 1 is listed but runs no kernel: ZeroDivisionError"):
        xpgrad.get_device("@cupy:1")
    cupy.arange = arange
    del gpu._broken[1]


def current() -> None:
    with xpgrad.using_device("@cupy:1"):
        assert fake.current() == 1
        with xpgrad.using_device("@cupy:0"):
            assert fake.current() == 0
        assert fake.current() == 1
    assert fake.current() == 0
    xpgrad.get_device("@cupy:1").use()
    assert fake.current() == 1
    assert xpgrad.array_api.ones((2,)).device == xpgrad.get_device("@cupy:1")
    xpgrad.get_device("@cupy:0").use()
    assert fake.current() == 0
    made = xpgrad.array_api.zeros((2,), device="@cupy:1")
    assert made.array.device == cupy.cuda.Device(1)


class Square(xpgrad.FunctionNode):
    """Uses operators on raw arrays, which need their GPU to be current."""

    def forward(self, inputs):
        self.retain_inputs((0,))
        return (inputs[0] * inputs[0],)

    def backward(self, indexes, gys):
        (x,) = self.get_retained_inputs()
        return (gys[0] * x * 2,)


def following() -> None:
    x = xpgrad.Variable(np.array([1.0, 2.0, 3.0])).to_device("@cupy:1")
    for default in ("@cupy:0", "@cupy:1"):  # the default device of the process does not affect this thread
        xpgrad.use(default)
        cupy.cuda.Device(0).use()
        x.cleargrad()
        (y,) = Square().apply((x,))
        (y + y * x).sum().backward()
        assert x.grad.device == cupy.cuda.Device(1)
        assert x.grad.get().tolist() == [5.0, 16.0, 33.0]
    xpgrad.use("@numpy")


def across() -> None:
    x = xpgrad.Variable(np.array([1.0, 2.0])).to_device("@cupy:0")
    y = F.copy(x, "@cupy:1")
    with raises(DeviceMismatch, "@cupy:0 and @cupy:1"):
        x + y
    (F.copy(y * y + y * 3 + y, "@cupy:0") + x * x + x).sum().backward()
    assert x.grad.device == cupy.cuda.Device(0)
    assert x.grad.get().tolist() == [9.0, 13.0]


def copies() -> None:
    host = np.arange(30000.0).reshape(100, 300).T
    moved = xpgrad.get_device("@cupy:1").send(host)
    assert moved.device == cupy.cuda.Device(1)
    other = xpgrad.get_device("@cupy:0").send(moved[::2])
    assert other.device == cupy.cuda.Device(0)
    back = xpgrad.get_device("@numpy").send([other, moved, moved[:0]])
    assert type(back[0]) is np.ndarray
    assert back[0].base is None
    assert [b.tolist() for b in back] == [host[::2].tolist(), host.tolist(), host[:0].tolist()]


class Foreign:
    """An array of another library in GPU memory, or in host memory."""

    def __init__(self, values, device):
        self._values, self._device = values, device

    def __dlpack__(self, **_):
        return self._values

    def __dlpack_device__(self):
        return self._device


def exchange() -> None:
    target = xpgrad.get_device("@cupy:1")
    gpu = target.backend
    assert gpu.dlpack_device(target) == (2, 1)
    here, there, host = (Foreign(np.ones(2), place) for place in ((2, 1), (2, 0), (1, 0)))
    assert [gpu.exports(x, gpu.dlpack_device(target)) for x in (here, there, host)] == [True, False, False]
    assert gpu.from_dlpack(here, target).device == cupy.cuda.Device(1)
    assert gpu.from_dlpack(there, target) is NotImplemented
    with raises(BufferError, "use to_device for one in host memory"):
        gpu.namespace.from_dlpack(host)
    with raises(BufferError, "the array is on GPU 0, not on 1; use to_device"):
        gpu.namespace.from_dlpack(there, device=cupy.cuda.Device(1))
    source = xpgrad.get_device("@cupy:0").send(np.ones(2))
    assert gpu.exports(source, (2, 0)) == hasattr(source, "__dlpack__")
    strict = xpgrad.get_device("@strict").send(source)
    assert xpgrad.get_device("@strict").is_array_supported(strict)


def memory() -> None:
    device = xpgrad.get_device("@cupy:1")
    assert device.memory_used() == 2048
    device.free_memory()
    assert cupy.get_default_memory_pool().freed == cupy.get_default_pinned_memory_pool().freed == 1
    assert xpgrad.get_device("@numpy").memory_used() is None
    xpgrad.get_device("@numpy").free_memory()
    device.synchronize()


def bounds() -> None:
    x = xpgrad.Variable(xpgrad.get_device("@cupy:1").send(np.arange(6.0).reshape(2, 3)))
    bad = xpgrad.get_device("@cupy:1").send(np.array([0, 2]))
    good = xpgrad.get_device("@cupy:1").send(np.array([0, -2]))
    with xpgrad.using_config("debug", True):
        with raises(IndexError, "out of range for an axis of length 2"):
            x[bad]
        with raises(IndexError, "out of range for an axis of length 2"):
            xpgrad.array_api.take(x, bad, axis=0)
        assert x[good, None].shape == (2, 1, 3)
        assert x[..., good].shape == (2, 2)
        mask = xpgrad.get_device("@cupy:1").send(np.array([[True, False, True], [False, True, False]]))
        assert x[mask].shape == (3,)


def random_numbers() -> None:
    from xpgrad_cupy.kernels.loops import loop
    from xpgrad_cupy.kernels.random import PHILOX

    words = loop("words", "uint64 seed, uint64 place", "uint64 y", "Bits r = philox(seed, place); y = r.a", PHILOX)
    assert int(words(0, 0)) == 0x6627E8D5  # from the known answers of its authors
    device = xpgrad.get_device("@cupy:1")
    xpgrad.random.seed(5, device)
    state = xpgrad.random.get_state(device)
    for draw, mean, spread in ((xpgrad.random.uniform, 0.5, 1 / 12), (xpgrad.random.normal, 0.0, 1.0)):
        for dtype in (np.float32, np.float64):
            drawn = draw((100, 200), np.dtype(dtype), device)
            assert drawn.dtype == dtype
            assert drawn.device == cupy.cuda.Device(1)
            values = drawn.get()
            assert abs(values.mean() - mean) < 0.02
            assert abs(values.var() - spread) < 0.03
            assert len(set(values.ravel().tolist())) > 19000
    xpgrad.random.set_state(state, device)
    first = xpgrad.random.uniform((3,), None, device).get()
    xpgrad.random.set_state(state, device)
    assert (xpgrad.random.uniform((3,), None, device).get() == first).all()
    assert (xpgrad.random.uniform((3,), None, device).get() != first).all()


def labels() -> None:
    device = xpgrad.get_device("@cupy:1")
    x = xpgrad.Variable(device.send(np.arange(6.0).reshape(2, 3)))
    loss = F.softmax_cross_entropy(x, device.send(np.array([0, 3])))
    assert np.isnan(float(loss))  # to raise would be to wait for the GPU
    loss = F.softmax_cross_entropy(x, device.send(np.array([0, -1], np.int8)))
    loss.backward()
    assert x.grad.get()[1].tolist() == [0.0, 0.0, 0.0]


def chx() -> None:
    device = xpgrad_chx.get_device("cuda:1")
    x = device.place.send(np.arange(6.0).reshape(2, 3))
    first = device.place.send(np.array([1, 0]))
    for y in (x * x, x + 1, 2 - x, -x, x[first], x[0] ** x[1], abs(x)):
        assert type(y) is xpgrad_chx.ndarray
        assert y.device is device
    x -= 1.0
    x[first] = x * 3.0
    x[0, 1:] = x[1, 1:]
    assert xpgrad_chx.to_numpy(x).tolist() == [[6.0, 0.0, 3.0], [-3.0, 0.0, 3.0]]
    x.require_grad()
    (x * x).sum().backward()
    assert x.grad.device is device
    assert xpgrad_chx.to_numpy(x.grad).tolist() == [[12.0, 0.0, 6.0], [-6.0, 0.0, 6.0]]


def elsewhere() -> None:
    device = xpgrad.get_device("@cupy:1")
    ends = device.send(np.array([1.0, 3.0]))
    assert xpgrad.array_api.linspace(ends[0], ends[1], 3).array.get().tolist() == [1.0, 2.0, 3.0]
    assert [each.array.get().tolist() for each in ops.tril_indices(2, device=device)] == [[0, 1, 1], [0, 0, 1]]
    assert [each.array.get().tolist() for each in ops.triu_indices(2, device=device)] == [[0, 0, 1], [0, 1, 1]]
    x = xpgrad.Variable(ends)
    xpgrad.array_api.sum(x * x).backward(loss_scale=2.0)
    assert x.grad.get().tolist() == [4.0, 12.0]
    assert "statistics" in x.debug_print()
    warnings.simplefilter("ignore", DeprecationWarning)
    x.zerograd()
    assert x.grad.get().tolist() == [0.0, 0.0]
    made = xpgrad.Parameter(lambda array: array.__setitem__(..., 5.0))
    made.to_device(device)
    made.initialize((2,))
    assert made.array.get().tolist() == [5.0, 5.0]
    square = transforms.jacobian(lambda z: z * z, holomorphic=True)
    assert square(device.send(np.array([1j, 2.0]))).get().tolist() == [[2j, 0], [0, 4]]
    rows = device.send(np.array([0, 2, -1]))
    with xpgrad.using_config("debug", True):
        F.embed_id(rows, device.send(np.ones((3, 2))), ignore_label=-1)
        with raises(ValueError, "is not the index of a row"):
            F.embed_id(rows, device.send(np.ones((2, 2))), ignore_label=-1)
        with raises(IndexError, "a label is neither a class"):
            F.softmax_cross_entropy(device.send(np.ones((3, 2))), rows)
    with raises(xpgrad.AnomalyError, "where(condition"), xpgrad.anomaly_detection():
        at = xpgrad.Variable(device.send(np.array([0.0, 1.0])))
        xpgrad.array_api.sum(xpgrad.array_api.where(at > 0, xpgrad.array_api.sqrt(at), 0.0)).backward()


def programs() -> None:
    device = xpgrad.get_device("@cupy:1")
    x = device.send(np.array([1.0, 3.0]))
    for options in {"exact": True}, {}:
        step = xpgrad.compile(transforms.value_and_grad(lambda z: xpgrad.array_api.sum(z * z - 0.5)), **options)
        for _ in range(3):
            value, gradient = step(x)
            assert (value.get().item(), gradient.get().tolist()) == (9.0, [2.0, 6.0])
            assert value.device.id == gradient.device.id == 1


if __name__ == "__main__":
    for check in (
        devices, broken, current, following, across, copies, exchange, memory, bounds, random_numbers, labels,
        chx, elsewhere, programs,
    ):  # fmt: skip
        check()
    print("all well")
