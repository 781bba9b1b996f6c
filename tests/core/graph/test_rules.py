"""The namespace that rules are given: one language in raw and in recorded sweeps."""

import importlib
import pkgutil

import numpy as np
import pytest
from tests.devices import device_or_skip

import xpgrad
from xpgrad import Variable
from xpgrad.backend.kernels import OWNER, table
from xpgrad.graph.primitive import elementwise, primitive
from xpgrad.graph.rules import recorded_namespace
from xpgrad.testing.arrays import on_host, placed

PACKAGES = ("array_api", "special", "ops", "functions")
BACKENDS = ("numpy", "strict")


def reached(xp, name):
    for part in [name] if OWNER in name else name.split("."):
        xp = getattr(xp, part)
    return xp


@pytest.fixture(scope="module")
def primitives():
    """The names of xpgrad's own primitives, the late ones too."""
    for package in PACKAGES:
        module = importlib.import_module(f"xpgrad.{package}")
        for found in pkgutil.walk_packages(module.__path__, f"{module.__name__}."):
            importlib.import_module(found.name)
    return [name for name in table.declared if OWNER not in name and table.definition(name) is not None]


@pytest.mark.parametrize("word", BACKENDS)
def test_both_sweeps_find_every_primitive_by_the_name_of_its_kernel(primitives, word):
    backend = device_or_skip(f"@{word}").backend
    assert len(primitives) > 250
    for name in primitives:
        definition = table.definition(name)
        assert reached(recorded_namespace(backend), name).definition is definition
        assert callable(reached(backend.xp, name))


@pytest.mark.parametrize("word", BACKENDS)
def test_both_sweeps_tell_devices_and_specs_in_the_same_words(word):
    device = device_or_skip(f"@{word}")
    backend, x = device.backend, placed([[1.0, 2.0]], device)
    raw, recorded = backend.xp, recorded_namespace(backend)
    assert raw.backend is recorded.backend is backend
    assert raw.device_of(x) == recorded.device_of(x) == recorded.device_of(Variable(x)) == device.handle
    assert raw.spec_of(x) == recorded.spec_of(x) == recorded.spec_of(Variable(x)) == Variable(x).node.spec


@pytest.mark.parametrize("name", ["no_such_name", "linalg.no_such_name", "special.no_such_name", "elsewhere:f"])
def test_an_unknown_name_is_an_attribute_error_with_advice(backend, name):
    with pytest.raises(AttributeError, match=rf"'{name}', which this operation needs; its plugin can give a kernel"):
        reached(backend.xp, name)
    with pytest.raises(AttributeError, match=rf"^xp\.{name}: neither a primitive nor the namespace .*module:function"):
        reached(recorded_namespace(backend), name)


def test_special_attributes_of_python_are_not_looked_up(backend):
    for xp in (backend.xp, recorded_namespace(backend), recorded_namespace(backend).linalg):
        assert not hasattr(xp, "__array_namespace__")


@elementwise(x=lambda xp, gy, x: gy * getattr(xp, f"{__name__}:slope")(x))
def bump(xp, x, /):
    return xp.tanh(x) + xp.special.erf(x)


@elementwise(x=lambda xp, gy, x, y: gy * (-2.0 * x * y))
def slope(xp, x, /):
    return xp.exp(-(x * x))


def _main_diagonal_rule(xp, gy, x_spec):
    rows, columns = x_spec.shape
    return xp.linalg.expand_diagonal(gy, rows=rows, columns=columns, offset=0)


@primitive(x=_main_diagonal_rule)
def main_diagonal(xp, x, /):
    return xp.linalg.diagonal(x)


@primitive(x=lambda xp, gy, x, y: xp.special.xlogy(gy, 2.0 + xp.square(xp.standardize_backward(y, x, x, axis=(0,)))))
def elsewhere(xp, x, /):
    return xp.square(x)


def scaled_by(factor):
    @elementwise()
    def scaled(xp, x, /):
        return x * factor

    return scaled


USERS = {
    "a primitive of the same module": (bump, [0.3, -1.2, 2.0]),
    "a primitive of an extension": (main_diagonal, [[1.0, 2.0], [3.0, 4.0]]),
    "primitives of other packages": (elsewhere, [1.0, 2.0, 4.0]),
}


@pytest.mark.parametrize("word", BACKENDS)
@pytest.mark.parametrize("what", USERS)
def test_a_users_rule_calls_other_primitives_in_both_sweeps_with_the_same_bits(what, word):
    function, values = USERS[what]
    x = Variable(placed(values, device_or_skip(f"@{word}")))
    raw = xpgrad.grad([(function(x) * 1.5).sum()], [x])[0]
    recorded = xpgrad.grad([(function(x) * 1.5).sum()], [x], enable_double_backprop=True)[0]
    assert on_host(raw.array).tobytes() == on_host(recorded.array).tobytes()
    assert np.any(on_host(raw.array) != 0)


def test_a_primitive_that_is_defined_again_takes_the_place_of_the_first_in_rules(backend):
    for factor in (2.0, 3.0):
        name = scaled_by(factor).definition.kernel.name
        kept = scaled_by(factor)
        assert kept.definition.kernel.name == name
        for xp in (backend.xp, recorded_namespace(backend)):
            assert on_host(xpgrad.as_variable(reached(xp, name)(backend.asarray([1.0]))).array).tolist() == [factor]
