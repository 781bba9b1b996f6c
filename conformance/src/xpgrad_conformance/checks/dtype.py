"""Family D, second part: dtypes of results, conversions between dtypes, and information about dtypes."""

import contextlib
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from xpgrad import BatchError, Variable
from xpgrad_conformance.check import check
from xpgrad_conformance.checks.views import dtypes_on, extremes
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
ELEMENTWISE = (
    "abs acos acosh asin asinh atan atanh cos cosh exp expm1 log log10 log1p log2 negative positive reciprocal sign "
    "sin sinh sqrt square tan tanh"
)
REAL = "ceil floor round trunc"
NUMPY = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan,
    "atanh": np.arctanh,
}  # fmt: skip


@check("D10", scope="dtype")
def functions_keep_the_dtype(s: Subject) -> None:
    """Functions of floating-point arrays return the same dtype, or its real counterpart for real results."""
    complex = s.dtype.startswith("complex")
    values = s.values((3, 4), 0.2, 0.8)
    x, wide = s.variable(values), values.astype("complex128" if complex else "float64")
    for name in f"{ELEMENTWISE} {'' if complex else REAL}".split():
        with np.errstate(all="ignore"):
            expected = NUMPY.get(name, getattr(np, name, None))(wide)  # type: ignore[misc]  # each is a NumPy function
            if name == "acosh" and not complex:
                expected = np.arccosh(1 + wide)
        got = getattr(s.xp, name)(1 + x if name == "acosh" and not complex else x)
        s.expect(got, expected, f"{name} of {s.dtype}", dtype=_real(s.dtype) if name == "abs" else s.dtype)
    calls: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
        "sum": (lambda xp, x: xp.sum(x), wide.sum()),
        "sum(axis=1)": (lambda xp, x: xp.sum(x, axis=1), wide.sum(1)),
        "prod(axis=0)": (lambda xp, x: xp.prod(x, axis=0), wide.prod(0)),
        "mean": (lambda xp, x: xp.mean(x), wide.mean()),
        "mean(axis=-1)": (lambda xp, x: xp.mean(x, axis=-1), wide.mean(-1)),
        "cumulative_sum": (lambda xp, x: xp.cumulative_sum(x, axis=1), wide.cumsum(1)),
        "matmul": (lambda xp, x: xp.matmul(x, xp.permute_dims(x, (1, 0))), wide @ wide.T),
        "matmul with a vector": (lambda xp, x: xp.matmul(x, x[0, :]), wide @ wide[0]),
        "tensordot": (lambda xp, x: xp.tensordot(x, x, axes=2), np.sum(wide * wide)),
        "vecdot": (lambda xp, x: xp.vecdot(x, x), np.sum(wide.conj() * wide, -1)),
    }
    if not complex:
        calls |= {
            "std": (lambda xp, x: xp.std(x, axis=0), wide.std(0)),
            "var": (lambda xp, x: xp.var(x), wide.var()),
            "max": (lambda xp, x: xp.max(x, axis=0), wide.max(0)),
            "min": (lambda xp, x: xp.min(x), wide.min()),
            "sort": (lambda xp, x: xp.sort(x, axis=1), np.sort(wide, 1)),
            "logaddexp": (lambda xp, x: xp.logaddexp(x, x), np.logaddexp(wide, wide)),
        }
    for what, (call, expected) in calls.items():
        s.expect(call(s.xp, x), np.asarray(expected), f"{what} of {s.dtype}", dtype=s.dtype)


def _real(dtype: str) -> str:
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


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


@check("D12")
def comparisons_are_boolean(s: Subject) -> None:
    """Comparisons, predicates and logical functions give bool, for every dtype."""
    for dtype in s.dtypes():
        kind = np.dtype(dtype).kind
        one = np.asarray([[3, 1, 2], [0, 1, 5]]).astype(dtype)
        other = np.asarray([[3, 0, 4], [1, 1, 0]]).astype(dtype)
        a, b = s.variable(one, dtype), s.variable(other, dtype)
        found = {"x1 == x2": (a == b, one == other), "x1 != x2": (a != b, one != other)}
        if kind in "iuf":
            found |= {
                "x1 < x2": (a < b, one < other),
                "x1 <= x2": (a <= b, one <= other),
                "x1 > x2": (a > b, one > other),
                "greater_equal(x1, x2)": (s.xp.greater_equal(a, b), one >= other),
            }
        if kind in "fc":
            found |= {
                "isnan(x1)": (s.xp.isnan(a), np.isnan(one)),
                "isfinite(x1)": (s.xp.isfinite(a), np.isfinite(one)),
                "isinf(x1)": (s.xp.isinf(a), np.isinf(one)),
            }
        if kind == "b":
            found |= {
                "logical_and(x1, x2)": (s.xp.logical_and(a, b), one & other),
                "logical_or(x1, x2)": (s.xp.logical_or(a, b), one | other),
                "logical_xor(x1, x2)": (s.xp.logical_xor(a, b), one ^ other),
                "logical_not(x1)": (s.xp.logical_not(a), ~one),
                "x1 & x2": (a & b, one & other),
                "~x1": (~a, ~one),
            }
        found |= {
            "any(x1, axis=0)": (s.xp.any(a, axis=0), one.astype(bool).any(0)),
            "all(x1, axis=1)": (s.xp.all(a, axis=1), one.astype(bool).all(1)),
            "any(x1)": (s.xp.any(a), one.astype(bool).any()),
            "all(x1, axis=-1, keepdims=True)": (
                s.xp.all(a, axis=-1, keepdims=True),
                one.astype(bool).all(-1, keepdims=True),
            ),
        }
        for what, (got, expected) in found.items():
            s.expect(got, np.asarray(expected), f"{what} for {dtype}", dtype="bool")


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


@check("D21", needs=("complex64",))
def parts_of_complex(s: Subject) -> None:
    """abs, real, imag of complex arrays are real and of their width; conj of them is complex."""
    for dtype in s.dtypes("c"):
        values = s.values((2, 3), dtype=dtype)
        z, real = s.variable(values, dtype), _real(dtype)
        s.expect(s.xp.abs(z), np.abs(values), f"abs of {dtype}", dtype=real)
        s.expect(abs(z), np.abs(values), f"abs() of {dtype}", dtype=real)
        s.expect(s.xp.real(z), values.real, f"real of {dtype}", dtype=real)
        s.expect(s.xp.imag(z), values.imag, f"imag of {dtype}", dtype=real)
        s.expect(s.xp.conj(z), values.conj(), f"conj of {dtype}", dtype=dtype)
        point = s.variable(values[0, 1], dtype)
        s.expect(s.xp.abs(point), np.abs(values[0, 1]), f"abs of 0-d {dtype}", dtype=real)


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


@check("D24")
def positions(s: Subject) -> None:
    """Positions and counts are integers: argmax, argmin, argsort, searchsorted, count_nonzero, nonzero."""
    values = s.values((3, 4))
    x, row = s.variable(values), s.variable(np.sort(values[0]))
    found = {
        "argmax(x)": (s.xp.argmax(x), values.argmax()),
        "argmax(x, axis=0)": (s.xp.argmax(x, axis=0), values.argmax(0)),
        "argmin(x, axis=-1)": (s.xp.argmin(x, axis=-1), values.argmin(-1)),
        "argsort(x, axis=0)": (s.xp.argsort(x, axis=0), values.argsort(0)),
        "argsort(x)": (s.xp.argsort(x), values.argsort(-1)),
        "searchsorted": (s.xp.searchsorted(row, x[1, :]), np.searchsorted(np.sort(values[0]), values[1])),
        "count_nonzero(x)": (s.xp.count_nonzero(x), np.asarray(12)),
    }
    if s.has("data_dependent_shapes"):
        for i, (got, expected) in enumerate(zip(s.xp.nonzero(x > 0), np.nonzero(values > 0), strict=True)):
            found[f"nonzero(x > 0)[{i}]"] = (got, expected)
    for what, (got, expected) in found.items():
        kept = s.backend.is_kind(got.dtype, "integral")
        assert kept, f"{what} has dtype {got.dtype}, expected an integer one"
        s.expect(got, np.asarray(expected), what)


@check("D25")
def layout_keeps_the_dtype(s: Subject) -> None:
    """Functions that only move elements keep the dtype: indexing, reshape, concat, flip, asarray, copy, transposes."""
    calls: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any], Any]]] = {
        "asarray(x)": (lambda xp, x: xp.asarray(x), lambda x: x),
        "x[1]": (lambda xp, x: x[1, ...], lambda x: x[1]),
        "x[:, 1:]": (lambda xp, x: x[:, 1:], lambda x: x[:, 1:]),
        "reshape": (lambda xp, x: xp.reshape(x, (6,)), lambda x: x.reshape(6)),
        "permute_dims": (lambda xp, x: xp.permute_dims(x, (1, 0)), lambda x: x.T),
        "concat": (lambda xp, x: xp.concat([x, x], axis=1), lambda x: np.concatenate([x, x], 1)),
        "stack": (lambda xp, x: xp.stack([x, x], axis=-1), lambda x: np.stack([x, x], -1)),
        "flip": (lambda xp, x: xp.flip(x, axis=0), lambda x: np.flip(x, 0)),
        "roll": (lambda xp, x: xp.roll(x, 1, axis=1), lambda x: np.roll(x, 1, 1)),
        "expand_dims": (lambda xp, x: xp.expand_dims(x, axis=1), lambda x: x[:, None]),
        "broadcast_to": (lambda xp, x: xp.broadcast_to(x, (2, 2, 3)), lambda x: np.broadcast_to(x, (2, 2, 3))),
        "take": (lambda xp, x: xp.take(x, xp.asarray([2, 0], device=x.device), axis=1), lambda x: x[:, [2, 0]]),
        "repeat": (lambda xp, x: xp.repeat(x, 2, axis=1), lambda x: np.repeat(x, 2, 1)),
        "tile": (lambda xp, x: xp.tile(x, (2, 1)), lambda x: np.tile(x, (2, 1))),
        "where": (lambda xp, x: xp.where(x == x, x, x), lambda x: x),
    }
    for dtype in s.dtypes():
        host = np.asarray([[0, 1, 3], [5, 0, 2]]).astype(dtype)
        x = s.variable(host, dtype)
        for what, (call, reference) in calls.items():
            s.expect(call(s.xp, x), reference(host), f"{what} of {dtype}", dtype=dtype)
        s.expect(s.backend.asarray(x.array), host, f"Backend.asarray of {dtype}", dtype=dtype)
        s.expect(s.backend.copy(x.array), host, f"Backend.copy of {dtype}", dtype=dtype)


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
