"""Every link: names and shapes of its parameters, devices, lazy sizes, and a step of training under `compile`."""

import pickle

import numpy as np
import pytest
from tests.core.links.link_cases import CASES, inputs_of, loss_of, on_host, outputs_of, state_of

import xpgrad
import xpgrad.functions as F
import xpgrad.links as L
from xpgrad import serializers
from xpgrad.models import tree

SLOW_CHECKED = "Linear", "Convolution2D", "EmbedID", "BatchNormalization", "LSTM", "NStepRNNTanh"
"""Links that are also checked on JAX, which compiles each function for each shape."""
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
lazy_cases = pytest.mark.parametrize("case", [case for case in CASES if case.lazy], ids=lambda case: case.name)


def test_each_link_has_a_case():
    assert {case.name for case in CASES} == set(L.__all__)
    assert all(type(case.make()).__name__ == case.name for case in CASES)


@each_case
def test_names_and_shapes_agree_with_chainer(case):
    link = case.make()
    assert {name: np.shape(on_host(x)) for name, x in state_of(link).items()} == case.stored


@lazy_cases
def test_sizes_are_taken_from_the_first_input(case):
    link = case.lazy()
    assert any(not parameter.is_initialized for parameter in link.params())
    outputs_of(link, case, inputs_of(case))
    assert {name: np.shape(on_host(x)) for name, x in state_of(link).items()} == case.stored


@lazy_cases
def test_first_input_may_come_within_compile(case):
    link, inputs = case.lazy(), inputs_of(case)
    program = xpgrad.compile(lambda *xs: loss_of(link, case, xs))
    program(*inputs)
    assert {name: np.shape(on_host(x)) for name, x in state_of(link).items()} == case.stored
    with xpgrad.using_config("train", False):
        xpgrad.random.seed(2)
        eager = loss_of(link, case, inputs)
        xpgrad.random.seed(2)
        np.testing.assert_allclose(program(*inputs).array, eager.array, rtol=1e-4, atol=1e-5)


@pytest.mark.exhaustive(1)
@each_case
def test_one_step_of_training_is_the_same_compiled(case):
    eager = case.make()
    compiled, inputs = eager.copy("copy"), inputs_of(case)

    def training(link):
        def step(*xs):
            link.cleargrads()
            loss = loss_of(link, case, xs)
            if loss.requires_grad:
                loss.backward()
            for parameter in link.params():
                parameter.array = parameter.array - 0.1 * parameter.grad
            return loss

        return step

    program = xpgrad.compile(training(compiled))
    for step in training(eager), program:
        xpgrad.random.seed(3)
        first = step(*inputs)
        second = step(*inputs)
        assert list(eager.params()) == [] or on_host(xpgrad.as_array(first)) != on_host(xpgrad.as_array(second))
    one, two = state_of(eager), state_of(compiled)
    for name, x in one.items():
        np.testing.assert_allclose(on_host(two[name]), on_host(x), rtol=1e-4, atol=1e-5, err_msg=name)
    for name, x in state_of(case.make()).items():
        if name.rpartition("/")[2] not in ("avg_mean", "avg_var", "avg_projection", "N"):
            assert np.isfinite(on_host(one[name])).all(), name
            assert one[name].dtype == x.dtype, name


@pytest.mark.parametrize(
    ("case", "specifier"),
    [
        pytest.param(case, specifier, id=f"{case.name}-{specifier}")
        for case in CASES
        for specifier in ("@strict", "native:0", "@torch", "@jax")
        if specifier != "@jax" or case.name in SLOW_CHECKED
    ],
)
def test_a_link_moves_to_a_device(case, specifier):
    if specifier[1:] in ("torch", "jax"):
        pytest.importorskip(specifier[1:])
    link, device = case.make(), xpgrad.get_device(specifier)
    with xpgrad.using_config("train", case.name in ("BatchNormalization", "LSTM")):
        before = outputs_of(link, case, inputs_of(case))
        link = pickle.loads(pickle.dumps(link)).to_device(device)
        xpgrad.random.seed(0)
        after = outputs_of(link, case, inputs_of(case, device))
        assert all(parameter.device == device for parameter in link.params())
        if case.name not in ("NegativeSampling", "BlackOut", "SimplifiedDropconnect"):  # other random numbers
            for x, y in zip(before, after, strict=True):
                assert y.device == device
                np.testing.assert_allclose(on_host(y.array), x.array, rtol=1e-4, atol=1e-5)


@each_case
def test_gradients_are_a_link_of_gradients(case):
    link, inputs = case.make(), inputs_of(case)
    with xpgrad.using_config("train", False):
        xpgrad.random.seed(2)
        found = xpgrad.transforms.grad(lambda link: loss_of(link, case, inputs))(link)
        link.cleargrads()
        xpgrad.random.seed(2)
        loss = loss_of(link, case, inputs)
        if loss.requires_grad:
            loss.backward()
    for (name, gradient), parameter in zip(found.namedparams(), link.params(), strict=True):
        np.testing.assert_allclose(on_host(F.copy(gradient, "@numpy").array), parameter.grad, err_msg=name, rtol=1e-5)


@each_case
def test_a_saved_link_loads(case, tmp_path):
    link, inputs = case.make(), inputs_of(case)
    outputs_of(link, case, inputs)
    serializers.save_npz(tmp_path / "link.npz", link)
    with np.load(tmp_path / "link.npz") as file:
        assert set(file) == set(case.stored)
    for other in (case.make(), *([case.lazy()] if case.lazy else [])):
        serializers.load_npz(tmp_path / "link.npz", other)
        for name, x in state_of(link).items():
            np.testing.assert_array_equal(on_host(state_of(other)[name]), on_host(x), err_msg=name)
        with xpgrad.using_config("train", False):
            xpgrad.random.seed(1)
            expected = outputs_of(link, case, inputs)
            xpgrad.random.seed(1)
            for x, y in zip(expected, outputs_of(other, case, inputs), strict=True):
                np.testing.assert_array_equal(x.array, y.array)


@each_case
def test_a_batch_of_links(case):
    links, inputs = [case.make(), case.make()], inputs_of(case)
    if not list(links[0].params()):
        pytest.skip("no parameters, so nothing to batch")
    batched = xpgrad.transforms.vmap(lambda link: loss_of(link, case, inputs), randomness="same")
    with xpgrad.using_config("train", False):
        xpgrad.random.seed(1)
        found = xpgrad.as_array(batched(tree.stack(links)))
        expected = []
        for link in links:
            xpgrad.random.seed(1)
            expected.append(xpgrad.as_array(loss_of(link, case, inputs)))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_newly_initialised_copies_are_as_at_first():
    np.testing.assert_array_equal(L.LSTM(3, 2).copy("init").upward.b.array, [0, 0, 1, 0] * 2)
    one, two = L.Linear(3, 2).repeat(2)
    assert (one.W.array != two.W.array).any()


OF_PARAMETERS = "EmbedID", "NegativeSampling", "BlackOut", "BinaryHierarchicalSoftmax", "CRF1d"
"""Links whose inputs are no numbers, or whose losses are in the dtype of their parameters in mixed precision."""


@pytest.mark.parametrize(("config", "dtype"), [("float16", "e"), ("float64", "d"), (xpgrad.mixed16, "e")], ids=str)
@each_case
def test_dtypes_of_results_and_gradients(case, config, dtype):
    if case.name == "Parameter":
        pytest.skip("its array has a dtype of its own")

    def cast(x):
        if isinstance(x, list):
            return [cast(each) for each in x]
        return x.astype(dtype) if x is not None and x.dtype.kind == "f" else x

    with xpgrad.using_config("dtype", config):
        link, inputs = case.make(), [cast(x) for x in inputs_of(case)]
        link.cleargrads()
        found = outputs_of(link, case, inputs)
        loss = loss_of(link, case, inputs)
        if loss.requires_grad:
            loss.backward()
    half = config == "float16" or (config == xpgrad.mixed16 and case.name not in OF_PARAMETERS)
    assert {str(y.dtype) for y in found} == {"float64" if config == "float64" else "float16" if half else "float32"}
    for parameter in link.params():
        assert parameter.dtype == parameter.grad.dtype == ("float32" if config == xpgrad.mixed16 else config)


@pytest.mark.parametrize(
    ("make", "removed"),
    [
        (lambda **k: L.BatchNormalization(3)(np.ones((2, 3), "f"), **k), "test"),
        (lambda **k: L.Convolution2D(3, 4, 3, **k), "deterministic"),
        (lambda **k: L.NStepGRU(1, 2, 3, 0, **k), "use_cudnn"),
        (lambda **k: L.StatefulZoneoutLSTM(2, 3, **k), "train"),
        (lambda **k: L.MLPConvolution2D(3, (4,), 1, **k), "wscale"),
    ],
)
def test_arguments_that_chainer_dropped_raise_with_advice(make, removed):
    with pytest.raises(ValueError, match=f"the argument '{removed}' was removed in Chainer 2; "):
        make(**{removed: True})
    with pytest.raises(TypeError, match="'foo'"):
        make(foo=True)
    with pytest.raises(TypeError, match="'test'"):
        xpgrad.datasets.split_dataset([1], 1, test=True)
