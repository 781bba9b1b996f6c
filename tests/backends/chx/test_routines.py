"""ChainerX's routines beyond the standard: one call of each, its value, dtype, device and graph."""

import io
import operator

import numpy as np
import pytest
from tests.backends.chx.arrays import leaves, tree

import xpgrad
import xpgrad.functions as F
import xpgrad_chx as chx
from xpgrad_chx.routines.numpy_names import NAMES
from xpgrad_chx.routines.renamed import RENAMED
from xpgrad_chx.sweeping import backward

A = np.array([[0.31, -1.7, 2.3, 0.4], [1.9, 0.71, -0.43, -2.1]])
B = np.array([[0.9, 1.2, -0.8, 2.2], [-1.4, 0.6, 1.7, 0.3]])
P = np.abs(A) + 0.1
CUBE = np.arange(1.0, 17.0).reshape(2, 4, 2) / 7
MISSING = np.array([[0.5, np.nan, 2.0], [np.nan, 1.5, -1.0]])
I = np.array([[3, 1, 2], [5, 4, 7]])
LABELS, BITS = np.array([2, 0]), np.array([[1, 0, -1, 1], [0, 1, 1, 0]])
S = np.array([[4.1, 0.3], [0.3, 2.7]])
STATE = np.array([[[0.2, -0.4], [0.5, 0.1]]])
BOTH = np.concatenate([STATE, -STATE])
IMAGES, FILTERS = np.sin(np.arange(80.0)).reshape(2, 2, 4, 5), np.cos(np.arange(36.0)).reshape(3, 2, 2, 3)
X = [np.array([[0.3, -0.7], [0.8, 0.2]]), np.array([[1.1, 0.6]])]


def weights(count, directions=1):
    values = np.sin(np.arange(1.0, 1 + 6 * count * directions))
    ws = [[values[4 * k : 4 * k + 4].reshape(2, 2) for k in range(count)] for _ in range(directions)]
    return ws, [[values[k : k + 2] for k in range(count)] for _ in range(directions)]


def from_functions(name, *args, **kwargs):
    """Return a reference: a function of Variables over NumPy's arrays."""

    def call(*given, **_):
        ys = getattr(F, name)(*(args or given), **kwargs)
        ys = [*ys[:-1], list(ys[-1])] if name.startswith("n_step") else ys
        return tree(ys, lambda y: y.array)

    return call


def sums(x, *_, **__):
    return np.log(np.exp(x).sum(1, keepdims=True))


def network(name, count, *states, directions=1):
    ws, bs = weights(count, directions)
    return (1, *states, ws, bs, X), {}, from_functions(f"n_step_{name}", 1, 0.0, *states, ws, bs, X)


# Name -> operands, keywords, and the reference if it is not NumPy's function of that name.
CALLS = {
    # shapes
    "array_split": ((A, 3, 1),), "atleast_1d": ((A[0, 0, ...],),), "atleast_2d": ((A[0],),),
    "atleast_3d": ((A,),), "dsplit": ((CUBE, 2),), "dstack": (([A, B],),), "fliplr": ((A,),), "flipud": ((A,),),
    "hsplit": ((A, 2),), "hstack": (([A, B],),), "pad": ((A, 1),), "ravel": ((A,),), "rollaxis": ((CUBE, 2),),
    "split": ((A, [1, 3], 1),), "squeeze": ((A[:1],),), "swapaxes": ((CUBE, 0, 2),), "tile": ((A, 2),),
    "transpose": ((CUBE,),), "vsplit": ((A, 2),), "vstack": (([A[0], B[0]],),), "concatenate": (([A, B], 1),),
    # mathematics and statistics
    **dict.fromkeys(("absolute", "fabs", "arcsinh", "arctan", "cumsum", "cumprod", "amax", "amin"), ((A,),)),
    **dict.fromkeys(("arccos", "arcsin", "arctanh"), ((A / 3,),)), "arccosh": ((P + 1,),),
    **dict.fromkeys(("arctan2", "fmod", "true_divide", "mod"), ((A, B + 0.04),)), "power": ((P, B),),
    "invert": ((I,),), "bitwise_not": ((I,),), "left_shift": ((I, I[::-1]),), "right_shift": ((I, I[::-1]),),
    "average": ((A, 1, B[0] + 2),), "dot": ((A, B.T),), "einsum": (("ij,kj->ik", A, B),),
    **dict.fromkeys(("nanmax", "nanmean", "nanmin", "nansum", "nanvar", "nanargmax", "nanargmin"), ((MISSING, 1),)),
    "nan_to_num": ((MISSING,),),
    "erf": ((A,), {}, from_functions("erf")), "rsqrt": ((P,), {}, lambda x: 1 / np.sqrt(x)),
    "logsumexp": ((A, 1), {"keepdims": True}, sums),
    # creation from arrays
    "asanyarray": ((A,),), "ascontiguousarray": ((A.T,),), "asfortranarray": ((A,),), "copy": ((A,),),
    "diag": ((A[0], 1),), "diagflat": ((A[0],),),
    # activation
    "relu": ((A,), {}, lambda x: np.maximum(x, 0)), "sigmoid": ((A,), {}, lambda x: 1 / (1 + np.exp(-x))),
    "clipped_relu": ((A, 1.5), {}, lambda x, z: np.clip(x, 0, z)),
    "leaky_relu": ((A,), {}, lambda x: np.where(x > 0, x, 0.2 * x)),
    "crelu": ((A,), {}, lambda x: np.hstack((np.maximum(x, 0), np.maximum(-x, 0)))),
    "elu": ((A,), {}, lambda x: np.where(x > 0, x, np.exp(x) - 1)),
    "softmax": ((A,), {}, lambda x: np.exp(x - sums(x))), "log_softmax": ((A,), {}, lambda x: x - sums(x)),
    "lstm": ((A[:, :1], A), {}, from_functions("lstm")),
    "slstm": ((A[:, :1], B[:, :1], A, B), {}, from_functions("slstm")),
    "tree_lstm": ((A[:, :1], A), {}, from_functions("tree_lstm")),
    # connection and rnn
    "linear": ((A, B, B[:, 0]), {}, lambda x, W, b: x @ W.T + b),
    "embed_id": ((LABELS % 2, A), {}, lambda x, W: W[x]),
    "n_step_lstm": network("lstm", 8, STATE, STATE), "n_step_bilstm": network("bilstm", 8, BOTH, BOTH, directions=2),
    "n_step_gru": network("gru", 6, STATE), "n_step_bigru": network("bigru", 6, BOTH, directions=2),
    "n_step_rnn": network("rnn", 2, STATE), "n_step_birnn": network("birnn", 2, BOTH, directions=2),
    # loss and evaluation
    "absolute_error": ((A, B), {}, lambda x, t: abs(x - t)), "squared_error": ((A, B), {}, lambda x, t: (x - t) ** 2),
    "squared_difference": ((A, B[0]), {}, lambda x, t: (x - t) ** 2),
    "huber_loss": ((A, B, 1.0), {}, from_functions("huber_loss", A, B, 1.0, "no")),
    "gaussian_kl_divergence": ((A, B), {}, from_functions("gaussian_kl_divergence", A, B, "no")),
    "hinge": ((A, LABELS, 2), {}, from_functions("hinge", A, LABELS, "L2", "no")),
    "sigmoid_cross_entropy": ((A, BITS), {}, from_functions("sigmoid_cross_entropy", A, BITS, reduce="no")),
    "softmax_cross_entropy": ((A, LABELS), {}, lambda x, t: sums(x)[:, 0] - x[[0, 1], t]),
    "accuracy": ((A, LABELS), {}, from_functions("accuracy")),
    # windows and normalization
    "conv": ((IMAGES, FILTERS, B[0, :3]), {}, from_functions("convolution_2d")),
    "conv pad": ((IMAGES, FILTERS, B[0, :3], (2, 1), 1), {}, from_functions("convolution_2d")),
    "conv_transpose": ((IMAGES, FILTERS[:2], B[0, :2]), {}, from_functions("deconvolution_2d")),
    "max_pool": ((IMAGES, 2), {}, from_functions("max_pooling_2d", IMAGES, 2, cover_all=False)),
    "max_pool stride": ((IMAGES, (2, 3), 1), {}, from_functions("max_pooling_2d")),
    "average_pool": ((IMAGES, 2), {}, from_functions("average_pooling_2d")),
    "average_pool zero": ((IMAGES, 2, 1, 1, "zero"), {}, from_functions("average_pooling_nd", IMAGES, 2, 1, 1, 0.0)),
    "average_pool ignore": ((IMAGES, 2, 1, 1), {}, from_functions("average_pooling_nd", IMAGES, 2, 1, 1, None)),
    "fixed_batch_norm": ((IMAGES, P[0, :2], B[0, :2], A[0, :2], P[1, :2]), {},
        from_functions("fixed_batch_normalization")),
}  # fmt: skip
WITHOUT_GRADIENT = {"accuracy", "nanargmax", "nanargmin"}
CREATION = {"frombuffer", "fromfile", "fromfunction", "fromiter", "fromstring", "identity", "loadtxt", "tri"}
OTHERS = {"all_dtypes", "bool_", "is_available", "random"}


def on(device, x, required=False):
    def placed(item):
        if not isinstance(item, np.ndarray):
            return item
        y = chx.array(item, device=device)
        return y.require_grad() if required and item.dtype.kind == "f" else y

    return tree(x, placed)


def case(name):
    args, kwargs, reference = (*CALLS[name], {}, None)[:3] if len(CALLS[name]) < 3 else CALLS[name]
    return args, kwargs, reference or getattr(np, name)


def test_every_routine_is_called_here():
    made = {name for name in chx.__all__ if _module(getattr(chx, name)).startswith("xpgrad_chx.routines")}
    called = {name.partition(" ")[0] for name in CALLS}
    assert made | set(RENAMED) | set(NAMES) == called | CREATION | {"batch_norm", "copyto"}
    assert set(chx.__all__) >= OTHERS
    assert len(set(chx.__all__)) == len(chx.__all__)


def _module(x):
    return getattr(x, "__module__", None) or ""


@pytest.mark.parametrize("name", CALLS)
def test_value_dtype_device_and_graph(name):
    args, kwargs, reference = case(name)
    wanted = leaves(tree(reference(*args, **kwargs), np.asarray))
    for required in (False, True):
        operands = on("native:1", args, required)
        got = getattr(chx, name.partition(" ")[0])(*operands, **kwargs)
        sources = [x for x in leaves(operands) if isinstance(x, chx.ndarray) and x.dtype.kind == "f"]
        differentiable = bool(required and name not in WITHOUT_GRADIENT and sources)
        results = leaves(tree(got, lambda y: y))
        assert len(results) == len(wanted)
        for mine, theirs in zip(results, wanted, strict=True):
            assert type(mine) is chx.ndarray
            assert mine.device is chx.get_device("native:1")
            assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype)
            assert mine.is_backprop_required() == differentiable
            np.testing.assert_allclose(chx.to_numpy(mine), theirs, rtol=1e-12)
        if differentiable:
            backward(results)
            assert all(x.grad is not None and x.grad.device is results[0].device for x in sources)


@pytest.mark.parametrize("name", RENAMED)
def test_renamed_functions_are_the_standards(name):
    assert getattr(chx, name) is getattr(chx, RENAMED[name])


def test_creation_from_elsewhere(tmp_path):
    path = tmp_path / "numbers"
    A.tofile(path)
    text = "1 2\n3 4"
    made = {
        "frombuffer": (chx.frombuffer(A.tobytes(), device="native:1"), A.ravel()),
        "fromfile": (chx.fromfile(path, device="native:1"), A.ravel()),
        "fromfunction": (chx.fromfunction(lambda i, j: i - j, (2, 3), dtype=np.int64, device="native:1"),
                         [[0, -1, -2], [1, 0, -1]]),
        "fromiter": (chx.fromiter(range(5), np.int32, 3, device="native:1"), [0, 1, 2]),
        "fromstring": (chx.fromstring("1, 2, 3", sep=",", device="native:1"), [1, 2, 3]),
        "identity": (chx.identity(2, device="native:1"), np.eye(2)),
        "loadtxt": (chx.loadtxt(io.StringIO(text), device="native:1"), [[1, 2], [3, 4]]),
        "tri": (chx.tri(2, 3, 1, np.float32, "native:1"), np.tri(2, 3, 1)),
    }  # fmt: skip
    assert made.keys() == CREATION
    for got, expected in made.values():
        assert got.device is chx.get_device("native:1")
        np.testing.assert_array_equal(chx.to_numpy(got), expected)
    assert made["tri"][0].dtype == chx.float32
    assert made["fromiter"][0].dtype == chx.int32


def test_contiguous_arrays_are_returned_unchanged():
    a = chx.array(CUBE)
    assert chx.ascontiguousarray(a) is a
    t = chx.ascontiguousarray(a.transpose(1, 0, 2))
    assert t.is_contiguous
    np.testing.assert_array_equal(chx.to_numpy(t), CUBE.transpose(1, 0, 2))
    f = chx.asfortranarray(a)
    assert chx.to_numpy(f, copy=False).flags.f_contiguous
    assert chx.ascontiguousarray(chx.array(2.0)).shape == ()
    assert chx.copy(a) is not a


def test_creation_takes_dtype_and_device_by_position():
    for made in (
        chx.zeros((2,), chx.int8, "native:1"), chx.ones((2,), chx.int8, "native:1"),
        chx.empty((2,), chx.int8, "native:1"), chx.full((2,), 3, chx.int8, "native:1"),
        chx.eye(2, 2, 0, chx.int8, "native:1"), chx.asarray([1], chx.int8, "native:1"),
    ):  # fmt: skip
        assert (made.dtype, made.device) == (chx.int8, chx.get_device("native:1"))
    assert chx.linspace(0, 1).shape == (50,)


@pytest.mark.parametrize("required", [False, True])
def test_axes_by_position(required):
    a = on("native:0", A, required)
    calls = {
        "sum": (1, True), "max": (1, True), "mean": (0,), "var": (0,), "std": (1,), "min": (1,), "prod": (0,),
        "argmax": (1,), "argmin": (0,), "argsort": (1,), "sort": (0,), "flip": (1,), "tril": (1,), "triu": (-1,),
        "diff": (1, 0), "repeat": (2, 1), "roll": (1, 1), "count_nonzero": (1,),
    }  # fmt: skip
    for name, args in calls.items():
        expected = (
            getattr(np, name)(A, *args) if name != "sum" and name != "max" else getattr(A, name)(1, keepdims=True)
        )
        np.testing.assert_allclose(chx.to_numpy(getattr(chx, name)(a, *args)), expected, rtol=1e-12, err_msg=name)
    np.testing.assert_array_equal(chx.to_numpy(chx.cumulative_sum(a, 1)), np.cumsum(A, 1))
    assert chx.take(a, chx.array([0, 2]), 1).shape == (2, 2)
    assert chx.stack([a, a], 1).shape == (2, 2, 4)
    assert chx.tensordot(a, a, 2).shape == ()
    assert bool(chx.all(a != 0, 1, True).all())
    with pytest.raises(TypeError, match="sum: expected 1 operands, then axis, keepdims"):
        chx.sum(a, 0, axis=0)
    with pytest.raises(TypeError, match="sum: expected 1 operands"):
        chx.sum(a, 0, True, None)


def test_copyto():
    a = chx.zeros((2, 3))
    chx.copyto(a, chx.array([1, 2, 3]))
    assert a.tolist() == [[1.0, 2.0, 3.0]] * 2
    chx.copyto(a, 7.0, where=chx.array([True, False, False]))
    assert a.tolist() == [[7.0, 2.0, 3.0]] * 2
    chx.copyto(a, 0.0, where=False)
    assert a.tolist() == [[7.0, 2.0, 3.0]] * 2
    i = chx.array([1, 2])
    with pytest.raises(chx.DtypeError, match="copyto: float64 cannot be cast to int64"):
        chx.copyto(i, chx.array([1.5, 2.5]))
    chx.copyto(i, chx.array([1.5, 2.5]), casting="unsafe")
    assert i.tolist() == [1, 2]
    with pytest.raises(chx.ChainerxError, match="in-place assignment"):
        chx.copyto(chx.ones((2,)).require_grad(), 0.0)


def test_random_numbers_follow_the_seed_of_the_device():
    place = xpgrad.get_device("native:1")
    xpgrad.random.seed(5, place)
    drawn = chx.random.normal(3.0, 0.5, (1000,), "native:1"), chx.random.uniform(2.0, 4.0, 1000, "native:1")
    xpgrad.random.seed(5, place)
    assert chx.to_numpy(drawn[0]).tolist() == chx.random.normal(3.0, 0.5, (1000,), "native:1").tolist()
    assert abs(float(drawn[0].mean()) - 3.0) < 0.1
    assert abs(float(drawn[0].std()) - 0.5) < 0.1
    assert 2.0 <= float(drawn[1].min()) < 2.1
    assert 3.9 < float(drawn[1].max()) < 4.0
    assert drawn[1].device is chx.get_device("native:1")
    assert chx.random.normal().shape == ()


def test_availability_and_dtypes():
    assert chx.is_available()
    assert chx.all_dtypes[0] is chx.bool_ is chx.bool
    assert [np.dtype(each).name for each in chx.all_dtypes] == (
        ["bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64"]
    )


ARITHMETIC = {name: getattr(operator, name) for name in ("add", "sub", "truediv", "floordiv", "mod", "pow")}
ARITHMETIC |= {
    f"chx.{name}": getattr(chx, name)
    for name in ("add", "subtract", "divide", "floor_divide", "remainder", "pow", "fmod", "power")
}


@pytest.mark.parametrize("name", ARITHMETIC)
def test_booleans_take_no_part_in_arithmetic(name):
    function, flags, numbers = ARITHMETIC[name], chx.array([True, False]), chx.array([1.5, 2.5])
    graph = numbers.copy().require_grad()
    for left, right in (
        (flags, flags), (flags, numbers), (numbers, flags), (flags, 1), (1, flags), (graph, flags), (flags, graph),
    ):  # fmt: skip
        with pytest.raises(chx.DtypeError, match=r"expected numbers, got an array of dtype bool; cast it"):
            function(left, right)
    if not name.startswith("chx"):
        with pytest.raises(chx.DtypeError, match="got an array of dtype bool"):
            getattr(operator, f"i{name}")(numbers, flags)


def test_booleans_can_be_negated_by_logic_only_but_multiplied():
    flags = chx.array([True, False])
    for negated in (operator.neg, chx.negative):
        with pytest.raises(chx.DtypeError, match="got an array of dtype bool"):
            negated(flags)
    assert (flags * flags).tolist() == [True, False]
    assert (flags * chx.array([1.5, 2.5])).tolist() == [1.5, 0.0]
    assert (~flags).tolist() == [False, True]
    assert int(flags.sum()) == 1


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: chx.relu(chx.array([1])), "relu"),
        (lambda: chx.linear(chx.array(A), chx.array(A[:, :2])), "W of shape"),
        (lambda: chx.n_step_lstm(1, chx.array(STATE), chx.array(STATE), [], [], on("native:0", X)), "ws of 1 lists"),
    ],
)
def test_operands_that_do_not_fit(call, text):
    with pytest.raises(chx.DtypeError, match=text) as caught:
        call()
    assert isinstance(caught.value, chx.DimensionError)


def test_routines_of_two_devices_or_libraries():
    with pytest.raises(chx.DeviceError, match="linear: arrays of two devices"):
        chx.linear(chx.array(A), chx.array(B, device="native:1"))
    with pytest.raises(xpgrad.BackendMismatch, match="relu: expected chx arrays, got numpy"):
        chx.relu(A)
    with pytest.raises(ValueError, match="norm must be 1 or 2"):
        chx.hinge(chx.array(A), chx.array(LABELS), norm=3)


def test_parameters_of_a_network_may_be_variables():
    W = xpgrad.Parameter(chx.array(B))
    y = chx.linear(chx.array(A), W)
    assert y.is_backprop_required()
    chx.sum(y).backward()
    np.testing.assert_allclose(chx.to_numpy(W.grad), np.stack([A.sum(0)] * 2))
