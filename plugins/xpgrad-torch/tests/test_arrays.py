"""Where PyTorch differs from the standard or from NumPy: 0-d tensors, indices, noted conjugations, dtypes, errors."""

import numpy as np
import pytest
import torch
from tests.indices import INDICES, check_index

import xpgrad
import xpgrad.array_api as A
import xpgrad.functions as F
from xpgrad import Variable, as_array, grad
from xpgrad.errors import AxisError, DtypeError, ShapeError, XpgradError
from xpgrad.testing.arrays import on_host, placed
from xpgrad.transforms import jvp
from xpgrad_conformance.table.comparisons import assert_same_bits
from xpgrad_torch.kernels.elementwise import BITWISE_FROM, where

FUNCTIONS = {
    "add": A.add,
    "multiply": A.multiply,
    "divide": A.divide,
    "pow": A.pow,
    "atan2": A.atan2,
    "remainder": A.remainder,
    "where": lambda x1, x2: A.where(torch.tensor([True, False, True]), x1, x2),
    "maximum": A.maximum,
}


@pytest.mark.filterwarnings("ignore::xpgrad.errors.PromotionWarning")
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("wide", [torch.float64, torch.complex64], ids=str)
def test_a_0d_tensor_widens_like_any_other(name, wide):
    if wide.is_complex and name in ("atan2", "remainder", "maximum"):
        pytest.skip("of real numbers only")
    function = FUNCTIONS[name]
    for first, second in ((torch.tensor([0.7, 1.3, 2.1]), torch.tensor(1.1, dtype=wide)),
                          (torch.tensor(1.7), torch.tensor([0.3, 1.9, 0.6], dtype=wide))):  # fmt: skip
        for operands in ((Variable(first), second), (Variable(first), Variable(second)), (first, Variable(second))):
            y = function(*operands)
            assert y.dtype == wide
            x1, x2 = (Variable(a) if not isinstance(a, Variable) else a for a in operands)
            seed = Variable(torch.ones_like(y.array) * 0.9)
            gxs = [grad([function(x1, x2)], [x1, x2], [seed], enable_double_backprop=each) for each in (False, True)]
            for raw, recorded, x in zip(*gxs, (x1, x2), strict=True):
                assert raw.dtype == recorded.dtype == x.dtype
                assert_same_bits(on_host(raw), on_host(recorded), f"gradients of {name}")


def test_the_value_of_a_0d_float64_is_used_in_full():
    x = Variable(torch.tensor([1.0, 2.0]), requires_grad=False)
    y = x + torch.tensor(1e-12, dtype=torch.float64)
    assert y.array.tolist() == [1.0 + 1e-12, 2.0 + 1e-12]


def test_scalars_never_widen():
    x = Variable(torch.tensor([1.5, 2.5]))
    for scalar in (2, 0.1, np.float64(0.1), np.int64(3), True):
        assert (x * scalar).dtype == (scalar * x).dtype == torch.float32


def test_a_complex_tensor_has_no_noted_conjugation(rng):
    z = torch.from_numpy(rng.normal(size=(2, 3)) + 1j * rng.normal(size=(2, 3)))
    x = Variable(z.conj())
    y = A.conj(x)
    assert not y.array.is_conj()
    assert np.array_equal(on_host(x), np.conj(z.numpy()))
    y.grad = z.conj()
    y.backward()
    assert not x.grad.is_conj()
    assert np.array_equal(x.grad.numpy(), z.numpy())
    for noted in (z.conj(), z.conj().imag):
        moved = Variable(noted).to_device("@numpy").to_device("@torch")
        assert np.array_equal(moved.array.numpy(), noted.resolve_conj().resolve_neg().numpy())


OTHER_INDICES = {
    "reversed columns": np.s_[:, ::-2],
    "reversed to nothing": np.s_[0:2:-1],
    "reversed beyond the ends": np.s_[9:-9:-1],
    "number beside array": (1, np.array([0, 2, 2])),
    "new axis, array, reversed": (None, np.array([1, 1]), slice(None, None, -1), 0),
}


@pytest.mark.parametrize("name", INDICES | OTHER_INDICES)
def test_indices_follow_the_rules_of_numpy(name, device):
    check_index(device, (INDICES | OTHER_INDICES)[name])


def test_take_counts_negative_numbers_from_the_end():
    x = Variable(torch.arange(6.0).reshape(2, 3))
    y = A.take(x, torch.tensor([-1, 0]), axis=1)
    assert y.array.tolist() == [[2, 0], [5, 3]]
    with pytest.raises(IndexError):
        A.take(x, torch.tensor([3]), axis=1)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_narrow_dtypes_have_gradients(dtype, device):
    x = Variable(torch.tensor([[0.5, -1.0], [2.0, 0.25]], dtype=dtype, device=device.handle))
    y = A.sum(A.tanh(x @ x) * 2 + F.softmax(x))
    y.backward()
    assert y.dtype == x.grad.dtype == dtype
    wide = Variable(x.array.to(torch.float64))
    A.sum(A.tanh(wide @ wide) * 2 + F.softmax(wide)).backward()
    assert torch.allclose(x.grad.to(torch.float64), wide.grad, atol=0.05)


def test_bfloat16_is_printed_and_refused_by_the_host():
    x = Variable(torch.tensor([0.5, 1.5], dtype=torch.bfloat16))
    assert "0.5" in repr(x)
    with pytest.raises(DtypeError, match="converts bfloat16 to float32"):
        x.to_device("@numpy")


SHAPES = {
    "add": lambda x, z: x + z,
    "where": lambda x, z: A.where(x > 0, x, z),
    "matmul": lambda x, z: x @ z,
    "reshape": lambda x, z: A.reshape(x, (5,)),
    "concat": lambda x, z: A.concat([x, z]),
    "broadcast_to": lambda x, z: A.broadcast_to(x, (2, 4)),
    "tensordot": lambda x, z: A.tensordot(x, z, axes=1),
}


@pytest.mark.parametrize("name", SHAPES)
def test_what_is_wrong_with_shapes_is_a_shape_error(name):
    x, z = Variable(torch.ones(2, 3)), Variable(torch.ones(4, 5))
    got = r"a \(2, 3\), b \(4, 5\), float32 on torch" if name == "matmul" else r"float32 \(2, 3\)"
    with pytest.raises(ShapeError, match=f"^{name}: .*{got}"):
        SHAPES[name](x, z)


def test_what_is_wrong_with_dtypes_is_a_dtype_error():
    x = Variable(torch.tensor([1, 2], dtype=torch.uint16))
    with pytest.raises(DtypeError, match="not implemented"):
        x + x


@pytest.mark.parametrize("name", ["unique_all", "unique_values", "nunique"])
def test_a_function_that_pytorch_lacks_for_a_dtype_is_named(name):
    with pytest.raises(NotImplementedError, match=rf"^{name}: .*got x=torch.complex64 \(2,\)$"):
        getattr(A, name)(torch.ones(2, dtype=torch.complex64))


def test_memory_that_is_not_there_stays_a_runtime_error():
    x = Variable(torch.ones(1))
    with pytest.raises(RuntimeError, match="alloc") as caught:
        A.broadcast_to(x, (2**45,)) + 1
    assert not isinstance(caught.value, XpgradError)


def test_different_values_and_where_they_are():
    x = Variable(torch.tensor([[3.0, 1.0], [3.0, 2.0]]))
    values, first, inverse, counts = A.unique_all(x)
    assert [a.array.tolist() for a in (values, first, inverse, counts)] == [
        [1, 2, 3], [1, 3, 0], [[2, 0], [2, 1]], [1, 1, 2],
    ]  # fmt: skip
    values.grad = torch.tensor([1.0, 10.0, 100.0])
    values.backward()
    assert x.grad.tolist() == [[50.0, 1.0], [50.0, 10.0]]


def test_arrays_on_the_left_leave_the_operation_to_the_variable(device):
    raw = torch.tensor([1.0, 2.0], device=device.handle)
    x = Variable(torch.tensor([3.0, 5.0], device=device.handle))
    for y, expected in ((raw * x, [3, 10]), (raw - x, [-2, -3]), (raw / x, [1 / 3, 0.4]), (raw < x, [True, True])):
        assert isinstance(y, Variable)
        assert on_host(y).tolist() == pytest.approx(expected)


def test_the_default_dtype_is_pytorchs_of_the_moment():
    x = Variable(torch.tensor([1, 2]))
    assert (x + 0.5).dtype == torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert (x + 0.5).dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_accumulation_adds_in_place_to_what_the_sweep_owns_only(rng):
    values = torch.from_numpy(rng.normal(size=100_000))
    x = Variable(values)
    ys = [x * 2, x + 1, A.sin(x), x.T if x.ndim > 1 else -x]
    seeds = [torch.from_numpy(rng.normal(size=100_000)) for _ in ys]
    kept = [seed.clone() for seed in seeds]
    for y, seed in zip(ys, seeds, strict=True):
        y.grad = seed
    xpgrad.backward(ys)
    expected = 2 * kept[0] + kept[1] + kept[2] * torch.cos(values) - kept[3]
    assert torch.allclose(x.grad, expected)
    assert all(map(torch.equal, seeds, kept))


@pytest.mark.parametrize("options", [{"axis": 0, "n": 4}, {"axis": -1}, {"axis": -1, "n": 2}], ids=str)
def test_fourier_transforms_of_nothing_have_the_shape_of_numpys(options):
    values = np.zeros((0, 3))
    for name in ("rfft", "ihfft"):
        x = Variable(torch.from_numpy(values))
        y = getattr(A.fft, name)(x, **options)
        assert y.shape == getattr(np.fft, name)(values, **options).shape
        assert not on_host(y).any()
        y.grad = torch.zeros(y.shape, dtype=torch.complex128)
        y.backward()
        assert x.grad.shape == x.shape
    y = A.fft.rfftn(torch.from_numpy(values), axes=(0, 1), s=(2, 5))
    assert y.shape == (2, 3)


def test_fourier_transform_along_an_empty_axis_needs_a_length():
    x = torch.zeros((0, 3))
    for transform in (lambda: A.fft.rfft(x, axis=0), lambda: A.fft.rfftn(x)):
        with pytest.raises(XpgradError, match="Invalid number of data points"):
            transform()


def test_limits_name_their_dtype():
    xp = Variable(torch.zeros(1)).__array_namespace__()
    assert xp.iinfo(torch.int8).dtype is xp.iinfo(torch.zeros(1, dtype=torch.int8)).dtype is torch.int8
    assert xp.finfo(torch.complex64).dtype is torch.float32
    assert xp.finfo(torch.float32).eps == 2.0**-23
    assert "int8" in repr(xp.iinfo(torch.int8))


@pytest.mark.filterwarnings("ignore:std")
def test_deviation_over_no_axes_is_that_of_single_elements():
    x = torch.tensor([[1.0, 2.0]])
    assert A.std(x, axis=()).array.tolist() == [[0, 0]]
    assert torch.isnan(A.std(x, axis=(), correction=1, keepdims=True).array).tolist() == [[True, True]]


@pytest.mark.parametrize("layout", ["rows", "columns", "complex", "stack"])
def test_gradient_of_det_where_it_is_singular_but_for_rounding(layout, rng):
    for n in range(3, 6):
        x = torch.from_numpy((rng.integers(-3, 4, (20, n, n - 1)) @ rng.integers(-3, 4, (20, n - 1, n))).astype(float))
        u, s, vh = np.linalg.svd(x.numpy())
        phase = np.linalg.det(u) * np.linalg.det(vh) * np.prod(s[:, :-1], axis=-1)
        expected = phase[:, None, None] * u[:, :, -1:] * vh[:, -1:, :]
        whole = {"columns": x.mT.contiguous().mT, "complex": x * (1 + 0j)}.get(layout, x)
        for i, matrix in enumerate([whole] if layout == "stack" else whole):
            v = Variable(matrix)
            A.sum(A.real(A.linalg.det(v))).backward()
            one = expected if layout == "stack" else expected[i]
            np.testing.assert_allclose(v.grad.resolve_conj(), one, 1e-9, 1e-9)


CHANGES = {
    "resize_": lambda t: t.resize_(3),
    "data": lambda t: setattr(t, "data", torch.ones(2, 3)),
    "data of another dtype": lambda t: setattr(t, "data", t.data.double()),
    "set_": lambda t: t.set_(torch.ones(2)),
    "unsqueeze_": lambda t: t.unsqueeze_(0),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("when", ["before", "after", "in between"])
def test_a_tensor_that_is_given_another_shape_or_dtype_in_place_is_found(change, when):
    t = torch.ones(6)
    x = Variable(t)
    if when == "before":
        change(t)
    y = A.exp(x)
    if when == "after":
        change(t)
    z = A.mean(y * y)
    if when == "in between":
        change(y.array)
    with pytest.raises(xpgrad.ChangedArray, match="changed in place"):
        z.backward()
    assert x._grad is None
    with pytest.raises(xpgrad.ChangedArray, match=r"float32 \(6,\)"):
        _ = (y if when == "in between" else x).dtype


@pytest.mark.parametrize(
    "write", [lambda t: t.add_(1), lambda t: t.numpy().__setitem__(0, 9.0), lambda t: t.__setitem__(0, 9.0)],
    ids=["method", "NumPy", "assignment"],
)  # fmt: skip
def test_a_tensor_that_is_written_to_is_detected(write):
    for dtype in (torch.float32, torch.float64):
        t = torch.ones(3, dtype=dtype)
        x = Variable(t)
        with xpgrad.using_config("detect_mutation", True):
            y = A.sum(x * x)
        write(t)
        with pytest.raises(xpgrad.ChangedArray):
            y.backward()
        assert x.grad is None
    half = Variable(torch.ones(3, dtype=torch.bfloat16))
    with xpgrad.using_config("detect_mutation", True):
        y = A.sum(half * half)
    half.array.add_(1)
    with pytest.raises(xpgrad.ChangedArray):
        y.backward()


def test_indices_along_an_axis_may_be_int32() -> None:
    x, indices = torch.arange(6.0).reshape(2, 3), torch.tensor([[2], [0]], dtype=torch.int32)
    y = xpgrad.array_api.take_along_axis(xpgrad.Variable(x), indices, axis=1)
    assert y.array.tolist() == [[2.0], [3.0]]


OF_ONE_ELEMENT = {
    "sum": lambda v: A.sum(v, axis=0), "max": lambda v: A.max(v, axis=-1), "cumsum": lambda v: A.cumulative_sum(v),
    "cumprod": lambda v: A.cumulative_prod(v), "softmax": lambda v: F.softmax(v, axis=0),
    "log_softmax": lambda v: F.log_softmax(v, axis=0), "logsumexp": lambda v: F.logsumexp(v, axis=0),
    "mask": lambda v: v[v > -100], "no mask": lambda v: v[v < -100], "sigmoid": F.sigmoid,
}  # fmt: skip


@pytest.mark.parametrize("place", ["@torch:cpu", "@numpy"])
@pytest.mark.parametrize("name", OF_ONE_ELEMENT)
@pytest.mark.parametrize("value", [0.7, 6.0, -8.5, 40.0])
def test_a_0d_array_has_the_derivatives_of_a_vector_of_one_element(name, place, value):
    found = []
    for shape in ((), (1,)):
        x = Variable(placed(np.full(shape, value), xpgrad.get_device(place)))
        y = A.sum(OF_ONE_ELEMENT[name](x))
        (g,) = xpgrad.grad([y], [x], enable_double_backprop=True)
        (gg,) = xpgrad.grad([A.sum(g)], [x]) if g.requires_grad else [0 * g]
        tangent = jvp(OF_ONE_ELEMENT[name], (x.array,), (x.array,))[1]
        found.append([float(on_host(z).sum()) for z in (y, g, gg, as_array(tangent))])
        assert g.shape == shape
    assert found[0] == found[1]


def test_a_sorted_0d_tensor_has_a_gradient():
    x = Variable(torch.tensor(0.5))
    A.sort(A.take_along_axis(x, torch.tensor(-1), axis=0)).backward()
    assert x.grad.item() == 1.0


@pytest.mark.parametrize("name", ["@torch:cpu", "@numpy"])
def test_a_nan_leaves_the_gradients_of_its_neighbours(name):
    x = Variable(placed(np.asarray([np.nan, 40.0]), xpgrad.get_device(name)))
    (g,) = xpgrad.grad([A.sum(F.sigmoid(x))], [x])
    assert on_host(g)[1] == pytest.approx(np.exp(-40.0))


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e5m2"])
def test_dtypes_that_another_package_adds_to_numpy_arrive(dtype):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.asarray([[0.5, 2.0], [-1.0, 3.0]]).astype(getattr(ml_dtypes, dtype)).T
    y = xpgrad.get_device("@torch:cpu").send(x)
    assert y.dtype is getattr(torch, dtype)
    assert y.to(torch.float32).tolist() == x.tolist()


def test_counts_over_no_axis_are_of_elements():
    y = A.count_nonzero(torch.tensor([[0.0, 2.0]]), axis=())
    assert y.array.tolist() == [[0, 1]]
    assert y.dtype is torch.int64


@pytest.mark.parametrize("function", [A.add, A.less, lambda x, y: A.concat([x, y]), lambda x, y: x * y])
def test_an_error_names_the_dtypes_that_do_not_promote(function):
    with pytest.raises(DtypeError, match=r"^[a-z]+: .*(int8 and uint16|Char and UInt16)"):
        function(Variable(torch.ones(2, dtype=torch.int8)), Variable(torch.ones(2, dtype=torch.uint16)))


@pytest.mark.parametrize(
    ("function", "x", "error", "match"),
    [
        (A.linalg.svd, [[1, 2], [3, 4]], DtypeError, "^svd: .*floating point.*; got x=torch.int64"),
        (A.argmax, [1j, 2.0], DtypeError, "^argmax: .*complex"),
        (lambda x: A.segment_max(x, torch.tensor([0, 0]), 1), [1j, 2.0], DtypeError, "^segment_max: .*complex"),
        (lambda x: A.repeat(x, torch.tensor([1, 2])), [1.0, 2.0, 3.0], ShapeError, "^repeat: .*same size"),
    ],
)
def test_a_runtime_error_of_pytorch_about_arguments_is_named_and_classified(function, x, error, match):
    with pytest.raises(error, match=match):
        function(Variable(torch.tensor(x)))


@pytest.mark.parametrize("axis", [2, 7, -3])
def test_take_rejects_an_axis_that_does_not_exist(axis: int) -> None:
    for index in 0, -1:
        with pytest.raises(AxisError, match=r"^take: Dimension out of range"):
            A.take(Variable(torch.ones(2, 3)), torch.tensor([index]), axis=axis)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(BITWISE_FROM,), (2, BITWISE_FROM // 2)], ids=str)
def test_where_by_bits_gives_the_bits_of_where(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    generator = torch.Generator().manual_seed(0)
    values = torch.tensor([1.5, -2.0, 0.0, -0.0, torch.inf, torch.nan, 3e-41], dtype=dtype)
    x, y = (values[torch.randint(len(values), shape, generator=generator)] for _ in range(2))
    condition = torch.rand(shape, generator=generator) < 0.5
    for x1, x2 in [(x, y), (x, x[..., :1].expand(shape)), *((x, z) for z in (0.0, -0.0, 2, *values)), (0.0, y)]:
        assert_same_bits(where(condition, x1, x2).numpy(), torch.where(condition, x1, x2).numpy(), "where")


def test_gradients_of_sorts_and_extrema_of_random_elements() -> None:
    x, other = (Variable(torch.randint(-9, 9, (2, BITWISE_FROM)).double()) for _ in range(2))
    gy, axis = Variable(torch.rand(x.shape).double()), -1
    (gx,) = grad([A.sort(x, axis=axis, descending=True)], [x], [gy])
    order = torch.argsort(x.array, dim=axis, descending=True, stable=True)
    assert torch.equal(gx.array.gather(axis, order), gy.array)
    for f, taken in ((A.maximum, x.array > other.array), (A.minimum, x.array < other.array)):
        half = 0.5 * (taken.double() + (taken | (x.array == other.array)).double())
        assert torch.equal(grad([f(x, other)], [x], [gy])[0].array, gy.array * half)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gradients_of_tanh_do_not_overflow(dtype: torch.dtype) -> None:
    x = Variable(torch.tensor([-18.5, -8.4, -3.0, 0.0, 1e-3, 3.0, 8.4, 18.5], dtype=dtype))
    gy = torch.full_like(x.array, torch.finfo(dtype).max)
    (gx,) = grad([A.tanh(x)], [x], [Variable(gy)])
    assert torch.allclose(gx.array, gy / x.array.double().cosh().square().to(dtype), 1e-5, 0)


def test_a_reshaped_temporary_tensor_is_no_view_if_references_can_be_counted(monkeypatch) -> None:
    backend, x = xpgrad.get_device("@torch:cpu").backend, torch.ones(6)
    y = torch.ones(6).reshape(2, 3)
    assert not backend.is_view(y)
    exported = torch.ones(6)
    capsule, z = torch.utils.dlpack.to_dlpack(exported), exported.reshape(2, 3)
    del exported
    assert backend.is_view(x.reshape(2, 3))
    assert backend.is_view(z), capsule
    assert backend.is_view(torch.from_numpy(np.ones(6)).reshape(2, 3))
    monkeypatch.delattr(torch._C, "_storage_Use_Count")
    assert backend.is_view(y)
