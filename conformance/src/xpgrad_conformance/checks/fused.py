"""Family F: kernels of the backend and of plugins are compared with the formulas that they replace."""

import functools
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from xpgrad import Variable, backward, grad
from xpgrad.backend.kernels import Declaration, KernelNamespace, table
from xpgrad.backend.plugins import plugins
from xpgrad.backend.standard import DTYPES
from xpgrad.plugin import Spec
from xpgrad.testing.arrays import on_host
from xpgrad.types import Kernel
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.check import check
from xpgrad_conformance.checks.kernels_calls import provided
from xpgrad_conformance.oracle import same_numbers
from xpgrad_conformance.subject import Subject
from xpgrad_conformance.table.case import Case
from xpgrad_conformance.table.scenario import Scenario, dtypes_of
from xpgrad_conformance.table.table import variants_for
from xpgrad_conformance.table.variants import PLAIN

WIDER = {"float16": "float64", "float32": "float64", "complex64": "complex128"}


class KernelCall(NamedTuple):
    """One call of a replaced kernel: arguments and result on the host, and the error found, if any."""

    name: str
    arrays: tuple[Any, ...]
    parameters: dict[str, Any]
    result: Any
    wrong: str | None


NORMALIZED = "moments", "normalized", "normalized_backward", "normalized_gamma_backward"
INSIDE = {
    "getitem": ("scatter_add",),
    "take": ("scatter_add",),
    "take_along_axis": ("scatter_add",),
    "setitem": ("scatter_add",),
    "linear": ("affine",),
    "tanh": ("tanh_slope",),
    "softmax": ("softmax_backward",),
    "log_softmax": ("log_softmax_backward",),
    "softmax_cross_entropy": (
        "cross_entropy", "softmax_from_log", "labels_one_hot", "labels_weight", "labels_count", "masked_product",
    ),
    "scaled_dot_product_attention": ("attention", "attention_backward"),
    "batch_normalization": (*NORMALIZED, "standardize", "standardize_backward"),
    "group_normalization": (*NORMALIZED, "standardize", "standardize_backward", "scale_and_shift"),
    "layer_normalization": (*NORMALIZED, "standardize", "standardize_backward"),
    "convolve": ("convolve_full",),
    "vector_norm": ("linalg.euclidean_norm", "linalg.power_norm"),
    "diag": ("linalg.expand_diagonal",),
    "cholesky": ("linalg.lower_half",),
    "mT": ("matrix_transpose",),
}  # fmt: skip
"""Kernels that functions of another name call."""


def wanted(case: Case) -> set[str]:
    """Return the names of the kernels that a case tests, without the suffixes of inputs."""
    name = case.name.partition("-")[0].rpartition(".")[2]
    modules = "linalg", "fft", "special"
    return {name, *(f"{each}.{name}" for each in modules), "sum_to", "accumulate", *INSIDE.get(name, ())}


def replacements(s: Subject, about: set[str] | None = None) -> dict[str, Kernel]:
    """Return the kernels that the backend or a plugin provides, by name, optionally only for some functions.

    Kernels for random numbers belong to another family.
    """
    xp = s.backend.xp
    names = {*s.backend.overrides(), *(name for _, kernels in xp._providers for name in kernels)}
    if about is not None:
        names = {name for name in names if name in about or name.rpartition(".")[0] in about}
    known = table.declared if about is None else about & table.declared.keys()
    names |= {name for name in known if s.backend.lazy_override(name) is not None}
    found = {name: xp.find(name) for name in sorted(names) if not name.startswith("random_")}
    return {name: kernel for name, kernel in found.items() if kernel is not None}


MAX_CALLS = 12
"""Recorded calls of one kernel in one sweep. A lazy library would otherwise recompute a recurrent network for each of
its hundreds of calls."""


class Recorder:
    """Kernels that call the backend's kernels, and record the first calls of each kernel."""

    def __init__(self, s: Subject, about: set[str] | None = None) -> None:
        self.calls: list[KernelCall] = []
        self._count: Counter[str] = Counter()
        self._subject = s
        self.kernels: Mapping[str, Kernel] = {
            name: self._recording(name, k) for name, k in replacements(s, about).items()
        }
        names = ((getattr(s.kernels, name), name) for name in DTYPES if hasattr(s.backend.namespace, name))
        self._dtypes = [(dtype, np.dtype(name)) for dtype, name in names]

    def _recording(self, name: str, kernel: Kernel) -> Kernel:
        def call(*arrays: Any, **parameters: Any) -> Any:
            self._count[name] += 1
            if self._count[name] > MAX_CALLS or self._traced(arrays):
                return self._subject.backend.follow(kernel)(*arrays, **parameters)
            before = tuple(map(self._seen, arrays)), {key: self._seen(value) for key, value in parameters.items()}
            result = self._subject.backend.follow(kernel)(*arrays, **parameters)
            wrong = None
            after = tuple(map(self._seen, arrays[1:] if name == "accumulate" else arrays))
            if not _equal(before[0][1:] if name == "accumulate" else before[0], after):
                wrong = "it has written to its arguments"
            if result is NotImplemented:
                assert wrong is None, f"the kernel {name} declined, but {wrong}"
            else:
                restored = self._restored(result)
                self.calls.append(KernelCall(name, *before, self._seen(restored), wrong or self._misplaced(restored)))
            return result

        return call

    def _traced(self, arrays: Sequence[Any]) -> bool:
        """Return whether a kernel that the library compiles calls this one with arrays that have no values yet."""
        backend = self._subject.backend
        return any(type(x) in backend.array_types and not backend.has_values(x) for x in arrays)

    def _restored(self, result: Any) -> Any:
        if isinstance(result, (tuple, list)):
            return tuple(map(self._restored, result))
        return self._subject.backend.restore(result)

    def _misplaced(self, result: Any) -> str | None:
        for each in result if isinstance(result, tuple) else (result,):
            if each is not None and type(each) in plugins.by_type:
                found = plugins.backend_of(each).device_of(each)
                if found != self._subject.device:
                    return f"its result is on {found}, expected {self._subject.device}"
        return None

    def _seen(self, item: Any) -> Any:
        """Return an argument for the default kernel on the host: arrays are copied to the host."""
        host, s = plugins.host, self._subject
        if type(item) in s.backend.array_types:
            return on_host(item)
        if isinstance(item, Spec):
            name = s.backend.dtype_name(item.dtype)
            return host.spec_for(item.shape, np.dtype(name), host.default_device.handle)
        if isinstance(item, s.backend.scalar_types):
            return on_host(s.backend.restore(item))
        if isinstance(item, (list, tuple)):
            return tuple(map(self._seen, item)) if isinstance(item, tuple) else list(map(self._seen, item))
        if item is None or isinstance(item, (bool, int, float, complex, str, slice)):
            return item
        return next((host for dtype, host in self._dtypes if type(dtype) is type(item) and dtype == item), item)


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return bool(one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes())
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(_equal, one, other))
    return True


def _wide(item: Any) -> Any:
    if isinstance(item, np.ndarray):
        return np.array(item, dtype=WIDER.get(item.dtype.name, item.dtype.name))
    if isinstance(item, Spec):
        wanted = np.dtype(WIDER.get(np.dtype(item.dtype).name, np.dtype(item.dtype).name))
        return item.backend.spec_for(item.shape, wanted, item.device)
    if isinstance(item, np.dtype):
        return np.dtype(WIDER.get(item.name, item.name))
    if type(item) in (list, tuple):
        return type(item)(map(_wide, item))
    return item


def _scattered(x_shape: tuple[int, ...], dtype: Any, parts: list[tuple[Any, Any]]) -> Any:
    """Return the expected result of ``scatter_add``: zeros with every value added at its index."""
    total = np.zeros(x_shape, np.complex128 if np.dtype(dtype).kind == "c" else np.float64)
    for key, value in parts:
        np.add.at(total, key, value)
    return total


def by_default(call: KernelCall) -> Any:
    """Return the result of the kernel's default body, or of the rule, for the same arguments on the host in float64."""
    declaration, host = table.declared[call.name], plugins.host.xp
    arrays, parameters = _wide(call.arrays), {key: _wide(value) for key, value in call.parameters.items()}
    if call.name == "scatter_add":
        spec, parts = arrays
        total = _scattered(spec.shape, spec.dtype, parts)
        return total if spec.differentiable else total.real.astype(spec.dtype)
    if "device" in parameters:
        parameters["device"] = plugins.host.default_device.handle
    return _body(declaration, host)(*arrays, **parameters)


def _body(declaration: Declaration, host: KernelNamespace) -> Kernel:
    if declaration.rule is not None:
        return functools.partial(declaration.rule, host)
    default = host._default(declaration)
    assert default is not None, f"the kernel {declaration.name} has no default to compare with"
    return default


def _compare(call: KernelCall, rtol: float) -> None:
    given = "".join(f", {key}={value}" for key, value in call.parameters.items())
    what = f"the backend's kernel {call.name} of {', '.join(map(_described, call.arrays))}{given}"
    assert call.wrong is None, f"{what}: {call.wrong}"
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = by_default(call)
    several = type(expected) in (tuple, list)
    pairs = zip(call.result, expected, strict=True) if several else [(call.result, expected)]
    for got, wanted in pairs:
        if not isinstance(got, np.ndarray) or not isinstance(wanted, (np.ndarray, np.generic, float, int, complex)):
            continue
        wanted = np.asarray(wanted)
        kinds = got.dtype.kind, wanted.dtype.kind
        assert kinds[0] == kinds[1] or set(kinds) <= set("iu"), f"{what} gives {got.dtype}, its default {wanted.dtype}"
        inexact = [a.dtype.name for a in call.arrays if isinstance(a, np.ndarray) and a.dtype.kind in "fc"]
        if len(set(inexact)) == 1 and kinds[0] in "fc" and "dtype" not in call.parameters and "." in call.name:
            width = got.dtype.itemsize // (2 if kinds[0] == "c" else 1)
            given_width = np.dtype(inexact[0]).itemsize // (2 if np.dtype(inexact[0]).kind == "c" else 1)
            assert width == given_width, f"{what} gives {got.dtype} from {inexact[0]}"
        if kinds[0] in "fc":
            assert got.shape == wanted.shape, f"{what} gives shape {got.shape}, its default {wanted.shape}"
            finite = np.abs(wanted[np.isfinite(wanted)])
            floor = rtol * float(np.max(finite, initial=0.0))
            if call.name in SUMS:
                floor += _rounding(call, got)
            elif (
                call.name == "linalg.cofactors" and call.arrays[0].size
            ):  # the products cancel for rank-deficient matrices
                floor += rtol * float(np.max(np.abs(call.arrays[0]))) ** (call.arrays[0].shape[-1] - 1)
            near = np.isclose(got, wanted, rtol, floor, equal_nan=True)
            at = () if near.all() else tuple(int(i) for i in np.argwhere(~near)[0])
            assert near.all(), f"{what}: element {at} is {got[at]!s}, by the default {wanted[at]!s}"
        else:
            same_numbers(got, wanted, 0.0, what)


def _described(item: Any) -> str:
    """Return a description of an argument for messages: dtype and shape of arrays and specs."""
    if isinstance(item, (np.ndarray, Spec)):
        return f"{np.dtype(item.dtype).name}{list(item.shape)}"
    if type(item) in (list, tuple):
        inside = ", ".join(map(_described, item))
        return f"[{inside}]" if isinstance(item, list) else f"({inside})"
    return str(item)


def _rounding(call: KernelCall, got: Any) -> float:
    """Return the tolerance for a sum whose terms cancel."""
    terms = [a for a in call.arrays if isinstance(a, np.ndarray) and a.dtype.kind in "fc"]
    return 4 * float(np.finfo(got.dtype).eps) * float(sum(np.sum(np.abs(a[np.isfinite(a)])) for a in terms))


SUMS = "sum_to", "accumulate", "sum", "mean"
"""Kernels that add: their rounding errors are proportional to the largest term."""
DECOMPOSED = "linalg.eig", "linalg.eigh", "linalg.qr", "linalg.svd"
"""Kernels whose results are unique only up to signs and phases, which the table and family K check."""


def _applies(case: Case, dtype: str, quick: bool) -> bool:
    return not quick or dtype == "float64"


def _sweep(scenario: Scenario, *, recorded: bool = False) -> None:
    """Run a case forward and backward."""
    xs = scenario.variables(scenario.arrays())
    ys = scenario.call(xs)
    wanted = [ys[i] for i in scenario.differentiable(ys)]
    if wanted:
        seeds = [Variable(scenario.placed(gy)) for gy in scenario.cotangents(wanted)]
        backward(wanted, seeds, enable_double_backprop=recorded)


@check("F01", scope="case", applies=_applies)
def kernels_agree(s: Subject) -> None:
    """Every kernel of the backend's own that a case calls agrees with its default body or its rule."""
    assert s.case is not None
    about = wanted(s.case)
    variants = list(variants_for("gradient", s.case, s.dtype))
    calls: list[KernelCall] = []
    for i, variant in enumerate(variants[:1] if s.quick else variants):
        everything = i == 0 and s.dtype == "float64" and not s.quick
        recorder = Recorder(s, None if everything else about)
        empty = variant.shapes is not None and any(0 in shape for shape in variant.shapes)
        if recorder.kernels and (not empty or s.has("empty_arrays")):
            with provided(s, recorder.kernels):
                _sweep(Scenario(s.case, s.device, s.dtype, variant, seed=s.seed, capabilities=s.capabilities))
            calls += recorder.calls
    rtol = max(s.rtol(factor=10), s.widened(s.dtype) * s.case.rtol.get(s.dtype, 0.0))
    for call in calls:
        if call.name not in DECOMPOSED:
            _compare(call, rtol)


@check("F02")
def declining_kernels(s: Subject) -> None:
    """When a provided kernel declines, values and gradients are those without it."""
    x, w = s.values((3, 4)), s.values((4, 4))

    def run() -> list[Any]:
        vx, vw = s.variable(x), s.variable(w)
        y = s.xp.sum(s.xp.tanh(s.xp.matmul(vx, vw)) * s.xp.exp(vx), axis=0)[:3]
        gxs = grad([y], [vx, vw], [s.variable(s.cotangent(y))])
        return [on_host(each) for each in (y, *gxs)]

    before = run()
    asked: set[str] = set()

    def declining(name: str) -> Kernel:
        def call(*arrays: Any, **parameters: Any) -> Any:
            asked.add(name)
            return NotImplemented

        return call

    names = "matmul", "matmul.x1", "matmul.x2", "tanh", "tanh.x", "exp", "exp.x", "sum", "sum.x", "scatter_add"
    with provided(s, {name: declining(name) for name in names}):
        during = run()
    after = run()
    missing = set(names) - asked
    assert not missing, f"provided kernels were never called: {', '.join(sorted(missing))}"
    for when, results in (("while kernels decline", during), ("afterwards", after)):
        for what, one, other in zip(
            ("the value", "the gradient of x", "the gradient of w"), results, before, strict=True
        ):
            assert one.tobytes() == other.tobytes(), f"{what} of a program differs {when} from the previous one"


@check("F03")
def fused_kernels_are_used(s: Subject) -> None:
    """A provided kernel f.x gives the gradient of a raw sweep, with the cotangent and the arguments of the rule."""
    x, gy = s.values((3, 4)), s.values((3, 4))
    seen: list[tuple[Any, ...]] = []

    def fused(*arrays: Any) -> Any:
        seen.append(tuple(map(on_host, arrays)))
        return s.kernels.multiply(arrays[0], 7.0)

    with provided(s, {"tanh.x": fused}):
        v = s.variable(x)
        (gx,) = grad([s.xp.tanh(v)], [v], [s.variable(gy)])
    assert seen, "the kernel tanh.x that was provided was not used"
    same_numbers(seen[0][0], gy, 0.0, "the cotangent that the kernel tanh.x gets")
    same_numbers(seen[0][1], x, 0.0, "the input that the kernel tanh.x gets")
    same_numbers(seen[0][2], np.tanh(x), s.rtol(), "the output that the kernel tanh.x gets")
    same_numbers(on_host(gx), 7.0 * gy, s.rtol(), "the gradient that the kernel tanh.x gave")


@check("F04", quick=False)
def kernels_accept(s: Subject) -> None:
    """Every kernel of a plugin accepts at least one call of the table's cases, so no kernel is unused."""
    before = s.backend.xp._providers
    accepted: set[tuple[str, str]] = set()
    declined: set[tuple[str, str]] = set()

    def counting(provider: str, name: str, kernel: Kernel) -> Kernel:
        def call(*arrays: Any, **parameters: Any) -> Any:
            result = kernel(*arrays, **parameters)
            (declined if result is NotImplemented else accepted).add((provider, name))
            return result

        return call

    given: list[tuple[str, Mapping[str, Kernel]]] = [
        (p, {name: counting(p, name, k) for name, k in kernels.items()}) for p, kernels in before
    ]
    names = {name for _, kernels in before for name in kernels}
    if not names:
        return
    s.backend.xp.set_providers(given)
    try:
        for case, dtype in _runs(s):
            if any(name.rpartition(".")[0] in wanted(case) or name in wanted(case) for name in names):
                _sweep(Scenario(case, s.device, dtype, PLAIN, seed=s.seed, capabilities=s.capabilities))
    finally:
        s.backend.xp.set_providers(before)
    refused = sorted(f"{name} of {provider}" for provider, name in declined - accepted)
    assert not refused, f"kernels that are provided declined every call of the table's cases: {', '.join(refused)}"


def _runs(s: Subject) -> Iterator[tuple[Case, str]]:
    for dtype in ("float64", "float32", "complex128"):
        for case in CASES:
            if dtype in dtypes_of(case) and s.has(dtype, *case.needs):
                yield case, dtype
