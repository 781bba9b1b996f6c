"""Changes that `install` makes in xpgrad: configuration, random numbers, labels of functions, names of links."""

import os
from typing import Any

import numpy as np

from xpgrad import Variable, VariableNode, array_api, get_dtype, global_config
from xpgrad.graph.application import other_labels, other_names
from xpgrad.models import Link
from xpgrad_chainer import sequential, streams
from xpgrad_chainer.function_classes import titles
from xpgrad_chainer.spellings import Spellings

ENTRIES: dict[str, Any] = {
    "cast_operands": True,
    "zero_missing_grads": True,
    "warn_graph_end": False,
    "dtype": np.dtype(np.float32),
    "autotune": False,
    "compile": False,
    "compute_mode": None,
    "cudnn_deterministic": False,
    "cudnn_fast_batch_normalization": False,
    "lazy_grad_sum": False,
    "schedule_func": None,
    "use_cudnn": "auto",
    "use_cudnn_tensor_core": "auto",
    "use_ideep": "never",
    "use_static_graph": True,
    "warn_nondeterministic": False,
}
"""Entries of `chainer.config`; those that choose kernels of cuDNN or iDeep have no effect."""
SWITCHES = "compile", "debug", "keep_graph_on_report", "lazy_grad_sum", "type_check"
"""Entries that environment variables such as CHAINER_DEBUG set to 0 or 1, "compile" by XPGRAD_COMPILE."""
WORDS = "use_cudnn", "use_ideep"
"""Entries that environment variables set to a word."""
OPERATORS = {
    "add": "Add", "subtract": "Sub", "multiply": "Mul", "divide": "Div", "floor_divide": "FloorDiv", "pow": "PowVarVar",
    "negative": "Neg",
}  # fmt: skip
"""Names of Chainer's classes by xpgrad's names of operators, which have the labels of Chainer already."""
NAMES = {title: name for name, title in titles().items()} | {"permute_dims": "Transpose"} | OPERATORS
"""Names of Chainer's classes by the names of functions."""
PRIMITIVES = {
    "_cast": "Cast", "_repeat": "Repeat", "convolution": "Convolution2DFunction", "cumulative_prod": "Cumprod",
    "cumulative_sum": "Cumsum", "duplicate": "Copy", "getitem": "GetItem", "matrix_transpose": "Transpose",
    "max_unpool": "Upsampling2D", "mean": "Mean", "transposed_convolution": "Deconvolution2DFunction",
    "unpool": "Unpooling2D",
}  # fmt: skip
"""Names of Chainer's classes by names of primitives that have no function of that name."""
NAMES_ONLY = PRIMITIVES | {
    "abs": "Absolute", "acos": "Arccos", "affine": "LinearFunction", "asin": "Arcsin", "atan": "Arctan",
    "atan2": "Arctan2", "atanh": "Arctanh", "cross_entropy": "SoftmaxCrossEntropy", "linalg.cholesky": "Cholesky",
    "linalg.det": "BatchDet", "linalg.inv": "Inv", "max_pool": "MaxPoolingND", "special.erf": "Erf",
    "special.erfc": "Erfc", "special.erfcinv": "ErfcInv", "special.erfcx": "Erfcx", "special.erfinv": "ErfInv",
    "special.expit": "Sigmoid", "special.gammaln": "LGamma", "special.log_ndtr": "LogNdtr", "special.ndtr": "Ndtr",
    "special.ndtri": "Ndtri", "special.psi": "DiGamma",
}  # fmt: skip
"""Names of Chainer's classes by names of primitives that have another label."""
LABELS_ONLY = PRIMITIVES | {
    "acos": "arccos", "asin": "arcsin", "atan": "arctan", "atan2": "arctan2", "atanh": "Arctanh",
    "gammaln": "lgamma", "max_pooling": "MaxPoolingND", "psi": "digamma",
}  # fmt: skip
"""Labels of Chainer's classes by labels of primitives."""
PLAIN = {
    "arccos", "arcsin", "arctan", "arctan2", "arctanh", "cos", "cosh", "det", "digamma", "erf", "erfc", "erfcinv",
    "erfcx", "erfinv", "exp", "expm1", "fmod", "lgamma", "log", "log10", "log1p", "log2", "log_ndtr", "ndtr", "ndtri",
    "polygamma", "rsqrt", "sin", "sinh", "sqrt", "square", "tan", "zeta",
}  # fmt: skip
"""Functions of mathematics, whose classes have labels of their own."""
LABELS = {
    title: name
    for title, name in NAMES.items()
    if title not in PLAIN and title not in OPERATORS and title not in ("sub", "mul", "div", "neg")
}
"""Labels of functions: by default the names of Chainer's classes."""

CONVERTIBLE: Any = next(cls for cls in Variable.__mro__ if "__array__" in vars(cls))
"""The class that has the method by which NumPy converts Variables."""


class Settings:
    """The configuration for programs of Chainer, which `uninstall` takes back."""

    def __init__(self) -> None:
        self._before: dict[str, Any] | None = None
        self._names: tuple[str, ...] = ()
        self._array: Any = None
        self._label: Any = None
        self._sequential: Any = None
        self._spellings = Spellings()

    def install(self) -> None:
        """Set the entries, and let functions have the labels of Chainer's classes."""
        if self._before is not None:
            return
        entries = vars(global_config)
        chosen = {name: value for name, value in ENTRIES.items() if name != "dtype" or entries["dtype"] == "float32"}
        chosen |= _of_environment()
        self._before, self._names = {name: entries[name] for name in chosen if name in entries}, tuple(chosen)
        entries |= chosen
        global_config.type_check = entries["type_check"]  # with this assignment, threads see the new entries
        _plan_again()
        streams.install()
        self._spellings.install()
        other_labels.update(LABELS | LABELS_ONLY)
        other_names.update(NAMES | NAMES_ONLY)
        rank: Any = VariableNode.rank  # a slot
        setattr(VariableNode, "_rank", property(rank.__get__, rank.__set__))  # noqa: B010 - Chainer's
        self._label = VariableNode.label
        setattr(VariableNode, "label", property(self._label_of))  # noqa: B010 - a property
        self._sequential, Link._sequential = Link._sequential, sequential.Sequential
        self._array = CONVERTIBLE.__array__
        del CONVERTIBLE.__array__  # as in Chainer, NumPy takes a Variable for an object

    def _label_of(self, node: VariableNode) -> str:
        """Return shape and dtype as Chainer writes them: ``(2), float32``."""
        label: str = self._label.fget(node)
        return label.replace(",)", ")")

    def uninstall(self) -> None:
        """Restore the entries and the labels."""
        if self._before is None:
            return
        for name in self._names:
            if name in self._before:
                setattr(global_config, name, self._before[name])
            else:
                vars(global_config).pop(name, None)
        other_labels.clear()
        other_names.clear()
        _plan_again()
        streams.uninstall()
        self._spellings.uninstall()
        CONVERTIBLE.__array__ = self._array
        Link._sequential = self._sequential
        setattr(VariableNode, "label", self._label)  # noqa: B010 - a property
        delattr(VariableNode, "_rank")
        self._before = None


def _of_environment() -> dict[str, Any]:
    """Return the entries that environment variables set.

    Raises
    ------
    ValueError
        A switch is no integer, or CHAINER_DTYPE is not the name of a dtype.
    """
    names = *SWITCHES, *WORDS, "dtype"
    given = {name: value for name in names if (value := os.environ.get(_variable(name)))}
    found: dict[str, Any] = dict(given)
    for name in SWITCHES:
        if name in given:
            if not given[name].isdecimal():
                raise ValueError(f"{_variable(name)}: expected 0 or 1, got {given[name]!r}")
            found[name] = given[name] != "0"
    if "dtype" in given:
        if given["dtype"] not in ("float16", "float32", "float64", "mixed16"):
            raise ValueError(f"CHAINER_DTYPE: expected float16, float32, float64 or mixed16, got {given['dtype']!r}")
        found["dtype"] = get_dtype(given["dtype"])
    return found


def _variable(entry: str) -> str:
    """Return the name of the environment variable that sets an entry."""
    return ("XPGRAD_" if entry == "compile" else "CHAINER_") + entry.upper()


def _plan_again() -> None:
    """Forget the plans of operators, which depend on `cast_operands`."""
    for name in array_api.__all__:
        definition = getattr(getattr(array_api, name), "definition", None)
        if definition is not None and "operator" in definition.paths:
            definition.plans.clear()
