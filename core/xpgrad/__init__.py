"""xpgrad: define-by-run automatic differentiation for every Python Array API library."""

import sys as _sys
from typing import TYPE_CHECKING
from typing import Any as _Any

from xpgrad import array_api, utils
from xpgrad.array_api.shared.scattering import Scatter
from xpgrad.backend import random
from xpgrad.backend.current import get_device, use, using_device
from xpgrad.backend.device import Device
from xpgrad.backend.dtypes import get_dtype, mixed16
from xpgrad.backend.kernels import table as _kernels
from xpgrad.backend.modules import (
    get_array_module,
    get_array_types,
    get_cpu_array_types,
    get_device_from_array,
    is_arrays_compatible,
)
from xpgrad.boundary import as_bounded as _as_bounded
from xpgrad.boundary import bound as _bound
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
    AllocationError,
    AnomalyError,
    AxisError,
    BackendMismatch,
    BackendUnavailable,
    BatchError,
    BatchWarning,
    ChangedArray,
    CompileWarning,
    DeviceMismatch,
    DtypeError,
    EscapedArray,
    GradientError,
    GraphEndWarning,
    GraphError,
    IterationError,
    NotANumber,
    PluginError,
    SerializationError,
    ShapeError,
    SingularMatrix,
    SparsityError,
    SpecifierError,
    StaleProgramWarning,
    StructureError,
    TraceError,
    UnknownArray,
    XpgradError,
)
from xpgrad.graph.backward import backward, grad
from xpgrad.graph.function import Function, FunctionAdapter
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.node import VariableNode
from xpgrad.graph.parameter import Parameter
from xpgrad.graph.primitive import elementwise, primitive
from xpgrad.graph.variable import Variable, as_array, as_variable
from xpgrad.interop import attributes as _attributes
from xpgrad.interop.numpy import protocol as _numpy_protocol
from xpgrad.listing import missing_name as _missing_name
from xpgrad.utils.pictures import drawer as _drawer
from xpgrad.watch.anomaly import anomaly_detection
from xpgrad.watch.function_hook import FunctionHook, get_function_hooks

__version__ = "0.1.0"

__all__ = [  # noqa: RUF022 - the most important names first
    "Variable", "Parameter", "Function", "FunctionAdapter", "FunctionNode", "FunctionHook", "VariableNode", "Scatter",
    "as_variable", "as_array", "grad", "backward", "elementwise", "primitive", "get_function_hooks",
    "config", "global_config", "using_config", "no_backprop_mode", "force_backprop_mode", "is_debug", "set_debug",
    "DebugMode", "anomaly_detection", "get_dtype", "mixed16", "get_array_types", "get_cpu_array_types",
    "is_arrays_compatible", "utils",
    "Device", "get_device", "get_device_from_array", "get_array_module", "use", "using_device", "random",
    "array_api",
    "AllocationError", "AnomalyError", "AxisError", "BackendMismatch", "BackendUnavailable", "BatchError",
    "BatchWarning", "ChangedArray", "CompileWarning", "DeviceMismatch", "DtypeError", "EscapedArray",
    "GradientError", "GraphEndWarning", "GraphError", "IterationError", "NotANumber", "PluginError",
    "SerializationError", "ShapeError", "SingularMatrix", "SparsityError", "SpecifierError", "StaleProgramWarning",
    "StructureError", "TraceError", "UnknownArray", "XpgradError",
    "__version__",
]  # fmt: skip

_LATE = {
    "backend": "xpgrad.backend",
    "backends": "xpgrad.backends",
    "computational_graph": "xpgrad.computational_graph",
    "configuration": "xpgrad",  # this module, like other Chainer modules whose names are all in this package
    "cuda": "xpgrad.backends.cuda",
    "dataset": "xpgrad.dataset",
    "datasets": "xpgrad.datasets",
    "distributions": "xpgrad.distributions",
    "drawing": "xpgrad.drawing",
    "fft": "xpgrad.fft",
    "function": "xpgrad",
    "function_hook": "xpgrad",
    "function_hooks": "xpgrad.function_hooks",
    "function_node": "xpgrad",
    "functions": "xpgrad.functions",
    "gradient_check": "xpgrad.testing.gradient_check",
    "initializers": "xpgrad.initializers",
    "iterators": "xpgrad.iterators",
    "linalg": "xpgrad.linalg",
    "link": "xpgrad",
    "link_hooks": "xpgrad.link_hooks",
    "links": "xpgrad.links",
    "models": "xpgrad.models",
    "ops": "xpgrad.ops",
    "optimizer": "xpgrad.optimizer",
    "optimizer_hooks": "xpgrad.optimizer_hooks",
    "optimizers": "xpgrad.optimizers",
    "plugin": "xpgrad.plugin",
    "reporter": "xpgrad.reporter",
    "scipy": "xpgrad.scipy",
    "serializers": "xpgrad.serializers",
    "special": "xpgrad.special",
    "testing": "xpgrad.testing",
    "training": "xpgrad.training",
    "transforms": "xpgrad.transforms",
    "variable": "xpgrad",
}
"""Modules that are imported at their first use: most programs need few of them."""
_LATE_FUNCTIONS = {
    "AbstractSerializer": "xpgrad.serializers",
    "Chain": "xpgrad.models",
    "ChainList": "xpgrad.models",
    "Deserializer": "xpgrad.serializers",
    "DictSummary": "xpgrad.reporter",
    "Distribution": "xpgrad.distributions",
    "GradientMethod": "xpgrad.optimizer",
    "Initializer": "xpgrad.initializers",
    "Link": "xpgrad.models",
    "LinkHook": "xpgrad.models",
    "Optimizer": "xpgrad.optimizer",
    "Reporter": "xpgrad.reporter",
    "Sequential": "xpgrad.models",
    "Serializer": "xpgrad.serializers",
    "Summary": "xpgrad.reporter",
    "UpdateRule": "xpgrad.optimizer",
    "compile": "xpgrad.transforms.trace.compiled",
    "cross_entropy": "xpgrad.distributions",
    "debug_print": "xpgrad.transforms.trace.printing",
    "get_current_reporter": "xpgrad.reporter",
    "kl_divergence": "xpgrad.distributions",
    "load_program": "xpgrad.programs",
    "print_runtime_info": "xpgrad.cli.runtime",
    "register_kl": "xpgrad.distributions",
    "report": "xpgrad.reporter",
    "report_scope": "xpgrad.reporter",
}
"""Functions and classes of such modules."""
_drawer.package = "xpgrad.drawing"
_kernels.late_packages += "xpgrad.functions", "xpgrad.ops"


if TYPE_CHECKING:
    from xpgrad import backend as backend
    from xpgrad import backends as backends
    from xpgrad import computational_graph as computational_graph
    from xpgrad import dataset as dataset
    from xpgrad import datasets as datasets
    from xpgrad import distributions as distributions
    from xpgrad import drawing as drawing
    from xpgrad import fft as fft
    from xpgrad import function_hooks as function_hooks
    from xpgrad import functions as functions
    from xpgrad import initializers as initializers
    from xpgrad import iterators as iterators
    from xpgrad import linalg as linalg
    from xpgrad import link_hooks as link_hooks
    from xpgrad import links as links
    from xpgrad import models as models
    from xpgrad import ops as ops
    from xpgrad import optimizer as optimizer
    from xpgrad import optimizer_hooks as optimizer_hooks
    from xpgrad import optimizers as optimizers
    from xpgrad import plugin as plugin
    from xpgrad import reporter as reporter
    from xpgrad import scipy as scipy
    from xpgrad import serializers as serializers
    from xpgrad import special as special
    from xpgrad import testing as testing
    from xpgrad import training as training
    from xpgrad import transforms as transforms
    from xpgrad.backends import cuda as cuda
    from xpgrad.cli.runtime import print_runtime_info as print_runtime_info
    from xpgrad.distributions import Distribution as Distribution
    from xpgrad.distributions import cross_entropy as cross_entropy
    from xpgrad.distributions import kl_divergence as kl_divergence
    from xpgrad.distributions import register_kl as register_kl
    from xpgrad.initializers import Initializer as Initializer
    from xpgrad.models import Chain as Chain
    from xpgrad.models import ChainList as ChainList
    from xpgrad.models import Link as Link
    from xpgrad.models import LinkHook as LinkHook
    from xpgrad.models import Sequential as Sequential
    from xpgrad.optimizer import GradientMethod as GradientMethod
    from xpgrad.optimizer import Optimizer as Optimizer
    from xpgrad.optimizer import UpdateRule as UpdateRule
    from xpgrad.programs import load_program as load_program
    from xpgrad.reporter import DictSummary as DictSummary
    from xpgrad.reporter import Reporter as Reporter
    from xpgrad.reporter import Summary as Summary
    from xpgrad.reporter import get_current_reporter as get_current_reporter
    from xpgrad.reporter import report as report
    from xpgrad.reporter import report_scope as report_scope
    from xpgrad.serializers import AbstractSerializer as AbstractSerializer
    from xpgrad.serializers import Deserializer as Deserializer
    from xpgrad.serializers import Serializer as Serializer
    from xpgrad.testing import gradient_check as gradient_check
    from xpgrad.transforms.trace.compiled import compile as compile
    from xpgrad.transforms.trace.printing import debug_print as debug_print

    configuration = function = function_hook = function_node = link = variable = _sys.modules[__name__]
else:

    def __getattr__(name: str) -> _Any:
        """Return a module that is imported late, or a function by NumPy's name: ``xpgrad.tensordot``.

        Those functions are for libraries that dispatch on the module of an array's type; `dir` does not list them.
        """
        if name in _LATE:
            import importlib

            found = globals()[name] = importlib.import_module(_LATE[name])
            return found
        if name in _LATE_FUNCTIONS:
            import importlib

            found = getattr(importlib.import_module(_LATE_FUNCTIONS[name]), name)
            return globals().setdefault(name, _as_bounded(__name__, name, found))
        if not name.startswith("_"):
            from xpgrad.interop.names import find

            try:
                return find(name)
            except AttributeError:
                pass
        raise _missing_name("xpgrad", name, lambda: [*__dir__(), *(f"array_api.{each}" for each in array_api.__all__)])


def __dir__() -> list[str]:
    return sorted({*__all__, *_LATE, *_LATE_FUNCTIONS})


_bound(__name__, (name for name in __all__ if not isinstance(globals()[name], type)))  # a Variable costs less
_bound("xpgrad.backend.random", ("seed", "uniform", "normal", "get_state", "set_state"))
_numpy_protocol.bind()
_attributes.bind()
if "einops" in _sys.modules:  # otherwise its users import the module: there is no hook for later imports
    try:
        from xpgrad.interop import einops as _einops  # noqa: F401 - it registers itself
    except ImportError:  # an unsupported version; importing the module explicitly gives the error
        pass
