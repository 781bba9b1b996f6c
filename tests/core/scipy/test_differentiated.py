"""SciPy's functions of Variables: values compared with SciPy, two orders of derivatives, batches and libraries."""

import contextlib

import numpy as np
import pytest
from tests.core.scipy.cases_of_fft import CASES as FFT
from tests.core.scipy.cases_of_integrate import CASES as INTEGRATE
from tests.core.scipy.cases_of_interpolate import CASES as INTERPOLATE
from tests.core.scipy.cases_of_linalg import CASES as LINALG
from tests.core.scipy.cases_of_ndimage import CASES as NDIMAGE
from tests.core.scipy.cases_of_signal import CASES as SIGNAL
from tests.core.scipy.cases_of_sparse import CASES as SPARSE
from tests.core.scipy.cases_of_spatial import CASES as SPATIAL
from tests.core.scipy.cases_of_stats import CASES as STATS
from tests.turn import half_of, part_of

from xpgrad import Variable, as_variable, compile, get_device
from xpgrad import array_api as xp
from xpgrad.testing.arrays import on_host, placed
from xpgrad.transforms import grad, jvp, vmap

CASES = [*LINALG, *FFT, *SIGNAL, *NDIMAGE, *INTERPOLATE, *INTEGRATE, *SPATIAL, *SPARSE, *STATS]
TWICE = {case.name for case in half_of(CASES) if case.orders > 1}
"""Cases whose second derivatives are computed, too: the other half for every second commit."""
STEP = 1e-5
READING = (
    "linalg.polar",
    "interpolate.RegularGridInterpolator:nearest",
    "spatial.transform.Rotation:mean",
    "spatial.transform.Rotation:align",
    "spatial.transform.Rotation:matrix",
    "spatial.transform.Rotation:nearest",
)
"""Cases whose checks read values, which a compiled program cannot do."""
BATCHED = [case for case in CASES if case.batched]
COMPILED = [case for case in BATCHED if not case.name.startswith(READING)]
LIBRARIES = [
    (case, name)
    for names, parts in ((("@torch:cpu", "@strict", "native:0"), 2), (("@jax",), 64))
    for case, name in part_of([(case, name) for case in CASES if case.libraries for name in names], parts)
]


def label(parameter):
    """Return the name of a case, or the specifier of a library."""
    return getattr(parameter, "name", parameter)


def floating(y):
    """Return the floating-point results of a function as a list."""
    ys = y if isinstance(y, (tuple, list)) else [np.asarray(y) if isinstance(y, float) else y]
    return [y for y in ys if hasattr(y, "dtype") and np.dtype(str(y.dtype).rpartition(".")[2]).kind in "fc"]


def weights(y, seed):
    rng = np.random.default_rng(seed)
    w = rng.uniform(0.5, 1.5, y.shape)
    return w + 1j * rng.uniform(0.5, 1.5, y.shape) if np.iscomplexobj(y) else w


def loss_of(case):
    """Return the real part of a weighted sum of all results, with its weights on the device of the inputs."""

    def loss(*xs):
        total = 0.0
        for i, y in enumerate(floating(case.function(*xs))):
            dtype = str(y.dtype).rpartition(".")[2]
            w = weights(np.empty(y.shape, dtype), i).astype(dtype)
            product = y * placed(w, as_variable(xs[0]).device)
            total = total + xp.sum(xp.real(product) if "complex" in dtype else product)
        return total

    return loss


def directions(case):
    rng = np.random.default_rng(3)
    return [
        rng.uniform(-1, 1, x.shape) + (1j * rng.uniform(-1, 1, x.shape) if np.iscomplexobj(x) else 0)
        for x in case.inputs
    ]


def inner(gs, vs):
    return float(sum(np.sum(np.real(np.conj(np.asarray(g)) * v)) for g, v in zip(gs, vs, strict=True)))


def gradients(f, xs):
    found = grad(f, argnums=tuple(range(len(xs))))(*xs)
    return [np.asarray(on_host(g)) for g in found]


def shifted(xs, vs, t):
    return [np.asarray(x + t * v) for x, v in zip(xs, vs, strict=True)]


@pytest.fixture
def stack():
    with contextlib.ExitStack() as stack:
        yield stack


@pytest.mark.parametrize("case", CASES, ids=label)
def test_value(case):
    found, expected = case.function(*map(Variable, case.inputs)), case.reference(*case.inputs)
    for y, e in zip(floating(found), floating(expected), strict=True):
        np.testing.assert_allclose(on_host(y), e, rtol=case.rtol, atol=case.rtol)
        assert np.iscomplexobj(e) or not np.iscomplexobj(on_host(y))


@pytest.mark.parametrize("case", CASES, ids=label)
def test_first_and_second_order(case):
    f, xs, vs = loss_of(case), list(case.inputs), directions(case)
    value = lambda t: float(on_host(f(*map(Variable, shifted(xs, vs, t)))))  # noqa: E731
    slope = inner(gradients(f, xs), vs)
    numeric = (value(STEP) - value(-STEP)) / (2 * STEP)
    assert slope == pytest.approx(numeric, rel=1e-5, abs=1e-6)
    forward = jvp(f, tuple(xs), tuple(vs))[1]
    assert float(on_host(forward)) == pytest.approx(slope, rel=1e-8, abs=1e-9)
    if case.name in TWICE:
        along = lambda *xs: jvp(f, xs, tuple(vs))[1]  # noqa: E731
        second = inner(gradients(along, xs), vs)
        ends = [inner(gradients(f, shifted(xs, vs, t)), vs) for t in (STEP, -STEP)]
        assert second == pytest.approx((ends[0] - ends[1]) / (2 * STEP), rel=1e-5, abs=1e-5)

        def twice(*xs):
            gs = grad(f, argnums=tuple(range(len(xs))))(*xs)
            return sum(xp.sum(xp.real(xp.conj(g) * v)) for g, v in zip(gs, vs, strict=True))

        assert inner(gradients(twice, xs), vs) == pytest.approx(second, rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("case", part_of(BATCHED, 1), ids=label)
def test_batch(case):
    f, vs = loss_of(case), directions(case)
    stacks = [np.stack([x, x + 1e-2 * v]) for x, v in zip(case.inputs, vs, strict=True)]
    g = grad(f, argnums=tuple(range(len(stacks))))
    for each, stack in zip(vmap(g)(*stacks), range(len(stacks)), strict=True):
        for i in range(2):
            expected = gradients(f, [x[i] for x in stacks])[stack]
            np.testing.assert_allclose(on_host(each)[i], expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("case", part_of(COMPILED, 8), ids=label)
def test_program(case):
    xs, found = list(case.inputs), case.function(*case.inputs)
    last = found[-1] if isinstance(found, tuple) else found
    part = xp.real if "complex" in str(last.dtype) else xp.positive
    if isinstance(found, tuple):
        f = lambda *xs: xp.sum(part(case.function(*xs)[-1]))  # noqa: E731
    else:
        f = lambda *xs: xp.sum(part(case.function(*xs)))  # noqa: E731
    program = compile(grad(f, argnums=tuple(range(len(xs)))))
    for _ in range(3):
        ys = program(*xs)
    for y, e in zip(ys, gradients(f, xs), strict=True):
        np.testing.assert_allclose(on_host(y), e, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(("case", "name"), LIBRARIES, ids=label)
def test_libraries(case, name, stack):
    device, f = get_device(name), loss_of(case)
    if name == "@jax":
        stack.enter_context(pytest.importorskip("jax").enable_x64(True))
    xs = [placed(np.asarray(x), device) for x in case.inputs]
    expected = case.function(*map(Variable, case.inputs))
    for y, e in zip(floating(case.function(*map(Variable, xs))), floating(expected), strict=True):
        np.testing.assert_allclose(on_host(y), on_host(e), rtol=1e-7, atol=1e-8)
    for found, e in zip(gradients(f, xs), gradients(f, list(case.inputs)), strict=True):
        np.testing.assert_allclose(found, e, rtol=1e-6, atol=1e-7)
