"""Models as pictures: links within links, with their parameters."""

from collections.abc import Iterable
from typing import Any

from xpgrad.drawing.boxes import Box
from xpgrad.drawing.page import facts, framed, titled, whole
from xpgrad.drawing.picture import MAX_BOXES, Picture
from xpgrad.models.link import Link
from xpgrad.models.sequential import Sequential
from xpgrad.utils.quantities import bytes_text


def picture(link: Link) -> Picture:
    """Return a link as a picture: boxes within boxes, and in them the parameters with shape and dtype.

    A model with more than `MAX_BOXES` of them is drawn without parameters, then without its inner links.
    """
    depth = max((path.count("/") for path, _ in link.namedlinks()), default=0)
    whole_model = boxes = _boxes(link, depth, with_parameters=True)
    while len(boxes) > MAX_BOXES and depth > 0:
        boxes = _boxes(link, depth, with_parameters=False)
        depth -= 1
    if len(boxes) > MAX_BOXES:
        rest = len(boxes) - MAX_BOXES + 1
        boxes = [*boxes[:-rest], Box((f"and {rest:,} more",), "more", boxes[-rest].within)]
    notes: tuple[str, ...] = ()
    if boxes is not whole_model:
        notes = (f"{len(whole_model):,} links and parameters, drawn as {len(boxes):,} boxes without what is in these",)
    return Picture(tuple(boxes), (), type(link).__name__, notes=notes)


def _boxes(model: Link, depth: int, *, with_parameters: bool) -> list[Box]:
    boxes: list[Box] = []

    def add(link: Link, name: str, within: int | None, level: int) -> None:
        own = len(boxes)
        count = sum(parameter.size for parameter in link.params(include_uninit=False))
        boxes.append(Box((f"{name}{title(link)}", f"{count:,} parameters"), "link", within))
        for key in sorted(link._params) if with_parameters else ():
            boxes.append(Box((key, parameter_text(getattr(link, key))), "parameter", own))
        if level >= depth:
            return
        for key, child in children(link):
            if isinstance(child, Link):
                add(child, f"{key}: ", own, level + 1)
            else:
                boxes.append(Box((f"{key}: {function_text(child)}",), "function", own))

    add(model, "", None, 0)
    return boxes


def children(link: Link) -> Iterable[tuple[str, Any]]:
    """Return the names and children of a link; for a Sequential its layers, including functions."""
    if isinstance(link, Sequential):
        return ((str(i), layer) for i, layer in enumerate(link))
    return link._named_children()


def title(link: Link) -> str:
    """Return the class of a link, with the options that its `repr` shows."""
    specs = ", ".join(f"{name}={value}" for name, value in link.printable_specs)
    return f"{type(link).__name__}({specs})" if specs else type(link).__name__


def function_text(function: Any) -> str:
    """Return the name of a function."""
    return str(getattr(function, "__name__", None) or type(function).__name__)


def parameter_text(parameter: Any) -> str:
    """Return shape and dtype of a parameter, which may be a Variable or an array in its place."""
    label = getattr(parameter, "label", None)
    return str(label if label is not None else tuple(parameter.shape))


def html(link: Link) -> str:
    """Return the HTML of a link for notebooks."""
    ready = [parameter for parameter in link.params() if parameter._array is not None]
    waiting = sum(1 for _ in link.params()) - len(ready)
    size = sum(parameter.size * parameter._node.spec.itemsize for parameter in ready)
    count = sum(parameter.size for parameter in ready)
    found = {
        "parameters": f"{count:,} numbers in {len(ready):,} arrays, {bytes_text(size)}",
        "uninitialised": f"{waiting:,} more, which are initialised at the first call" if waiting else None,
        "device": str(link.device),
    }
    drawn = picture(link)
    return whole(titled(title(link)), facts(found), framed(drawn.to_svg("own"), drawn.notes))
