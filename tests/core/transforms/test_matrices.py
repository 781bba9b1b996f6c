"""`jacobian` and `hessian`."""

import numpy as np
import pytest
from tests.building import array, assert_near, place, values

import xpgrad
import xpgrad.functions as F
from xpgrad import FunctionNode, Variable
from xpgrad import array_api as xp
from xpgrad.errors import DtypeError
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import checkpoint, grad, hessian, jacfwd, jacobian, jacrev, value_and_grad
from xpgrad.transforms.call import Evaluation

MODES = pytest.mark.parametrize("mode", ["reverse", "forward"])


@MODES
def test_jacobian_of_a_vector(device, mode):
    x = array(device, [1.0, 2.0, 3.0], "float64")
    found = jacobian(lambda x: x[:2] * x[2], mode=mode)(x)
    assert values(found) == [[3.0, 0.0, 1.0], [0.0, 3.0, 2.0]]
    assert place(found)[1:] == place(x)[1:]


@MODES
def test_shapes_agree_with_output_and_argument(device, mode):
    x = array(device, np.arange(6.0).reshape(2, 3))
    found = jacobian(lambda x: xp.sum(x, axis=0), mode=mode)(x)
    np.testing.assert_array_equal(on_host(found), np.broadcast_to(np.eye(3)[:, None, :], (3, 2, 3)))


@MODES
def test_trees_of_outputs_and_arguments(device, mode):
    p = {"a": array(device, [1.0, 2.0]), "n": array(device, 3, "int32")}
    found = jacobian(lambda p, b: {"y": p["a"] * b, "z": (b * b,)}, (0, 1), mode)(p, array(device, 5.0))
    (dya, dyb), (dza, dzb) = found["y"], found["z"][0]
    assert values(dya["a"]) == [[5.0, 0.0], [0.0, 5.0]]
    assert dya["n"] is None
    assert (values(dyb), values(dza["a"]), values(dzb)) == ([1.0, 2.0], [0.0, 0.0], 10.0)


def test_the_modes_have_names(device):
    x = array(device, [1.0, 2.0])
    assert values(jacrev(lambda x: x * x)(x)) == values(jacfwd(lambda x: x * x)(x)) == [[2.0, 0.0], [0.0, 4.0]]
    found, aux = jacrev(lambda x: (x * x, "aux"), has_aux=True)(x)
    assert aux == "aux"
    assert values(found) == [[2.0, 0.0], [0.0, 4.0]]


@MODES
@pytest.mark.parametrize("shapes", [((0,), (2,)), ((2,), (0,))])
def test_empty_arrays(device, mode, shapes):
    x = array(device, np.ones(shapes[1]))
    found = jacobian(lambda x: Variable(array(device, np.ones(shapes[0]))) * xp.sum(x), mode=mode)(x)
    assert tuple(found.shape) == (*shapes[0], *shapes[1])


@MODES
def test_complex_jacobians(device, mode):
    z = array(device, [1 + 2j, 3 - 1j], "complex128")
    host = on_host(z)
    holomorphic = jacobian(lambda z: z * z, mode=mode, holomorphic=True)(z)
    np.testing.assert_allclose(on_host(holomorphic), np.diag(2 * host))
    for f in (lambda z: xp.sum(z**3), lambda z: xp.sum(xp.real(z))):
        value, found = value_and_grad(f, holomorphic=True)(z)
        assert_near([found, value], [jacobian(f, mode=mode, holomorphic=True)(z), f(z)])
    by_both = grad(lambda z, x: xp.sum(z**3 * x), (0, 1), holomorphic=True)(z, array(device, [1.0, 2.0], "float64"))
    np.testing.assert_allclose(list(map(on_host, by_both)), [3 * host**2 * [1, 2], host**3])
    of_reals = jacobian(lambda x: x * (1 + 2j), mode=mode)(array(device, [1.0, 2.0], "float64"))
    np.testing.assert_allclose(on_host(of_reals), np.diag([1 + 2j, 1 + 2j]))
    to_reals = jacobian(lambda z: xp.real(z * xp.conj(z)), mode=mode)(z)
    np.testing.assert_allclose(on_host(to_reals), np.diag(2 * host))
    np.testing.assert_allclose(
        on_host(jacobian(lambda z: xp.sum(xp.real(z * z)), mode=mode)(z)),
        on_host(grad(lambda z: xp.sum(xp.real(z * z)))(z)),
    )
    with pytest.raises(DtypeError, match="holomorphic=True"):
        jacobian(lambda z: z * z, mode=mode)(z)


def test_hessian_of_trees(device):
    found = hessian(lambda p: p["a"] * p["a"] * p["b"])({"a": array(device, 3.0), "b": array(device, 5.0)})
    assert {k: {n: values(v) for n, v in row.items()} for k, row in found.items()} == {
        "a": {"a": 10.0, "b": 6.0},
        "b": {"a": 6.0, "b": 0.0},
    }
    a, b = array(device, 3.0), array(device, 5.0)
    (aa, ab), (ba, bb) = hessian(lambda a, b: a * a * b, (0, 1))(a, b)
    assert type(aa) is type(a)
    assert [values(x) for x in (aa, ab, ba, bb)] == [10.0, 6.0, 6.0, 0.0]


def test_the_mode_is_checked():
    with pytest.raises(ValueError, match="mode must be 'reverse', 'forward' or 'auto', got 'backward'"):
        jacobian(xp.sum, mode="backward")


@pytest.mark.parametrize("f", [jacobian, jacfwd, hessian])
@pytest.mark.parametrize("chunk_size", [0, -1, 1.5, True, "2"])
def test_chunk_sizes_are_checked(f, chunk_size):
    with pytest.raises(ValueError, match=f"chunk_size must be a positive integer or None, got {chunk_size!r}"):
        f(xp.sum, chunk_size=chunk_size)
    assert values(f(xp.sum, chunk_size=np.int64(2))(np.ones(2))) == values(f(xp.sum)(np.ones(2)))


# The mode that takes fewer sweeps


def _sweeps(monkeypatch, f, x):
    """Return the Jacobian in mode "auto", and how many sweeps it took."""
    counted = []
    original = Evaluation.gradients
    monkeypatch.setattr(Evaluation, "gradients", lambda *args, **kwargs: counted.append(1) or original(*args, **kwargs))
    return jacobian(f, mode="auto")(x), len(counted)


def test_auto_uses_columns_for_many_more_rows(device, monkeypatch):
    t = array(device, np.linspace(0, 1, 40), "float64")
    x = array(device, [2.0, 3.0], "float64")
    found, sweeps = _sweeps(monkeypatch, lambda p: p[0] * xp.exp(-p[1] * t), x)
    assert sweeps == 0  # in forward mode
    np.testing.assert_allclose(on_host(found), on_host(jacobian(lambda p: p[0] * xp.exp(-p[1] * t))(x)), rtol=1e-12)


def test_auto_uses_rows_otherwise(device, monkeypatch):
    x = array(device, np.ones(6), "float64")
    for rows in (1, 6, 12):
        w = array(device, np.ones((rows, 6)), "float64")
        found, sweeps = _sweeps(monkeypatch, lambda x, w=w: xp.matmul(w, x), x)
        assert (found.shape, sweeps) == ((rows, 6), 1)
        monkeypatch.undo()


class Doubled(FunctionNode):
    """A function whose gradient leaves the graph, which reverse mode does not mind."""

    def forward(self, inputs):
        return (2 * inputs[0],)

    def backward(self, indexes, gys):
        return (Variable(2 * gys[0].array),)


@pytest.mark.parametrize("g", [lambda y: Doubled().apply((y,))[0], checkpoint(lambda y: y * 2)])
def test_auto_uses_rows_for_user_defined_gradients(g):
    t = np.linspace(0, 1, 40)
    found = jacobian(lambda p: g(p * t), mode="auto")(np.asarray(1.5))
    np.testing.assert_array_equal(found, 2 * t)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("chunk_size", [1, 2, None])
def test_random_numbers_are_the_same_for_all_rows_and_columns(mode, chunk_size):
    x = np.ones(12)

    def f(x, y):
        return F.dropout(x + 2 * y, 0.5)

    xpgrad.random.seed(4)
    mask = f(Variable(x), x).array / 3
    xpgrad.random.seed(4)
    found = jacobian(f, (0, 1), mode, chunk_size=chunk_size)(x, x)
    for i, block in enumerate(found):
        np.testing.assert_allclose(block, (i + 1) * np.diag(mask))
