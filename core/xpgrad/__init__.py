"""xpgrad: define-by-run automatic differentiation for every Python Array API library."""

import sys
from typing import Any

from xpgrad import array_api, functions, utils
from xpgrad.array_api.scattering import Scatter
from xpgrad.backend import random
from xpgrad.backend.current import use, using_device
from xpgrad.backend.device import Device, get_device, get_device_from_array
from xpgrad.backend.dtypes import get_dtype, mixed16
from xpgrad.backend.modules import get_array_module, get_array_types, get_cpu_array_types, is_arrays_compatible
from xpgrad.chainer.function import Function, FunctionAdapter
from xpgrad.chainer.parameter import Parameter
from xpgrad.config import (
    DebugMode,
    config,
    force_backprop_mode,
    global_config,
    is_debug,
    no_backprop_mode,
    set_debug,
    using_config,
)
from xpgrad.errors import (
    AnomalyError,
    BackendMismatch,
    BackendUnavailable,
    ChangedArray,
    DeviceMismatch,
    DtypeError,
    GradientError,
    GraphEndWarning,
    GraphError,
    NotANumber,
    PluginError,
    ShapeError,
    SingularMatrix,
    SpecifierError,
    StructureError,
    UnknownArray,
    XpgradError,
)
from xpgrad.graph.backward import backward, grad
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.node import VariableNode
from xpgrad.graph.primitive import elementwise, primitive
from xpgrad.graph.variable import Variable, as_array, as_variable
from xpgrad.interop import attributes as _attributes
from xpgrad.interop import numpy_protocol as _numpy_protocol
from xpgrad.watch.anomaly import anomaly_detection
from xpgrad.watch.function_hook import FunctionHook, get_function_hooks

__version__ = "0.1.0"

__all__ = [  # noqa: RUF022 - in the order of a reader's interest
    "Variable", "Parameter", "Function", "FunctionAdapter", "FunctionNode", "FunctionHook", "VariableNode", "Scatter",
    "as_variable", "as_array", "grad", "backward", "elementwise", "primitive", "get_function_hooks",
    "config", "global_config", "using_config", "no_backprop_mode", "force_backprop_mode", "is_debug", "set_debug",
    "DebugMode", "anomaly_detection", "get_dtype", "mixed16", "get_array_types", "get_cpu_array_types",
    "is_arrays_compatible", "utils",
    "Device", "get_device", "get_device_from_array", "get_array_module", "use", "using_device", "random",
    "array_api", "functions",
    "AnomalyError", "BackendMismatch", "BackendUnavailable", "ChangedArray", "DeviceMismatch", "DtypeError",
    "GradientError", "GraphEndWarning", "GraphError", "NotANumber", "PluginError", "ShapeError", "SingularMatrix",
    "SpecifierError", "StructureError", "UnknownArray", "XpgradError",
    "__version__",
]  # fmt: skip

_LAZY = {
    "backends": "xpgrad.backends",
    "cuda": "xpgrad.chainer.cuda",
    "gradient_check": "xpgrad.testing.gradient_check",
    "testing": "xpgrad.testing",
    "function_hooks": "xpgrad.function_hooks",
    "ops": "xpgrad.ops",
    "plugin": "xpgrad.plugin",
    "transforms": "xpgrad.transforms",
    "scipy": "xpgrad.scipy",
}


def __getattr__(name: str) -> Any:
    """Import the parts that most programs do not need when they are first asked for.

    The rest are functions by NumPy's names: ``xpgrad.tensordot``, ``xpgrad.linalg.norm``.
    """
    if name in _LAZY:
        import importlib

        return importlib.import_module(_LAZY[name])
    if not name.startswith("_"):
        from xpgrad.interop.names import find

        try:
            return find(name)
        except AttributeError:
            pass
    raise AttributeError(f"module 'xpgrad' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})


_numpy_protocol.bind()
_attributes.bind()
if "einops" in sys.modules:  # else its user imports the module: there is no hook for what is imported later
    try:
        from xpgrad.interop import einops as _einops  # noqa: F401 - it registers itself
    except ImportError:  # a version that keeps its backends elsewhere; importing the module oneself says so
        pass
