"""How a Variable prints."""

from typing import TYPE_CHECKING, Any

from xpgrad.backend.plugins import plugins
from xpgrad.types import Array

if TYPE_CHECKING:
    from xpgrad.graph.variable import Variable


def as_text(x: "Variable", separator: str, *, shape_of_empty: bool) -> str:
    """Return the values behind ``variable(`` or ``variable NAME(``, later lines indented to match."""
    prefix = f"variable {x.name}(" if x.name else "variable("
    array = x.array
    if array is None:
        return f"{prefix}None)"
    if x.size == 0:
        return f"{prefix}[], shape={x.shape})" if shape_of_empty else f"{prefix}[])"
    return f"{prefix}{plugins.backend_of(array).array_text(array, prefix, separator)})"


def summary(x: "Variable") -> str:
    """Return ``<variable NAME>``, or the address where there is no name."""
    return f"<variable {x.name}>" if x.name else f"<variable at 0x{id(x):x}>"


def debug_print(x: "Variable") -> str:
    """Return a few lines about place, shape, dtype and statistics of data and gradient."""
    array = x.array
    if array is None:
        lines = dict.fromkeys(("device", "backend", "shape", "dtype", "statistics", "grad"), "None")
    else:
        device = x.device
        on_host = device == plugins.role("cpu").default_device
        lines = {
            "device": "CPU" if on_host else str(device),
            "backend": str(type(array)),
            "shape": str(tuple(array.shape)),
            "dtype": x.node.spec.backend.dtype_name(array.dtype),
            "statistics": _statistics(array),
            "grad": _gradient(None if x._grad is None else x.grad),
        }
    return "\n".join([summary(x), *(f"- {name}: {value}" for name, value in lines.items())])


def _statistics(array: Array) -> str:
    backend = plugins.backend_of(array)
    if not backend.spec(array).size:
        return "no elements"
    xp, values = backend.namespace, array
    if not backend.is_kind(values.dtype, ("real floating", "complex floating")):
        values = xp.astype(values, backend.asarray(0.0).dtype)
    if backend.is_kind(values.dtype, "complex floating"):
        values = xp.abs(values)
    return f"mean={float(xp.mean(values)):.8f}, std={float(xp.std(values)):.8f}"


def _gradient(grad: Any) -> str:
    if grad is None:
        return "None"
    xp = plugins.backend_of(grad).xp
    return _statistics(grad) if bool(xp.any(xp.not_equal(grad, 0))) else "0"
