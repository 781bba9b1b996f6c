"""Cases of `xpgrad.scipy.interpolate`: derivatives with respect to knots, values and arguments."""

import numpy as np
import pytest
from tests.core.scipy.table import ScipyCase, of_both, uniform

from xpgrad import array_api
from xpgrad.scipy import interpolate

ref = pytest.importorskip("scipy.interpolate")
both = of_both(interpolate, ref)
spsolve = pytest.importorskip("scipy.sparse.linalg").spsolve

X = np.asarray([0.0, 0.7, 1.5, 2.6, 3.1, 4.4])
Y = uniform(6, 2)
V = np.asarray([[0.3, 1.1, 4.2], [2.9, -0.4, 4.9]])
INSIDE = np.asarray([0.3, 1.1, 4.2])
GRID = (np.asarray([0.0, 0.6, 1.7]), np.asarray([-1.0, 0.2, 0.9, 2.0]))
POINTS = np.asarray([[0.3, 0.5], [1.2, -0.6], [1.6, 1.7]])
CLOUD, HEIGHTS = uniform(8, 2), uniform(8)


def curve(name, x=X, y=Y, v=V, label="", nu=0, libraries=False, **kwargs):
    """Return a case of a class that takes knots and values."""
    found, expected = getattr(interpolate, name), getattr(ref, name)
    return ScipyCase(
        f"interpolate.{name}{label}",
        lambda x, y, v: found(x, y, **kwargs)(v, nu),
        lambda x, y, v: expected(x, y, **kwargs)(v, nu),
        (x, y, v),
        libraries=libraries,
    )


def closed(y):
    """Return values of a period with the first again at the end."""
    xp = np if isinstance(y, np.ndarray) else array_api
    return xp.concat([y, y[:1, ...]])


def radial(kernel, **kwargs):
    return both(
        f"interpolate.RBFInterpolator:{kernel}",
        lambda m, y, d, x: m.RBFInterpolator(y, d, kernel=kernel, **kwargs)(x),
        (CLOUD, HEIGHTS, uniform(3, 2)),
        rtol=1e-7,
        libraries=kernel == "thin_plate_spline",
    )


KNOTS = np.asarray([0.0, 0, 0, 1, 2.5, 4, 4, 4])

CASES = [
    curve("CubicSpline", libraries=True),
    curve("CubicSpline", label=":natural,nu", bc_type="natural", nu=1),
    curve("CubicSpline", label=":clamped,axis", y=Y.T, bc_type="clamped", axis=1),
    curve("CubicSpline", label=":ends", y=uniform(6), bc_type=((2, 0.3), (1, -0.5))),
    *(
        both(
            f"interpolate.{name}:periodic{k}",
            lambda m, x, y, v, name=name, k=k: getattr(m, name)(x, closed(y), *k, bc_type="periodic")(v),
            (X, Y[:5], V + 0.07),
            libraries=k == (2,),
        )
        for name, k in (("CubicSpline", ()), ("make_interp_spline", (2,)), ("make_interp_spline", (3,)))
    ),
    both(
        "interpolate.PPoly:axis",
        lambda m, c, x, v: m.PPoly(c, x, axis=1)(v, 1) + m.PPoly(c, x, axis=1).antiderivative()(v),
        (uniform(2, 3, 5), X, INSIDE),
        libraries=False,
    ),
    curve("CubicSpline", label=":three", x=X[:3], y=Y[:3], v=INSIDE),
    curve("CubicSpline", label=":two", x=X[:2], y=Y[:2], v=INSIDE),
    curve("CubicSpline", label=":mixed", x=X[:3], y=Y[:3], v=INSIDE, bc_type=("not-a-knot", "natural")),
    both(
        "interpolate.CubicSpline:integrate",
        lambda m, x, y: m.CubicSpline(x, y).integrate(0.2, 3.7),
        (X, Y),
        libraries=False,
    ),
    curve("PchipInterpolator", libraries=True),
    curve("PchipInterpolator", label=":monotonic", y=np.cumsum(uniform(6, low=0.1)), nu=1),
    curve("Akima1DInterpolator", v=INSIDE, libraries=True),
    curve("Akima1DInterpolator", label=":makima", y=uniform(6), method="makima", extrapolate=True),
    both(
        "interpolate.CubicHermiteSpline",
        lambda m, x, y, d, v: m.CubicHermiteSpline(x, y, d)(v),
        (X, Y, uniform(6, 2), V),
    ),
    both(
        "interpolate.BSpline",
        lambda m, t, c, v: m.BSpline(t, c, 3)(v),
        (np.linspace(-2, 5, 11) + 0.1 * uniform(11), uniform(7, 2), V),
    ),
    both(
        "interpolate.BSpline:nu,axis",
        lambda m, c, v: m.BSpline(np.asarray([0.0, 0, 0, 1, 2.5, 4, 4, 4]), c, 2, axis=1)(v, 1),
        (uniform(2, 5), INSIDE[:2]),
        libraries=False,
    ),
    both("interpolate.make_interp_spline", lambda m, x, y, v: m.make_interp_spline(x, y)(v), (X, Y, INSIDE)),
    both(
        "interpolate.RegularGridInterpolator",
        lambda m, a, b, y, v: m.RegularGridInterpolator((a, b), y, bounds_error=False, fill_value=None)(v),
        (*GRID, uniform(3, 4, 2), POINTS),
    ),
    both(
        "interpolate.RegularGridInterpolator:nearest",
        lambda m, y: m.RegularGridInterpolator(GRID, y, "nearest")(POINTS),
        (uniform(3, 4),),
        orders=1,
        libraries=False,
    ),
    radial("thin_plate_spline"),
    radial("linear", smoothing=0.3),
    radial("cubic", degree=2),
    radial("quintic"),
    radial("multiquadric", epsilon=1.3),
    radial("inverse_multiquadric", epsilon=1.3, degree=0),
    radial("inverse_quadratic", epsilon=2.0),
    radial("gaussian", epsilon=1.5),
    *(
        ScipyCase(
            f"interpolate.RegularGridInterpolator:{method}",
            lambda a, b, y, v, method=method: interpolate.RegularGridInterpolator((a, b), y, method)(v),
            lambda a, b, y, v, method=method: ref.RegularGridInterpolator(
                (a, b), y, method, solver=None if method == "linear" else spsolve
            )(v),
            (np.arange(6.0) ** 1.1, 2 - np.arange(7.0) ** 0.9, uniform(6, 7), np.asarray([[0.3, 0.2], [5.1, -2.2]])),
            rtol=1e-8,
            batched=False,
            libraries=method == "cubic",
        )
        for method in ("linear", "slinear", "cubic", "quintic")
    ),
    *(
        both(
            f"interpolate.make_interp_spline:{label}",
            lambda m, x, y, v, kwargs=kwargs: m.make_interp_spline(x, y, **kwargs)(v),
            (X, Y, INSIDE + 0.07),
            libraries=False,
        )
        for label, kwargs in (
            ("even", {"k": 2}),
            ("clamped", {"bc_type": "clamped"}),
            ("natural", {"bc_type": "natural"}),
        )
    ),
    both(
        "interpolate.BSpline:integrals",
        lambda m, t, c: m.BSpline(t, c, 2).antiderivative(2)(INSIDE) + m.BSpline(t, c, 2).integrate(0, 3),
        (np.linspace(-2, 5, 9), uniform(6)),
        libraries=False,
    ),
    both(
        "interpolate.CubicSpline:roots",
        lambda m, x, y: m.CubicSpline(x, y).roots(extrapolate=False),
        (np.arange(5.0), np.asarray([1.0, -0.4, -0.2, 0.7, 0.9])),
        batched=False,
    ),
    both(
        "interpolate.CubicSpline:integrals",
        lambda m, x, y: (
            m.CubicSpline(x, y).antiderivative(2)(V) + m.CubicSpline(x, y).integrate(0.2, 9.7, extrapolate="periodic")
        ),
        (X, uniform(6)),
        libraries=False,
    ),
    *(
        both(
            f"interpolate.BSpline:integrate,{outside}",
            lambda m, c, outside=outside: m.BSpline(KNOTS, c, 2).integrate(-0.5, 5.5, outside),
            (uniform(5),),
            libraries=False,
        )
        for outside in (True, False, "periodic")
    ),
    ScipyCase(
        "interpolate.RegularGridInterpolator:nu",
        lambda y, v: interpolate.RegularGridInterpolator((X, X[:4]), y, "cubic")(v, nu=(1, 2)),
        lambda y, v: ref.RegularGridInterpolator((X, X[:4]), y, "cubic", solver=spsolve)(v, nu=(1, 2)),
        (uniform(6, 4), np.asarray([[0.3, 0.2], [3.1, 2.2]])),
        rtol=1e-8,
        batched=False,
        libraries=False,
    ),
    both(
        "interpolate.make_interp_spline:constant",
        lambda m, y: m.make_interp_spline(X, y, 0)(V),
        (Y,),
        orders=1,
        libraries=False,
    ),
    both(
        "interpolate.make_interp_spline:pairs",
        lambda m, y, v: m.make_interp_spline(X, y, bc_type=([(1, 0.3)], [(2, 0.1)]))(v),
        (Y[:, 0], V),
        libraries=False,
    ),
]
