"""Chainer's tutorial on variables and derivatives: its statements and its documented output."""

from typing import Any

import pytest
from tests.docs.documents import run_session

START = """
>>> import math
>>> import numpy as np
>>> import xpgrad as chainer
>>> from xpgrad import backend, Function, FunctionNode, gradient_check, utils, Variable
>>> import xpgrad.functions as F
"""

SNIPPETS = {
    "first": """
>>> x_data = np.array([5], dtype=np.float32)
>>> x = Variable(x_data)
>>> y = x**2 - 2 * x + 1
>>> y.array
array([16.], dtype=float32)
>>> assert y.data is y.array
>>> y.backward()
>>> x.grad
array([8.], dtype=float32)
>>> z = 2*x
>>> y = x**2 - z + 1
>>> y.backward(retain_grad=True)
>>> z.grad
array([-1.], dtype=float32)
""",
    "many elements": """
>>> x = Variable(np.array([[1, 2, 3], [4, 5, 6]], dtype=np.float32))
>>> y = x**2 - 2*x + 1
>>> y.grad = np.ones((2, 3), dtype=np.float32)
>>> y.backward()
>>> x.grad
array([[ 0., 2., 4.],
[ 6., 8., 10.]], dtype=float32)
""",
    "higher orders": """
>>> x = chainer.Variable(np.array([[0, 2, 3], [4, 5, 6]], dtype=np.float32))
>>> y = x ** 3
>>> y.grad = np.ones((2, 3), dtype=np.float32)
>>> y.backward(enable_double_backprop=True)
>>> x.grad_var
variable([[ 0., 12., 27.],
[ 48., 75., 108.]])
>>> assert x.grad_var.array is x.grad
>>> assert (x.grad == (3 * x**2).array).all()
>>> gx = x.grad_var
>>> x.cleargrad()
>>> gx.grad = np.ones((2, 3), dtype=np.float32)
>>> gx.backward()
>>> x.grad
array([[ 0., 12., 18.],
[24., 30., 36.]], dtype=float32)
>>> assert (x.grad == (6 * x).array).all()
""",
    "get_item of the reference": """
>>> x = np.arange(12).reshape((2, 2, 3))
>>> F.get_item(x, 0)
variable([[0, 1, 2],
          [3, 4, 5]])
>>> F.get_item(x, (0, 0, slice(0, 2, 1)))
variable([0, 1])
>>> F.get_item(x, (Ellipsis, 2))
variable([[ 2,  5],
          [ 8, 11]])
>>> F.get_item(x, (1, np.newaxis, 1, 0))
variable([9])
""",
}


@pytest.mark.parametrize("name", SNIPPETS)
def test_snippet_has_the_documented_output(name: str) -> None:
    names: dict[str, Any] = {}
    run_session(START, names)
    run_session(SNIPPETS[name], names)
