"""PyTorch's own samples of its functions, with Variables in place of tensors: each call is right, or rejected by name.

Results are compared with PyTorch's for tensors: structure, dtype, shape and value, and its gradient for random
cotangents. Each number of a sample is also varied, so that arguments are tested at values that are not their defaults.
"""

import importlib
import itertools

import pytest
import torch

import xpgrad
from xpgrad import Variable
from xpgrad.errors import XpgradError
from xpgrad_torch.functions import TABLE

DTYPES = torch.float64, torch.float32, torch.complex128, torch.int64, torch.bool
MAX_SAMPLES, MAX_CHANGED = 12, 3
TOLERANCES = {torch.float32: 2e-3, torch.complex64: 2e-3}
REFUSALS = TypeError, ValueError, NotImplementedError, AttributeError, XpgradError
RANDOM = "dropout", "rand", "bernoulli", "multinomial", "normal", "rrelu", "empty", "fractional", "lowrank", "resize"
UNORDERED = "sort", "argsort", "topk", "kthvalue", "median", "mode", "min", "max", "cummax", "cummin"
WITH_POLES = "polygamma", "special.polygamma", "special.zeta"  # PyTorch returns infinity at poles, xpgrad NaN
OTHER = {
    "repeat": "Variable.repeat is NumPy's",
    "linalg.norm.subgradients_at_zero": "xpgrad has another subgradient",
    "special.entr": "PyTorch's gradient is NaN where the value is minus infinity",
    "special.bessel_j0": "PyTorch's is accurate to 1e-7",
    "grid_sampler_2d": "PyTorch does not check its numbers of modes",
    "grid_sampler_3d": "PyTorch does not check its numbers of modes",
    "special.bessel_y1": "PyTorch's is accurate to 1e-7",
}
"""Functions that differ from PyTorch's, and why."""


def flat(tree):
    if isinstance(tree, dict):
        tree = list(tree.values())
    return [leaf for each in tree for leaf in flat(each)] if isinstance(tree, (list, tuple)) else [tree]


def mapped(f, tree):
    if isinstance(tree, dict):
        return {key: mapped(f, each) for key, each in tree.items()}
    if isinstance(tree, (list, tuple)) and not isinstance(tree, torch.Size):
        return type(tree)(mapped(f, each) for each in tree)
    return f(tree)


def changed(call):
    """Yield calls with one number replaced: by a larger or negative number, or by an index beyond each axis."""
    count = len([x for x in flat(call) if type(x) in (int, float, bool)])
    for i in range(count):
        for change in (lambda x: x + 1, lambda x: -x - 1, lambda x: 7 * x + 7):
            numbers = itertools.count()

            def replaced(x, i=i, numbers=numbers, change=change):
                if type(x) not in (int, float, bool) or next(numbers) != i:
                    return x
                return not x if type(x) is bool else change(x)

            yield mapped(replaced, call)


def close(x, y):
    if x.layout is not torch.strided or y.layout is not torch.strided:
        return x.layout is y.layout
    tolerance = TOLERANCES.get(y.dtype, 1e-6)
    return torch.allclose(x.resolve_conj(), y.resolve_conj(), tolerance, tolerance, equal_nan=True)


def result(op, call):
    try:
        return op(call[0], *call[1], **call[2])
    except Exception as error:
        return error


def difference(op, call, processed):
    """Return how a call differs from PyTorch's, or None if it is right, rejected, or also wrong for PyTorch."""
    tensors = mapped(lambda x: x.detach().clone().requires_grad_(x.requires_grad) if torch.is_tensor(x) else x, call)
    vs = mapped(
        lambda x: Variable(x.detach().clone(), requires_grad=x.requires_grad) if torch.is_tensor(x) else x, call
    )
    got = result(op, vs)
    if isinstance(got, REFUSALS):
        named = "torch." in str(got) or op.name.replace(".", "_") not in TABLE
        return None if named else f"refused without its name: {got!r}"
    wanted = result(op, tensors)
    if isinstance(wanted, Exception):
        return None if isinstance(got, Exception) else f"accepted; PyTorch: {wanted}"
    if isinstance(got, Exception):
        return repr(got)
    if any(word in op.name for word in RANDOM) or call[2].get("dropout_p"):
        return None
    try:
        got, wanted = processed(got), processed(wanted)  # what does not depend on signs and phases
    except REFUSALS:
        pass
    return unlike(op, flat(got), flat(wanted)) or unlike_gradients(op, flat(got), flat(wanted), flat(vs), flat(tensors))


def unlike(op, got, wanted):
    if len(got) != len(wanted):
        return f"{len(got)} outputs, expected {len(wanted)}"
    for y, expected in zip(got, wanted, strict=True):
        if not torch.is_tensor(expected):
            if y != expected and y == y:
                return f"{y!r}, expected {expected!r}"
            continue
        y, expected = y.array if isinstance(y, Variable) else y, expected.detach()
        if (y.shape, y.dtype) != (expected.shape, expected.dtype):
            return f"{y.shape} {y.dtype}, expected {expected.shape} {expected.dtype}"
        is_position = expected.dtype is torch.int64 and op.name in UNORDERED
        if op.name in WITH_POLES:
            y = torch.where(expected.isinf(), expected, y)
        if not is_position and not close(y, expected):
            return f"{y}, expected {expected}"
    return None


def unlike_gradients(op, got, wanted, vs, tensors):
    live = [i for i, y in enumerate(wanted) if torch.is_tensor(y) and y.grad_fn is not None]
    if not live or not op.supports_autograd:
        return None
    if any(not isinstance(got[i], Variable) for i in live):
        return "no Variable"
    cotangents = [torch.randn(wanted[i].shape, dtype=wanted[i].dtype) for i in live]
    pairs = [(v, x) for v, x in zip(vs, tensors, strict=True) if torch.is_tensor(x) and x.requires_grad]
    try:
        expected = torch.autograd.grad([wanted[i] for i in live], [x for _, x in pairs], cotangents, allow_unused=True)
    except RuntimeError:
        return None  # PyTorch has none
    kept = [(got[i], Variable(g)) for i, g in zip(live, cotangents, strict=True) if got[i].requires_grad]
    found = (
        xpgrad.grad([y for y, _ in kept], [v for v, _ in pairs], [g for _, g in kept]) if kept else [None] * len(pairs)
    )
    for (_, x), gx, g in zip(pairs, found, expected, strict=True):
        gx, g = torch.zeros_like(x) if gx is None else gx.array, torch.zeros_like(x) if g is None else g
        if "hermitian" in getattr(op.gradcheck_wrapper, "__name__", "") and x is pairs[0][1]:
            gx, g = gx + gx.mH, g + g.mH
        if (gx.shape, gx.dtype) != (g.shape, g.dtype) or not close(gx, g.detach()):
            return f"gradient {gx}, expected {g}"
    return None


def calls_of(op, dtype):
    """Yield calls of samples, whether a number was changed, and a function that makes results comparable."""
    torch.manual_seed(0)
    samples = op.sample_inputs_func(
        op, "cpu", dtype, dtype.is_floating_point or dtype.is_complex
    )  # sample_inputs inspects the stack
    for i, sample in enumerate(itertools.islice(samples, MAX_SAMPLES)):
        call = [sample.input, list(sample.args), sample.kwargs]
        tensors = [x for x in flat(call) if torch.is_tensor(x)]
        if tensors and all(x.layout is torch.strided for x in tensors):
            yield call, sample.output_process_fn_grad
            if i < MAX_CHANGED and dtype is torch.float64:
                yield from ((each, sample.output_process_fn_grad) for each in changed(call))


@pytest.fixture(scope="module")
def op_db():
    """PyTorch's samples. Their import takes seconds, which processes that run other tests need not spend."""
    return importlib.import_module("torch.testing._internal.common_methods_invocations").op_db


@pytest.mark.filterwarnings("ignore")  # PyTorch's own samples warn
@pytest.mark.exhaustive(1)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_samples_are_right_or_refused(dtype, op_db):
    wrong = {}
    for op in op_db:
        name = ".".join(filter(None, (op.name, op.variant_test_name)))
        if dtype in op.dtypes and name not in OTHER:
            for call, processed in calls_of(op, dtype):
                if "circular" in call[1] and min(call[1][0]) < 0:
                    continue  # PyTorch leaves elements of such a result uninitialised
                found = difference(op, call, processed)
                if found:
                    wrong.setdefault(name, f"{found}; called with {call}"[:600])
    assert not wrong, "\n".join(f"{name}: {found}" for name, found in wrong.items())


def test_functions_that_differ_are_pytorchs(op_db):
    assert set(OTHER) <= {".".join(filter(None, (op.name, op.variant_test_name))) for op in op_db}
