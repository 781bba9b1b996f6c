"""Family H beyond the table: Hessians of programs, gradients for cotangents, and kernels in recorded sweeps."""

import functools
from typing import Any

import numpy as np

import xpgrad.functions as F
from xpgrad import as_variable
from xpgrad.testing.arrays import inner, on_host
from xpgrad.testing.differences import derivative
from xpgrad_conformance.check import check
from xpgrad_conformance.checks.kernels_calls import provided
from xpgrad_conformance.oracle import gradients_of, host, near_gradient, pulled, wide
from xpgrad_conformance.subject import Subject
from xpgrad_conformance.table.comparisons import assert_same_bits

RTOL = {"float64": 1e-5, "float32": 2e-3}
IN_OTHER_PARTS = 64
"""Units in the last place of the largest element between sums of small arrays in another order."""


def _softmax(x: Any) -> Any:
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


PROGRAMS: dict[str, tuple[Any, Any, tuple[str, ...]]] = {
    "sum(tanh(x) * exp(x))": (
        lambda xp, x: xp.sum(xp.tanh(x) * xp.exp(x)),
        lambda x: np.sum(np.tanh(x) * np.exp(x)),
        (),
    ),
    "sum of products of rows": (
        lambda xp, x: xp.sum(xp.matmul(x, xp.matrix_transpose(x)) ** 2),
        lambda x: np.sum((x @ x.T) ** 2),
        (),
    ),
    "softmax": (lambda xp, x: xp.sum(F.softmax(x, axis=1) ** 2 * x), lambda x: np.sum(_softmax(x) ** 2 * x), ()),
    "norms of rows": (
        lambda xp, x: xp.sum(xp.linalg.vector_norm(x, axis=1) ** 3),
        lambda x: np.sum(np.sqrt(np.sum(x * x, 1)) ** 3),
        ("linalg",),
    ),
    "repeated rows": (
        lambda xp, x: xp.sum(xp.exp(xp.take(x, _index(xp, x), axis=0)) * xp.sum(x, axis=0)),
        lambda x: np.sum(np.exp(x[[1, 0, 1, 1]]) * np.sum(x, 0)),
        (),
    ),
    "slices": (
        lambda xp, x: xp.sum(x[1:, :] ** 2 * x[:-1, ::3][:, :1] + xp.sin(x[0, 1]) * x[2, 2] ** 3),
        lambda x: np.sum(x[1:] ** 2 * x[:-1, :1] + np.sin(x[0, 1]) * x[2, 2] ** 3),
        (),
    ),
    "variance and division": (
        lambda xp, x: xp.sum(x / (1.5 + xp.var(x, axis=1, keepdims=True)) ** 2),
        lambda x: np.sum(x / (1.5 + np.var(x, 1, keepdims=True)) ** 2),
        (),
    ),
    "concat and cumulative sums": (
        lambda xp, x: xp.sum(xp.cumulative_sum(xp.concat([x, x * x], axis=1), axis=1) ** 2),
        lambda x: np.sum(np.cumsum(np.concatenate([x, x * x], 1), 1) ** 2),
        ("cumulative_sum",),
    ),
    "products": (
        lambda xp, x: xp.sum(xp.prod(x, axis=0) * xp.sqrt(x + 3.0)),
        lambda x: np.sum(np.prod(x, 0) * np.sqrt(x + 3)),
        (),
    ),
    "max and where": (
        lambda xp, x: xp.sum(xp.max(_apart(xp, x), axis=1)) + xp.sum(xp.where(_apart(xp, x) > 4.5, x**3, x**2)),
        lambda x: np.sum(np.max(_apart(np, x), 1)) + np.sum(np.where(_apart(np, x) > 4.5, x**3, x**2)),
        (),
    ),
}
"""Programs from shape (3, 4) to one number, and the same on the host."""


def _apart(xp: Any, x: Any) -> Any:
    """Return squares of numbers between -2 and 2 with distances that no difference closes."""
    steps = [[0.0, 5.0, 10.0, 15.0], [10.0, 15.0, 0.0, 5.0], [15.0, 0.0, 5.0, 10.0]]
    given = as_variable(x) if hasattr(x, "node") else None
    return x * x + (np.asarray(steps) if given is None else xp.asarray(steps, dtype=given.dtype, device=given.device))


def _index(xp: Any, x: Any) -> Any:
    return xp.asarray([1, 0, 1, 1], device=as_variable(x).device) if hasattr(x, "node") else [1, 0, 1, 1]


def hessian_product(s: Subject, call: Any, x: Any, v: Any) -> Any:
    """Return the gradient of the inner product of the gradient with `v`, at `x`."""
    (gx,) = pulled([call(s.xp, x)], [x], enable_double_backprop=True)
    (product,) = pulled([s.xp.sum(gx * v)], [x])
    return product


@check("H03")
def hessians(s: Subject) -> None:
    """Hessians of programs times a vector agree with differences of gradients, and are symmetric."""
    for name, (call, reference, needs) in PROGRAMS.items():
        if not s.has(*needs):
            continue
        x = s.values((3, 4))
        u, v = wide(s.values((3, 4))), wide(s.values((3, 4)))
        placed = s.variable(x)
        hv = hessian_product(s, call, placed, s.variable(v))
        assert hv is not None, f"{name}: no second derivative exists"
        x = wide(x)
        # v' H as the finite difference, along v, of a gradient that is itself computed from finite differences
        expected = gradients_of(lambda y, v=v, f=reference: derivative(lambda t: float(f(y + t * v)), 5e-3), [x])[0]
        near_gradient(s, hv, placed, expected, f"{name}: the Hessian times a vector", RTOL[s.wide])
        hu = hessian_product(s, call, placed, s.variable(u))
        one, other = inner(u, on_host(hv)), inner(v, on_host(hu))
        scale = float(np.sum(np.abs(u * on_host(hv))))
        assert abs(one - other) <= s.rtol(factor=100) * scale, f"{name}: u H v is {one!r}, but v H u is {other!r}"


def _moved(f: Any, x: Any, v: Any, at: Any, t: float) -> float:
    return float(f(x + t * v)[at])


@check("H04")
def by_the_cotangent(s: Subject) -> None:
    """The gradient by the cotangent of a gradient is the derivative of the function along the direction."""
    calls: dict[str, tuple[Any, Any]] = {
        "tanh(x) * x": (lambda xp, x: xp.tanh(x) * x, lambda x: np.tanh(x) * x),
        "matmul(x, x^T)": (lambda xp, x: xp.matmul(x, xp.matrix_transpose(x)), lambda x: x @ x.T),
        "x[:, 1:] / (x[:, :1] + 3)": (lambda xp, x: x[:, 1:] / (x[:, :1] + 3.0), lambda x: x[:, 1:] / (x[:, :1] + 3)),
        "sum(x * x, axis=0)": (lambda xp, x: xp.sum(x * x, axis=0), lambda x: np.sum(x * x, 0)),
        "log_softmax(x)": (lambda xp, x: F.log_softmax(x, axis=1), lambda x: np.log(_softmax(x))),
        "max(x, axis=1)": (lambda xp, x: xp.max(x, axis=1), lambda x: np.max(x, 1)),
        "reshape(flip(x))": (lambda xp, x: xp.reshape(xp.flip(x, axis=1), (4, 3)), lambda x: x[:, ::-1].reshape(4, 3)),
        "concat([x * x, x])": (lambda xp, x: xp.concat([x * x, x]), lambda x: np.concatenate([x * x, x])),
    }
    for name, (call, reference) in calls.items():
        x, v = s.values((3, 4)), s.values((3, 4))
        placed, direction = s.variable(x), s.variable(v)
        y = call(s.xp, placed)
        gy = s.variable(s.cotangent(y))
        (gx,) = pulled([y], [placed], [gy], enable_double_backprop=True)
        (moved,) = pulled([gx], [gy], [direction])
        assert moved is not None, f"{name}: the gradient does not depend on its cotangent"
        wx, wv = wide(x), wide(v)
        expected = np.zeros(y.shape)
        for at in np.ndindex(*y.shape):
            expected[at] = derivative(functools.partial(_moved, reference, wx, wv, at), 1e-3)
        near_gradient(s, moved, gy, expected, f"{name}: the derivative along a direction", RTOL[s.wide])


@check("H05")
def orders(s: Subject) -> None:
    """Derivatives up to the fourth order of elementary functions agree with their formulas."""
    x = s.values((2, 3), 0.3, 1.7)
    w = wide(x)
    rows: dict[str, tuple[Any, list[Any]]] = {
        "x ** 4": (lambda xp, x: x**4, [4 * w**3, 12 * w**2, 24 * w, 24 + 0 * w]),
        "exp(2 x)": (lambda xp, x: xp.exp(2.0 * x), [2**k * np.exp(2 * w) for k in (1, 2, 3, 4)]),
        "sin(x)": (lambda xp, x: xp.sin(x), [np.cos(w), -np.sin(w), -np.cos(w), np.sin(w)]),
        "log(x)": (lambda xp, x: xp.log(x), [1 / w, -1 / w**2, 2 / w**3, -6 / w**4]),
        "1 / x": (lambda xp, x: 1.0 / x, [-1 / w**2, 2 / w**3, -6 / w**4, 24 / w**5]),
        "sqrt(x)": (lambda xp, x: xp.sqrt(x), [0.5 * w**-0.5, -0.25 * w**-1.5, 0.375 * w**-2.5, -0.9375 * w**-3.5]),
        "x * x * x": (lambda xp, x: x * x * x, [3 * w**2, 6 * w, 6 + 0 * w]),
    }
    for name, (call, expected) in rows.items():
        placed = s.variable(x)
        y = call(s.xp, placed)
        for order, derived in enumerate(expected, 1):
            ones = s.variable(np.ones((2, 3)))
            (y,) = pulled([y], [placed], [ones], enable_double_backprop=True)
            assert y is not None, f"{name}: no derivative of order {order} exists"
            near_gradient(s, y, placed, derived, f"the derivative of order {order} of {name}", 20 * s.rtol())


@check("H06")
def formulas_in_recorded_sweeps(s: Subject) -> None:
    """A recorded sweep uses the formulas, and a raw sweep fused kernels, so derivatives of every order exist."""
    x, gy = s.values((3, 4)), s.values((3, 4))
    asked: list[str] = []

    def fused(g: Any, x: Any, y: Any) -> Any:
        asked.append("tanh.x")
        return s.kernels.multiply(g, s.kernels.subtract(1.0, s.kernels.multiply(y, y)))

    with provided(s, {"tanh.x": fused}):
        placed, seed = s.variable(x), s.variable(gy)
        y = s.xp.tanh(placed)
        (raw,) = pulled([y], [placed], [seed])
        assert asked, "a raw sweep did not ask the kernel tanh.x that was provided"
        asked.clear()
        (recorded,) = pulled([y], [placed], [seed], enable_double_backprop=True)
        assert not asked, "a recorded sweep used the kernel tanh.x, which no further derivative can see through"
        assert raw is not None
        assert recorded is not None
        (second,) = pulled([recorded], [placed], [s.variable(np.ones((3, 4)))])
    t = np.tanh(wide(x))
    near_gradient(s, raw, placed, gy * (1 - t * t), "the gradient of tanh by a fused kernel")
    near_gradient(s, second, placed, gy * -2 * t * (1 - t * t), "the second derivative of tanh beside a fused kernel")


@check("H07")
def recorded_programs(s: Subject) -> None:
    """Programs have the same gradients, bit by bit, whether the sweep is recorded or not.

    Where arrays are partitioned, a fused kernel may give a gradient in other parts, which are added in another order.
    """
    for name, (call, _, needs) in PROGRAMS.items():
        if s.has(*needs):
            x = s.variable(s.values((3, 4)))
            y = call(s.xp, x)
            (raw,) = pulled([y], [x])
            (recorded,) = pulled([y], [x], enable_double_backprop=True)
            assert raw is not None, f"{name}: no gradient exists"
            what = f"{name}: the gradients of a raw and of a recorded sweep"
            if s.backend.has_layouts:
                one, other = on_host(raw), on_host(recorded)
                bound = IN_OTHER_PARTS * np.finfo(one.dtype).eps * np.max(np.abs(one))
                assert np.max(np.abs(one - other)) <= bound, f"{what} differ: {one} and {other}"
            else:
                assert_same_bits(on_host(raw), on_host(recorded), what)


@check("H08", scope="dtype", dtypes=("complex128",))
def complex_hessians(s: Subject) -> None:
    """Second derivatives of real functions of complex numbers agree with differences of gradients."""
    programs: dict[str, Any] = {
        "sum(abs(z * z + exp(z)) ** 2)": lambda xp, z: xp.sum(xp.abs(z * z + xp.exp(z)) ** 2),
        "sum(real(z z^T) ** 2)": lambda xp, z: xp.sum(xp.real(xp.matmul(z, xp.matrix_transpose(z))) ** 2),
        "sum(imag(z * conj(z[0]))) ** 2": lambda xp, z: xp.sum(xp.imag(z * xp.conj(z[0, :])) ** 2),
    }
    for name, call in programs.items():
        z, v = s.values((2, 3), 0.2, 1.2), s.values((2, 3), 0.2, 1.2)
        placed = s.variable(z)
        (gz,) = pulled([call(s.xp, placed)], [placed], enable_double_backprop=True)
        product = s.xp.sum(s.xp.real(gz * s.xp.conj(s.variable(v))))
        (hv,) = pulled([product], [placed])

        def slope(y: Any, v: Any = v, f: Any = call) -> float:
            return derivative(lambda t: float(f(host, y + t * v)), 5e-3)

        near_gradient(s, hv, placed, gradients_of(slope, [z])[0], f"{name}: the Hessian times a vector", 1e-5)
