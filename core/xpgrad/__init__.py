"""xpgrad: define-by-run automatic differentiation for every Python Array API library."""

import sys as _sys
from typing import TYPE_CHECKING
from typing import Any as _Any

# fmt: off
# isort: off
from xpgrad import array_api, utils
from xpgrad.array_api.shared.scattering import Scatter
from xpgrad.backend import random
from xpgrad.backend.current import get_device, use, using_device
from xpgrad.backend.device import Device
from xpgrad.backend.dtypes import get_dtype, mixed16
from xpgrad.backend.kernels import table as _kernels
from xpgrad.backend.modules import (
    get_array_module, get_array_types, get_cpu_array_types, get_device_from_array, is_arrays_compatible,
)
from xpgrad.boundary import as_bounded as _as_bounded
from xpgrad.boundary import bound as _bound
from xpgrad.config import (
    DebugMode, config, force_backprop_mode, global_config, is_debug, no_backprop_mode, set_debug, using_config,
)
from xpgrad.errors import (
    AllocationError, AnomalyError, AxisError, BackendMismatch, BackendUnavailable, BatchError, BatchWarning,
    ChangedArray, CompileWarning, DeviceMismatch, DtypeError, EscapedArray, GradientError, GraphEndWarning, GraphError,
    IterationError, NotANumber, PluginError, SerializationError, ShapeError, SingularMatrix, SparsityError,
    SpecifierError, StaleProgramWarning, StructureError, TraceError, UnknownArray, XpgradError,
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
# isort: on
# fmt: on

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

_THIS = "configuration", "function", "function_hook", "function_node", "link", "variable"
"""Chainer modules whose names are all in this package."""
_MODULES = (
    "backend", "backends", "computational_graph", "dataset", "datasets", "distributions", "drawing", "fft",
    "function_hooks", "functions", "initializers", "iterators", "linalg", "link_hooks", "links", "models", "ops",
    "optimizer", "optimizer_hooks", "optimizers", "plugin", "reporter", "scipy", "serializers", "special", "testing",
    "training", "transforms",
)  # fmt: skip
_LATE = dict.fromkeys(_THIS, "xpgrad") | {name: f"xpgrad.{name}" for name in _MODULES} | {
    "cuda": "xpgrad.backends.cuda", "gradient_check": "xpgrad.testing.gradient_check",
}  # fmt: skip
"""Modules that are imported at their first use: most programs need few of them."""
_NAMES = {
    "cli.runtime": ("print_runtime_info",),
    "distributions": ("Distribution", "cross_entropy", "kl_divergence", "register_kl"),
    "initializers": ("Initializer",),
    "models": ("Chain", "ChainList", "Link", "LinkHook", "Sequential"),
    "optimizer": ("GradientMethod", "Optimizer", "UpdateRule"),
    "programs": ("load_program",),
    "reporter": ("DictSummary", "Reporter", "Summary", "get_current_reporter", "report", "report_scope"),
    "serializers": ("AbstractSerializer", "Deserializer", "Serializer"),
    "transforms.trace.compiled": ("compile",),
    "transforms.trace.printing": ("debug_print",),
}
_LATE_FUNCTIONS = {name: f"xpgrad.{module}" for module, names in _NAMES.items() for name in names}
"""Functions and classes of such modules."""
_drawer.package = "xpgrad.drawing"
_kernels.late_packages += "xpgrad.functions", "xpgrad.ops"


if TYPE_CHECKING:
    # fmt: off
    # isort: off
    from xpgrad import (
        backend as backend, backends as backends, computational_graph as computational_graph, dataset as dataset,
        datasets as datasets, distributions as distributions, drawing as drawing, fft as fft,
        function_hooks as function_hooks, functions as functions, initializers as initializers, iterators as iterators,
        linalg as linalg, link_hooks as link_hooks, links as links, models as models, ops as ops,
        optimizer as optimizer, optimizer_hooks as optimizer_hooks, optimizers as optimizers, plugin as plugin,
        reporter as reporter, scipy as scipy, serializers as serializers, special as special, testing as testing,
        training as training, transforms as transforms,
    )
    from xpgrad.backends import cuda as cuda
    from xpgrad.cli.runtime import print_runtime_info as print_runtime_info
    from xpgrad.distributions import (
        Distribution as Distribution, cross_entropy as cross_entropy, kl_divergence as kl_divergence,
        register_kl as register_kl,
    )
    from xpgrad.initializers import Initializer as Initializer
    from xpgrad.models import (
        Chain as Chain, ChainList as ChainList, Link as Link, LinkHook as LinkHook, Sequential as Sequential,
    )
    from xpgrad.optimizer import GradientMethod as GradientMethod, Optimizer as Optimizer, UpdateRule as UpdateRule
    from xpgrad.programs import load_program as load_program
    from xpgrad.reporter import (
        DictSummary as DictSummary, Reporter as Reporter, Summary as Summary,
        get_current_reporter as get_current_reporter, report as report, report_scope as report_scope,
    )
    from xpgrad.serializers import (
        AbstractSerializer as AbstractSerializer, Deserializer as Deserializer, Serializer as Serializer,
    )
    from xpgrad.testing import gradient_check as gradient_check
    from xpgrad.transforms.trace.compiled import compile as compile
    from xpgrad.transforms.trace.printing import debug_print as debug_print
    # isort: on
    # fmt: on

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
