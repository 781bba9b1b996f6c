"""Results under Chainer's name that differ from xpgrad's results."""

import operator
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

F32 = np.float32


@pytest.fixture
def x():
    import chainer

    return chainer.Variable(np.array([[1, -2, 3], [4, 5, -6]], F32))


@pytest.mark.parametrize("operation", ["+", "-", "*", "/", "**"])
def test_arrays_are_cast_to_the_dtype_of_the_variable(x, operation) -> None:
    from chainer import Variable

    x = Variable(np.abs(x.array))
    other = np.full((2, 3), 2.0)
    for expression in (f"x {operation} other", f"other {operation} x"):
        y = eval(expression)
        assert type(y) is Variable
        assert y.dtype == F32
        np.testing.assert_allclose(y.array, eval(expression, {"x": x.array, "other": other}), rtol=1e-6)


def test_gradient_of_an_array_operand_has_the_dtype_of_the_variable(x) -> None:
    import chainer.functions as F

    F.sum(x * np.full((2, 3), 2.0)).backward()
    assert x.grad.dtype == F32
    np.testing.assert_array_equal(x.grad, np.full((2, 3), 2.0, F32))


def test_labels_are_those_of_chainer(x) -> None:
    import chainer
    import chainer.functions as F
    import chainer.links as L

    assert F.relu(x).creator.label == "ReLU"
    assert L.Linear(3, 2)(x).creator.label == "LinearFunction"
    assert (x + x).creator.label == "_ + _"
    pictures, filters = x.reshape(1, 1, 2, 3), np.ones((1, 1, 2, 2), F32)
    for function, name, label in (
        (lambda: F.arccos(x / 9), "Arccos", "arccos"), (lambda: x[0], "GetItem", ""),
        (lambda: F.convolution_2d(pictures, filters), "Convolution2DFunction", ""),
        (lambda: F.cast(x, "float64"), "Cast", ""), (lambda: F.lgamma(abs(x)), "LGamma", "lgamma"),
        (lambda: F.linear(x, np.ones((2, 3), F32)), "LinearFunction", ""), (lambda: F.sigmoid(x), "Sigmoid", ""),
        (lambda: F.max_pooling_2d(pictures, 2), "MaxPoolingND", ""), (lambda: F.mean(x), "Mean", ""),
        (lambda: F.softmax_cross_entropy(x, np.array([0, 1])), "SoftmaxCrossEntropy", ""),
    ):  # fmt: skip
        with chainer.function_hooks.TimerHook() as hook:
            node = function().creator
        assert (hook.call_history[-1][0], node.label) == (name, label or name)
    assert [chainer.Variable(np.ones(shape, F32)).label for shape in ((), (2,), (2, 1))] == [
        "float32", "(2), float32", "(2, 1), float32"
    ]  # fmt: skip


def test_hooks_get_the_names_of_classes(x) -> None:
    from chainer import Variable
    from chainer.function_hooks import TimerHook
    from chainer.functions.math.exponential import Exp

    everywhere, local, function = TimerHook(), TimerHook(), Exp()
    function.add_hook(local)
    with everywhere:
        y = 2 * x * x
    (z,) = function.apply((y,))
    z.grad = np.ones_like(z.array)
    z.backward()
    assert [name for name, _ in everywhere.call_history] == ["Mul", "Mul"]
    assert [name for name, _ in local.call_history] == ["Exp", "Exp"]
    assert (function.label, Variable(np.ones(2)).label) == ("exp", "(2), float64")


def test_indices_are_int32(x) -> None:
    import chainer.functions as F

    assert F.argmax(x, axis=0).dtype == F.argmin(x).dtype == np.int32
    with pytest.raises(TypeError, match="axis must be None or int"):
        F.argmax(x, (0,))
    cost, xs = np.eye(3, dtype="f"), [np.eye(3, dtype="f")[:2], np.eye(3, dtype="f")[:1]]
    assert {labels.dtype for labels in F.argmax_crf1d(cost, xs)[1]} == {np.dtype("int32")}


def test_configuration_has_the_entries_of_chainer() -> None:
    import chainer

    assert chainer.config.dtype == np.float32
    entries = {"use_cudnn": "never", "autotune": True, "use_ideep": "auto", "cudnn_deterministic": True}
    for name, value in entries.items():
        with chainer.using_config(name, value):
            assert getattr(chainer.config, name) == value
    with chainer.using_config("warn_nondeterministic", True), pytest.warns(UserWarning, match="non-determ.*: add_at"):
        chainer.utils.nondeterministic("add_at")


@pytest.mark.parametrize(
    ("variable", "text", "entry", "value"),
    [
        ("CHAINER_DEBUG", "1", "debug", True),
        ("XPGRAD_COMPILE", "1", "compile", True),
        ("CHAINER_TYPE_CHECK", "0", "type_check", False),
        ("CHAINER_KEEP_GRAPH_ON_REPORT", "1", "keep_graph_on_report", True),
        ("CHAINER_LAZY_GRAD_SUM", "1", "lazy_grad_sum", True),
        ("CHAINER_USE_CUDNN", "never", "use_cudnn", "never"),
        ("CHAINER_USE_IDEEP", "auto", "use_ideep", "auto"),
        ("CHAINER_DTYPE", "float64", "dtype", np.float64),
    ],
)
def test_environment_sets_entries(monkeypatch, variable, text, entry, value) -> None:
    import xpgrad_chainer

    xpgrad_chainer.uninstall()
    monkeypatch.setenv(variable, text)
    xpgrad_chainer.install()
    import chainer

    assert getattr(chainer.config, entry) == value
    assert (chainer.is_debug(), chainer.links.Linear(1, 1).W.dtype) == (
        variable == "CHAINER_DEBUG",
        np.float64 if entry == "dtype" else np.float32,
    )
    xpgrad_chainer.uninstall()
    if not entry.startswith("use_"):
        monkeypatch.setenv(variable, "x")
        with pytest.raises(ValueError, match=f"{variable}: expected .*, got 'x'"):
            xpgrad_chainer.install()


def test_numpy_integers_are_sizes() -> None:
    import chainer.links as L

    assert L.Linear(np.int64(4), np.max(np.array([2])) + 1).W.shape == (3, 4)


@pytest.mark.parametrize(
    ("module", "name", "args", "function", "kwargs"),
    [
        ("activation.relu", "ReLU", (), "relu", {}),
        ("activation.softmax", "Softmax", (0,), "softmax", {"axis": 0}),
        ("array.transpose", "Transpose", ((1, 0),), "transpose", {"axes": (1, 0)}),
        ("math.trigonometric", "Sin", (), "sin", {}),
        ("math.sum", "Sum", (1,), "sum", {"axis": 1}),
        ("math.logsumexp", "LogSumExp", (), "logsumexp", {}),
    ],
)
def test_class_of_a_function_applies_it(x, module, name, args, function, kwargs) -> None:
    import importlib

    import chainer.functions as F

    cls = getattr(importlib.import_module(f"chainer.functions.{module}"), name)
    (y,) = cls(*args).apply((x,))
    expected = getattr(F, function)(x, **kwargs)
    np.testing.assert_array_equal(y.array, expected.array)
    assert isinstance(y.creator, cls)
    assert not isinstance((x + x).creator, cls)


def test_classes_have_what_their_last_call_computed(x) -> None:
    from chainer.functions.loss.sigmoid_cross_entropy import SigmoidCrossEntropy
    from chainer.functions.loss.softmax_cross_entropy import SoftmaxCrossEntropy
    from chainer.functions.noise.dropout import Dropout
    from chainer.functions.normalization.batch_normalization import BatchNormalization
    from chainer.functions.pooling.max_pooling_nd import MaxPoolingND

    def called(cls, *args, inputs=(x,)):
        function = cls(*args)
        function.apply(inputs)
        return function

    assert called(MaxPoolingND, 1, 3, inputs=(x.reshape(1, 2, 3),)).indexes.tolist() == [[[2], [1]]]
    normalization = called(BatchNormalization, 1e-5, None, None, 0.5, inputs=(x, np.ones(3, F32), np.zeros(3, F32)))
    np.testing.assert_allclose(normalization.running_mean, x.array.mean(axis=0) / 2)
    assert called(SigmoidCrossEntropy, inputs=(x, np.array([[1, 0, -1], [1, -1, 0]]))).count == 4
    np.testing.assert_allclose(called(SoftmaxCrossEntropy, inputs=(x, np.array([0, 1]))).y.sum(axis=1), 1, rtol=1e-6)
    assert Dropout(0.5).mask is None
    assert set(called(Dropout, 0.5).mask.flat) <= {0, 2}
    with pytest.raises(AttributeError, match="no attribute 'indexes'"):
        Dropout(0.5).indexes  # noqa: B018 - a property


def test_derived_class_of_a_function_uses_its_own_backward(x) -> None:
    import chainer
    import chainer.functions as F
    from chainer.functions.math.square import Square

    class Doubled(Square):
        def backward(self, indexes, gys):
            return tuple(2 * g for g in super().backward(indexes, gys))

    (y,) = Doubled().apply((x,))
    (gx,) = chainer.grad([F.sum(y)], [x], enable_double_backprop=True)
    np.testing.assert_allclose(gx.array, 4 * x.array)
    (ggx,) = chainer.grad([F.sum(gx)], [x])
    np.testing.assert_allclose(ggx.array, np.full((2, 3), 4, F32))


def test_optimizer_need_not_call_init(x) -> None:
    import chainer

    class Counting(chainer.Optimizer):
        def __init__(self):
            self.updates = 0

        def update(self, lossfun=None, *args, **kwds):
            self.updates += 1

    optimizer = Counting().setup(chainer.links.Linear(3, 2))
    optimizer.update()
    optimizer.new_epoch()
    assert (optimizer.updates, optimizer.epoch) == (1, 1)


def test_windows_as_columns_and_back() -> None:
    from chainer.utils.conv import col2im_cpu, get_conv_outsize, get_deconv_outsize, im2col_cpu

    image = np.arange(2 * 3 * 5 * 6, dtype=F32).reshape(2, 3, 5, 6)
    column = im2col_cpu(image, 3, 2, 2, 1, 1, 0, dy=1, dx=2)
    assert column.shape == (2, 3, 3, 2, get_conv_outsize(5, 3, 2, 1), get_conv_outsize(6, 2, 1, 0, d=2))
    back = col2im_cpu(column, 2, 1, 1, 0, 5, 6, dy=1, dx=2)
    np.testing.assert_allclose(np.vdot(column, column), np.vdot(back, image), rtol=1e-6)  # `col2im_cpu` is the adjoint
    assert get_deconv_outsize(get_conv_outsize(7, 3, 2, 0), 3, 2, 0) == 7


def test_crops_of_images_and_their_mirror_images() -> None:
    from chainer.utils.imgproc import oversample

    image = np.arange(2 * 5 * 6, dtype=F32).reshape(2, 5, 6)
    crops = oversample([image, -image], (3, 2))
    assert crops.shape == (20, 2, 3, 2)
    np.testing.assert_array_equal(crops[3], image[:, 2:, 4:])
    np.testing.assert_array_equal(crops[9], image[:, 1:4, 2:4][..., ::-1])
    np.testing.assert_array_equal(crops[10:], -crops[:10])


def test_expressions_of_type_checks_are_text_and_values() -> None:
    from chainer.utils import type_check

    types = type_check.get_types((np.zeros((2, 3), F32),), "in_types", False)
    condition = types[0].ndim + 1 == types[0].shape[1] * 2
    assert str(condition) == "in_types[0].ndim + 1 == in_types[0].shape[1] * 2"
    with pytest.raises(type_check.InvalidType, match="3 != 6"):
        condition.expect()


def test_numpy_takes_variables_for_objects(x) -> None:
    import chainer

    found = np.asarray([chainer.Variable(np.array(1, F32)), chainer.Variable(np.array(2, F32))])
    assert (found.dtype, found[1].item()) == (object, 2.0)


def test_seed_of_numpy_decides_parameters_and_dropout() -> None:
    import chainer.functions as F
    import chainer.links as L

    np.random.seed(3)  # noqa: NPY002 - as programs for Chainer do
    W, y = L.Linear(3, 2).W.array, F.dropout(np.ones((4, 5), F32)).array
    same = np.random.RandomState(3)
    np.testing.assert_allclose(W, same.normal(0, 3**-0.5, (2, 3)), rtol=1e-6)
    np.testing.assert_array_equal(y, 2 * (same.rand(4, 5) >= 0.5))


def test_initial_weights_are_drawn_in_the_order_of_chainer() -> None:
    import chainer
    import chainer.links as L

    draw = np.random.RandomState(3).normal
    expected = [draw(0, scale, shape) for _ in range(4) for scale, shape in ((0.5, (4, 4)), (3**-0.5, (4, 3)))]
    for first in ((3, 4), (4,)):
        np.random.seed(3)  # noqa: NPY002 - as programs for Chainer do
        link = L.LSTM(*first)
        link(np.ones((2, 3), F32))
        np.testing.assert_allclose(link.lateral.W.array, np.concatenate(expected[::2]), rtol=1e-6)
        np.testing.assert_allclose(link.upward.W.array, np.concatenate(expected[1::2]), rtol=1e-6)
    deformable = L.DeformableConvolution2D(2, 3, 3)
    assert deformable.offset_conv.W.array.any()
    assert not deformable.deform_conv.W.array.any()
    np.random.seed(3)  # noqa: NPY002
    normal = chainer.initializers.Normal(1.0)
    np.testing.assert_allclose(
        np.append(*(p.array.ravel() for p in (lambda k: (k.W, k.b))(L.Linear(2, 2, False, normal, normal)))),
        np.random.RandomState(3).normal(size=6), rtol=1e-6,
    )  # fmt: skip


def test_wide_orthogonal_matrices_are_drawn_as_chainer_draws_them() -> None:
    import chainer

    np.random.seed(3)  # noqa: NPY002 - as programs for Chainer do
    found = chainer.initializers.generate_array(chainer.initializers.Orthogonal(2.0), (2, 4), np)
    np.random.seed(3)  # noqa: NPY002
    q, r = np.linalg.qr(np.random.normal(size=(2, 4)).T)  # noqa: NPY002
    np.testing.assert_allclose(found, (q * np.copysign(2.0, np.diag(r))).T, rtol=1e-5)


@pytest.mark.parametrize(
    ("layers", "order"), [("LLLL", [0, 3, 2, 1]), ("LfLL", [0, 2, 1]), ("fLLLL", [0, 1, 3, 2]), ("ffLLL", [0, 1, 2])]
)
def test_links_of_a_sequential_have_the_names_of_chainer(layers, order) -> None:
    import copy
    import pickle

    import chainer

    def links():
        sizes = iter(range(4))
        return [
            chainer.links.Linear(1, 1 + next(sizes)) if layer == "L" else chainer.functions.relu for layer in layers
        ]

    model = chainer.Sequential(*links())
    appended = chainer.Sequential()
    for layer in links():
        appended.append(layer)
    for made in (
        model,
        appended,
        chainer.Sequential() + model,
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
    ):
        assert [p.size - 1 for path, p in made.namedparams() if path.endswith("b")] == order
        assert [name for name, _ in made.namedlinks(skipself=True)] == [f"/{i}" for i in range(len(order))]
        assert [link.b.size - 1 for link in made if isinstance(link, chainer.Link)] == sorted(order)


def test_changes_of_a_sequential_name_links_as_chainer() -> None:
    import chainer

    model = chainer.links.Linear(1, 1).repeat(3)
    assert isinstance(model, chainer.Sequential)
    assert chainer.Sequential(dict, len)(a=1) == 1  # a dictionary is one argument
    assert [link.name for link in model] == ["0", "2", "1"]
    del model[1]
    assert [link.name for link in model] == ["0", "1"]
    model.insert(1, chainer.links.Linear(1, 1))
    model.insert(0, chainer.links.Linear(1, 1))
    assert [link.name for link in model] == ["0", "1", "2", "3"]
    model[3] = chainer.links.Linear(1, 1)
    assert [link.name for link in model] == ["0", "2", "3", "1"]


def test_links_are_assigned_before_the_base_class_is_initialised() -> None:
    import chainer

    class Pair(chainer.ChainList):
        def __init__(self) -> None:
            self.first, self.second = chainer.links.Linear(2, 3), chainer.links.Linear(2, 3)
            super().__init__(self.first, self.second)
            self.last = self[-1]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pair = Pair()
    assert pair.first is pair[0]
    assert [name for name, _ in pair.namedparams()] == ["/0/W", "/0/b", "/1/W", "/1/b"]


def test_seed_of_numpy_decides_negative_samples() -> None:
    from chainer import links, utils

    np.random.seed(3)  # noqa: NPY002 - as programs for Chainer do
    sampler = utils.WalkerAlias([5, 1, 1, 1, 9, 0.3])
    np.testing.assert_allclose(sampler.threshold.sum(), 2.98266, rtol=1e-5)  # the values of Chainer 7.8.1
    assert sampler.sample((3, 4)).tolist() == [[3, 0, 4, 3], [4, 4, 0, 1], [0, 4, 0, 4]]
    assert isinstance(links.NegativeSampling(3, [1, 2], 2).sampler, utils.WalkerAlias)


@pytest.mark.parametrize(
    ("name", "parameters", "draw"),
    [
        ("Bernoulli", {"p": [0.2, 0.7]}, lambda g, p: g.binomial(1, p, (3, 2))),
        ("Categorical", {"p": [[0.25, 0.75], [0.5, 0.5]]},
         lambda g, p: np.stack([g.choice(2, 3, p=row) for row in p], axis=1)),
        ("OneHotCategorical", {"p": [[0.25, 0.75]]}, lambda g, p: np.eye(2)[g.choice(2, 3, p=p[0])[:, None]]),
        ("Geometric", {"p": [0.2, 0.7]}, lambda g, p: g.geometric(p, (3, 2))),
        ("Poisson", {"lam": [2, 7]}, lambda g, lam: g.poisson(lam, (3, 2))),
        ("Exponential", {"lam": [2, 7]}, lambda g, lam: g.standard_exponential((3, 2)) / lam),
        ("Cauchy", {"loc": [2, 7], "scale": [1, 3]}, lambda g, m, s: g.standard_cauchy((3, 2)) * s + m),
        ("Gumbel", {"loc": [2, 7], "scale": [1, 3]}, lambda g, m, s: g.gumbel(size=(3, 2)) * s + m),
    ],
)  # fmt: skip
def test_seed_of_numpy_decides_samples_of_distributions(name, parameters, draw) -> None:
    import chainer

    arrays = [np.array(value, F32) for value in parameters.values()]
    variables = dict(zip(parameters, map(chainer.Variable, arrays), strict=True))
    distribution = getattr(chainer.distributions, name)(**variables)
    np.random.seed(3)  # noqa: NPY002 - as programs for Chainer do
    samples = distribution.sample(3)
    np.testing.assert_allclose(samples.array, draw(np.random.RandomState(3), *arrays), rtol=1e-4)
    assert chainer.kl_divergence(distribution, distribution).array == pytest.approx(0, abs=1e-6)
    assert (samples.creator is not None) == (name in ("Exponential", "Cauchy", "Gumbel"))


def test_parameters_without_gradient_are_updated_as_if_it_was_zero() -> None:
    import chainer

    model = chainer.links.Linear(2, 3)
    before = model.W.array.copy()
    optimizer = chainer.optimizers.SGD(lr=1.0).setup(model)
    optimizer.add_hook(lambda optimizer: model.W.cleargrad(), "freeze", timing="pre")
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(0.5))
    model.cleargrads()
    optimizer.update()
    np.testing.assert_allclose(model.W.array, before / 2)


def test_links_within_two_chains_are_updated_twice() -> None:
    import chainer
    import chainer.functions as F

    shared = chainer.links.Linear(1, 1, initialW=2)
    model = chainer.ChainList(chainer.Chain(a=shared), chainer.Chain(b=shared), chainer.links.Scale(0, (1,)))
    assert [param.size for param in model.params()] == [1] * 5
    assert model.count_params() == 5
    for hook, step in ((None, 0.2), (chainer.optimizer_hooks.WeightDecay(0.5), 0.2 * 3)):
        shared.W.array[...] = 2
        optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        if hook is not None:
            optimizer.add_hook(hook)
        optimizer.update(lambda: F.sum(shared(np.ones((1, 1), F32))))
        np.testing.assert_allclose(shared.W.array, [[2 - step]], rtol=1e-6)
        assert (shared.W.update_rule.t, optimizer.t) == (2, 1)
    iterator = chainer.iterators.SerialIterator([np.ones(1, F32)], 1)
    with chainer.using_config("compile", True):
        updater = chainer.training.StandardUpdater(iterator, optimizer, loss_func=lambda x: F.sum(shared(x)))
        updater.update()
    assert shared.W.update_rule.t == 4


def test_nesterov_by_the_formula_of_chainer() -> None:
    import chainer

    link = chainer.Link()
    with link.init_scope():
        link.p = chainer.Parameter(np.ones(1, F32))
    optimizer = chainer.optimizers.NesterovAG(lr=0.1, momentum=0.9).setup(link)
    for _ in range(3):
        link.p.grad = np.full(1, 2, F32)
        optimizer.update()
    np.testing.assert_allclose(link.p.array, [-1.04882], rtol=1e-5)  # the value of Chainer 7.8.1


def test_parameters_of_a_link_by_keywords() -> None:
    import chainer

    link = chainer.Link(u=(None, "d"), v=((2, 3), "f"), w=(4, 5))
    assert (link.u.array, link.v.shape, link.w.shape) == (None, (2, 3), (4, 5))


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("AddConstant", lambda x: x + 2), ("SubFromConstant", lambda x: 2 - x), ("MulConstant", lambda x: x * 2),
        ("DivFromConstant", lambda x: 2 / x), ("PowVarConst", lambda x: x**2), ("PowConstVar", lambda x: 2**x),
    ],
)  # fmt: skip
def test_classes_of_operators_with_a_constant(x, name, function) -> None:
    from chainer.functions.math import basic_math

    (y,) = getattr(basic_math, name)(2.0).apply((x,))
    np.testing.assert_allclose(y.array, function(x.array), rtol=1e-6)


@pytest.mark.parametrize(
    ("path", "name", "args", "shapes", "function"),
    [
        ("array.concat", "Concat", (0,), ((2, 3), (1, 3)), lambda F, xs: F.concat(xs, axis=0)),
        ("array.split_axis", "SplitAxis", (3, 1), ((2, 3),), lambda F, xs: F.split_axis(*xs, 3, 1)),
        ("array.scatter_add", "ScatterAdd", (0,), ((2, 3), (3,)), lambda F, xs: F.scatter_add(xs[0], 0, xs[1])),
        ("connection.linear", "LinearFunction", (), ((2, 3), (4, 3), (4,)), lambda F, xs: F.linear(*xs)),
        ("math.matmul", "MatMul", (False, True), ((2, 3), (4, 3)), lambda F, xs: F.matmul(*xs, transb=True)),
        ("pooling.max_pooling_nd", "MaxPoolingND", (1, 2), ((1, 1, 4),), lambda F, xs: F.max_pooling_nd(*xs, 2)),
        ("rnn.lstm", "LSTM", (), ((2, 3), (2, 12)), lambda F, xs: F.lstm(*xs)),
        ("normalization.group_normalization", "GroupNormalization", (1,), ((2, 4, 3), (4,), (4,)),
         lambda F, xs: F.group_normalization(xs[0], 1, *xs[1:])),
    ],
)  # fmt: skip
def test_classes_whose_arguments_have_another_order(path, name, args, shapes, function) -> None:
    import importlib

    import chainer
    import chainer.functions as F

    generator = np.random.default_rng(0)
    xs = [chainer.Variable(generator.standard_normal(shape).astype(F32)) for shape in shapes]
    outputs = getattr(importlib.import_module(f"chainer.functions.{path}"), name)(*args).apply(xs)
    expected = function(F, xs)
    for y, wanted in zip(outputs, expected if isinstance(expected, tuple) else (expected,), strict=True):
        np.testing.assert_array_equal(y.array, wanted.array)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("operation", ["add", "sub", "mul", "truediv", "floordiv", "pow"])
def test_operators_of_all_kinds_keep_the_dtype_of_the_variable(dtype, operation) -> None:
    from chainer import Variable

    arrays = [np.full((2, 2), 2, other) for other in ("float16", "float32", "float64", "int32", "int64")]
    for other in [*arrays, 2, 2.0, np.float64(2), np.float32(2), np.int64(2)]:
        x = Variable(np.ones((2, 2), dtype))
        results = [getattr(operator, operation)(x, other), getattr(operator, operation)(other, x)]
        results.append(getattr(operator, f"i{operation}")(x, other))
        assert [y.dtype for y in results] == [dtype] * 3, (type(other), getattr(other, "dtype", None))


def test_creators_have_the_mask_and_the_probabilities(x) -> None:
    import chainer.functions as F

    y = F.dropout(x, 0.25)
    np.testing.assert_array_equal(y.array, x.array * y.creator.mask)
    assert (y.creator.label, type(y.creator).__name__) == ("Dropout", "Dropout")
    assert isinstance(y.creator, F.noise.dropout.Dropout)
    F.sum(y).backward()
    np.testing.assert_array_equal(x.grad, y.creator.mask)
    scores, labels = x.reshape(1, 3, 2), np.zeros((1, 2), np.int32)
    np.testing.assert_allclose(F.softmax_cross_entropy(scores, labels).creator.y, F.softmax(scores).array, rtol=1e-6)
    assert F.softmax_cross_entropy(scores, labels, cache_score=False).creator.y is None


def test_soft_targets_have_no_weights_of_classes_and_no_gradient(x) -> None:
    import chainer
    import chainer.functions as F

    soft, weight = np.full((2, 3), 1 / 3, F32), np.array([1, 2, 4], F32)
    assert F.softmax_cross_entropy(x, soft, class_weight=weight).array == F.softmax_cross_entropy(x, soft).array
    hard = np.array([0, 2], np.int32)
    assert F.softmax_cross_entropy(x, hard, class_weight=weight).array != F.softmax_cross_entropy(x, hard).array
    teacher = chainer.Variable(soft)
    F.softmax_cross_entropy(x, teacher).backward()
    assert teacher.grad is None
    assert x.grad is not None


def test_transposed_sequences_of_a_random_field_are_sorted_by_length() -> None:
    import chainer

    field, xs = chainer.links.CRF1d(3), [np.eye(3, dtype=F32)[:2], 5 * np.eye(3, dtype=F32)]
    score, path = field.argmax(xs, transpose=True)
    np.testing.assert_array_equal(score.array, [15, 2])
    assert [(labels.tolist(), labels.dtype) for labels in path] == [([0, 1], "int32"), ([0, 1, 2], "int32")]
    loss = field(xs, [np.array([0, 1]), np.array([0, 1, 2])], reduce="no", transpose=True).array
    assert loss[0] < loss[1]


def test_default_dtype_is_a_dtype_of_numpy() -> None:
    import chainer

    with chainer.using_config("dtype", chainer.mixed16):
        assert chainer.get_dtype() == np.float16
        assert chainer.get_dtype(map_mixed16=F32) == F32
    assert chainer.get_dtype() == F32


def test_layers_draw_numbers_of_dropout_without_a_ratio() -> None:
    import chainer.functions as F

    def following(ratio):
        np.random.seed(0)  # noqa: NPY002 - the generator that Chainer uses
        weights = [[np.ones((2, 2), F32)] * 2] * 2, [[np.ones(2, F32)] * 2] * 2
        F.n_step_rnn(2, ratio, np.zeros((2, 1, 2), F32), *weights, [np.ones((1, 2), F32)])
        return np.random.random_sample()  # noqa: NPY002

    assert following(0.0) == following(0.5)


def test_gradients_of_what_requires_none_are_none(x) -> None:
    import chainer
    import chainer.functions as F

    constant = chainer.Variable(x.array, requires_grad=False)
    assert chainer.grad([F.sum(constant)], [x, constant]) == [None, None]
    y, z = F.sum(x * constant), F.sum(constant)
    gx, gc = chainer.grad([z, y], [x, constant], [None, chainer.Variable(np.array(2, F32))])
    assert gc is None
    np.testing.assert_array_equal(gx.array, 2 * x.array)
    with pytest.raises(TypeError):
        chainer.grad(y, [x])
    with pytest.raises(ValueError, match="grad_outputs"):
        chainer.grad([y], [x], [])


def test_scores_of_classes_are_float64(x) -> None:
    import chainer.functions as F

    labels = np.array([0, 1], np.int32)
    for name in ("precision", "recall", "f1_score", "classification_summary"):
        assert getattr(F, name)(x, labels)[0].dtype == np.float64
    np.testing.assert_array_equal(F.precision(x, labels)[0].array, [np.nan, 1])


@pytest.mark.parametrize("name", ["ceil", "fix", "floor"])
def test_rounded_integers_are_the_same(name) -> None:
    import chainer.functions as F

    function, x = getattr(F, name), np.array([-1, 2])
    np.testing.assert_array_equal(function(x).array, x, strict=True)
    np.testing.assert_array_equal(function(x / 4).array, getattr(np, name)(x / 4), strict=True)


def test_numerical_gradients_are_a_list() -> None:
    from chainer import gradient_check

    x = np.array([1.0, 2.0])
    (gx,) = found = gradient_check.numerical_grad(lambda: (x * x,), (x,), (np.ones(2),))
    assert type(found) is list
    np.testing.assert_allclose(gx, 2 * x)


def _lstm(a, c):
    import chainer.functions as F

    return F.lstm(c, F.concat([a, a, a, a]))


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize(
    ("function", "whole"),
    [
        (lambda F, a, c: F.split_axis(a, [1], 1), True), (lambda F, a, c: F.separate(a, 1), True),
        (lambda F, a, c: F.array.split_axis.SplitAxis(3, 1).apply((a,)), True),
        (lambda F, a, c: F.broadcast(a, c), True), (lambda F, a, c: F.transpose_sequence([a, c]), True),
        (lambda F, a, c: _lstm(a, c), True),
        (lambda F, a, c: (a * 2, a * 3), False),
    ],
)  # fmt: skip
def test_backward_uses_gradients_of_the_other_outputs_of_a_function(x, function, whole, recorded) -> None:
    import chainer
    import chainer.functions as F

    c = chainer.Variable(np.ones((2, 3), F32))
    found = []
    for starts in (slice(None), slice(0, 1), slice(1, 2)):
        x.cleargrad()
        c.cleargrad()
        outputs = function(F, x, c)
        for y in outputs:
            y.grad = np.full_like(y.array, 2)
        if starts == slice(None):
            chainer.backward(outputs, enable_double_backprop=recorded)
        else:
            outputs[starts][0].backward(enable_double_backprop=recorded)
            assert all(y.grad is None for y in outputs) is whole
        found.append([v.grad for v in (x, c) if v.grad is not None])
    assert all(str(each) == str(found[0]) for each in found) is whole


def test_backward_uses_gradients_only_of_outputs_that_it_does_not_reach(x) -> None:
    import chainer.functions as F

    a, b = F.split_axis(x, [1], 1)
    a.grad, b.grad = np.full((2, 1), 5, F32), np.full((2, 2), 7, F32)
    F.sum(a * 2).backward()
    np.testing.assert_array_equal(x.grad, np.array([[2, 7, 7]] * 2, F32))
    assert b.grad is None
    np.testing.assert_array_equal(a.grad, np.full((2, 1), 5, F32))


def test_other_outputs_of_a_function_node(x) -> None:
    import chainer
    import chainer.functions as F

    class Two(chainer.FunctionNode):
        def forward(self, inputs):
            return inputs[0] * 2, inputs[0] * 3

        def backward(self, _, grads):
            return (sum(k * g for k, g in zip((2, 3), grads, strict=True) if g is not None),)

    a, b = Two().apply((x,))
    a.grad_var, b.grad = chainer.Variable(np.ones((2, 3), F32)), np.ones((2, 3), F32)
    given = a.grad_var
    b.backward(enable_double_backprop=True)
    np.testing.assert_array_equal(x.grad, np.full((2, 3), 5, F32))
    (again,) = chainer.grad([F.sum(x.grad_var)], [given])
    np.testing.assert_array_equal(again.array, np.full((2, 3), 2, F32))


def test_other_outputs_lead_to_further_functions(x) -> None:
    import chainer
    import chainer.functions as F

    other = chainer.Variable(np.ones((2, 2), F32))
    p, q = F.split_axis(x, [2], 1)
    a, b = F.broadcast(other, p * 3)
    q.grad, b.grad = np.full((2, 1), 5, F32), np.ones((2, 2), F32)
    F.sum(a).backward()
    np.testing.assert_array_equal(x.grad, np.array([[3, 3, 5]] * 2, F32))
    np.testing.assert_array_equal(other.grad, np.ones((2, 2), F32))


def test_threads_compute_gradients_of_outputs_at_the_same_time() -> None:
    import chainer
    import chainer.functions as F

    def step(_):
        x = chainer.Variable(np.ones((2, 40), F32))
        first, second, *_rest = F.split_axis(x, 20, 1)
        second.grad = np.ones((2, 2), F32)
        F.sum(first).backward()
        return x.grad.sum()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            assert set(pool.map(step, range(1000))) == {8}
    finally:
        sys.setswitchinterval(interval)


def test_an_object_takes_the_place_of_a_link(x) -> None:
    import chainer
    import chainer.links as L

    first = L.Linear(3, 2)
    model = L.Classifier(first)
    model.predictor = lambda given: given * 2
    assert (list(model.params()), list(model.children())) == ([], [])
    model(x, np.array([0, 1]))
    np.testing.assert_array_equal(model.y.array, x.array * 2)
    chainer.optimizers.SGD().setup(model).update()
    model.copy().predictor(x)
    model.predictor = first
    assert len(list(model.namedparams())) == 2


def test_values_of_chainer_alone(x) -> None:
    import chainer
    import chainer.functions as F

    assert F.reshape(x, (2, 3)) is F.broadcast_to(x, (2, 3)) is x
    assert F.reshape(x, (2, -1)).shape == (2, 3)
    parameter = chainer.Parameter(np.ones(2, F32))
    parameter._loss_scale, parameter.grad = 4, np.ones(2, F32)
    parameter.update_rule = chainer.optimizers.SGD(1).create_update_rule()
    parameter.update()
    np.testing.assert_array_equal(parameter.array, [0.75, 0.75])
    labels = np.array([0, 3])
    for debug, error in ((True, ValueError), (False, IndexError)):
        with chainer.using_config("debug", debug), pytest.raises(error, match="softmax_cross_entropy: "):
            F.softmax_cross_entropy(x, labels)
    with chainer.using_config("debug", True), pytest.raises(ValueError, match="sorted"):
        F.split_axis(x, [2, 1], 1)
