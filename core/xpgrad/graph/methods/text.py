"""How a Variable prints."""

from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.graph.methods.declared import bind
from xpgrad.graph.variable import Variable
from xpgrad.types import Array
from xpgrad.utils.pictures import drawer


def as_text(x: Variable) -> str:
    """Return the values, without commas."""
    return values_text(x, " ", shape_of_empty=False)


def values_text(x: Variable, separator: str, *, shape_of_empty: bool = True) -> str:
    """Return the values after ``variable(`` or ``variable NAME(``, later lines indented to match."""
    prefix = f"variable {x.name}(" if x.name else "variable("
    array = x.array
    if array is None:
        return f"{prefix}None)"
    spec = plugins.backend_of(array).spec(array)  # not the node's spec: it may have changed, and text must not raise
    if spec.size == 0:
        return f"{prefix}[], shape={spec.shape})" if shape_of_empty else f"{prefix}[])"
    return f"{prefix}{plugins.backend_of(array).array_text(array, prefix, separator)})"


def as_code(x: Variable) -> str:
    """Return the values, and the dtype and the device where they are not the defaults.

    Default dtypes are single and double precision, the library's default integer, and bool: the dtypes of nearly all
    programs that use Chainer and NumPy. The creator of the Variable is not shown, because the documents print gradients
    without it.
    """
    text = values_text(x, ", ")
    if x._array is None:
        return text
    spec, default = x._node.spec, plugins.default_device
    more = [] if _is_default(spec) else [f"dtype={spec.backend.dtype_name(spec.dtype)}"]
    device = x.device
    if device != (default or plugins.host.default_device):
        more.append(f"device={str(device)!r}")
    return f"{text[:-1]}, {', '.join(more)})" if more else text


def _is_default(spec: Spec) -> bool:
    if spec.backend.is_kind(spec.dtype, ("real floating", "complex floating")):
        return spec.backend.dtype_name(spec.dtype) in ("float32", "float64", "complex64", "complex128")
    return spec.backend.is_kind(spec.dtype, "bool") or spec.dtype == spec.backend.default_dtype("int")


def summary(x: Variable) -> str:
    """Return ``<variable NAME>``, or the address for a Variable without name."""
    return f"<variable {x.name}>" if x.name else f"<variable at 0x{id(x):x}>"


def debug_print(x: Variable) -> str:
    """Return a few lines about place, shape, dtype and statistics of data and gradient."""
    array = x.array
    if array is None:
        lines = dict.fromkeys(("device", "backend", "shape", "dtype", "statistics", "grad"), "None")
    else:
        device = x.device
        on_host = device == plugins.host.default_device
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
    xp, values = backend.xp, array
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


bind(
    Variable,
    {
        "__repr__": as_code,
        "__str__": as_text,
        "_repr_html_": drawer.html("variables"),
        "summary": summary,
        "debug_print": debug_print,
    },
)
