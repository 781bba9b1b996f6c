"""Special functions: edges, compositions, operands, and that they load late."""

import itertools
import subprocess
import sys
import types
from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.special
from tests.core.special.references import TABLE
from tests.core.special.test_accuracy import PLAIN
from tests.devices import device_or_skip

import xpgrad
from xpgrad import Variable, special
from xpgrad.array_api.namespace import namespace
from xpgrad.backend.kernels import table
from xpgrad.errors import DtypeError, GraphError, UnknownArray
from xpgrad.testing.arrays import on_host, placed
from xpgrad_conformance.cases import CASES
from xpgrad_numpy.kernels import special as numpy_special

BY_DIFFERENCES: dict[str, tuple[tuple[int, ...], tuple[list[float], ...]]] = {
    "radian": ((), ([10.0, -80.0], [5.0, 30.0], [7.0, 50.0])),
    "digamma": ((), ([0.4, 2.0, 17.0, -1.3],)),
    "jn": ((3,), ([0.6, 2.0, 5.0],)),
    "yn": ((3,), ([0.6, 2.0, 5.0],)),
    "expn": ((3,), ([0.6, 2.0, 5.0],)),
    "polygamma": ((2,), ([0.6, 2.0, 5.0],)),
    "multigammaln": ((3,), ([1.5, 4.0],)),
    "eval_gegenbauer": ((4,), ([0.3, 1.0, 1.7], [-0.8, 0.2, 1.4])),
    "eval_jacobi": ((5,), ([0.3, 1.0, 1.7], [-0.4, 0.5, 1.2], [-0.8, 0.2, 0.9])),
    "eval_sh_jacobi": ((3,), ([2.2, 3.0, 2.6], [0.7, 1.1, 1.4], [0.1, 0.5, 0.9])),
}
"""The order or degree, and the arguments, of functions without references in `references.txt`."""


def _of_order(name: str, function: Any, order: tuple[int, ...]) -> Any:
    return (lambda x: function(x, *order)) if name == "multigammaln" else partial(function, *order)


INNER = {  # derivatives, outputs, or parts of the domain, for functions that have a case
    "airy_of", "bei_of", "ber_of", "carlson", "complex_polygamma_of", "cosine_integral", "ellipe_of",
    "elliptic_of", "erfc_quotient_of", "fdtr_slope", "fresnel_cosine", "fresnel_sine", "gammainc_shape_of",
    "hyperbolic_cosine_integral", "hyperbolic_sine_integral", "jacobi_am", "kei_of", "ker_of", "kve_moment",
    "psi_rise", "rgamma_of", "sine_integral", "stdtr_slope", "successes_of", "yn_of",
}  # fmt: skip
UNTABLED = {
    *BY_DIFFERENCES,
    *INNER,
    "hankel1e",
    "hankel2e",
    "jve",
    "yve",
    "gammainc_slope",
    "betainc_slope",
}  # the last: higher orders


def test_every_function_has_a_case_or_is_a_composition_of_tested_functions() -> None:
    names = {case.name.partition("-")[0].removeprefix("special.") for case in CASES if "special." in case.name}
    assert set(special.__all__) - names - TABLE.keys() == UNTABLED - TABLE.keys()


@pytest.mark.parametrize("device", ["@numpy", "@strict:cpu"])
@pytest.mark.parametrize("name", BY_DIFFERENCES)
def test_value_and_gradients_agree_with_scipy_and_its_central_differences(name: str, device: str) -> None:
    found, (order, args) = device_or_skip(device), BY_DIFFERENCES[name]
    ours, reference = (_of_order(name, getattr(module, name), order) for module in (special, scipy.special))
    hosts = [np.asarray(a) for a in args]
    xs = [Variable(placed(a, found)) for a in hosts]
    y = ours(*xs)
    assert on_host(y) == pytest.approx(reference(*hosts), rel=1e-10)
    cotangent = np.cos(np.arange(y.size)).reshape(y.shape)
    y.grad = placed(cotangent, found)
    y.backward()
    for x, host in zip(xs, hosts, strict=True):
        step = 1e-4 * np.abs(host)
        for at in np.ndindex(host.shape):
            slope = 0.0
            for shift, weight in ((-2, 1), (-1, -8), (1, 8), (2, -1)):
                moved = [h.copy() for h in hosts]
                next(m for m, h in zip(moved, hosts, strict=True) if h is host)[at] += shift * step[at]
                slope += weight * np.sum(reference(*moved) * cotangent) / (12 * step[at])
            assert on_host(x.grad)[at] == pytest.approx(slope, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("name", [n for n in special.__all__ if n.startswith("eval_")])
def test_a_degree_is_a_whole_number_from_0_on(name: str) -> None:
    x = Variable(np.asarray([0.25, 0.75]))
    parameters = {"eval_jacobi": (0.5, 0.5), "eval_sh_jacobi": (2.5, 0.5)}.get(name, (0.5,))
    given = parameters if getattr(scipy.special, name).nin > 2 else ()
    for n in (0, 1, np.int64(2)):
        y = getattr(special, name)(n, *given, x)
        assert on_host(y) == pytest.approx(getattr(scipy.special, name)(n, *given, x.array), rel=1e-13)
    for wrong in (-1, 0.5, np.asarray([1, 2]), True):
        with pytest.raises(DtypeError, match="expected an int from 0 on as the degree"):
            getattr(special, name)(wrong, *given, x)


@pytest.mark.parametrize("name", ["jv", "yv", "iv", "ive", "struve", "modstruve", "hyp0f1"])
def test_an_order_as_an_array_has_no_gradient_and_raises_a_clear_error(name: str) -> None:
    v, x = Variable(np.asarray([0.5, 1.5])), Variable(np.asarray([0.7, 2.0]))
    getattr(special, name)(v.array, x).sum().backward()
    assert np.all(np.isfinite(x.grad))
    with pytest.raises(GraphError, match=f"{name}: expected a gradient with respect to x only, got a request for v"):
        getattr(special, name)(v, x).sum().backward()


@pytest.mark.parametrize("name", ["struve", "modstruve", "hyp2f1"])
def test_a_default_body_is_nan_beyond_where_it_is_accurate(name: str) -> None:
    far = np.asarray([2e3, 5e4])
    before = {"hyp2f1": (0.5, 0.6, 1.5)}.get(name, (0.5,))
    assert np.isnan(PLAIN.kernel(f"special.{name}")(*(np.full(2, v) for v in before), far)).all()


@pytest.mark.parametrize("n", range(4))
def test_default_body_of_airy_functions_is_accurate_on_a_dense_grid(n: int) -> None:
    x = np.concatenate([np.linspace(-25, 10, 301), np.linspace(-1.2, 1.2, 301), [0.0]])
    got, expected = PLAIN.kernel("special.airy_of")(x, n=n), scipy.special.airy(x)[n]
    size = np.where(x < 0, np.maximum(np.abs(expected), 0.1), np.abs(expected))
    assert np.max(np.abs(got - expected) / size) < 1e-12


def test_ufuncs_of_scipy_with_several_outputs_and_orders() -> None:
    x = Variable(np.asarray([0.3, 0.7]))
    for y, expected in (
        (scipy.special.airy(x)[3], scipy.special.airy(x.array)[3]),
        (scipy.special.sici(x)[1], scipy.special.sici(x.array)[1]),
        *(
            (getattr(scipy.special, name)(0.5, x), getattr(scipy.special, name)(0.5, x.array))
            for name in ("jv", "jve", "yve", "hankel1e", "hankel2e")
        ),
        (scipy.special.ellipj(x, 0.4)[2], scipy.special.ellipj(x.array, 0.4)[2]),
        (scipy.special.eval_legendre(3, x), scipy.special.eval_legendre(3, x.array)),
        (scipy.special.kelvin(x)[1], scipy.special.kelvin(x.array)[1]),
    ):
        assert isinstance(y, Variable)
        assert y.requires_grad
        np.testing.assert_allclose(y.array, expected, rtol=1e-12)


@pytest.mark.parametrize("device", ["@numpy", "@strict:cpu"])
def test_polygamma_of_an_array_of_orders(device: str) -> None:
    found = device_or_skip(device)
    x = Variable(placed(np.asarray([0.6, 2.0, 5.0]), found))
    y = special.polygamma(Variable(placed(np.asarray([0, 1, 3]), found)), x)
    xpgrad.backward([y], [Variable(placed(np.ones(3), found))])
    assert on_host(y) == pytest.approx(scipy.special.polygamma([0, 1, 3], [0.6, 2.0, 5.0]), rel=1e-13)
    assert on_host(x.grad) == pytest.approx(scipy.special.polygamma([1, 2, 4], [0.6, 2.0, 5.0]), rel=1e-13)


def _gradient(function: Any, *values: float) -> tuple[float, ...]:
    xs = [Variable(np.asarray(v)) for v in values]
    y = function(*xs)
    y.backward()
    return tuple(float(x.grad) for x in xs)


AT_STDTR_0 = scipy.special.gamma(3) / scipy.special.gamma(2.5) / np.sqrt(5 * np.pi)
GRADIENTS = {
    "xlogy": ((0.0, 0.0), (0, 0)), "xlog1py": ((0.0, -1.0), (0, 0)), "rel_entr": ((0.0, 0.5), (0, 0)),
    "kl_div": ((0.0, 0.5), (0, 1)), "erfinv": ((1.0,), (np.inf,)), "ndtri": ((0.0,), (np.inf,)),
    "pseudo_huber": ((0.0, 0.0), (0, 0)), "stdtr": ((5.0, 0.0), (0, AT_STDTR_0)),
}  # fmt: skip


def test_gradients_at_edges() -> None:
    assert float(special.xlogy(np.asarray(0.0), 0.0)) == 0
    for name, (at, expected) in GRADIENTS.items():
        assert _gradient(getattr(special, name), *at) == pytest.approx(expected, rel=1e-12, abs=0), name


EDGES: dict[str, tuple[tuple[float, ...], ...]] = {
    "erf": ((-np.inf,), (0.0,), (np.inf,), (np.nan,)), "erfc": ((-np.inf,), (0.0,), (np.inf,), (np.nan,)),
    "erfcx": ((-30.0,), (0.0,), (np.inf,), (np.nan,)), "erfinv": ((-1.0,), (0.0,), (1.0,), (1.5,), (np.nan,)),
    "erfcinv": ((0.0,), (1.0,), (2.0,), (-0.5,), (np.nan,)), "ndtr": ((-np.inf,), (np.inf,), (np.nan,)),
    "ndtri": ((0.0,), (1.0,), (1.5,)), "expit": ((-1e4,), (1e4,), (np.nan,)), "log_expit": ((-1e4,), (1e4,)),
    "logit": ((0.0,), (1.0,), (1.5,)), "entr": ((0.0,), (-1.0,), (np.nan,)),
    "rel_entr": ((0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (-1.0, 1.0), (np.nan, 1.0)),
    "kl_div": ((0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (-1.0, 1.0)), "xlogy": ((0.0, 0.0), (0.0, -1.0), (0.0, np.nan)),
    "gamma": ((0.0,), (-2.0,), (172.0,), (np.inf,)), "gammaln": ((0.0,), (-2.0,), (1.0,), (2.0,), (np.inf,), (np.nan,)),
    "rgamma": ((0.0,), (-3.0,)), "gammainc": ((1.5, 0.0), (1.5, np.inf), (0.0, 1.0), (-1.0, 1.0), (1.0, -1.0)),
    "gammaincc": ((1.5, 0.0), (1.5, np.inf), (0.0, 1.0), (-1.0, 1.0), (1.0, -1.0)),
    "gammaincinv": ((1.5, 0.0), (1.5, 1.0)), "gammainccinv": ((1.5, 0.0), (1.5, 1.0)),
    "betainc": ((1.5, 2.0, 0.0), (1.5, 2.0, 1.0), (1.0, 2.0, 1.5)), "betaincinv": ((1.5, 2.0, 0.0), (1.5, 2.0, 1.0)),
    "stdtr": ((3.0, 0.0),), "j0": ((0.0,),), "j1": ((0.0,),), "i1": ((0.0,),), "k0": ((0.0,),), "y0": ((0.0,),),
    "exprel": ((0.0,), (-np.inf,)), "exp1": ((0.0,), (np.inf,), (-1.0,)), "cbrt": ((0.0,), (-np.inf,)),
    "dawsn": ((0.0,), (np.inf,), (-np.inf,), (np.nan,)), "erfi": ((0.0,),),
    "ellipe": ((1.0,), (2.0,), (0.0,), (np.nan,)), "ellipkinc": ((0.0, 0.5), (0.7, 0.0), (-0.7, 1.0)),
    "ellipeinc": ((0.0, 0.5), (0.7, 0.0), (0.7, 1.0)), "owens_t": ((0.0, 1.0), (1.0, 0.0), (1.0, np.inf), (40.0, 0.5)),
    "wrightomega": ((np.inf,), (-np.inf,), (np.nan,), (0.0,), (1.0,)),
    "ndtri_exp": ((0.0,), (-np.inf,), (0.5,), (np.nan,)),
    "jv": ((0.0, 0.0), (1.0, 0.0), (0.5, 0.0), (0.5, -1.0), (3.0, -1.0), (-2.0, 1.5)),
    "yv": ((0.0, 0.0), (0.5, -1.0), (-2.0, 1.5)), "iv": ((0.0, 0.0), (1.0, 0.0), (0.5, -1.0), (3.0, -1.0), (-2.0, 1.5)),
    "kve": ((0.5, 0.0), (0.5, -1.0), (0.0, 2.0)), "ker": ((0.0,), (-1.0,)), "kei": ((0.0,),),
    "struve": ((0.0, 0.0), (1.0, -2.0), (0.0, -2.0)), "hyp0f1": ((1.5, 0.0),), "hyp2f1": ((0.5, 0.6, 1.5, 0.0),),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(EDGES))
def test_default_body_has_scipys_values_at_the_edges(name: str) -> None:
    kernel, reference = PLAIN.kernel(f"special.{name}"), getattr(scipy.special, name)
    for args in EDGES[name]:
        with np.errstate(invalid="ignore"):
            got = kernel(*(np.asarray(a) for a in args))
        assert np.asarray(got) == pytest.approx(reference(*args), rel=1e-14, nan_ok=True), args


def test_derivatives_of_log_ndtr_stay_finite_to_the_third_order() -> None:
    x = Variable(np.asarray([-1e8, -300.0, -5.0, 0.0, 5.0, 40.0]))
    y = special.log_ndtr(x)
    (first,) = xpgrad.grad([y], [x], enable_double_backprop=True, grad_outputs=[Variable(np.ones(6))])
    (second,) = xpgrad.grad([first], [x], enable_double_backprop=True, grad_outputs=[Variable(np.ones(6))])
    (third,) = xpgrad.grad([second], [x], grad_outputs=[Variable(np.ones(6))])
    assert first.array[:2] == pytest.approx([1e8, 300.00333326], rel=1e-9)
    assert second.array[:2] == pytest.approx([-1.0, -0.99998889], rel=1e-8)
    assert second.array[5] == 0
    assert np.all(np.isfinite(third.array))


@pytest.mark.parametrize("name", ["gammainc", "stdtr", "betainc", "fdtr"])
def test_third_derivatives_by_parameters_do_not_depend_on_the_order_of_the_arguments(name: str) -> None:
    xs = [Variable(np.asarray(v)) for v in ((2.3, 1.7, 0.4) if name in ("betainc", "fdtr") else (2.3, 1.7))]

    def derivative(*places: int) -> float:
        y = getattr(special, name)(*xs)
        for place in places:
            (y,) = xpgrad.grad([y], [xs[place]], enable_double_backprop=True)
        return float(y.array)

    last = len(xs) - 1
    for places in ((0, 0, last), (0, last, last), (0, last - 1, last)):
        expected = derivative(*places)
        for order in set(itertools.permutations(places)):
            assert derivative(*order) == pytest.approx(expected, rel=1e-9)


def test_integers_and_scalars_become_floats_of_the_arrays_width() -> None:
    assert special.erf(Variable(np.asarray([0, 1]))).dtype == np.float64
    x = Variable(np.asarray([0.5, 2.0], np.float32))
    y = special.betainc(2, 3.5, x / 3)
    assert y.dtype == np.float32
    assert special.stdtr(Variable(np.asarray([3, 4])), x).dtype in (np.float32, np.float64)
    assert special.xlogy(np.float64(2), x).dtype == np.float32


def test_errors_name_the_function_and_the_argument() -> None:
    with pytest.raises(DtypeError, match="erfcx: expected real numbers, got complex numbers"):
        special.erfcx(Variable(np.asarray([1j])))
    with pytest.raises(UnknownArray, match="beta: expected at least one Variable or array, got float, int"):
        special.beta(1.5, 2)
    with pytest.raises(DtypeError, match="jn: expected an int from 0 on as the order, got -1"):
        special.jn(-1, Variable(np.asarray([1.0])))
    with pytest.raises(DtypeError, match=r"expn: expected an int from 0 on as the order, got 1\.5"):
        special.expn(1.5, Variable(np.asarray([1.0])))


@pytest.mark.parametrize("x", [0.0, 1.0])
def test_betainc_at_its_ends_has_no_derivative_by_its_parameters(x):
    a, b = Variable(np.asarray([7.2, 30.0])), Variable(np.asarray([0.8, 0.5]))
    first = xpgrad.grad([special.betainc(a, b, np.full(2, x))], [a, b], enable_double_backprop=True)
    for g in first:
        second = xpgrad.grad([g], [a, b], enable_double_backprop=True)
        third = xpgrad.grad([second[1]], [a, b])
        for each in (g, *second, *third):
            assert each.array.tolist() == [0.0, 0.0]


def test_gammasgn_has_no_gradient() -> None:
    assert not special.gammasgn(Variable(np.asarray(0.5))).requires_grad


def test_hyp1f1_rejects_gradients_by_its_parameters() -> None:
    x = Variable(np.asarray(0.5))
    for operands, name in ((x, 2.0, 1.0), "a"), ((2.0, x, 1.0), "b"):
        with pytest.raises(GraphError, match=f"hyp1f1: expected a gradient with respect to x only, .* for {name};"):
            special.hyp1f1(*operands).backward()
    a, z = Variable(np.asarray(0.7)), Variable(np.asarray(0.3))
    (gz,) = xpgrad.grad([special.hyp1f1(a, 1.6, z)], [z])
    np.testing.assert_allclose(gz.array, 0.7 / 1.6 * special.hyp1f1(1.7, 2.6, z).array, rtol=1e-12)


def test_kernels_of_numpy_and_scipy_are_declared() -> None:
    assert table.declared.keys() >= {f"special.{name}" for name in numpy_special.NAMES}
    kernels = xpgrad.get_device("@numpy").backend.xp
    found = {name: numpy_special.find(f"special.{name}", kernels) for name in numpy_special.NAMES}
    assert None not in found.values()
    assert found["erf"](np.asarray([0.5])) == scipy.special.erf(0.5)
    assert numpy_special.find("add", kernels) is None


OF_ONE = sorted(
    name for name in numpy_special.NAMES - numpy_special.ORDERED.keys() if getattr(scipy.special, name, np.add).nin == 1
)


@pytest.mark.parametrize("name", [*OF_ONE, "beta", "xlogy", "gammainc", "boxcox", "stdtr"])
def test_float16_stays_in_scipys_functions(name) -> None:
    x = Variable(np.asarray([0.25, 0.5], np.float16))
    with np.errstate(all="ignore"):
        y = getattr(special, name)(*[x] * (1 if name in OF_ONE else 2))
    assert y.dtype == y.array.dtype == np.float16


def test_every_function_is_listed() -> None:
    found = {name for name, value in vars(special).items() if callable(value) and not name.startswith("_")}
    assert found <= set(special.__all__), "add it to `__all__` of the module that defines it"


def test_the_submodule_is_real_and_loads_on_access() -> None:
    code = (
        "import sys, xpgrad; from xpgrad.array_api.namespace import namespace; import types\n"
        "late = 'scipy', 'xpgrad.special.catalogue'\n"
        "assert not {*late} & sys.modules.keys()\n"
        "made = namespace(xpgrad.get_device('@numpy').backend)\n"
        "assert isinstance(made.special, types.ModuleType) and made.special is xpgrad.special\n"
        "assert made.special.erf and made.special.__all__ and late[1] in sys.modules and 'scipy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_all_backends_share_the_submodule() -> None:
    modules = {namespace(device_or_skip(device).backend).special for device in ("@numpy", "@strict:cpu")}
    assert modules == {special}
    assert isinstance(special, types.ModuleType)
    with pytest.raises(AttributeError, match="has no attribute 'unheard_of'"):
        _ = namespace(device_or_skip("@numpy").backend).unheard_of


@pytest.mark.parametrize("name", ["erf", "gammaln", "i0", "expi", "ndtri", "cbrt"])
@pytest.mark.parametrize("specifier", ["@numpy", "native:0"])
def test_half_precision_stays_and_is_near_double_precision(specifier: str, name: str) -> None:
    device, function = xpgrad.get_device(specifier), getattr(special, name)
    values = np.asarray([0.25, 0.5, 0.75])
    x, exact = (xpgrad.Variable(placed(values.astype(dtype), device)) for dtype in ("float16", "float64"))
    y, expected = function(x), function(exact)
    assert y.dtype == y.array.dtype == np.float16
    for each in (y, expected):
        xpgrad.array_api.sum(each).backward()
    assert x.grad.dtype == np.float16
    np.testing.assert_allclose(on_host(y), on_host(expected), 2e-3, 1e-3)
    np.testing.assert_allclose(on_host(x.grad), on_host(exact.grad), 2e-3, 1e-3)
