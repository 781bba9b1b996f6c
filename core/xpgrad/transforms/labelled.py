"""xarray's arrays and data sets as trees: their data are leaves, and their labels belong to the structure.

`trees` imports this module when it first meets an object of xarray, which is not imported here: all is done by methods
of the objects.
"""

from collections.abc import Sequence
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.transforms.containers import Container

OUTPUT = "_out"
"""What is appended to the name of an output's dimension if the argument has the same, in a Jacobian."""


def container_of(kind: type) -> Container | None:
    """Return the `Container` of a type of xarray, or of a subclass; None for other types."""
    for base in kind.__mro__:
        if base.__module__.partition(".")[0] == "xarray" and base.__name__ in CONTAINERS:
            return CONTAINERS[base.__name__]
    return None


def _placeholder(shape: Sequence[int]) -> Any:
    """Return zeros that take no memory."""
    xp = plugins.host.namespace
    return xp.broadcast_to(xp.zeros(()), tuple(shape))


def _emptied(x: Any) -> Any:
    return _with_attributes(x.copy(deep=False, data=_placeholder(x.shape)))


def _with_attributes(x: Any) -> Any:
    """Return `x`, whose coordinates have their attributes: xarray makes them when they are first read."""
    for coordinate in getattr(x, "coords", {}).values():
        coordinate.attrs  # noqa: B018
    return x


def _array(empty: Any, children: Sequence[Any]) -> Any:
    """Return a DataArray or Variable over other data of the same shape, also with leading axes; else the data."""
    (child,) = children
    if type(child) is type(empty):
        return _jacobian(empty, child)
    shape = getattr(child, "shape", None)
    if shape is None or tuple(shape[max(0, len(shape) - empty.ndim) :]) != empty.shape or len(shape) < empty.ndim:
        return child
    if len(shape) == empty.ndim:
        return _with_attributes(empty.copy(deep=False, data=child))
    dims = (*_more_dims(shape, empty.dims), *empty.dims)
    if not hasattr(empty, "coords"):
        return type(empty)(dims, child, empty.attrs)
    return type(empty)(child, dims=dims, coords=empty.coords, name=empty.name, attrs=empty.attrs)


def _more_dims(shape: Sequence[int], dims: Sequence[Any]) -> list[str]:
    return [f"dim_{i}" for i in range(len(shape) - len(dims))]


def _jacobian(empty: Any, block: Any) -> Any:
    """Return derivatives of an output that was labelled like `empty`, by an argument, with the labels of both."""
    if not hasattr(empty, "coords") or block.ndim < empty.ndim:
        return block
    argument = block.dims[empty.ndim :]
    names = {dim: f"{dim}{OUTPUT}" if dim in argument else dim for dim in empty.dims}
    taken = set(block.coords)
    coords = {f"{name}{OUTPUT}" if name in taken else name: c for name, c in empty.coords.items()}
    coords = {name: ([names[dim] for dim in c.dims], c.data) for name, c in coords.items()}
    dims = [*names.values(), *argument]
    return type(block)(block.data, dims=dims, coords={**block.coords, **coords}, name=empty.name)


def _fits(x: Any, empty: Any) -> bool:
    """Return whether `x` has the dimensions and coordinates of `empty`."""
    if tuple(x.dims) != tuple(empty.dims):
        return False
    return not hasattr(x, "coords") or bool(x.coords.equals(empty.coords))


def _same(x: Any, empty: Any) -> bool:
    if tuple(x.dims) != tuple(empty.dims) or x.attrs != empty.attrs:
        return False
    if not hasattr(x, "coords"):
        return True
    return getattr(x, "name", None) == getattr(empty, "name", None) and bool(x.coords.identical(empty.coords))


def _emptied_dataset(x: Any) -> Any:
    return _with_attributes(x.copy(deep=False, data={name: _placeholder(x[name].shape) for name in x.data_vars}))


def _dataset(empty: Any, children: Sequence[Any]) -> Any:
    """Return a Dataset over other data; variables whose value is None are left out."""
    made: dict[Any, Any] = {}
    for name, child in zip(empty.data_vars, children, strict=True):
        known = empty[name]
        if type(child) is type(empty):
            return dict(zip(empty.data_vars, children, strict=True))  # derivatives of an output by its variables
        if child is not None:
            dims = (*_more_dims(getattr(child, "shape", known.shape), known.dims), *known.dims)
            made[name] = (dims, child, known.attrs)
    return _with_attributes(empty.drop_vars(list(empty.data_vars)).assign(made))


def _fits_dataset(x: Any, empty: Any) -> bool:
    return all(x[name].dims == empty[name].dims for name in empty.data_vars) and bool(x.coords.equals(empty.coords))


def _same_dataset(x: Any, empty: Any) -> bool:
    names = list(empty.data_vars)
    return (
        list(x.data_vars) == names
        and x.attrs == empty.attrs
        and all(x[n].dims == empty[n].dims and x[n].attrs == empty[n].attrs for n in names)
        and bool(x.coords.identical(empty.coords))
    )


_ARRAY = Container(lambda x: ("data",), lambda x, key: x.data, _emptied, _array, _fits, _same, array=True)
CONTAINERS = {
    "DataArray": _ARRAY,
    "Variable": _ARRAY,
    "Dataset": Container(
        lambda x: tuple(x.data_vars),
        lambda x, key: x[key].data,
        _emptied_dataset,
        _dataset,
        _fits_dataset,
        _same_dataset,
    ),
}
"""By the names of xarray's classes."""
