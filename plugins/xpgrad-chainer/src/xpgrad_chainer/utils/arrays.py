"""Arrays: shapes, sums, dtypes and orders."""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np

from xpgrad import get_array_module


def as_vec(x: Any) -> Any:
    """Return an array as a vector."""
    return x.reshape(-1)


def as_mat(x: Any) -> Any:
    """Return an array as a matrix with its first axis."""
    return x if x.ndim == 2 else x.reshape(len(x), -1)


def empty_like(x: Any) -> Any:
    """Return an array of the shape and dtype of `x`, uninitialised."""
    return get_array_module(x).empty_like(x)


def size_of_shape(shape: Sequence[int]) -> int:
    """Return the number of elements of a shape."""
    return prod(shape)


def sum_to(x: Any, shape: Sequence[int]) -> Any:
    """Return an array summed over the axes in which it is longer than `shape`."""
    shape = tuple(shape)
    if x.shape == shape:
        return x
    lead = x.ndim - len(shape)
    longer = tuple(i + lead for i, n in enumerate(shape) if n == 1)
    y = x.sum((*range(lead), *longer), keepdims=True)
    return y.reshape(shape)


def force_array(x: Any, dtype: Any = None) -> Any:
    """Return a scalar as a 0-d array, and an array unchanged, or cast to `dtype` if given."""
    if np.isscalar(x):
        return np.array(x, dtype=dtype)
    return x if dtype is None else x.astype(dtype, copy=False)


def force_type(dtype: Any, value: Any) -> Any:
    """Return a scalar as one of the dtype, and an array of another dtype converted."""
    if np.isscalar(value):
        return np.dtype(dtype).type(value)
    return value if value.dtype == dtype else value.astype(dtype, copy=False)


def get_order(row: Any, col: Any) -> str:
    """Return the order of the elements of a sparse matrix: "C" by rows, "F" by columns, or "other"."""
    for name, major, minor in (("C", row, col), ("F", col, row)):
        steps = major[1:] - major[:-1]
        if bool(((steps > 0) | ((steps == 0) & (minor[1:] >= minor[:-1]))).all()):
            return name
    return "other"


def oversample(images: Sequence[Any], crop_dims: Sequence[int]) -> Any:
    """Return ten crops of each image: its four corners, its centre, and their mirror images.

    Parameters
    ----------
    images : sequence of arrays, each of shape (channels, height, width)
    crop_dims : tuple of int
        Height and width of the crops.
    """
    height, width = images[0].shape[1:]
    rows, columns = crop_dims
    starts = [(i, j) for i in (0, height - rows) for j in (0, width - columns)]
    starts.append(((height - rows) // 2, (width - columns) // 2))
    crops = [image[:, i : i + rows, j : j + columns] for image in images for i, j in starts]
    grouped = [crops[start : start + 5] for start in range(0, len(crops), 5)]
    return np.stack([crop for group in grouped for crop in (*group, *(each[..., ::-1] for each in group))])


@contextmanager
def tempdir(**kwargs: Any) -> Iterator[str]:
    """Context manager of a temporary directory, with the arguments of ``tempfile.mkdtemp``."""
    ignored = kwargs.pop("ignore_errors", False)
    path = tempfile.mkdtemp(**kwargs)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=ignored)


def _format_array_props(arrays: Sequence[Any]) -> str:
    """Return shapes and dtypes of arrays or Variables as text."""
    return ", ".join("None" if x is None else f"{x.shape}:{x.dtype.name}" for x in arrays)
