"""`Parameter`: a Variable with an initialiser."""

import numpy as np
import pytest
from tests.building import array, place, values, variable

import xpgrad
from xpgrad import Parameter, Variable, initializers, using_config
from xpgrad.errors import BackendUnavailable, ShapeError, SpecifierError


class Filling:
    """An initialiser in Chainer's form: it writes to the given array."""

    def __init__(self, value, dtype=None):
        self.value, self.dtype = value, dtype

    def __call__(self, array):
        array[...] = self.value


def nan(x):
    return bool(np.isnan(values(x)).all())


# The cases of the constructor


def test_without_an_initialiser_it_is_nan():
    p = Parameter()
    assert not p.is_initialized
    p.initialize((2,))
    assert nan(p)
    assert str(p.dtype) == "float32"
    with pytest.raises(TypeError, match="list"):
        Parameter([1.0, 2.0])


def test_a_scalar_is_a_constant():
    p = Parameter(3)
    assert not p.is_initialized
    p.initialize((2, 3))
    assert values(p) == [[3.0] * 3] * 2
    assert str(p.dtype) == "float32"
    q = Parameter(np.float64(2.5), (2,))
    assert values(q) == [2.5, 2.5]
    assert str(q.dtype) == "float32"


def test_an_array_without_a_shape_is_the_data(device):
    a = array(device, [1.0, 2.0], "float64")
    p = Parameter(a, name="W")
    assert p.is_initialized
    assert p.array is a
    assert p.grad is None
    assert p.grad_var is None
    assert p.name == "W"
    assert p.initializer is None
    assert p.update_rule is None
    assert p.requires_grad
    assert isinstance(p, Variable)


@pytest.mark.parametrize("shape", [(2, 3), 4, [2, 1], ()])
def test_a_shape_initialises_immediately_and_fills_the_gradient_with_nan(shape):
    p = Parameter(5.0, shape)
    expected = (shape,) if isinstance(shape, int) else tuple(shape)
    assert p.is_initialized
    assert p.shape == expected
    assert values(p) == np.full(expected, 5.0).tolist()
    assert p.grad.shape == expected
    assert nan(p.grad)


def test_an_array_with_a_shape_fills(device):
    a = array(device, [1.0, 2.0], "float64")
    p = Parameter(a, (2,))
    assert values(p) == [1.0, 2.0]
    assert p.device == xpgrad.get_device(-1)
    assert p.array is not a
    a[...] = 5.0
    assert values(p) == [1.0, 2.0]
    with pytest.raises(ShapeError, match=r"the initial array has shape \(2,\), expected \(3,\)"):
        Parameter(a, (3,))


def test_otherwise_it_is_uninitialised():
    p = Parameter(Filling(1.0), name="W")
    assert p.array is None
    assert not p.is_initialized
    assert p.name == "W"
    for attribute in ("grad", "grad_var"):
        with pytest.raises(RuntimeError, match=f"{attribute}: the Parameter is uninitialised; call cleargrad"):
            getattr(p, attribute)
    for attribute in ("shape", "ndim", "size"):
        with pytest.raises(AttributeError, match="uninitialised"):
            getattr(p, attribute)


def test_an_initialiser_writes_or_returns(device):
    for initializer in (Filling(7.0), lambda a: Variable(a).__array_namespace__().full_like(a, 7.0).array):
        p = Parameter(initializer).to_device(device)
        p.initialize((2,))
        assert values(p) == [7.0, 7.0]
        assert p.device == device


# dtype


def test_dtype_of_an_uninitialised_parameter_is_the_initialisers():
    for dtype in (np.float16, "float16", "e"):
        found = Parameter(Filling(1.0, dtype)).dtype
        assert (type(found), found) == (np.dtypes.Float16DType, np.float16)
    for initializer in (None, 3.0, Filling(1.0), np.float64(3)):
        with pytest.raises(RuntimeError, match=r"Parameter\.dtype: .*no dtype"):
            _ = Parameter(initializer).dtype


@pytest.mark.parametrize("dtype", ["float16", np.float16, np.dtype("float64"), "float64"])
def test_an_initialisers_dtype_is_found_in_every_library(device, dtype):
    if device.backend.name == "strict" and "16" in str(dtype):
        pytest.skip("the standard has no float16")
    p = Parameter(Filling(1.0, dtype)).to_device(device)
    p.initialize((2,))
    assert device.backend.dtype_name(p.dtype) == np.dtype(dtype).name
    assert p.grad.dtype == p.dtype
    assert nan(p.grad)


def test_the_configured_dtype(device):
    with using_config("dtype", "float64"):
        p = Parameter(1.0).to_device(device)
        p.initialize((1,))
    assert device.backend.dtype_name(p.dtype) == "float64"


def test_a_dtype_that_does_not_exist():
    p = Parameter(Filling(1.0, "float31"))
    with pytest.raises(TypeError, match="Parameter: unknown dtype 'float31'; did you mean 'float32'"):
        p.initialize((1,))
    assert not p.is_initialized


# The gradient before and after


def test_cleargrad_and_zerograd_before_and_after_initialising():
    p, q = Parameter(1.0), Parameter(1.0)
    for each in (p, q):
        with pytest.warns(DeprecationWarning, match="cleargrad"):
            each.zerograd()
        assert each.grad is None
    q.cleargrad()
    assert q.grad is q.grad_var is None
    p.initialize((2,))
    q.initialize((2,))
    assert values(p.grad) == [0.0, 0.0]
    assert q.grad is None
    p = Parameter(1.0, (2,))
    g = p.grad
    with pytest.warns(DeprecationWarning, match="cleargrad"):
        p.zerograd()
    assert p.grad is g
    assert values(g) == [0.0, 0.0]


def test_setting_a_gradient_makes_it_valid():
    p, g = Parameter(1.0), np.ones(2, "f")
    p.grad = g
    assert p.grad is g
    q = Parameter(1.0)
    q.grad_var = v = Variable(g)
    assert q.grad_var is v
    q.grad = None
    assert q.grad is None


def test_initialising_again():
    p = Parameter(1.0, (2,))
    p.cleargrad()
    p.initialize((3,))
    assert p.shape == (3,)
    assert p.grad is None


def test_an_array_that_is_set_initialises(device):
    p = Parameter(1.0)
    p.cleargrad()
    p.array = array(device, [2.0])
    assert p.is_initialized
    assert p.device == device


def test_an_integer_initialiser_makes_no_nan():
    p = Parameter(Filling(1, "int32"), (2,))
    assert p.grad is None
    assert values(p) == [1, 1]


def test_a_failing_initialiser_leaves_the_state_unchanged():
    def failing(array):
        raise ZeroDivisionError

    p = Parameter(failing)
    with pytest.raises(ZeroDivisionError):
        p.initialize((2,))
    assert not p.is_initialized
    with pytest.raises(RuntimeError):
        _ = p.grad


# Devices


def test_lazy_parameter_is_initialised_on_the_last_named_device(device):
    p = Parameter(1.0)
    assert p.device == xpgrad.get_device(-1)
    assert p.to_device("@strict:device2") is p
    assert p.to_device(device) is p
    assert p.device == device
    assert p.xp is device.xp
    p.initialize((2,))
    assert place(p.array) == ((2,), "float32", device.name)
    assert place(p.grad) == place(p.array)


def test_the_named_moves_of_an_uninitialised_parameter():
    p = Parameter(1.0).to_device("@strict:device1")
    assert p.to_cpu() is p
    assert p.device == xpgrad.get_device(-1)
    p.to_device("@strict:device1")
    assert p.to_intel64() is p
    assert p.device == xpgrad.get_device(-1)
    p.to_device("@strict:device1")
    for move in (p.to_gpu, p.to_chx):
        try:
            move()
        except (BackendUnavailable, SpecifierError):  # no GPU; and memory that chx arrays cannot share
            assert p.device == xpgrad.get_device("@strict:device1")
        else:
            p.to_device("@strict:device1")
    with pytest.raises(ValueError, match="@nowhere"):
        p.to_device("@nowhere")
    assert p.device == xpgrad.get_device("@strict:device1")


def test_moving_always_unchains(device):
    p = Parameter(array(device, [2.0]), name="W")
    x = variable(device, [3.0])
    p.creator_node = (x * x).creator_node
    p.to_device("@strict:device2")
    assert p.creator_node is None
    assert p.name == "W"
    (p * p).backward()
    assert values(p.grad) == [4.0]
    assert x.grad is None


def test_a_failing_move_keeps_the_creator():
    x = variable(xpgrad.get_device("@strict:cpu"), [3.0], "float64")
    p = Parameter(x.array)
    p.creator_node = f = (x * x).creator_node
    with pytest.raises(ValueError, match="float64"):
        p.to_device("@strict:no_float64")
    assert p.creator_node is f


def test_moving_data_and_gradient(device):
    p = Parameter(array(device, [2.0]))
    p.grad = array(device, [5.0])
    p.to_device("@strict:device2")
    assert values(p.grad) == [5.0]
    assert place(p.grad) == place(p.array)
    p.array = array(xpgrad.get_device("@strict:device2"), [1.0, 2.0])
    p.initialize((2,))
    assert p.device == xpgrad.get_device("@strict:device2")


# update


def test_update_calls_the_rule():
    class Rule:
        def update(self, parameter):
            parameter.array = parameter.array - parameter.grad

    p = Parameter(np.array([3.0]))
    p.update()
    assert values(p) == [3.0]
    p.update_rule = Rule()
    (p * p).backward()
    p.update()
    assert values(p) == [-3.0]


# Objects of `initializers`

OBJECTS = {
    "Constant": lambda **kw: initializers.Constant(2.5, **kw), "Zero": initializers.Zero, "One": initializers.One,
    "NaN": initializers.NaN, "Normal": initializers.Normal, "Uniform": initializers.Uniform,
    "LeCunNormal": initializers.LeCunNormal, "GlorotUniform": initializers.GlorotUniform,
    "HeNormal": initializers.HeNormal, "Orthogonal": initializers.Orthogonal, "Identity": initializers.Identity,
}  # fmt: skip


@pytest.mark.parametrize("name", OBJECTS)
def test_an_initializer_object_is_used_where_the_parameter_was_sent(device, name):
    p = Parameter(OBJECTS[name](dtype="float64"))
    assert str(p.dtype) == "float64"
    p.to_device(device)
    assert not p.is_initialized
    p.initialize((3, 3))
    assert place(p.array) == ((3, 3), "float64", device.name)
    assert place(p.grad) == ((3, 3), "float64", device.name)
    assert nan(p.grad)
    assert nan(p) == (name == "NaN")
    assert place(Parameter(OBJECTS[name](), (2, 2)).array) == ((2, 2), "float32", "@numpy")
