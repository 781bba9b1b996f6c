"""Errors of public functions and the state after them."""

import gc
import weakref

import numpy as np
import pytest

import xpgrad.array_api as xp
import xpgrad.functions as F
import xpgrad.links as L
from xpgrad import Variable, elementwise

CALLS = {
    "primitive": lambda x: xp.reshape(x, shape=(5, 5)),
    "named by itself": lambda x: xp.add(x, np.ones(7)),
    "composition": lambda x: F.linear(x, np.ones(7)),
    "wrong axis": lambda x: F.hstack([x, None]),
    "link": lambda x: L.Linear(2, 2)(x, "two"),
    "recursion": lambda x: xp.reshape(x, shape=list(nested())),
}


def nested():
    deep = []
    deep.append(deep)
    return deep


@pytest.mark.parametrize("name", CALLS)
def test_an_error_keeps_no_array_after_it_is_handled(name):
    x = Variable(np.ones((3, 4)))
    held = weakref.ref(x.array)
    gc.disable()
    try:
        with pytest.raises((TypeError, ValueError)):
            CALLS[name](x)
        del x
        assert held() is None
    finally:
        gc.enable()


def test_positional_arguments_beyond_the_signature_are_numbered():
    text = r"elementwise: takes 0 positional arguments but 1 was given; got args\[0\]=<function"
    with pytest.raises(TypeError, match=text):
        elementwise(lambda xp, x, /: x)
