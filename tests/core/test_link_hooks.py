"""Link hooks: normalized weights, and times."""

import io
import pickle

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
import xpgrad.links as L
from xpgrad.link_hooks import SpectralNormalization, TimerHook, WeightStandardization

X = np.random.default_rng(0).standard_normal((2, 3, 5, 5)).astype("f")
KINDS = {
    "Linear": (lambda: L.Linear(75, 4), 0), "Convolution2D": (lambda: L.Convolution2D(3, 4, 2), 0),
    "Deconvolution2D": (lambda: L.Deconvolution2D(3, 4, 2), 1), "lazy": (lambda: L.Convolution2D(None, 4, 2), 0),
}  # fmt: skip
each_kind = pytest.mark.parametrize(("make", "axis"), KINDS.values(), ids=KINDS)


def matrix(W, axis):
    return np.moveaxis(W, axis, 0).reshape(W.shape[axis], -1)


@each_kind
def test_largest_singular_value_becomes_1(make, axis):
    hook = SpectralNormalization(n_power_iteration=50)
    link = make().add_hook(hook)
    y = link(X)
    W = link.W.array
    assert isinstance(link.W, xpgrad.Parameter)
    assert link.W_u.shape == (4,)
    plain = make()
    plain(X)
    plain.copyparams(link, copy_persistent=False)
    largest = np.linalg.svd(matrix(W, axis))[1][0]
    assert hook.u @ matrix(W, axis) @ hook.v == pytest.approx(largest, rel=1e-3)
    plain.W.array = W / largest
    np.testing.assert_allclose(y.array, plain(X).array, rtol=1e-3, atol=1e-5)


def test_one_iteration_a_call_converges():
    link = L.Linear(3, 4).add_hook(SpectralNormalization())
    x, largest = X[0, 0, :, :3], np.linalg.svd(link.W.array)[1][0]
    for _ in range(60):
        link(x)
    np.testing.assert_allclose(link(x).array, x @ link.W.array.T / largest, rtol=1e-3, atol=1e-5)


def test_the_vector_changes_in_training_only():
    link = L.Linear(3, 4).add_hook(SpectralNormalization())
    before = link.W_u.array.copy()
    with xpgrad.using_config("train", False):
        link(X[0, 0, :, :3])
    np.testing.assert_array_equal(link.W_u.array, before)
    link(X[0, 0, :, :3])
    assert (link.W_u.array != before).any()


def test_factor_and_learnt_factor():
    link = L.Linear(3, 4, nobias=True)
    plain, x = link.copy("copy"), X[0, 0, :, :3]
    largest = np.linalg.svd(link.W.array)[1][0]
    link.add_hook(SpectralNormalization(50, use_gamma=True))
    assert link.gamma.array == pytest.approx(largest, rel=1e-5)
    np.testing.assert_allclose(link(x).array, plain(x).array, rtol=1e-3, atol=1e-5)
    plain.add_hook(SpectralNormalization(50, factor=3.0))
    np.testing.assert_allclose(plain(x).array, x @ plain.W.array.T / largest * 3, rtol=1e-3, atol=1e-5)


def test_gradient_runs_through_the_singular_value():
    link = L.Linear(3, 4, nobias=True).add_hook(SpectralNormalization(100))
    link.W.array = np.random.default_rng(1).standard_normal((4, 3))
    link.W_u.array = np.ones(4)
    x = X[0, 0, :, :3].astype(np.float64)
    link.cleargrads()
    F.sum(F.sin(link(x))).backward()

    def loss(W):
        return np.sin(x @ W.T / np.linalg.svd(W)[1][0]).sum()

    step = 1e-6 * np.eye(12).reshape(12, 4, 3)
    expected = [(loss(link.W.array + d) - loss(link.W.array - d)) / 2e-6 for d in step]
    np.testing.assert_allclose(link.W.grad.ravel(), expected, rtol=1e-3, atol=1e-4)


def test_a_recomputed_call_is_the_same():
    link = L.Linear(3, 4).add_hook(SpectralNormalization())
    other = pickle.loads(pickle.dumps(link))
    x = xpgrad.Variable(X[0, 0, :, :3])
    link.cleargrads()
    other.cleargrads()
    F.sum(F.sin(F.forget(link, x))).backward()
    F.sum(F.sin(other(X[0, 0, :, :3]))).backward()
    np.testing.assert_allclose(link.W.grad, other.W.grad, rtol=1e-5)
    np.testing.assert_allclose(link.W_u.array, other.W_u.array, rtol=1e-6)


@pytest.mark.parametrize("make", [
    SpectralNormalization, lambda: SpectralNormalization(use_gamma=True), WeightStandardization,
], ids=["spectral", "spectral_gamma", "standardization"])  # fmt: skip
def test_compiled_steps_agree_with_eager_calls(make):
    xpgrad.random.seed(0)
    eager = L.Linear(3, 4).add_hook(make())
    compiled = eager.copy("copy")

    def training(link):
        def step(x):
            link.cleargrads()
            F.sum(F.sin(link(x))).backward()
            for parameter in link.params():
                parameter.array = (parameter - 0.1 * parameter.grad).array

        return step

    program = xpgrad.compile(training(compiled))
    for _ in range(3):
        training(eager)(X[0, 0, :, :3])
        program(X[0, 0, :, :3])
    for one, two in zip(eager.params(), compiled.params(), strict=True):
        np.testing.assert_allclose(one.array, two.array, rtol=1e-4, atol=1e-6)


def test_a_hook_moves_with_its_link():
    pytest.importorskip("array_api_strict")
    link = L.Linear(3, 4).add_hook(SpectralNormalization())
    device = xpgrad.get_device("@strict")
    assert link.to_device(device)(device.send(X[0, 0, :, :3])).device == device
    assert link.W_u.device == device


def test_removing_a_hook_removes_its_additions():
    link = L.Linear(3, 4).add_hook(SpectralNormalization(use_gamma=True))
    link.delete_hook("SpectralNormalization")
    assert not hasattr(link, "gamma")
    assert not hasattr(link, "W_u")
    assert [name for name, _ in link.namedparams()] == ["/W", "/b"]


@each_kind
def test_weights_of_outputs_are_standardized(make, axis):
    link = make().add_hook(WeightStandardization(eps=0.25))
    seen = []
    forward = link.forward
    link.forward = lambda x: seen.append(link.W.array) or forward(x)
    link(X)
    axes = tuple(range(1, link.W.ndim))
    mean, variance = (f(link.W.array, axis=axes, keepdims=True) for f in (np.mean, np.var))
    np.testing.assert_allclose(seen[0], (link.W.array - mean) / np.sqrt(variance + 0.25), rtol=1e-4, atol=1e-6)
    assert isinstance(link.W, xpgrad.Parameter)


def test_equal_weights_have_finite_gradients():
    link = L.Linear(3, 4, initialW=2).add_hook(WeightStandardization())
    link.cleargrads()
    F.sum(link(X[0, 0, :, :3])).backward()
    assert np.isfinite(link.W.grad).all()


def test_the_weight_is_back_after_an_error():
    link = L.Linear(3, 4).add_hook(WeightStandardization())
    x, W = X[0, 0, :, :3], link.W
    expected = link(x).array
    with pytest.raises(xpgrad.utils.type_check.InvalidType):
        link(X[0, 0])
    np.testing.assert_allclose(link(x).array, expected)
    assert link.W is W


def test_errors_of_hooks():
    with pytest.raises(ValueError, match="WeightStandardization: Linear has no weight 'V'"):
        L.Linear(3, 4).add_hook(WeightStandardization(weight_name="V"))
    with pytest.raises(ValueError, match="n_power_iteration must be at least 1, got 0"):
        SpectralNormalization(0)
    with pytest.raises(NotImplementedError, match="the hook is for single links"), SpectralNormalization():
        pass


def test_times_of_links_are_added_by_name():
    model = xpgrad.Sequential(L.Linear(3, 4), L.Linear(4, 2))
    with TimerHook() as hook:
        model(X[0, 0, :, :3])
        model(X[0, 0, :, :3])
    summary = hook.summary()
    assert {name: record["occurrence"] for name, record in summary.items()} == {"Linear": 4, "Sequential": 2}
    assert summary["Linear"]["elapsed_time"] < hook.total_time() == summary["Sequential"]["elapsed_time"]
    assert [name for name, _ in hook.call_history] == ["Linear", "Linear", "Sequential"] * 2
    stream = io.StringIO()
    hook.print_report(file=stream)
    header, *rows = stream.getvalue().splitlines()
    assert header.split() == ["LinkName", "ElapsedTime", "Occurrence"]
    assert len({len(row) for row in (header, *rows)}) == 1


def test_a_failed_call_does_not_count():
    link = L.Linear(3, 4)
    with TimerHook() as hook:
        with pytest.raises(xpgrad.utils.type_check.InvalidType):
            link(X[0, 0])
        link(X[0, 0, :, :3])
    assert len(hook.call_history) == 1
