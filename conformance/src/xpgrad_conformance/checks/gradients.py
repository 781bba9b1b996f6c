"""Family G beyond the table: functions with several outputs, hooks, integers, and what a sweep gives."""

from typing import Any

import numpy as np

from xpgrad import FunctionNode, Variable, backward
from xpgrad.testing.arrays import on_host
from xpgrad_conformance.check import check
from xpgrad_conformance.oracle import near_gradient, pulled
from xpgrad_conformance.subject import Subject


class _Parts(FunctionNode):
    """Function of two inputs and three outputs, with user-defined rules."""

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        a, b = inputs
        self.retain_inputs((0, 1))
        return a * b, a + b, b * b

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        a, b = self.get_retained_inputs()
        g1, g2, g3 = grad_outputs
        ga = [g for g in (None if g1 is None else g1 * b, g2) if g is not None]
        gb = [g for g in (None if g1 is None else g1 * a, g2, None if g3 is None else 2.0 * g3 * b) if g is not None]
        sums = [None if not g else g[0] if len(g) == 1 else g[0] + sum(g[2:], g[1]) for g in (ga, gb)]
        return tuple(sums[i] for i in target_input_indexes)


@check("G08")
def several_outputs(s: Subject) -> None:
    """Functions with several outputs: any subset of the outputs, with or without a cotangent."""
    a, b = s.values((3, 4)), s.values((3, 4))
    for chosen in ((0,), (1,), (2,), (0, 1), (0, 2), (0, 1, 2)):
        va, vb = s.variable(a), s.variable(b)
        ys = _Parts().apply((va, vb))
        gys = {i: s.values((3, 4)) for i in chosen}
        backward([ys[i] for i in chosen], [s.variable(gys[i]) for i in chosen])
        zero = np.zeros((3, 4))
        g1, g2, g3 = (gys.get(i, zero) for i in range(3))
        what = f"with cotangents for the outputs {chosen} of three"
        if chosen == (2,):
            assert va.grad is None, f"{what}: the first input has a gradient {va.grad}, but nothing depends on it"
        else:
            near_gradient(s, va.grad, va, g1 * b + g2, f"{what}: the first input's gradient")
        near_gradient(s, vb.grad, vb, g1 * a + g2 + 2 * g3 * b, f"{what}: the second input's gradient")
    if s.has("unstack"):
        x = s.variable(a)
        rows = s.xp.unstack(x, axis=1)
        gy = s.values((3,))
        (gx,) = pulled([rows[2] * rows[0]], [x], [s.variable(gy)])
        expected = np.zeros((3, 4))
        expected[:, 2], expected[:, 0] = gy * a[:, 0], gy * a[:, 2]
        near_gradient(s, gx, x, expected, "the gradient through two of four unstacked columns")


@check("G09")
def what_the_sweep_gives(s: Subject) -> None:
    """Retained gradients, hooks, unused inputs, integers, and accumulation in a second sweep."""
    host_x = s.values((3, 4))
    x, other = s.variable(host_x), s.variable(s.values((3, 4)))
    h = x * x
    y = s.xp.exp(h)
    gy = s.values((3, 4))
    y.grad = s.array(gy)
    y.backward(retain_grad=True)
    gh = gy * np.exp(host_x.astype(np.float64) ** 2)
    near_gradient(s, h.grad, h, gh, "the retained gradient of x * x in exp(x * x)")
    near_gradient(s, x.grad, x, gh * 2 * host_x, "the gradient of exp(x * x)")
    assert other.grad is None, "a Variable outside of the graph has a gradient"
    first = on_host(x.grad)
    y.grad = s.array(gy)
    y.backward()
    near_gradient(s, x.grad, x, 2.0 * first, "the gradient after the same sweep again, which adds")
    assert pulled([y], [other], [s.variable(gy)])[0] is None, "an input that does not matter has a gradient"
    v = s.variable(host_x)
    h = s.xp.sin(v)
    h.register_hook(lambda g: g * 3.0)
    (gx,) = pulled([h * h], [v], [s.variable(gy)])
    expected = 3 * gy * 2 * np.sin(host_x) * np.cos(host_x)
    near_gradient(s, gx, v, expected, "the gradient behind a hook that triples")
    count = Variable(s.array(np.asarray([[2, 1, 0, 3]])))
    z = v * s.xp.astype(count, s.dtype_of(s.wide))
    (gx,) = pulled([z], [v], [s.variable(gy)])
    near_gradient(s, gx, v, gy * np.asarray([[2, 1, 0, 3]]), "the gradient of a product with integers")
    z.grad = s.array(gy)
    z.backward()
    assert count.grad is None, "an integer input has a gradient"
