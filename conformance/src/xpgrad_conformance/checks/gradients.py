"""Family G beyond the table: broadcasts, views, small arrays, several outputs, hooks, complex numbers."""

from typing import Any

import numpy as np

from xpgrad import FunctionNode, Variable, backward
from xpgrad.testing.arrays import on_host
from xpgrad_conformance.check import check
from xpgrad_conformance.oracle import differentiates, near_gradient, pulled
from xpgrad_conformance.subject import Subject

PATTERNS = (
    ((2, 3, 5), (3, 1)), ((2, 3, 5), ()), ((2, 3, 5), (1,)), ((2, 3, 5), (2, 1, 5)), ((2, 3, 5), (1, 3, 1)),
    ((2, 3, 5), (5,)), ((2, 1, 5), (3, 1)), ((3, 1), (1, 4)), ((), (3, 4)), ((1, 1), (3, 4)), ((1,), ()),
)  # fmt: skip

MEETINGS: dict[str, Any] = {
    "multiply": lambda xp, a, b: xp.multiply(a, b),
    "add": lambda xp, a, b: xp.add(a, b),
    "divide": lambda xp, a, b: xp.divide(a, b + 3.0),
    "where": lambda xp, a, b: xp.where(a > b, a, 2.0 * b),
}


@check("G05")
def broadcasting(s: Subject) -> None:
    """A cotangent is summed over the axes that were broadcast, in every pattern."""
    wide = s.in_wide("gradients")
    for one, other in PATTERNS:
        a, b = (np.round(wide.values(shape) * 64) / 64 for shape in (one, other))
        b = b + 1 / 128  # nowhere so near to the other that a step makes them equal
        for name, call in MEETINGS.items():
            what = f"{name} of shapes {one} and {other}"
            differentiates(wide, what, call, a, b)
    what = "broadcast_to (2, 3, 4) of shape (3, 1)"
    differentiates(wide, what, lambda xp, x: xp.broadcast_to(x, (2, 3, 4)), wide.values((3, 1)))


VIEWED: dict[str, Any] = {
    "x[1:, ::2] * x[:-1, 1::2]": lambda xp, x: x[1:, ::2] * x[:-1, 1::2],
    "x * transpose(x)": lambda xp, x: x[:, :3] * xp.permute_dims(x[:, :3], (1, 0)),
    "reshape of a transpose": lambda xp, x: xp.reshape(xp.permute_dims(x, (1, 0)), (12,)) * xp.reshape(x, (12,)),
    "concat([x[:, 1:], x, x[:, :1]])": lambda xp, x: xp.concat([x[:, 1:], x * x, x[:, :1]], axis=1),
    "stack of rows of x": lambda xp, x: xp.stack([x[0, :], x[2, :], x[0, :] * x[1, :]], axis=1),
    "x[0, :] - x[:, :1]": lambda xp, x: x[0, :] - x[:, :1],
    "sum(x, 0) / x": lambda xp, x: xp.sum(x, axis=0) / (x + 3.0),
    "flip(x) * x": lambda xp, x: xp.flip(x, axis=1) * x,
    "roll(x, 1) * x": lambda xp, x: xp.roll(x, 1, axis=0) * x,
    "max(x, 1) * x": lambda xp, x: xp.max(x, axis=1, keepdims=True) * x,
    "x x^T": lambda xp, x: xp.matmul(x, xp.permute_dims(x, (1, 0))),
    "expand_dims and squeeze": lambda xp, x: xp.squeeze(xp.expand_dims(x, axis=1), axis=1) * x[:, :1],
    "cumulative_sum": lambda xp, x: xp.cumulative_sum(x * x, axis=1),
    "sort": lambda xp, x: xp.sort(x, axis=0) * x[:1, :],
    "tril": lambda xp, x: xp.tril(x, k=1) * x,
    "mean": lambda xp, x: (x - xp.mean(x, axis=1, keepdims=True)) * x,
    "var": lambda xp, x: x / xp.sqrt(xp.var(x, axis=1, keepdims=True) + 0.1),
}


@check("G06")
def through_views(s: Subject) -> None:
    """Gradients through slices, transposes, joins and reductions of one input are accumulated."""
    wide = s.in_wide("gradients")
    for name, call in VIEWED.items():
        if s.has(name):
            differentiates(wide, name, call, wide.values((3, 4)))
    if s.has("negative_steps"):
        differentiates(wide, "x[::-1] * x", lambda xp, x: x[::-1, :] * x, wide.values((3, 4)))


@check("G07")
def small_arrays(s: Subject) -> None:
    """Gradients of 0-d, one-element and empty arrays have their shapes, and the right values."""
    wide = s.in_wide("gradients")
    for shape in ((), (1,), (1, 1), (0,), (2, 0, 3)):
        if 0 in shape and not s.has("empty_arrays"):
            continue
        x = wide.values(shape, 0.3, 1.7)
        calls: dict[str, Any] = {
            "x * x + exp(x)": lambda xp, x: x * x + xp.exp(x),
            "sum(x * x)": lambda xp, x: xp.sum(x * x),
            "x - sum(x)": lambda xp, x: x - xp.sum(x),
            "reshape(x)": lambda xp, x: xp.reshape(x, (-1,)) if 0 not in x.shape else xp.reshape(x, (0, 1)),
            "prod(x)": lambda xp, x: xp.prod(x),
        }
        for name, call in calls.items():
            differentiates(wide, f"{name}, shape {shape}", call, x)
    x = wide.variable(wide.values((), 0.3, 1.7))
    y = x * x
    y.backward()
    near_gradient(s, x.grad, x, 2 * on_host(x), "backward() of a 0-d x * x from its own ones")


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


@check("G11", scope="dtype", dtypes=("complex128", "complex64"))
def complex_convention(s: Subject) -> None:
    """Complex gradients: that by the real part plus i times that by the imaginary part, complex cotangents included."""
    z, w = s.values((2, 3), 0.3, 1.7), s.values((2, 3), 0.3, 1.7)
    calls: dict[str, Any] = {
        "z * w": lambda xp, z, w: z * w,
        "z / w": lambda xp, z, w: z / w,
        "z * conj(w)": lambda xp, z, w: z * xp.conj(w),
        "exp(z) + sqrt(w)": lambda xp, z, w: xp.exp(z) + xp.sqrt(w),
        "abs(z) * w": lambda xp, z, w: xp.abs(z) * w,
        "real(z) - imag(w)": lambda xp, z, w: xp.real(z) - xp.imag(w),
        "matmul(z, w^T)": lambda xp, z, w: xp.matmul(z, xp.matrix_transpose(w)),
        "sum(z) * mean(w, 1)": lambda xp, z, w: xp.sum(z) * xp.mean(w, axis=1),
        "prod(z) + log(w)": lambda xp, z, w: xp.prod(z, axis=1, keepdims=True) + xp.log(w),
        "z ** 3 * tanh(w)": lambda xp, z, w: z**3 * xp.tanh(w),
    }
    for name, call in calls.items():
        differentiates(s, name, call, z, w)
    real = "float64" if s.dtype == "complex128" else "float32"
    x, v = s.variable(np.real(z).astype(real)), s.variable(w)
    y = x * v
    gy = s.cotangent(y)
    gx, gv = pulled([y], [x, v], [s.variable(gy)])
    near_gradient(s, gx, x, np.real(np.conj(w) * gy), "the gradient of the real factor of a complex product")
    near_gradient(s, gv, v, np.real(z) * gy, "the gradient of the complex factor of a complex product")
    v = s.variable(w)
    loss = s.xp.sum(s.xp.abs(v) ** 2)
    loss.backward()
    near_gradient(s, v.grad, v, 2 * w, "the gradient of sum(abs(z) ** 2), which points uphill: 2 z")


@check("G12", needs=("float64", "float32"))
def mixed_dtypes(s: Subject) -> None:
    """In computations of float32 and float64, each gradient has the dtype of its array."""
    a, b = s.values((3, 4), dtype="float32"), s.values((3, 4), dtype="float64")
    rows: tuple[tuple[str, Any, Any, Any], ...] = (
        ("a * b", lambda xp, a, b: a * b, b, a),
        ("a + b", lambda xp, a, b: a + b, 1.0, 1.0),
        ("where", lambda xp, a, b: xp.where(a > 9.0, a, b), 0.0, 1.0),
        ("astype(a) * b", lambda xp, a, b: xp.astype(a, b.dtype) * b, b, a),
    )
    for title, call, one, other in rows:
        va, vb = s.variable(a, "float32"), s.variable(b, "float64")
        y = call(s.xp, va, vb)
        found = s.backend.dtype_name(y.array.dtype)
        assert found == "float64", f"{title} of float32 and float64 has dtype {found}, expected float64"
        gy = s.values((3, 4), dtype="float64")
        ga, gb = pulled([y], [va, vb], [s.variable(gy, "float64")])
        near_gradient(s, ga, va, gy * one, f"{title}: the gradient of the float32 factor")
        near_gradient(s, gb, vb, gy * other, f"{title}: the gradient of the float64 factor")
