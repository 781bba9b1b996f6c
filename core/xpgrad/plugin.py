"""All that the author of a backend or of an adapter needs: ``from xpgrad.plugin import ArrayAPIBackend, hookimpl``."""

from typing import TYPE_CHECKING, Any

from xpgrad.backend.array_api_backend import ArrayAPIBackend, FloatLimits
from xpgrad.backend.backend import Backend, CarriesGraphs
from xpgrad.backend.capabilities import FACTS, Capabilities
from xpgrad.backend.checks import check_cast
from xpgrad.backend.contract import API_VERSION, PluginWarning
from xpgrad.backend.device import Device
from xpgrad.backend.executors import RowFunction, RowKernel
from xpgrad.backend.hookspecs import hookimpl
from xpgrad.backend.indexing import block, checks_index_arrays, flat_index
from xpgrad.backend.naming import class_name
from xpgrad.backend.plugins import plugins
from xpgrad.backend.programs import Programs, programs_of
from xpgrad.backend.scattering import scatter_add_by_sorting
from xpgrad.backend.spec import Spec
from xpgrad.backend.standard import BINARY_OPERATORS, CHAPTERS, OPERATORS, python_operator
from xpgrad.backend.threads import run_all, threads
from xpgrad.config import config
from xpgrad.errors import BackendUnavailable
from xpgrad.listing import listed as _listed

if TYPE_CHECKING:
    from xpgrad.backend.geometry import Geometry as Geometry
    from xpgrad.transforms.products import unchecked_vjp as unchecked_vjp

__all__ = [
    "API_VERSION", "BINARY_OPERATORS", "CHAPTERS", "FACTS", "OPERATORS", "ArrayAPIBackend", "Backend",
    "BackendUnavailable", "Capabilities", "CarriesGraphs", "Device", "FloatLimits", "Geometry", "PluginWarning",
    "Programs", "RowFunction", "RowKernel", "Spec", "block", "check_cast", "checks_index_arrays", "class_name",
    "config", "flat_index", "from_executors", "hookimpl", "programs_of", "python_operator", "register",
    "run_all", "scatter_add_by_sorting", "threads", "unchecked_vjp",
]  # fmt: skip
if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(
        __name__, __all__, {"Geometry": "xpgrad.backend.geometry", "unchecked_vjp": "xpgrad.transforms.products"}
    )


def register(plugin: Any, name: str) -> Backend:
    """Register a plugin that is not installed by a distribution and return its backend; for notebooks and tests.

    Parameters
    ----------
    plugin : module or object
        The object that has the hooks.
    name : str
        The name of the backend, as in an entry point.

    Raises
    ------
    PluginError
        The plugin breaks the contract; it is not registered.
    BackendUnavailable
        The plugin says that its library or hardware is missing.
    """
    return plugins.register(plugin, name)


def from_executors(backend: Backend, name: str) -> Any:
    """Return the attribute `name` of the first executor for a backend that has it, or None.

    By ``row_functions`` and ``c_library`` the kernels of a backend are compiled, see the hook ``xpgrad_executor``.
    """
    found = (getattr(executor, name, None) for _, executor in plugins.executors(backend))
    return next((attribute for attribute in found if attribute is not None), None)
