"""`bias`, `scale` and `linear_interpolate`: errors."""

import numpy as np
import pytest

import xpgrad.functions as F
from xpgrad.utils.type_check import InvalidType

X = np.ones((2, 3, 4))


@pytest.mark.parametrize("name", ["bias", "scale"])
@pytest.mark.parametrize(("y", "axis"), [(np.ones(4), 1), (np.ones((4, 1)), 2), (np.ones(2), -3), (np.ones(3, int), 1)])
def test_y_is_of_the_shape_from_the_axis_on(name, y, axis):
    with pytest.raises(InvalidType, match=rf"{name} \(Forward\)\n\nExpect: y of"):
        getattr(F, name)(X, y, axis)


@pytest.mark.parametrize("other", [np.ones(4), X.astype("f")])
def test_interpolation_takes_one_shape_and_dtype(other):
    for args in ((other, X, X), (X, other, X), (X, X, other)):
        with pytest.raises(InvalidType, match="p, x and y of one shape and dtype"):
            F.linear_interpolate(*args)
