"""Transforms of functions over trees: dictionaries, lists and dataclasses of arrays."""

from dataclasses import dataclass

import numpy as np

import xpgrad.array_api as xp
from xpgrad import Variable
from xpgrad.transforms import checkpoint, grad, hessian, hvp, jacobian, jvp, stop_gradient, value_and_grad, vjp
from xpgrad.types import AnyArray


@dataclass
class Layer:
    w: AnyArray
    b: AnyArray


Network = dict[str, list[Layer]]


@checkpoint
def layer(p: Layer, x: AnyArray, *, leaky: float = 0.0) -> Variable:
    y = xp.matmul(x, p.w) + p.b
    return xp.maximum(y, leaky * y)


def loss(network: Network, x: AnyArray) -> Variable:
    for p in network["layers"]:
        x = layer(p, x, leaky=0.1)
    return xp.mean(xp.square(x)) + xp.sum(stop_gradient(x) * 0.0)


def norm(x: AnyArray) -> Variable:
    return xp.sum(xp.exp(x) * x)


rng = np.random.default_rng(0)
network: Network = {"layers": [Layer(rng.normal(size=(3, 3)), np.zeros(3)) for _ in range(2)]}
x = rng.normal(size=(5, 3))
value, gradients = value_and_grad(loss)(network, x)
assert gradients["layers"][0].w.shape == (3, 3)
by_both = grad(loss, argnums=(0, 1))(network, x)
assert len(by_both) == 2

v = np.ones(3)
assert hessian(norm)(v).shape == jacobian(grad(norm))(v).shape == (3, 3)
_, tangent = jvp(norm, (v,), (v,))
_, pull = vjp(norm, v)
(cotangent,) = pull(np.ones(()))
product = hvp(norm, (v,), (v,))
assert tangent.shape == ()
assert cotangent.shape == (3,)
