"""Layouts: an array shows the same elements for any strides."""

import numpy as np
import pytest

from xpgrad import get_device
from xpgrad.plugin import Capabilities
from xpgrad.testing.arrays import on_host
from xpgrad_conformance.generated.layouts import LAYOUTS, constant_along, laid_out
from xpgrad_conformance.subject import Subject

DEVICES = "@numpy", "@strict"
SHAPES = (), (5,), (3, 4), (2, 3, 4), (0, 3)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", DEVICES)
def test_every_layout_has_the_elements_of_the_host_array(name: str, layout: str, shape: tuple[int, ...]) -> None:
    s = Subject(get_device(name), Capabilities(), dtype="float32")
    host = np.arange(np.prod(shape), dtype="float32").reshape(shape)
    host = constant_along(host) if layout == "broadcast" else host
    array = laid_out(s, host, layout)
    assert np.array_equal(on_host(array), host)
    assert s.backend.spec(array).shape == shape


def test_layouts_differ_on_numpy() -> None:
    s = Subject(get_device("@numpy"), Capabilities(), dtype="float32")
    host = constant_along(np.arange(12, dtype="float32").reshape(3, 4))
    strides = {layout: laid_out(s, host, layout).strides for layout in LAYOUTS}
    assert len(set(strides.values())) == len(LAYOUTS)
