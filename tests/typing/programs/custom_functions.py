"""User-defined functions: an elementwise function, a primitive, a FunctionNode, and a function with a vjp."""

from typing import Any

import numpy as np

import xpgrad
from xpgrad import FunctionNode, Variable, elementwise, primitive
from xpgrad.testing import gradient_check
from xpgrad.transforms import custom_vjp
from xpgrad.types import AnyArray, Array, Namespace, Operand


@elementwise(x=lambda xp, gy, y: gy * y * (1 - y))
def squash(xp: Namespace, x: AnyArray, /) -> Array:
    """Logistic function."""
    return 1 / (1 + xp.exp(xp.negative(x)))


@elementwise(x1=lambda xp, gy, x2: gy * x2, x2=lambda xp, gy, x1: gy * x1)
def times(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Product."""
    return xp.multiply(x1, x2)


@primitive(x=lambda xp, gy, x_spec, axis: xp.broadcast_to(xp.expand_dims(gy, axis=axis), shape=x_spec.shape))
def total(xp: Namespace, x: AnyArray, /, axis: int = -1) -> Array:
    """Sum along one axis."""
    return xp.sum(x, axis=axis)


class Cube(FunctionNode):
    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        self.retain_inputs((0,))
        return (inputs[0] ** 3,)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Variable, ...]:
        (x,) = self.get_retained_inputs()
        return (3 * x * x * grad_outputs[0],)


def cube(x: AnyArray) -> Variable:
    return Cube().apply((x,))[0]


@custom_vjp
def clipped(x: Variable) -> Variable:
    return x


clipped.defvjp(lambda x: (x, None), lambda kept, gy: (xpgrad.array_api.clip(gy, -1.0, 1.0),))

x = Variable(np.linspace(-1.0, 1.0, 6).reshape(2, 3))
y: Variable = total(cube(times(squash(x), 2.0)), axis=0)
clipped(y).sum().backward()
assert y.shape == (3,)
assert x.grad is not None
gradient_check.check_backward(squash, x.array, np.ones((2, 3)), dtype="d")
