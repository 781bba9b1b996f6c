from typing import Any

import numpy as np

import xpgrad
from xpgrad import FunctionNode, Parameter, Variable, elementwise, transforms
from xpgrad.types import AnyArray, Array, Namespace

x = Variable(np.ones(3))


@elementwise(x=lambda xp, gy, x: gy * 2 * x)
def own(xp: Namespace, x: AnyArray, /, scale: float = 1.0) -> Array:
    return scale * x * x


class Node(FunctionNode):
    def backward(self, indexes: int, gys: str) -> Any:  # error: override | reportIncompatibleMethodOverride
        return gys


own(x, scale="2")  # error: arg-type | reportArgumentType
own("x")  # error: arg-type | reportArgumentType
own(x, factor=2.0)  # error: call-arg | reportCallIssue
own(None, x)  # error: arg-type | reportArgumentType
Variable([1.0, 2.0])  # error: arg-type | reportArgumentType
Variable(np.ones(3), nam="w")  # error: arg-type | reportArgumentType
Variable(np.ones(3), requires_grad="no")  # error: arg-type | reportArgumentType
x.sum(axis="rows")  # error: arg-type | reportArgumentType
x.backward(retain="grad")  # error: call-arg | reportCallIssue
x.grad * 2.0  # error: operator | reportOptionalOperand
x.name = 3  # error: assignment | reportAttributeAccessIssue
Parameter(name=3)  # error: arg-type | reportArgumentType
xpgrad.grad(x)  # error: call-arg, arg-type | reportCallIssue, reportArgumentType
xpgrad.using_config("train")  # error: call-arg | reportCallIssue
transforms.grad(3)  # error: arg-type | reportArgumentType
transforms.checkpoint(own)(x, scael=2.0)  # error: call-arg | reportCallIssue
