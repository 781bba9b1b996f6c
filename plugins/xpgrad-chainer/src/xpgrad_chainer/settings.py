"""Changes that `install` makes in xpgrad: configuration entries, random numbers and labels of functions."""

from typing import Any

import numpy as np

from xpgrad import Variable, VariableNode, array_api, global_config
from xpgrad.graph.application import other_labels
from xpgrad_chainer import streams
from xpgrad_chainer.function_classes import titles

ENTRIES: dict[str, Any] = {
    "cast_operands": True,
    "zero_missing_grads": True,
    "warn_graph_end": False,
    "dtype": np.dtype(np.float32),
    "autotune": False,
    "compute_mode": None,
    "cudnn_deterministic": False,
    "cudnn_fast_batch_normalization": False,
    "lazy_grad_sum": False,
    "schedule_func": None,
    "use_cudnn": "auto",
    "use_cudnn_tensor_core": "auto",
    "use_ideep": "never",
    "use_static_graph": True,
}
"""Entries of `chainer.config`; those that choose kernels of cuDNN or iDeep have no effect."""
LABELS = {title: name for name, title in titles().items() if title not in ("add", "sub", "mul", "div", "pow", "neg")}
LABELS["permute_dims"] = "Transpose"
"""Labels of functions: the names of Chainer's classes; operators have the labels of Chainer already."""

CONVERTIBLE: Any = next(cls for cls in Variable.__mro__ if "__array__" in vars(cls))
"""The class that has the method by which NumPy converts Variables."""


class Settings:
    """The configuration for programs of Chainer, which `uninstall` takes back."""

    def __init__(self) -> None:
        self._before: dict[str, Any] | None = None
        self._array: Any = None

    def install(self) -> None:
        """Set the entries, and let functions have the labels of Chainer's classes."""
        if self._before is not None:
            return
        entries = vars(global_config)
        self._before = {name: entries[name] for name in ENTRIES if name in entries}
        entries |= {name: value for name, value in ENTRIES.items() if name != "dtype" or entries["dtype"] == "float32"}
        _plan_again()
        streams.install()
        other_labels.update(LABELS)
        rank: Any = VariableNode.rank  # a slot
        setattr(VariableNode, "_rank", property(rank.__get__, rank.__set__))  # noqa: B010 - Chainer's
        self._array = CONVERTIBLE.__array__
        del CONVERTIBLE.__array__  # as in Chainer, NumPy takes a Variable for an object

    def uninstall(self) -> None:
        """Restore the entries and the labels."""
        if self._before is None:
            return
        for name in ENTRIES:
            if name in self._before:
                setattr(global_config, name, self._before[name])
            else:
                vars(global_config).pop(name, None)
        other_labels.clear()
        _plan_again()
        streams.uninstall()
        CONVERTIBLE.__array__ = self._array
        delattr(VariableNode, "_rank")
        self._before = None


def _plan_again() -> None:
    """Forget the plans of operators, which depend on `cast_operands`."""
    for name in array_api.__all__:
        definition = getattr(getattr(array_api, name), "definition", None)
        if definition is not None and "operator" in definition.paths:
            definition.plans.clear()
