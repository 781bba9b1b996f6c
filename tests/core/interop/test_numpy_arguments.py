"""Each argument of each function of NumPy that takes Variables is obeyed, or refused with its name."""

import inspect
import itertools

import numpy as np
import pytest
from tests.core.interop.test_numpy_functions import compare

from xpgrad.errors import XpgradError
from xpgrad.interop.numpy.functions import FUNCTIONS
from xpgrad.interop.numpy.ufuncs import UFUNCS

X = np.array([[0.31, -1.27, 0.83, 2.11], [1.61, 0.47, -0.59, -1.73], [0.19, 1.07, -0.37, 0.71]])
Y = np.array([[0.73, 0.41, 1.13, 0.23], [0.29, 1.37, 0.61, 1.91], [1.51, 0.17, 0.97, 0.53]])
S = np.array([[2.3, 0.4, -0.3], [0.5, 1.9, 0.2], [-0.1, 0.25, 3.1]])
M = np.array([[True, False, True, True], [False, True, True, False], [True, True, False, True]])
HOLES = np.where(M, X, np.nan)
ODD = 1 + np.arange(4)[::-1] % 3 * 0.25  # unequal weights

ARRAYS = {"x2": Y, "b": Y, "a2": Y, "v": Y, "ar2": Y, "a": X, "shape": (4, 3), "axis": 0, "obj": 1, "values": 0.5}
"""Required arguments by name; the remaining arguments are `X`, or `S` in `linalg`."""
BASE = {
    "apply_along_axis": (lambda row: row * row[0], 1, X),
    "choose": (np.array([0, 1, 1, 0]), [X, Y]),
    "piecewise": (X, [X > 0], [lambda u: u * u, 3]),
    "poly": (X[0],), "polyfit": (X[0], Y[0], 2), "roots": (X[0],),
    "argwhere": (X > 0,), "flatnonzero": (X > 0,), "nonzero": (X > 0,),
    "all": (X > 0,), "any": (X > 0,),
    "astype": (X, np.float32),
    "bincount": (np.array([0, 2, 2, 5]),),
    "block": ([[X, Y], [Y, X]],),
    "broadcast_arrays": (X, Y[0]),
    "broadcast_to": (X, (2, 3, 4)),
    "column_stack": ([X[:, 0], Y],), "concatenate": ([X, Y],), "concat": ([X, Y],), "dstack": ([X, Y],),
    "hstack": ([X, Y],), "vstack": ([X, Y],), "stack": ([X, Y],), "linalg.multi_dot": ([X.T, Y],),
    "compress": ([True, False, True], X), "extract": (X > 0, X),
    "convolve": (X[0], Y[0, :3]), "correlate": (X[0], Y[0, :3]),
    "cross": (X[:, :3], Y[:, :3]), "linalg.cross": (X[:, :3], Y[:, :3]),
    "cumulative_prod": (X[0],), "cumulative_sum": (X[0],),
    "digitize": (X, np.array([-1.0, 0.31, 1.0])),
    "dot": (X, Y.T), "linalg.matmul": (X, Y.T), "linalg.outer": (X[0], Y[0]), "vander": (X[0],),
    "dsplit": (X[None], 2), "hsplit": (X, 2), "split": (X, 3), "array_split": (X, 2), "vsplit": (X, 3),
    "einsum": ("ij,ij", X, Y),
    "fft.irfftn": (X + 1j * Y,), "fft.irfft": (X + 1j * Y,), "fft.irfft2": (X + 1j * Y,), "fft.hfft": (X + 1j * Y,),
    "full_like": (X, 3.5),
    "insert": (X, 1, 0.5),
    "interp": (X, [-2.0, 0.1, 2.0], Y[0, :3]),
    "isin": (X, [0.31, 0.47]),
    "linalg.eig": (np.roll(S, 1, 0),), "linalg.eigvals": (np.roll(S, 1, 0),),
    "linalg.lstsq": (X.T, Y.T), "linalg.pinv": (X,), "linalg.matrix_rank": (X,), "linalg.svd": (X,),
    "linalg.solve": (S, S[0]),
    "linalg.matrix_power": (S, 3),
    "linalg.tensorinv": (np.kron(S[:2, :2], S).reshape(2, 3, 6),),
    "linalg.tensorsolve": (S.reshape(3, 1, 3), S[:, :1]),
    "linalg.vecdot": (X, Y),
    "linspace": (X[0], Y[0]),
    "meshgrid": (X[0], Y[0, :3]),
    "moveaxis": (X, 0, 1), "rollaxis": (X, 1), "swapaxes": (X, 0, 1),
    "nanquantile": (HOLES, 0.3), "quantile": (X, 0.3), "percentile": (X, 30), "nanpercentile": (HOLES, 30),
    "partition": (X, 1), "argpartition": (X[0], 1),
    "pad": (X, 1), "polyval": (X[0], Y), "repeat": (X, 2), "reshape": (X, (2, 6)), "result_type": (X, np.float32),
    "resize": (X, (5, 3)), "roll": (X, 1), "searchsorted": (np.sort(X[0]), Y), "select": ([X > 1, X > 0], [X, Y]),
    "lib.stride_tricks.sliding_window_view": (X[0], 2),
    "take": (X, [0, 2]), "take_along_axis": (X, np.array([[0, 1, 3], [2, 0, 0], [1, 1, 2]])), "tile": (X, 2),
    "tensordot": (X, Y), "linalg.tensordot": (X, Y),
    "unravel_index": (np.array([1, 5]), (3, 4)),
    "unwrap": (4 * X,),
    "expand_dims": (X, 1),
    "squeeze": (X[:1],),
    "where": (X > 0, X, Y),
    "array_equal": (X, X.copy()),
    "isclose": (X, X * 1.01), "allclose": (X, X * 1.01),
}  # fmt: skip
for _name in FUNCTIONS:
    if _name.startswith("nan"):
        BASE.setdefault(_name, (HOLES,))

VALUES = {
    "axis": (0, 1, -1, -2, None, (0, 1), (1, 0)),
    "keepdims": (True,),
    "dtype": (np.float32, np.float64, "float32", float, np.complex128, np.int64),
    "out": (np.zeros((3, 4)),),
    "where": (M, M[:1], [True, False, True, True], False),
    "initial": (0.5, -9.0, 9.0),
    "ddof": (1, 0.5),
    "correction": (1, 0.5),
    "mean": (0.25, np.mean(X, axis=0, keepdims=True)),
    "order": ("C", "F", "A", "K"),
    "subok": (True, False),
    "casting": ("no", "unsafe", "same_kind"),
    "k": (1, -1, 2),
    "n": (0, 1, 2, 5),
    "s": ((2,), (2, 5), (3, 3)),
    "axes": (0, 1, (0, 1), (1,), (0,), ((0,), (0,)), (1, 0)),
    "norm": ("ortho", "forward", "backward"),
    "rtol": (0.5, 0.02, 1e-30),
    "atol": (0.5, 0.005),
    "equal_nan": (True,),
    "rcond": (0.5, -1, 1e-3),
    "tol": (2.5,),
    "hermitian": (True,),
    "full_matrices": (False,),
    "compute_uv": (False,),
    "ord": (1, 2, -1, -2, 3, np.inf, -np.inf, "fro", "nuc", 0),
    "p": (1, 2, -1, -2, np.inf, -np.inf, "fro", "nuc"),
    "upper": (True,),
    "UPLO": ("U", "L"),
    "mode": ("same", "valid", "full", "clip", "wrap", "raise", "complete", "reduced", "r", "raw", "edge", "reflect"),
    "ind": (1,),
    "offset": (1, -1),
    "axis1": (1, -1),
    "axis2": (0, -2),
    "optimize": (True, "greedy", "optimal"),
    "include_initial": (True,),
    "overwrite_input": (True,),
    "method": ("lower", "higher", "midpoint", "nearest", "hazen", "weibull", "inverted_cdf", "median_unbiased"),
    "weights": (Y, ODD, np.array([1.0, 2.0, 4.0])),
    "returned": (True,),
    "side": ("right",),
    "sorter": (np.array([3, 1, 0, 2]),),
    "kind": ("stable", "quicksort", "heapsort"),
    "stable": (True, False),
    "descending": (True,),
    "right": (True,),
    "y": (Y,),
    "rowvar": (False,),
    "bias": (True,),
    "fweights": (np.array([1, 2, 1, 3]),),
    "aweights": (ODD,),
    "minlength": (9,),
    "to_end": (0.5, [1.0, 2.0], Y[0]),
    "to_begin": (0.5, [1.0, 2.0], Y[0]),
    "copy": (False, True),
    "nan": (0.5,),
    "posinf": (9.0,),
    "neginf": (-9.0,),
    "decimals": (1, -1),
    "deg": (True,),
    "assume_unique": (True,),
    "left": (-7.0,),
    "period": (1.3, 3, -1.3),
    "x": (ODD.cumsum(), Y, np.array([0.0, 1.0, 3.0])),
    "dx": (0.3, Y[:1, :3], Y[0, :3]),
    "prepend": (0.5, Y, Y[:, :1], Y[:1]),
    "append": (0.5, Y, Y[:, :1], Y[:1]),
    "edge_order": (2,),
    "discont": (4.0,),
    "N": (2, 5, 0),
    "increasing": (True,),
    "sparse": (True,),
    "indexing": ("ij",),
    "invert": (True,),
    "num": (3, 1, 0),
    "endpoint": (False,),
    "retstep": (True,),
    "device": ("cpu",),
    "axisa": (0,), "axisb": (0,), "axisc": (0,),
    "shape": ((2, 2), 5),
    "start": (2, 1, -1),
    "writeable": (True,),
    "a_min": (-0.5, Y), "a_max": (0.5, Y), "min": (-0.5, Y), "max": (0.5, Y),
    "default": (0.5, Y),
    "fill_value": (2.5,),
}  # fmt: skip
VALUES |= {
    "interp.right": (7.0,),
    "cov.dtype": (np.complex128,),
    "polyfit.rcond": (1e-3,),
    "polyfit.full": (),  # returns the rank as an int
    "polyfit.w": (ODD,),
    "polyfit.cov": (True, "unscaled"),
    "isin.kind": ("sort", "table"),
    "linalg.pinv.rcond": (0.02,),
    "linalg.pinv.rtol": (0.02,),
    "partition.kind": ("introselect",),
    "argpartition.kind": ("introselect",),
}
"""Values of optional arguments, by argument name, or by function and argument."""
SKIPPED = {
    "empty_like": "has no values to compare",
    "linalg.lstsq": "returns the rank as an int",
    "put_along_axis": "assigns to an argument",
    "result_type": "returns a dtype",
    "vectorize": "returns a function",
}
QUANTILES = {"quantile", "percentile", "nanquantile", "nanpercentile"}
REFUSED = {
    "UPLO": {"linalg.eigh", "linalg.eigvalsh"},
    "dtype": {"mean", "var", "std"},  # an integer one
    "mean": {"nanvar", "nanstd"},
    "method": QUANTILES,
    "mode": {"linalg.qr", "take"},
    "overwrite_input": {"median", "nanmedian", *QUANTILES},
    "retstep": {"linspace"},
    "returned": {"average"},
    "shape": {"zeros_like", "ones_like", "full_like"},
    "to_begin": {"ediff1d"},
    "to_end": {"ediff1d"},
    "tol": {"linalg.matrix_rank"},
}
"""Functions that refuse an argument, or some of its values; all may refuse those of `MEMORY`."""
MEMORY = {"out", "order", "casting", "subok"}
OF_HERMITIAN = {"linalg.cholesky": S @ S.T, "linalg.eigh": S + S.T, "linalg.eigvalsh": S + S.T}


def function_of(name):
    """Return a function of NumPy, and its parameters without and with a default."""
    function = np
    for part in name.split("."):
        function = getattr(function, part, None)
    if function is None:
        pytest.skip("this NumPy is older")
    if name in OF_HERMITIAN:
        return of_hermitian(function), *parameters_of(function)
    return function, *parameters_of(function)


def parameters_of(function):
    found = [
        p for p in inspect.signature(function).parameters.values() if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
    ]
    return [p for p in found if p.default is p.empty], [p for p in found if p.default is not p.empty]


def of_hermitian(function):
    """Return the function of the Hermitian part, because only its gradients include both triangles."""
    return lambda x, *args, **kwargs: function((x + np.matrix_transpose(x)) / 2, *args, **kwargs)


def base_of(name, required):
    """Return the arguments of a plain call."""
    default = OF_HERMITIAN.get(name, S) if name.startswith("linalg") else HOLES if name.startswith("nan") else X
    others = (ARRAYS.get(p.name, default) for p in required[1:])
    return BASE.get(name, (default, *others))


def calls_of(name, required, rest):
    """Return arguments of calls: default, with each value of each argument, positional, and with each pair."""
    base, values = base_of(name, required), {}
    for p in rest:
        key = next((key for key in (f"{name}.{p.name}", p.name) if key in VALUES), None)
        assert key is not None or p.kind is p.POSITIONAL_ONLY, f"give values of {p.name}= of numpy.{name}"
        values[p.name] = VALUES.get(key, ())
    yield base, {}
    for argument, several in values.items():
        yield from ((base, {argument: value}) for value in several)
    for one, two in itertools.combinations(values, 2):
        yield from ((base, {one: v, two: w}) for v in values[one][:1] for w in values[two][:1])
    defaults = []
    for p in rest:
        if p.kind is not p.POSITIONAL_OR_KEYWORD or len(base) != len(required):
            return
        yield from (((*base, *defaults, value), {p.name: None}) for value in values[p.name][:2])
        defaults.append(p.default)


class Place:
    """The place of an array in arguments."""

    def __init__(self, i):
        self.i = i


def separated(x, taken, kinds):
    """Return arguments with places for arrays of these kinds of dtype, and append copies of the arrays to `taken`."""
    if isinstance(x, np.ndarray) and x.dtype.kind in kinds:
        taken.append(x.copy())
        return Place(len(taken) - 1)
    return type(x)([separated(each, taken, kinds) for each in x]) if isinstance(x, (list, tuple)) else x


def filled(x, arrays):
    """Return arguments with arrays in the places."""
    if isinstance(x, Place):
        return arrays[x.i]
    return type(x)([filled(each, arrays) for each in x]) if isinstance(x, (list, tuple)) else x


def verify(name, function, args, options):
    """Compare calls with Variables and with arrays, unless it refuses an argument, and the error names it."""
    arrays, named = [], list(options)
    args = separated(args, arrays, "fcbi")
    options = {key: x if key == "out" else separated(x, arrays, "fc") for key, x in options.items() if x is not None}

    def call(*xs):
        return function(*filled(args, xs), **{key: filled(x, xs) for key, x in options.items()})

    try:
        call(*[a.copy() for a in arrays])
    except Exception:
        assert named, f"numpy.{name} refuses the arguments of this test"
        return
    try:
        compare(call, *arrays)
    except (TypeError, ValueError, XpgradError) as error:
        refused = [a for a in named if isinstance(function, np.ufunc) or a in MEMORY or name in REFUSED.get(a, ())]
        if name.rpartition(".")[2] not in str(error) or not any(argument in str(error) for argument in refused):
            raise


@pytest.mark.filterwarnings("ignore")  # warnings about NaN, casts and deprecated functions
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in SKIPPED])
def test_each_argument_of_a_function_is_applied_or_rejected(name):
    function, required, rest = function_of(name)
    for args, options in calls_of(name, required, rest):
        try:
            verify(name, function, args, options)
        except Exception as error:
            error.add_note(f"numpy.{name} of {len(args)} arguments, the last {args[-1]!r}, and {options}")
            raise


UFUNC_KEYWORDS = {
    "out": (np.zeros((3, 4)),), "where": (M,), "axis": (0, 1), "axes": ([0, 0, 0], [(0,), (0,), ()]),
    "keepdims": (True,), "casting": ("no", "unsafe"), "order": ("F",), "dtype": (np.float32, np.complex128),
    "subok": (False,), "signature": ("dd->d", "d->d"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in UFUNCS if isinstance(getattr(np, name, None), np.ufunc)])
def test_each_keyword_of_a_ufunc_is_applied_or_rejected(name):
    ufunc = getattr(np, name)
    for argument, values in UFUNC_KEYWORDS.items():
        for value in values:
            for arrays in ((X, Y), (X[0], Y), (np.array([5, 6, 7, 1]), np.array([1, 2, 3, 1])), (X.T, Y[:, 0])):
                args = arrays[: ufunc.nin]
                try:
                    ufunc(*args)
                except (TypeError, ValueError):
                    continue
                verify(ufunc.__name__, ufunc, args, {argument: value})


REFUSE_INTEGERS = {"insert", "linalg.pinv", "linalg.vector_norm"}
OTHERWISE_OF_INTEGERS = {
    "linalg.eig": "NumPy's result is real where all eigenvalues are",
    "linalg.eigvals": "as for eig",
    "unique_values": "in any order",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in {**SKIPPED, **OTHERWISE_OF_INTEGERS}])
def test_a_function_of_integers_agrees_with_numpy(name):
    function, required, _ = function_of(name)
    args = whole(base_of(name, required))
    if name in REFUSE_INTEGERS:
        with pytest.raises((XpgradError, ValueError), match="int64"):
            verify(name, function, args, {})
    else:
        verify(name, function, args, {})


def whole(x):
    """Return arguments with integers instead of the floating-point numbers of arrays."""
    if isinstance(x, np.ndarray) and x.dtype == np.float64:
        return np.round(3 * np.nan_to_num(x)).astype(np.int64)
    return type(x)([whole(each) for each in x]) if isinstance(x, (list, tuple)) else x
