import copy
import operator
import pickle
import re
import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from tests.building import array, values, variable
from tests.indices import INDICES, check_index

import xpgrad
import xpgrad.array_api as xp
from xpgrad import functions as F
from xpgrad.errors import BackendMismatch, DeviceMismatch, ShapeError, SpecifierError
from xpgrad.testing.arrays import on_host
from xpgrad_conformance.probes import mismatches

pytestmark = pytest.mark.exhaustive(1)

ONE, TWO, BOTH = "@jax:cpu:0", "@jax:cpu:1", "@jax:cpu:0+cpu:1"


@pytest.mark.parametrize("name", [ONE, TWO, BOTH])
def test_first_and_second_order_on_each_device(name: str) -> None:
    device = xpgrad.get_device(name)
    x = variable(device, [1.0, 2.0, 3.0])
    y = xp.sum(x * x * x)
    y.backward(enable_double_backprop=True)
    assert values(x.grad) == [3.0, 12.0, 27.0]
    gx = x.grad_var
    assert gx is not None
    x.cleargrad()
    xp.sum(gx).backward()
    assert values(x.grad) == [6.0, 12.0, 18.0]
    assert device.is_array_supported(x.grad)
    assert x.grad.dtype == jnp.float32


def test_specifiers() -> None:
    assert str(xpgrad.get_device("@jax")) == str(xpgrad.get_device("@jax:cpu")) == ONE
    assert [xpgrad.get_device(device).name for device in jax.devices()] == [ONE, TWO]
    assert xpgrad.get_device(TWO).handle == jax.devices()[1]
    assert xpgrad.get_device(TWO).xp is jnp
    with pytest.raises(SpecifierError, match=re.escape(f"'@jax:gpu:0'; jax has {ONE}, {TWO}")):
        xpgrad.get_device("@jax:gpu:0")


def test_nothing_imports_jax_before_it_is_needed() -> None:
    program = "import sys, xpgrad; xpgrad.get_device('@numpy'); print('jax' in sys.modules); xpgrad.get_device('@jax')"
    done = subprocess.run([sys.executable, "-c", f"{program}; print('jax' in sys.modules)"], capture_output=True)
    assert done.stdout.split() == [b"False", b"True"], done.stderr


def test_an_array_that_was_put_nowhere_lies_on_the_default_device() -> None:
    x = xpgrad.Variable(jnp.asarray([1.0, 2.0]))
    assert not x.array.committed
    assert x.device.name == ONE


def _committed() -> xpgrad.Variable:
    return variable(xpgrad.get_device(TWO), [1.0, 2.0])


MIXTURES: dict[str, Any] = {
    "variables": lambda x, y: x + y,
    "array on the right": lambda x, y: x * y.array,
    "array on the left": lambda x, y: x.array * y,
    "matmul": xp.matmul,
    "where": lambda x, y: xp.where(x > 0, y, y),
    "concat": lambda x, y: xp.concat([x, y]),
    "index": lambda x, y: x[xp.astype(y, jnp.int32)],
    "take": lambda x, y: xp.take(x, xp.astype(y, jnp.int32), axis=0),
    "NumPy": np.maximum,
}


@pytest.mark.parametrize("title", MIXTURES)
def test_two_devices_in_one_operation_are_refused_also_where_jax_would_move_one(title: str) -> None:
    free = xpgrad.Variable(jnp.asarray([1.0, 2.0], dtype=jnp.float32))  # jax moves it without a word
    for x, y in ((free, _committed()), (_committed(), free)):
        with pytest.raises(DeviceMismatch, match=r"@jax:cpu:[01]\b.*@jax:cpu:[01]\b.*move one with to_device"):
            MIXTURES[title](x, y)


def test_two_libraries_in_one_operation_raise() -> None:
    with pytest.raises(BackendMismatch, match="jax on @jax:cpu:1 and numpy on @numpy; move one with to_device"):
        _committed() + np.ones(2, np.float32)


def test_moving_takes_data_and_gradient_along() -> None:
    x = xpgrad.Variable(np.asarray([1.0, 2.0]))
    x.grad = np.asarray([3.0, 4.0])
    for name in (TWO, ONE, BOTH, "@strict:cpu", TWO, "@numpy"):
        assert x.to_device(name) is x
        device = xpgrad.get_device(name)
        assert device.is_array_supported(x.array)
        assert device.is_array_supported(x.grad)
        assert (values(x), values(x.grad)) == ([1.0, 2.0], [3.0, 4.0])


@pytest.mark.parametrize("name", [ONE, TWO])
def test_a_move_copies(name: str) -> None:
    source = np.zeros(1024)
    there = xpgrad.get_device(name).send(source)
    source[:] = 1.0
    assert not on_host(there).any()
    back = xpgrad.get_device("@numpy").send(there)
    back[:] = 1.0
    assert not on_host(there).any()


def test_gradients_pass_between_devices() -> None:
    x = xpgrad.Variable(np.asarray([1.0, 2.0]))
    h = xpgrad.functions.copy(x * x, TWO)
    y = xpgrad.functions.copy(h * h, ONE)
    y.grad = jnp.ones(2)
    y.backward()
    assert type(x.grad) is np.ndarray
    assert x.grad.tolist() == [4.0, 32.0]


def test_pickles_and_copies_keep_the_device() -> None:
    for name in (TWO, BOTH):
        x = variable(xpgrad.get_device(name), [1.0, 2.0], name="x")
        x.grad = array(x.device, [3.0, 4.0])
        for other in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
            assert other.device == x.device
            assert other.device.is_array_supported(other.grad)
            assert (values(other), values(other.grad), other.name) == ([1.0, 2.0], [3.0, 4.0], "x")


def test_using_a_device_creates_there() -> None:
    with xpgrad.using_device(TWO) as device:
        assert device.is_array_supported(xpgrad.random.uniform((2,)))
        assert xp.ones((2,)).device == device
        assert xp.asarray([1.0]).device == device


def test_one_seed_gives_the_numbers_of_the_host() -> None:
    drawn = []
    for name in (TWO, "@numpy"):
        with xpgrad.using_device(name) as device:
            xpgrad.random.seed(1, device)
            drawn.append(values(xpgrad.random.normal((3,))))
    assert drawn[0] == drawn[1]


def test_a_device_is_waited_for() -> None:
    x = variable(xpgrad.get_device(TWO), np.ones((200, 200)))
    y = x @ x @ x
    x.device.synchronize()
    assert y.array.is_ready()


def test_what_is_computed_of_nothing_stays_on_its_device() -> None:
    x = variable(xpgrad.get_device(TWO), np.ones((0, 3)))
    y = xp.where(x > 0, 0.0, x)
    assert TWO == str(xpgrad.backend.get_device_from_array(y.array)) == str(y.device)


# Indexing

OTHER_INDICES: dict[str, Any] = {
    "integer": 1,
    "block": (slice(1, 3), None, slice(None, 2)),
    "steps": (slice(None, None, 2), slice(None, None, -1)),
    "arrays and an integer": (np.asarray([[0], [1]]), ..., 1),
    "empty block": (slice(2, 2),),
    "ellipsis": (..., 2),
}


@pytest.mark.parametrize("title", INDICES | OTHER_INDICES)
def test_gathers_scatters_and_assignments_are_those_of_numpy(title: str) -> None:
    check_index(xpgrad.get_device(TWO), (INDICES | OTHER_INDICES)[title])


def test_a_later_window_of_one_size_is_not_compiled_again() -> None:
    from xpgrad_jax.kernels.indexing import _block_taken

    x = variable(xpgrad.get_device(TWO), np.arange(50))
    x[0:7]
    before = _block_taken._cache_size()
    assert [values(x[i : i + 7])[0] for i in range(1, 9)] == list(range(1, 9))
    assert _block_taken._cache_size() == before


@pytest.mark.parametrize("index", [3, -4, (0, 2), (..., 5), (None, 3)])
def test_an_integer_out_of_range_is_an_error(index: Any) -> None:
    x = variable(xpgrad.get_device(TWO), np.ones((3, 2)))
    with pytest.raises(IndexError, match=r"index -?\d is out of range for an axis of length [23]"):
        x[index]


@pytest.mark.parametrize("label", [3, -2])
def test_the_loss_of_a_label_that_is_no_class_is_nan(label: int) -> None:
    x, t = variable(xpgrad.get_device(ONE), np.ones((3, 3))), jnp.asarray([0, label, -1])
    y, hinge = F.softmax_cross_entropy(x, t, reduce="no"), F.hinge(x, t, reduce="no")
    assert np.isnan(values(y)).tolist() == np.isnan(values(hinge)).any(axis=1).tolist() == [False, True, False]
    (g,) = xpgrad.grad([xp.sum(F.softmax_cross_entropy(x, t))], [x])
    assert np.isnan(values(g)).any(axis=1).tolist() == [False, True, False]


def test_debug_mode_looks_at_index_arrays_and_without_it_the_nearest_element_is_meant() -> None:
    x = variable(xpgrad.get_device(TWO), [1.0, 2.0])
    index = array(x.device, [0, 5], "int32")
    y = x[index]
    assert values(y) == [1.0, 2.0]
    xp.sum(y).backward()
    assert values(x.grad) == [1.0, 1.0]
    with xpgrad.using_config("debug", True):
        for call in (
            lambda: x[index], lambda: xp.take(x, index, axis=0), lambda: xp.take_along_axis(x, index),
            lambda: xpgrad.ops.segment_sum(x, index, 2),
        ):  # fmt: skip
            with pytest.raises(IndexError, match="out of range for an axis of length 2"):
                call()


# Dtypes


def test_what_jax_types_weakly_takes_the_dtype_of_what_it_meets() -> None:
    weak, strong = xpgrad.Variable(jnp.asarray(2.0)), xpgrad.Variable(jnp.asarray(2.0, dtype=jnp.float64))
    for _ in range(2):  # a cache entry of the weak type must not serve the other
        for x, dtype in ((weak, jnp.float32), (strong, jnp.float64)):
            narrow = xpgrad.Variable(jnp.ones(2, jnp.float32))
            y = xp.sum(x * narrow)
            assert y.dtype == y.array.dtype == dtype
            x.cleargrad()
            y.backward()
            assert (x.grad.dtype, narrow.grad.dtype) == (jnp.float64, jnp.float32)


def test_bfloat16_has_gradients() -> None:
    x = xpgrad.Variable(jnp.asarray([1.0, 2.0], dtype=jnp.bfloat16))
    xp.sum(x * x * 2.0).backward()
    assert x.grad.dtype == jnp.bfloat16
    assert x.grad.tolist() == [4.0, 8.0]


# Several devices


def test_arrays_that_are_cut_up_over_the_same_devices_are_on_one_device() -> None:
    mesh = Mesh(np.array(jax.devices()), ("batch",))
    rng = np.random.default_rng(0)
    cut, whole = NamedSharding(mesh, PartitionSpec("batch")), NamedSharding(mesh, PartitionSpec())
    x, w = rng.standard_normal((4, 3)), rng.standard_normal((3, 2))

    def gradients(x: Any, w: Any) -> list[Any]:
        x, w = xpgrad.Variable(x), xpgrad.Variable(w)
        y = xp.sum(xp.tanh(x @ w)[1:3, 0] ** 2)
        y.backward()
        assert y.device == x.device == w.device == xpgrad.Variable(x.grad).device
        return [on_host(x.grad), on_host(w.grad)]

    found = gradients(jax.device_put(x, cut), jax.device_put(w, whole))
    for one, two in zip(found, gradients(x, w), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-12)
    both = xpgrad.Variable(jax.device_put(x, cut))
    assert both.device.name == BOTH
    with pytest.raises(DeviceMismatch, match=re.escape(f"{BOTH} and {TWO}")):
        both * variable(xpgrad.get_device(TWO), x, "float64")


def test_from_dlpack_shares_memory_or_copies_as_it_is_asked() -> None:
    room = np.zeros(128, np.uint8)
    start = -room.ctypes.data % 64  # memory that is not aligned jax copies anyway
    source = room[start : start + 24].view("float64")
    namespace = xpgrad.get_device(ONE).backend.namespace
    shared, copied = namespace.from_dlpack(source), namespace.from_dlpack(source, copy=True)
    source[...] = 7.0
    assert values(shared) == [7.0, 7.0, 7.0]
    assert values(copied) == [0.0, 0.0, 0.0]
    assert copied.devices() == shared.devices()


def test_capabilities_are_what_the_probes_find() -> None:
    devices = [xpgrad.get_device(ONE), xpgrad.get_device(TWO)]
    assert mismatches(devices, devices[0].backend.capabilities) == []


EMPTY, NUMBERS, WHOLE = np.zeros((0, 3)), np.ones((2, 3)), np.ones((2, 3), "int64")


@pytest.mark.parametrize(
    ("name", "arrays"),
    [
        ("hypot", (EMPTY, EMPTY)),
        ("hypot", (3.0, EMPTY)),
        ("imag", (NUMBERS,)),
        ("isfinite", (WHOLE,)),
        ("isin", (EMPTY, NUMBERS)),
        ("isinf", (WHOLE,)),
        ("nonzero", (EMPTY,)),
        ("searchsorted", (NUMBERS[0], EMPTY[:, 0])),
        ("signbit", (EMPTY.astype("int64"),)),
        ("take_along_axis", (EMPTY, EMPTY.astype("int64"))),
        ("unique_all", (EMPTY,)),
        ("unique_inverse", (EMPTY,)),
        ("where", (EMPTY > 0, EMPTY, EMPTY)),
        ("linalg.pinv", (EMPTY,)),
    ],
)
def test_results_stay_on_a_device_that_is_not_the_default(name: str, arrays: tuple[Any, ...]) -> None:
    device = xpgrad.get_device(TWO)
    found = operator.attrgetter(name)(device.backend.namespace)(
        *(device.send(each) if isinstance(each, np.ndarray) else each for each in arrays)
    )
    for each in found if isinstance(found, tuple) else (found,):
        assert each.devices() == {device.handle}


def test_take_from_several_axes_needs_one():
    with pytest.raises(ShapeError, match="take: axis= is needed for an array of 2 axes"):
        xp.take(jnp.ones((2, 2)), jnp.asarray([0]))
    assert np.take(xpgrad.Variable(jnp.ones((2, 2))), [3]).shape == (1,)
