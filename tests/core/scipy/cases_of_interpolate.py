"""Cases of `xpgrad.scipy.interpolate`: derivatives with respect to knots, values and arguments."""

import numpy as np
import pytest
from tests.core.scipy.table import cases_of, uniform

from xpgrad import array_api
from xpgrad.scipy import interpolate

ref = pytest.importorskip("scipy.interpolate")
of = cases_of("interpolate", interpolate, ref, libraries=False)
spsolve = pytest.importorskip("scipy.sparse.linalg").spsolve

X = np.asarray([0.0, 0.7, 1.5, 2.6, 3.1, 4.4])
Y = uniform(6, 2)
V = np.asarray([[0.3, 1.1, 4.2], [2.9, -0.4, 4.9]])
INSIDE = np.asarray([0.3, 1.1, 4.2])
GRID = (np.asarray([0.0, 0.6, 1.7]), np.asarray([-1.0, 0.2, 0.9, 2.0]))
POINTS = np.asarray([[0.3, 0.5], [1.2, -0.6], [1.6, 1.7]])
CLOUD, HEIGHTS = uniform(8, 2), uniform(8)


def curve(name, x=X, y=Y, v=V, nu=0, libraries=False, **kwargs):
    """Return a case of a class that takes knots and values."""
    function = name.partition(":")[0]
    return of(name, x, y, v, call=lambda m, x, y, v: getattr(m, function)(x, y, **kwargs)(v, nu), libraries=libraries)


def closed(y):
    """Return values of a period with the first again at the end."""
    xp = np if isinstance(y, np.ndarray) else array_api
    return xp.concat([y, y[:1, ...]])


def radial(kernel, **kwargs):
    return of(f"RBFInterpolator:{kernel}", CLOUD, HEIGHTS, uniform(3, 2), rtol=1e-7,
              call=lambda m, y, d, x: m.RBFInterpolator(y, d, kernel=kernel, **kwargs)(x),
              libraries=kernel == "thin_plate_spline")  # fmt: skip


def grid(name, method, *inputs, nu=None, **options):
    """Return a case of interpolation in a grid of two axes, with a direct solver in SciPy."""

    def call(m, a, b, y, v):
        solver = {"solver": spsolve} if m is ref and method in ("cubic", "quintic") else {}
        return m.RegularGridInterpolator((a, b), y, method, **solver)(v, nu=nu)

    return of(f"RegularGridInterpolator:{name}", *inputs, call=call, rtol=1e-8, batched=False, **options)


KNOTS = np.asarray([0.0, 0, 0, 1, 2.5, 4, 4, 4])

CASES = [
    curve("CubicSpline", libraries=True),
    curve("CubicSpline:natural,nu", bc_type="natural", nu=1),
    curve("CubicSpline:clamped,axis", y=Y.T, bc_type="clamped", axis=1),
    curve("CubicSpline:ends", y=uniform(6), bc_type=((2, 0.3), (1, -0.5))),
    curve("CubicSpline:three", x=X[:3], y=Y[:3], v=INSIDE),
    curve("CubicSpline:two", x=X[:2], y=Y[:2], v=INSIDE),
    curve("CubicSpline:mixed", x=X[:3], y=Y[:3], v=INSIDE, bc_type=("not-a-knot", "natural")),
    *(of(f"{name}:periodic{k}", X, Y[:5], V + 0.07, libraries=k == (2,),
         call=lambda m, x, y, v, name=name, k=k: getattr(m, name)(x, closed(y), *k, bc_type="periodic")(v))
      for name, k in (("CubicSpline", ()), ("make_interp_spline", (2,)), ("make_interp_spline", (3,)))),
    of("CubicSpline:integrate", X, Y, call=lambda m, x, y: m.CubicSpline(x, y).integrate(0.2, 3.7)),
    of("CubicSpline:roots", np.arange(5.0), np.asarray([1.0, -0.4, -0.2, 0.7, 0.9]), batched=False, libraries=True,
       call=lambda m, x, y: m.CubicSpline(x, y).roots(extrapolate=False)),
    of("CubicSpline:integrals", X, uniform(6), call=lambda m, x, y: (
       m.CubicSpline(x, y).antiderivative(2)(V) + m.CubicSpline(x, y).integrate(0.2, 9.7, extrapolate="periodic"))),
    of("PPoly:axis", uniform(2, 3, 5), X, INSIDE,
       call=lambda m, c, x, v: m.PPoly(c, x, axis=1)(v, 1) + m.PPoly(c, x, axis=1).antiderivative()(v)),
    curve("PchipInterpolator", libraries=True),
    curve("PchipInterpolator:monotonic", y=np.cumsum(uniform(6, low=0.1)), nu=1),
    curve("Akima1DInterpolator", v=INSIDE, libraries=True),
    curve("Akima1DInterpolator:makima", y=uniform(6), method="makima", extrapolate=True),
    of("CubicHermiteSpline", X, Y, uniform(6, 2), V, libraries=True,
       call=lambda m, x, y, d, v: m.CubicHermiteSpline(x, y, d)(v)),
    of("BSpline", np.linspace(-2, 5, 11) + 0.1 * uniform(11), uniform(7, 2), V, libraries=True,
       call=lambda m, t, c, v: m.BSpline(t, c, 3)(v)),
    of("BSpline:nu,axis", uniform(2, 5), INSIDE[:2], call=lambda m, c, v: m.BSpline(KNOTS, c, 2, axis=1)(v, 1)),
    of("BSpline:integrals", np.linspace(-2, 5, 9), uniform(6), call=lambda m, t, c: (
       m.BSpline(t, c, 2).antiderivative(2)(INSIDE) + m.BSpline(t, c, 2).integrate(0, 3))),
    *(of(f"BSpline:integrate,{outside}", uniform(5),
         call=lambda m, c, outside=outside: m.BSpline(KNOTS, c, 2).integrate(-0.5, 5.5, outside))
      for outside in (True, False, "periodic")),
    curve("make_interp_spline", v=INSIDE, libraries=True),
    curve("make_interp_spline:even", v=INSIDE + 0.07, k=2),
    curve("make_interp_spline:clamped", v=INSIDE + 0.07, bc_type="clamped"),
    curve("make_interp_spline:natural", v=INSIDE + 0.07, bc_type="natural"),
    of("make_interp_spline:constant", Y, call=lambda m, y: m.make_interp_spline(X, y, 0)(V), orders=1),
    of("make_interp_spline:pairs", Y[:, 0], V,
       call=lambda m, y, v: m.make_interp_spline(X, y, bc_type=([(1, 0.3)], [(2, 0.1)]))(v)),
    of("RegularGridInterpolator", *GRID, uniform(3, 4, 2), POINTS, libraries=True,
       call=lambda m, a, b, y, v: m.RegularGridInterpolator((a, b), y, bounds_error=False, fill_value=None)(v)),
    of("RegularGridInterpolator:nearest", uniform(3, 4), orders=1,
       call=lambda m, y: m.RegularGridInterpolator(GRID, y, "nearest")(POINTS)),
    *(grid(method, method, np.arange(6.0) ** 1.1, 2 - np.arange(7.0) ** 0.9, uniform(6, 7),
           np.asarray([[0.3, 0.2], [5.1, -2.2]]), libraries=method == "cubic")
      for method in ("linear", "slinear", "cubic", "quintic")),
    grid("nu", "cubic", X, X[:4], uniform(6, 4), np.asarray([[0.3, 0.2], [3.1, 2.2]]), nu=(1, 2)),
    radial("thin_plate_spline"),
    radial("linear", smoothing=0.3),
    radial("cubic", degree=2),
    radial("quintic"),
    radial("multiquadric", epsilon=1.3),
    radial("inverse_multiquadric", epsilon=1.3, degree=0),
    radial("inverse_quadratic", epsilon=2.0),
    radial("gaussian", epsilon=1.5),
]  # fmt: skip
