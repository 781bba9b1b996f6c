"""Data sets of image files and of texts (Pillow reads the images)."""

import bisect
import importlib.util
import io
import os
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xpgrad import get_dtype
from xpgrad.dataset import DatasetMixin

available = importlib.util.find_spec("PIL") is not None

Pairs = str | Sequence[tuple[str, Any]]


def _read_image_as_array(file: Any, dtype: Any) -> Any:
    from PIL import Image  # optional

    with Image.open(file) as image:
        return np.asarray(image, dtype=dtype)


def _postprocess_image(image: Any) -> Any:
    """Return an image with its channels first."""
    return (image[..., np.newaxis] if image.ndim == 2 else image).transpose(2, 0, 1)


def _check_pillow() -> None:
    if not available:
        raise ImportError("PIL cannot be loaded. Install Pillow: pip install pillow")


def _pairs(pairs: Pairs) -> list[tuple[str, Any]]:
    """Return pairs of a path and a label, read from a file of one a line if they are a path."""
    if not isinstance(pairs, str):
        return list(pairs)
    found = []
    with open(pairs) as file:
        for number, line in enumerate(file, 1):
            parts = line.split()
            if len(parts) != 2:
                raise ValueError(f"{pairs}: expected a path and a label in line {number}, got {line.strip()!r}")
            found.append((parts[0], int(parts[1])))
    return found


class ImageDataset(DatasetMixin):
    """Images as arrays of shape (channels, height, width).

    Parameters
    ----------
    paths : str or list of str
        Paths of the images, or of a file that lists one path per line.
    root : str
        The directory that they are in.
    dtype : dtype, optional
        By default the dtype of the configuration.
    """

    def __init__(self, paths: str | Sequence[str], root: str = ".", dtype: Any = None) -> None:
        _check_pillow()
        if isinstance(paths, str):
            with open(paths) as file:
                paths = [line.strip() for line in file]
        self._paths, self._root, self._dtype = list(paths), root, get_dtype(dtype)

    def __len__(self) -> int:
        return len(self._paths)

    def get_example(self, i: int) -> Any:
        """Return an image."""
        path = os.path.join(self._root, self._paths[i])
        return _postprocess_image(_read_image_as_array(path, self._dtype))


class LabeledImageDataset(DatasetMixin):
    """Pairs of an image and a label; images have shape (channels, height, width).

    Parameters
    ----------
    pairs : str or list of tuple
        Paths and labels, or the path of a file that has one pair a line.
    root : str
        The directory that the images are in.
    dtype, label_dtype : dtype
        Dtypes of images, by default the dtype of the configuration, and of labels.
    """

    def __init__(self, pairs: Pairs, root: str = ".", dtype: Any = None, label_dtype: Any = np.int32) -> None:
        _check_pillow()
        self._pairs, self._root = _pairs(pairs), root
        self._dtype, self._label_dtype = get_dtype(dtype), label_dtype

    def __len__(self) -> int:
        return len(self._pairs)

    def get_example(self, i: int) -> Any:
        """Return an image and its label."""
        path, label = self._pairs[i]
        image = _read_image_as_array(os.path.join(self._root, path), self._dtype)
        return _postprocess_image(image), np.array(label, dtype=self._label_dtype)


class ZippedImageDataset(DatasetMixin):
    """Images in a zip file, with shape (channels, height, width).

    Parameters
    ----------
    zipfilename : str
    dtype : dtype, optional
        By default the dtype of the configuration.
    """

    def __init__(self, zipfilename: str, dtype: Any = None) -> None:
        _check_pillow()
        self._zipfilename, self._dtype = zipfilename, get_dtype(dtype)
        self._zip: tuple[int, zipfile.ZipFile] | None = None
        with zipfile.ZipFile(zipfilename) as file:
            self._names = [name for name in file.namelist() if not name.endswith("/")]

    def __len__(self) -> int:
        return len(self._names)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_zip": None}

    def get_example(self, i: int | str) -> Any:
        """Return the image with a number, or with a name in the file."""
        name = i if isinstance(i, str) else self._names[i]
        return _postprocess_image(_read_image_as_array(io.BytesIO(self._file().read(name)), self._dtype))

    def _file(self) -> zipfile.ZipFile:
        """Return the open file: processes that share one would read at each other's positions."""
        if self._zip is None or self._zip[0] != os.getpid():
            self._zip = os.getpid(), zipfile.ZipFile(self._zipfilename)
        return self._zip[1]


class MultiZippedImageDataset(DatasetMixin):
    """The images of several zip files, one after the other."""

    def __init__(self, zipfilenames: Sequence[str], dtype: Any = None) -> None:
        self._files = [ZippedImageDataset(name, dtype) for name in zipfilenames]
        self._ends = np.cumsum([len(file) for file in self._files]).tolist()

    def __len__(self) -> int:
        return int(self._ends[-1]) if self._ends else 0

    def get_example(self, i: int) -> Any:
        """Return an image."""
        place = bisect.bisect(self._ends, i)
        return self._files[place].get_example(i - (self._ends[place - 1] if place else 0))


class LabeledZippedImageDataset(DatasetMixin):
    """Pairs of an image in a zip file and a label.

    Parameters
    ----------
    zipfilename : str
    labelfilename : str or list of tuple
        Names and labels, or the path of a file that has one pair a line.
    dtype, label_dtype : dtype
        Dtypes of images, by default the dtype of the configuration, and of labels.
    """

    def __init__(self, zipfilename: str, labelfilename: Pairs, dtype: Any = None, label_dtype: Any = np.int32) -> None:
        self._images, self._pairs = ZippedImageDataset(zipfilename, dtype), _pairs(labelfilename)
        self._label_dtype = label_dtype

    def __len__(self) -> int:
        return len(self._pairs)

    def get_example(self, i: int) -> Any:
        """Return an image and its label."""
        name, label = self._pairs[i]
        return self._images.get_example(name), np.array(label, dtype=self._label_dtype)


class TextDataset(DatasetMixin):
    """Lines of a text file, or tuples of the corresponding lines of several files.

    Parameters
    ----------
    paths : str or list of str
    encoding, errors, newline : str or list of str, optional
        As for ``open``, for all files or for each.
    filter_func : function of a line for each file, optional
        Lines for which it is false are left out.
    """

    def __init__(
        self,
        paths: str | Sequence[str],
        encoding: Any = None,
        errors: Any = None,
        newline: Any = None,
        filter_func: Callable[..., bool] | None = None,
    ) -> None:
        names = [paths] if isinstance(paths, str) else list(paths)
        if not names:
            raise ValueError("TextDataset: at least one text file must be specified")
        options = [self._for_each(name, value, len(names)) for name, value in
                   (("encoding", encoding), ("errors", errors), ("newline", newline))]  # fmt: skip
        lines = []
        for path, *given in zip(names, *options, strict=True):
            with open(path, encoding=given[0], errors=given[1], newline=given[2]) as file:
                lines.append(list(file))
        if len({len(each) for each in lines}) > 1:
            counts = ", ".join(str(len(each)) for each in lines)
            raise ValueError(f"TextDataset: the number of lines in each file must be the same, got {counts}")
        rows = zip(*lines, strict=True)
        self._rows: list[Any] | None = [row for row in rows if filter_func is None or filter_func(*row)]

    @staticmethod
    def _for_each(name: str, value: Any, count: int) -> list[Any]:
        if value is None or isinstance(value, str):
            return [value] * count
        if len(value) != count:
            raise ValueError(f"TextDataset: expected {name} for {count} files, got {len(value)}")
        return list(value)

    def close(self) -> None:
        """Drop the lines; the files are closed already."""
        self._rows = None

    def __len__(self) -> int:
        return len(self._read())

    def get_example(self, i: int) -> Any:
        """Return a line, or a tuple of lines."""
        row = self._read()[i]
        return row[0] if len(row) == 1 else row

    def _read(self) -> list[Any]:
        if self._rows is None:
            raise ValueError("TextDataset: the data set is closed")
        return self._rows
