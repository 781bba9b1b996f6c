"""Variables as HTML for notebooks: values, facts and history, without any computation."""

from xpgrad.backend.plugins import plugins
from xpgrad.drawing.graphs import nearest
from xpgrad.drawing.page import facts, folded, framed, preformatted, whole
from xpgrad.graph.methods.text import values_text
from xpgrad.graph.node import title
from xpgrad.graph.parameter import Parameter
from xpgrad.graph.variable import Variable
from xpgrad.utils.quantities import bytes_text

MAX_FUNCTIONS = 8
MAX_ELEMENTS = 1000
"""Of larger arrays the first elements are shown; the host's library shows the first and the last."""
FIRST = 3
MAX_TEXT = 10_000


def html(x: Variable) -> str:
    """Return the HTML of a Variable for notebooks."""
    found: dict[str, str | None] = {"name": x.name}
    node, array = x._node, x._array
    if array is not None:
        spec = plugins.backend_of(array).spec(array)
        creator = node.live_creator()
        found |= {
            "shape": str(tuple(spec.shape)),
            "dtype": spec.backend.dtype_name(spec.dtype),
            "device": str(x.device),
            "size": f"{spec.size:,} element{'s' * (spec.size != 1)}, {bytes_text(spec.size * spec.itemsize)}",
            "made by": None if creator is None else title(creator),
            "requires grad": "yes" if x.requires_grad else "no",
            "gradient": None if x._grad is None else "yes",
        }
    elif isinstance(x, Parameter):
        found["initializer"] = _shortened(repr(x.initializer)) if x.initializer is not None else "NaN"
    parts = [preformatted(text_of(x)), facts(found)]
    if array is not None and node.live_creator() is not None:
        picture = nearest(x, MAX_FUNCTIONS)
        parts.append(folded("what made it", framed(picture.to_svg("own"), picture.notes), opened=True))
    return whole(*parts)


def text_of(x: Variable) -> str:
    """Return the values as text if these are already computed and few."""
    array = x._array
    if array is None:
        return values_text(x, ", ")
    backend = plugins.backend_of(array)
    if backend.is_pending(array) or not backend.has_values(array):
        return f"variable(not computed yet: {backend.spec(array)!r})"
    size = backend.spec(array).size
    if size <= MAX_ELEMENTS or backend.root is plugins.host:
        return _shortened(values_text(x, ", "), MAX_TEXT)
    corner = backend.restore(array[(slice(FIRST),) * len(array.shape)])
    return f"{backend.array_text(corner, '', ', ')}\nthe first elements of {size:,}"


def _shortened(text: str, most: int = 80) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
