"""chx arrays in compiled code: buffers and graph state."""

import numpy as np
import pytest
from tests.backends.c_executor.groups_to_compile import needs_compiler
from tests.backends.fusion.written import Writer

import xpgrad
import xpgrad_chx
from xpgrad_c.executor import wait
from xpgrad_c.groups import CompiledGroups
from xpgrad_c.layout import layout_of

BACKEND = xpgrad.get_device("native:0").backend
pytestmark = needs_compiler


def made(*values):
    return [xpgrad_chx.array(np.asarray(value, np.float32)) for value in values]


@pytest.fixture(scope="module")
def function(tmp_path_factory):
    """The compiled function of a product and a sum, whose fallback says that it was called."""
    writer = Writer(3, 5)
    x, y = writer.drawn(), writer.drawn()
    fused = writer.fused(writer.add(writer.multiply(x, y), x), spec_of=lambda array: BACKEND.spec(made(array)[0]))
    groups = CompiledGroups(BACKEND)
    group = groups(fused, lambda *arrays: ("fallback",))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XPGRAD_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.delenv("XPGRAD_CODEGEN", raising=False)
        groups.start()
        assert wait(120)
    assert group.state == "C", group.state
    return group.current


def test_the_layout_of_chx_arrays_is_known():
    (x,) = made(np.ones((3, 5)))
    found = layout_of(BACKEND, BACKEND.spec(x))
    assert found is not None
    assert found.inner_kind is np.ndarray


@pytest.mark.parametrize("change", [lambda x: x, lambda x: xpgrad_chx.array(x._data.T.copy()).T, lambda x: x[::-1]])
def test_chx_arrays_in_any_order_are_computed_by_c(change, function):
    x, y = made(*np.random.default_rng(0).standard_normal((2, 3, 5)))
    (z,) = function(change(x), y)
    assert type(z) is type(x)
    assert z._device is x._device
    assert z._graph is None
    first = change(x)._data
    np.testing.assert_array_equal(z._data, first * y._data + first)


def test_arrays_in_a_graph_and_of_others_go_to_the_fallback(function):
    x, y = made(np.ones((3, 5)), np.ones((3, 5)))
    assert function(x.require_grad(), y) == ("fallback",)
    assert function(x.T, y) == ("fallback",)
    assert function(x._data, y) == ("fallback",)
