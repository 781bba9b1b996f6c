"""Family D, second part: dtypes of results, conversions between dtypes, and information about dtypes."""

import contextlib
import operator
from typing import Any

import numpy as np

from xpgrad import BatchError, Variable
from xpgrad_conformance.check import check
from xpgrad_conformance.checks.views import dtypes_on, extremes
from xpgrad_conformance.generated.sequences import pairs_of
from xpgrad_conformance.subject import Subject

KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}
"""The kinds of dtypes of the standard, as letters of NumPy."""
PYTHON: dict[str, type[Any]] = {"b": bool, "i": int, "u": int, "f": float, "c": complex}
"""The types of Python numbers, by NumPy's kind letters."""


@check("D10", scope="operation")
def results(s: Subject) -> None:
    """Results have the dtype of the arguments, its real counterpart, bool or an integer dtype, as in the standard."""
    assert s.operation is not None
    for sample, _ in pairs_of(s, s.operation):
        wrong = sample.misplaced(s, sample.applied(s.xp, *sample.arrays(s)), len(sample.expected))
        assert wrong is None, f"{sample.written} of {s.dtype}: {wrong}"


@check("D11", scope="dtype")
def training_keeps_the_dtype(s: Subject) -> None:
    """A loss, its gradients and an optimizer's update of a parameter all have the parameter's dtype."""
    values = {name: s.values(shape, 0.2, 0.9) for name, shape in (("x", (5, 3)), ("W", (3, 4)), ("b", (4,)))}
    x, w, b = (s.variable(value) for value in values.values())
    hidden = s.xp.tanh(s.xp.matmul(x, w) * 0.5 + b)
    loss = s.xp.mean(hidden * hidden) / 2 + 1e-3 * s.xp.sum(w * w)
    loss.grad = s.array(s.cotangent(loss))
    loss.backward()
    made = {"the loss": loss.array, "tanh of the layer": hidden.array}
    made |= {f"the gradient of {name}": v.grad for name, v in (("x", x), ("W", w), ("b", b))}
    for what, array in made.items():
        found = s.backend.dtype_name(array.dtype)
        assert found == s.dtype, f"{what} has dtype {found}, in a computation that is all {s.dtype}"
    velocity = s.backend.xp.zeros_like(w.array)
    for step in (1, 2):
        velocity = 0.9 * velocity + w.grad
        updated = w.array - 0.01 / (1 - 0.9**step) * velocity
        found = s.backend.dtype_name(updated.dtype)
        assert found == s.dtype, f"W - 0.01 * velocity has dtype {found}, of {s.dtype} arrays"
    expected = values["W"] - 0.01 / (1 - 0.81) * 1.9 * s.host(w.grad)
    s.expect(updated, expected, "W after an update with momentum", dtype=s.dtype)


@check("D15")
def conversions(s: Subject) -> None:
    """Astype converts between all dtypes, cuts fractions off towards zero, and keeps device and shape."""
    for given in s.dtypes():
        source = np.asarray([[0, 1, 2], [3, 100, 7]]).astype(given)
        if np.dtype(given).kind in "fc":
            source = (source * 1.0625 - 2).astype(given)
        if np.dtype(given).kind == "c":
            source = (source + 1j * (source[::-1] + 0.5)).astype(given)
        if np.dtype(given).kind == "i":
            source = (source - 4).astype(given)
        for wanted in s.dtypes():
            if np.dtype(given).kind == "c" and np.dtype(wanted).kind != "c":
                continue  # the standard does not specify conversion of complex numbers to real dtypes
            host = np.abs(source) if np.dtype(wanted).kind == "u" else source
            for values in (host, host[1, 2, ...], host.T[::2]):
                got = s.xp.astype(s.variable(values, given), s.dtype_of(wanted))
                what = f"astype of {given} to {wanted}, shape {values.shape}"
                s.expect(got, np.asarray(values).astype(wanted), what, dtype=wanted)


@check("D16")
def conversion_to_the_same(s: Subject) -> None:
    """Astype to the same dtype copies, unless copy=False; to another dtype it does not change its argument."""
    values = s.values((2, 3))
    x, xp, kind = s.array(values), s.kernels, s.dtype_of(s.wide)
    s.expect(xp.astype(x, kind, copy=False), values, "astype(x, its dtype, copy=False)")
    copy = xp.astype(x, kind)
    s.expect(copy, values, "astype(x, its dtype)")
    if s.has("in_place_update"):
        copy[...] = copy + 1.0
        s.expect(x, values, "x, after writing to astype(x, its dtype)")
    narrow = xp.astype(x, s.dtype_of("int32"))
    s.expect(narrow, values.astype("int32"), "astype(x, int32)", dtype="int32")
    s.expect(x, values, "x, after astype(x, int32)")


@check("D17")
def kinds_of_dtypes(s: Subject) -> None:
    """Isdtype distinguishes the kinds, singly and in tuples, and Backend.is_kind agrees."""
    for dtype in s.dtypes():
        letter = np.dtype(dtype).kind
        array = s.array(np.ones(2, dtype), dtype)
        for kind, letters in KINDS.items():
            for what, asked in ((f"{kind!r}", kind), (f"({kind!r}, 'bool')", (kind, "bool"))):
                expected = letter in letters or (isinstance(asked, tuple) and letter == "b")
                for which, given in (("", s.dtype_of(dtype)), ("that of an array, ", array.dtype)):
                    got = s.kernels.isdtype(given, asked)
                    assert bool(got) == expected, f"isdtype({which}{dtype}, {what}) is {got}, expected {expected}"
                    own = s.backend.is_kind(given, asked)
                    assert own is expected, f"Backend.is_kind({which}{dtype}, {what}) is {own}, expected {expected}"
        for other in s.dtypes():
            got = s.kernels.isdtype(array.dtype, s.dtype_of(other))
            assert bool(got) == (other == dtype), f"isdtype({dtype}, {other}) is {got}"


@check("D18")
def limits_of_dtypes(s: Subject) -> None:
    """Finfo and iinfo return the limits of dtypes, given as dtypes or as arrays."""
    for dtype in s.dtypes("f", "c"):
        info, known = s.xp.finfo(s.dtype_of(dtype)), np.finfo(dtype)
        for name in ("eps", "max", "min", "smallest_normal"):
            got, expected = float(getattr(info, name)), float(getattr(known, name))
            assert got == expected, f"finfo({dtype}).{name} is {got}, expected {expected}"
        assert info.bits == known.bits, f"finfo({dtype}).bits is {info.bits}, expected {known.bits}"
        real = s.dtype_of(known.dtype.name)
        assert info.dtype == real, f"finfo({dtype}).dtype is {info.dtype!r}, expected {real!r}"
    for dtype in s.dtypes("i", "u"):
        whole, limits = s.xp.iinfo(s.dtype_of(dtype)), np.iinfo(dtype)
        for name in ("bits", "max", "min"):
            got, expected = int(getattr(whole, name)), int(getattr(limits, name))
            assert got == expected, f"iinfo({dtype}).{name} is {got}, expected {expected}"
        own = s.dtype_of(dtype)
        assert whole.dtype == own, f"iinfo({dtype}).dtype is {whole.dtype!r}, expected {own!r}"


@check("D19")
def casts(s: Subject) -> None:
    """can_cast reports which dtypes promotion converts to another dtype."""
    for kinds in (("i", "u"), ("f", "c")):
        names = s.dtypes(*kinds)
        for given in names:
            for wanted in names:
                expected = np.promote_types(given, wanted) == np.dtype(wanted)
                got = s.xp.can_cast(s.dtype_of(given), s.dtype_of(wanted))
                assert got == expected, f"can_cast({given}, {wanted}) is {got}, expected {expected}"


@check("D20")
def names_of_dtypes(s: Subject) -> None:
    """Backend.dtype_name gives the standard's name for each dtype, and equal dtypes are equal."""
    for dtype in s.dtypes():
        named, array = s.dtype_of(dtype), s.array(np.ones(2, dtype), dtype)
        for which, given in (("the namespace's", named), ("an array's", array.dtype)):
            found = s.backend.dtype_name(given)
            assert found == dtype, f"Backend.dtype_name of {which} {dtype} is {found!r}"
        assert array.dtype == named, f"the dtype of a {dtype} array is not equal to the namespace's {dtype}"
        spec, others = s.backend.spec(array), [d for d in s.dtypes() if d != dtype]
        assert spec.dtype == array.dtype, f"Backend.spec of a {dtype} array returns {spec.dtype}"
        assert tuple(spec.shape) == (2,), f"Backend.spec of an array of shape (2,) returns {spec.shape}"
        for other in others:
            assert array.dtype != s.dtype_of(other), f"the dtypes {dtype} and {other} are equal"
            same = s.backend.spec(s.array(np.ones(2, other), other)).dtype
            assert same != spec.dtype, f"Backend.spec of a {other} array returns {same}, after one of {dtype}"


@check("D22")
def integer_quotients(s: Subject) -> None:
    """Quotients of integers are floating-point numbers, or an error; not integers."""
    for dtype in s.dtypes("i"):
        one, other = (np.asarray(v, dtype) for v in ([7, -7, 7, -7, 6, 0, -1], [3, 3, -3, -3, -3, 5, 2]))
        a, b = s.variable(one, dtype), s.variable(other, dtype)
        _expect_true_division(s, a, b, one / other, f"x1 / x2 for {dtype}")


def _expect_true_division(s: Subject, a: Any, b: Any, expected: Any, what: str) -> None:
    """Accept floating-point quotients of integers, or an error, as the standard does; reject integers."""
    try:
        got = a / b
    except (TypeError, ValueError):
        return
    kept = s.backend.is_kind(got.dtype, "real floating")
    assert kept, f"{what} has dtype {got.dtype}; expected the quotients in floating point, or an error"
    np.testing.assert_allclose(s.host(got), expected, 1e-2, err_msg=what)  # in whichever dtype


@check("D26")
def numbers_of_arrays(s: Subject) -> None:
    """int(), float(), complex(), bool(), item and the index of a 0-d array are its value, at the ends of dtypes too."""
    with contextlib.suppress(BatchError):  # a batched array has no single value
        _assert_numbers(s)


def _assert_numbers(s: Subject) -> None:
    for dtype in dtypes_on(s):
        for host in extremes(dtype).reshape(-1):
            kind, expected = PYTHON[host.dtype.kind], host.item()
            x = Variable(s.array(host, dtype), requires_grad=False)
            found = [(f"{kind.__name__}(x)", kind(x.array), expected), ("x.item()", x.item(), expected)]
            if expected == expected:
                found.append(("bool(x)", bool(x.array), bool(expected)))
            if kind is int:
                found.append(("operator.index(x)", operator.index(x.array), expected))
            for what, got, wanted in found:
                same = got == wanted or (got != got and wanted != wanted)
                assert same, f"{what} of a 0-d array of {dtype} is {got!r}, expected {wanted!r}"
