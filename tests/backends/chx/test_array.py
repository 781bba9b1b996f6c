"""chx arrays without their graph: devices, memory, methods, text, errors."""

import copy
import inspect
import operator
import pickle

import numpy as np
import pytest
from tests.backends.chx.arrays import values

import xpgrad
import xpgrad_chx as chx

FLOAT_OPERATORS = "add sub mul truediv floordiv mod pow matmul eq ne lt le gt ge"
DATA = np.array([[0.5, -1.5, 2.5], [3.5, 4.5, -5.5]], np.float32)


def test_attributes():
    a = chx.array(DATA)
    t = a.T[1:]
    assert (a.shape, a.ndim, a.size, a.dtype, a.itemsize, a.nbytes) == ((2, 3), 2, 6, np.float32, 4, 24)
    assert (t.shape, t.strides, t.offset, t.data_size) == ((2, 2), (4, 12), 4, 24)
    assert t.data_ptr == a.data_ptr
    assert a.is_contiguous
    assert not t.is_contiguous
    assert a.device is chx.get_device("native:0")
    assert a.__array_priority__ == 100
    assert chx.ndarray((2, 3), chx.int32).shape == (2, 3)


def test_repr():
    assert repr(chx.array([1.0, 2.0, 3.0], chx.float32)) == (
        "array([1., 2., 3.], shape=(3,), dtype=float32, device='native:0')"
    )
    a = chx.array([1.5], chx.float64, device="native:1").require_grad()
    assert repr(a) == "array([1.5], shape=(1,), dtype=float64, device='native:1', backprop_ids=['<default>'])"


@pytest.mark.parametrize("name", FLOAT_OPERATORS.split())
def test_operators_of_floats(name):
    function = getattr(operator, name)
    left, right = np.abs(DATA[:, :2]), np.abs(DATA[:, 1:])
    for x, y in ((left, right), (left, 2.0), (2.0, right), (left, np.float32(2.0)), (left[0, 0, ...], right)):
        if name == "matmul" and not (np.ndim(x) and np.ndim(y)):
            continue
        expected = function(x, y)
        got = function(*[chx.array(each) if isinstance(each, np.ndarray) else each for each in (x, y)])
        assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
        np.testing.assert_array_equal(chx.to_numpy(got), expected)


@pytest.mark.parametrize("name", ["and_", "or_", "xor", "lshift", "rshift"])
def test_operators_of_integers(name):
    function, x, y = getattr(operator, name), np.array([5, 6]), np.array([1, 3])
    for a, b in ((x, y), (x, 2), (9, y)):
        got = function(*[chx.array(each) if isinstance(each, np.ndarray) else each for each in (a, b)])
        np.testing.assert_array_equal(chx.to_numpy(got), function(a, b))


def test_unary_operators():
    a = chx.array(DATA)
    for function in (operator.neg, operator.pos, operator.abs):
        np.testing.assert_array_equal(chx.to_numpy(function(a)), function(DATA))
        assert function(a.copy().require_grad()).is_backprop_required()
    assert values(~chx.array([True, False])) == [False, True]


def test_in_place_operators_write_into_the_memory():
    a = chx.array([4.0, 6.0])
    view = a.view()
    for name, other in [("iadd", 2.0), ("imul", chx.array([2.0, 3.0])), ("isub", 1), ("itruediv", 2.0), ("ipow", 2)]:
        expected = getattr(operator, name)(chx.to_numpy(a), chx.to_numpy(other) if hasattr(other, "shape") else other)
        assert getattr(operator, name)(a, other) is a
        assert values(view) == expected.tolist()


def test_floats_do_not_go_into_integers():
    i = chx.array([1, 2])
    for value in (1.5, chx.array([0.5, 0.5]), 1j):
        with pytest.raises(chx.DtypeError, match="do not fit into int64"):
            i += value
        with pytest.raises(chx.DtypeError, match="do not fit into int64"):
            i[...] = value
    for divisor in (2, chx.array([2, 2])):
        with pytest.raises(chx.DtypeError, match=r"__itruediv__: .*int64.*; cast with astype"):
            i /= divisor
    assert values(i) == [1, 2]


def test_operands_that_are_no_arrays():
    a = chx.ones((2,))
    for wrong in ("a", None, [1, 2]):
        with pytest.raises(TypeError, match="unsupported operand"):
            a += wrong
        with pytest.raises(xpgrad.UnknownArray, match="__setitem__: expected a chx array or a number"):
            a[0] = wrong
    assert values(a) == [1.0, 1.0]


@pytest.mark.parametrize("graph", [False, True])
def test_errors_of_shapes_axes_and_dtypes_are_errors_of_chx(graph):
    a, b = chx.ones((2,)), chx.ones((3,))
    if graph:
        a.require_grad()
    for wrong in (
        lambda: a + b, lambda: b - a, lambda: a @ b, lambda: a < b, lambda: chx.add(a, b), lambda: a.reshape(3),
        lambda: chx.stack([a, b]), lambda: chx.where(a > 0, a, b),
    ):  # fmt: skip
        with pytest.raises(chx.DimensionError, match=r"\w+: .*got .*\(2,\)"):
            wrong()
    for wrong in (lambda: a.sum(5), lambda: a.swapaxes(0, 3), lambda: chx.softmax(a, 5)):
        with pytest.raises(chx.AxisOutOfRange, match=r"\w+: .*ax[ie]s"):
            wrong()
    for wrong in (lambda: a & a, lambda: 1.5 & a, lambda: a.take([0.5], 0)):
        with pytest.raises(chx.DtypeError, match=r"\w+: "):
            wrong()


@pytest.mark.parametrize("graph", [False, True])
def test_positions_may_be_integers_and_lists(graph):
    a = chx.array([[1.0, 2.0], [3.0, 4.0]])
    if graph:
        a.require_grad()
    assert values(a.take(-1, 0)) == values(chx.take(a, 1, axis=0)) == [3.0, 4.0]
    assert values(a.take([1, 0], 1)) == [[2.0, 1.0], [4.0, 3.0]]
    assert values(a.take(3)) == 4.0
    assert values(a.repeat([1, 2], 0)) == [[1.0, 2.0], [3.0, 4.0], [3.0, 4.0]]


def test_indexing_and_assignment():
    a = chx.array(DATA)
    rows, mask = chx.array([1, 0]), chx.array([True, False])
    for index, same in ((0, 0), ((0, 1), (0, 1)), (slice(1), slice(1)), (rows, [1, 0]), (mask, [True, False]),
                        ((..., None), (..., None)), ((slice(None), rows), (slice(None), [1, 0]))):  # fmt: skip
        np.testing.assert_array_equal(chx.to_numpy(a[index]), DATA[same])
    assert type(a[0, 1]) is chx.ndarray
    a[0, 1] = 7.0
    a[1] = chx.array([1.0, 2.0, 3.0], chx.float32)
    a[rows[:1]] += 1.0
    assert values(a) == [[0.5, 7.0, 2.5], [2.0, 3.0, 4.0]]
    assert a.fill(0.0) is None
    assert values(a) == [[0.0] * 3] * 2


def test_methods():
    a, n = chx.array(DATA), DATA
    same = {
        "transpose": a.transpose(), "transpose(1, 0)": a.transpose(1, 0), "transpose((1, 0))": a.transpose((1, 0)),
        "reshape(3, 2)": a.reshape(3, 2), "reshape((-1,))": a.reshape((-1,)), "flatten()": a.flatten(),
        "ravel()": a.ravel(), "squeeze()": a.squeeze(), "swapaxes(0, 1)": a.swapaxes(0, 1),
        "repeat(2, 1)": a.repeat(2, 1),
        "sum(0)": a.sum(0), "sum(keepdims=True)": a.sum(keepdims=True), "prod(1)": a.prod(1), "mean()": a.mean(),
        "var(1)": a.var(1), "std()": a.std(), "max(1)": a.max(1), "min()": a.min(), "argmax(1)": a.argmax(1),
        "argmin()": a.argmin(), "clip(-1, 1)": a.clip(-1, 1), "take([0, 1], 1)": a.take(chx.array([0, 1]), 1),
        "take([0, 5])": a.take(chx.array([0, 5])), "T": a.T, "real": a.real, "imag": a.imag, "conj()": a.conj(),
        "astype('float64')": a.astype(chx.float64), "copy()": a.copy(), "dot(n.T)": a.dot(a.T), "all()": (a > -9).all(),
        "any(0)": (a > 4).any(0), "argmin(1)": a.argmin(1),
    }  # fmt: skip
    for text, got in same.items():
        source = {"all()": n > -9, "any(0)": n > 4}.get(text, n)
        expected = eval(f"n.{text}", {"n": source})
        expected = expected() if callable(expected) else expected
        np.testing.assert_allclose(chx.to_numpy(got), expected, rtol=1e-6, err_msg=text)
    assert a.mT.shape == (3, 2)
    assert values(a.view()) == values(a)
    assert chx.array(2.0).dot(chx.array(3.0)).item() == 6.0
    assert a.tolist() == DATA.tolist()
    assert len(a) == 2
    assert [row.shape for row in a] == [(3,), (3,)]


def test_scalars():
    assert (bool(chx.array([2.0])), int(chx.array(2.5)), float(chx.array(2.5)), complex(chx.array(1j))) == (
        True, 2, 2.5, 1j,
    )  # fmt: skip
    assert [10, 20][chx.array(1)] == 20
    with pytest.raises(TypeError, match="can be an index"):
        operator.index(chx.array(1.0))
    with pytest.raises(chx.DimensionError, match="expected one element"):
        bool(chx.array([1.0, 2.0]))
    with pytest.raises(TypeError, match="0-d"):
        len(chx.array(1.0))


def test_copies():
    a = chx.array(DATA, device="native:1").require_grad()
    for made in (copy.deepcopy(a), pickle.loads(pickle.dumps(a))):
        assert values(made) == values(a)
        assert made.device is a.device
        assert not made.is_backprop_required(chx.anygraph)
    assert copy.copy(a).is_backprop_required()
    b = copy.deepcopy([a * a])[0]
    b.backward()
    assert values(a.grad) == values(2 * a.as_grad_stopped())
    with pytest.raises(xpgrad.GraphError, match="as_grad_stopped"):
        pickle.dumps(a * a)
    with chx.no_backprop_mode():
        assert values(pickle.loads(pickle.dumps(a * a))) == values(a * a)
    device = chx.get_device("native:1")
    assert pickle.loads(pickle.dumps(device)) is device


@pytest.mark.parametrize(
    "name", ["iadd", "isub", "imul", "ifloordiv", "imod", "ipow", "iand", "ior", "ixor", "ilshift", "irshift"]
)
def test_an_integer_array_is_changed_in_place_by_an_int(name):
    for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        a, expected = chx.asarray([2, 3, 5], dtype=dtype), np.asarray([2, 3, 5], dtype)
        assert getattr(operator, name)(a, 2) is a
        getattr(operator, name)(expected, 2)
        assert (a.dtype, values(a)) == (dtype, expected.tolist())
        a[0] = 7
        assert a.tolist()[0] == 7


@pytest.mark.parametrize("value", [300, -300])
def test_an_int_out_of_range_does_not_wrap_around(value):
    a = chx.asarray([1, 2], dtype="uint8")
    with pytest.raises(OverflowError, match="out of bounds for uint8"):
        a += value
    assert a.tolist() == [1, 2]


def test_dlpack_accepts_the_standard_arguments():
    wishes = inspect.signature(chx.ndarray.__dlpack__).parameters
    assert [*wishes] == ["self", "stream", "max_version", "dl_device", "copy"]
    assert all(p.default is None and p.kind is p.KEYWORD_ONLY for p in [*wishes.values()][1:])
    assert chx.array([1.0]).__dlpack__(stream=None) is not None


def test_exchange_with_numpy():
    a = chx.array([1.0, 2.0])
    assert np.asarray(a).tolist() == [1.0, 2.0]
    assert np.from_dlpack(a).tolist() == [1.0, 2.0]
    assert a.__dlpack_device__() == (1, 0)
    b = a.copy().require_grad()
    with pytest.raises(TypeError, match="gradient would be lost"):
        np.asarray(b)
    with pytest.raises(BufferError, match="gradient would be lost"):
        np.from_dlpack(b)
    with pytest.raises(chx.ChainerxError, match="expected a chx array"):
        chx.to_numpy(np.ones(2))


def test_other_arrays_raise():
    a, n = chx.array([1.0]), np.ones(1)
    for mix in (
        lambda: a + n, lambda: n + a, lambda: chx.add(a, n), lambda: chx.concat([a, n]), lambda: a * n, lambda: n < a,
    ):  # fmt: skip
        with pytest.raises(TypeError, match="numpy"):
            mix()
    with pytest.raises(xpgrad.UnknownArray, match="at least one chx array"):
        chx.exp(1.0)
    with pytest.raises(TypeError):
        a + "1"
    with pytest.raises(xpgrad.BackendMismatch):
        xpgrad.Variable(n) + a


def test_arrays_of_two_devices_raise():
    a, b = chx.ones((2,)), chx.ones((2,), device="native:1")
    graph = chx.ones((2,)).require_grad()
    for mix in (lambda: a + b, lambda: chx.add(a, b), lambda: graph * b, lambda: chx.concat([a, b]), lambda: a[b > 0],
                lambda: xpgrad.Variable(a) + b, lambda: xpgrad.Variable(a) + xpgrad.Variable(b),
                lambda: operator.iadd(a, b), lambda: chx.where(a > 0, graph, b)):  # fmt: skip
        with pytest.raises(xpgrad.DeviceMismatch, match=r"native:0.*native:1|native:1.*native:0"):
            mix()
    assert (a + b.to_device("native:0")).tolist() == [2.0, 2.0]


def test_devices():
    native = chx.get_backend("native")
    device = native.get_device(1)
    assert (native.name, native.get_device_count(), device.name, device.index) == ("native", 2, "native:1", 1)
    assert device.backend is native
    assert device.context is native.context is chx.get_default_context()
    for specifier in (("native:1",), ("native", 1), (("native", 1),), (device,), (xpgrad.get_device("native:1"),)):
        assert chx.get_device(*specifier) is device
    assert chx.get_device("native") is chx.get_device() is chx.get_default_device() is native.get_device()
    device.synchronize()
    with chx.using_device("native", 1) as now:
        assert str(now) == "native:1"
        assert chx.get_default_device() is device
    before = xpgrad.get_device()
    try:
        chx.set_default_device("native:1")
        assert chx.get_default_device() is device
    finally:
        before.use()


def test_wrong_devices():
    with pytest.raises(chx.BackendError, match="Backend not found: 'npu'"):
        chx.get_backend("npu")
    with pytest.raises(chx.DeviceError, match="got native:9"):
        chx.get_device("native:9")
    for wrong in (("native:x",), ("native:",), (3,), (-1,), ("native:1", 0), ("native", 0.5), ("native", "0")):
        with pytest.raises(chx.DeviceError, match="expected"):
            chx.get_device(*wrong)
    for specifier in ("native:9", "native:", "native:x"):
        with pytest.raises(xpgrad.SpecifierError, match=f"^get_device: expected .*{specifier}"):
            xpgrad.get_device(specifier)


def test_each_context_has_separate_devices():
    context = chx.Context()
    with chx.context_scope(context) as now:
        assert now is context is chx.get_default_context()
        assert chx.get_device("native:0").context is context
    assert chx.get_default_context() is not context
    assert context.get_device("native:0") is not chx.get_device("native:0")


def test_devices_of_xpgrad():
    device = xpgrad.get_device("native:1")
    assert repr(device) == "<ChainerxDevice native:1>"
    assert str(xpgrad.get_device("native")) == "native:0"
    assert xpgrad.get_device(chx.get_device("native:1")) == device
    assert xpgrad.get_device("@chx") == xpgrad.get_device("native:0")
    assert xpgrad.get_device("@chx:native:1") == device
    assert device.device is chx.get_device("native:1")
    assert device.xp is chx
    assert device.fallback_device == xpgrad.get_device("@numpy")
    assert str(type(device).from_fallback_device(xpgrad.get_device("@numpy"))) == "native:0"
    with pytest.raises(ValueError, match="expected @numpy"):
        type(device).from_fallback_device(xpgrad.get_device("@strict:cpu"))
    assert device.send(DATA).device is chx.get_device("native:1")
    moved = device.send(chx.array(DATA))
    assert values(moved) == DATA.tolist()
    assert xpgrad.get_device_from_array(moved) == device
    assert xpgrad.get_array_module(moved) is chx


def test_cuda_without_a_gpu_raises_an_error_with_the_reason():
    if chx.get_backend("cuda").get_device_count():
        pytest.skip("there is a GPU here")
    with pytest.raises(xpgrad.BackendUnavailable, match=r"chx: there is no cuda:0 here; cupy: "):
        xpgrad.get_device("cuda:0")
