"""Data sets with named columns, read by rows and columns together (`chainer.dataset.tabular`).

Rows are all (None), a slice or a list of numbers; columns are all (None) or a tuple of numbers.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from xpgrad import get_array_module, get_array_types
from xpgrad.dataset import DatasetMixin

Rows = Any
Columns = Any


class TabularDataset(DatasetMixin):
    """Base class: a subclass defines ``__len__``, `keys`, `mode` and `get_examples`."""

    def __len__(self) -> int:
        raise NotImplementedError

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the columns."""
        raise NotImplementedError

    @property
    def mode(self) -> type | None:
        """The type of an example: `tuple`, `dict`, or None for the value of the only column."""
        raise NotImplementedError

    def get_examples(self, indices: Rows, key_indices: Columns) -> tuple[Any, ...]:
        """Return the values of rows, for each of the columns."""
        raise NotImplementedError

    @property
    def slice(self) -> "_SliceHelper":
        """Indexer for a data set of rows, and of columns by name or number: ``dataset.slice[rows, columns]``."""
        return _SliceHelper(self)

    def fetch(self) -> Any:
        """Return all columns, in a tuple or a dictionary like an example."""
        return self._packed(self.get_examples(None, None))

    def _packed(self, values: tuple[Any, ...]) -> Any:
        if self.mode is dict:
            return dict(zip(self.keys, values, strict=True))
        return tuple(values) if self.mode is tuple else values[0]

    def convert(self, data: Any) -> Any:
        """Return fetched columns as arrays."""
        if isinstance(data, tuple):
            return tuple(map(_as_array, data))
        return {key: _as_array(x) for key, x in data.items()} if isinstance(data, dict) else _as_array(data)

    def get_example(self, i: int) -> Any:
        """Return a row."""
        return self._packed(tuple(column[0] for column in self.get_examples([i], None)))

    def __iter__(self) -> Iterator[Any]:
        return (self.get_example(i) for i in range(len(self)))

    def astuple(self) -> "TabularDataset":
        """Return the data set with tuples as examples."""
        return _WithMode(self, tuple)

    def asdict(self) -> "TabularDataset":
        """Return the data set with dictionaries as examples."""
        return _WithMode(self, dict)

    def concat(self, *datasets: "TabularDataset") -> "TabularDataset":
        """Return the rows of this data set followed by the rows of others with the same columns."""
        return _Concat(self, *datasets)

    def join(self, *datasets: "TabularDataset") -> "TabularDataset":
        """Return the columns of this data set and of other data sets with as many rows."""
        return _Join(self, *datasets)

    def transform(self, keys: Any, transform: Callable[..., Any]) -> "TabularDataset":
        """Return a data set of the results of a function of each row, with columns named `keys`."""
        return _Transform(self, keys, transform)

    def transform_batch(self, keys: Any, transform_batch: Callable[..., Any]) -> "TabularDataset":
        """Return a data set of the results of a function of batches of columns, with columns named `keys`."""
        return _TransformBatch(self, keys, transform_batch)

    def with_converter(self, converter: Callable[..., Any]) -> "TabularDataset":
        """Return the data set with another function of columns as `convert`."""
        return _WithConverter(self, converter)


def _as_array(data: Any) -> Any:
    if isinstance(data, get_array_types()):
        return data
    xp = get_array_module(data[0]) if isinstance(data[0], get_array_types()) else np
    return xp.stack(data) if isinstance(data[0], get_array_types()) and xp is not np else np.asarray(data)


class DelegateDataset(TabularDataset):
    """A data set with the rows and columns of another data set; a base for classes that change a part.

    Parameters
    ----------
    dataset : TabularDataset
    """

    def __init__(self, dataset: TabularDataset) -> None:
        self.dataset = dataset

    def __len__(self) -> int:
        return len(self.dataset)

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.dataset.keys

    @property
    def mode(self) -> type | None:
        """The type of an example."""
        return self.dataset.mode

    def get_examples(self, indices: Rows, key_indices: Columns) -> tuple[Any, ...]:
        """Return the values of rows, for each of the columns."""
        return self.dataset.get_examples(indices, key_indices)


class _View(DelegateDataset):
    """A data set that uses `convert` of the underlying data set."""

    def convert(self, data: Any) -> Any:
        return self.dataset.convert(data)


class _WithMode(_View):
    def __init__(self, dataset: TabularDataset, mode: type) -> None:
        super().__init__(dataset)
        self._mode = mode

    @property
    def mode(self) -> type | None:
        return self._mode


class _WithConverter(DelegateDataset):
    def __init__(self, dataset: TabularDataset, converter: Callable[..., Any]) -> None:
        super().__init__(dataset)
        self._converter = converter

    def convert(self, data: Any) -> Any:
        if isinstance(data, tuple):
            return self._converter(*data)
        return self._converter(**data) if isinstance(data, dict) else self._converter(data)


class _SliceHelper:
    def __init__(self, dataset: TabularDataset) -> None:
        self._dataset = dataset

    def __getitem__(self, args: Any) -> TabularDataset:
        rows, columns = args if isinstance(args, tuple) else (args, None)
        return _Slice(self._dataset, rows, columns)


class _Slice(_View):
    def __init__(self, dataset: TabularDataset, rows: Any, columns: Any) -> None:
        super().__init__(dataset)
        self._single = columns is not None and not isinstance(columns, tuple)
        self._rows = _row_numbers(rows, len(dataset))
        names = (columns,) if self._single else columns
        self._columns = None if names is None else tuple(_column_number(name, dataset.keys) for name in names)

    def __len__(self) -> int:
        if isinstance(self._rows, slice):
            return len(range(*self._rows.indices(len(self.dataset))))
        return len(self._rows)

    @property
    def keys(self) -> tuple[str, ...]:
        keys = self.dataset.keys
        return keys if self._columns is None else tuple(keys[i] for i in self._columns)

    @property
    def mode(self) -> type | None:
        if self._columns is None:
            return self.dataset.mode
        return None if self._single else self.dataset.mode or tuple

    def get_examples(self, indices: Rows, key_indices: Columns) -> tuple[Any, ...]:
        columns = self._columns
        if columns is None or key_indices is None:
            columns = key_indices if columns is None else columns
        else:
            columns = tuple(columns[i] for i in key_indices)
        return self.dataset.get_examples(self._below(indices), columns)

    def _below(self, rows: Rows) -> Rows:
        """Return rows of this data set as rows of the underlying data set."""
        if rows is None:
            return self._rows
        if not isinstance(self._rows, slice):
            return self._rows[rows] if isinstance(rows, slice) else [self._rows[i] for i in rows]
        own = range(*self._rows.indices(len(self.dataset)))
        if not isinstance(rows, slice):
            return [own[i] for i in rows]
        part = own[rows]
        stop = None if part.step < 0 and part.stop < 0 else part.stop
        start = None if part.step > 0 and part.start < 0 else part.start
        return slice(start, stop, part.step)


def _row_numbers(rows: Any, length: int) -> Any:
    """Return `rows` as a slice or nonnegative row numbers; negative numbers and booleans are converted."""
    if isinstance(rows, slice) or len(rows) == 0:
        return rows
    if all(isinstance(row, (bool, np.bool_)) for row in rows):
        if len(rows) != length:
            raise ValueError(f"slice: expected {length} booleans, got {len(rows)}")
        return [i for i, row in enumerate(rows) if row]
    found = [int(row) + length * (int(row) < 0) for row in rows]
    for row, number in zip(rows, found, strict=True):
        if not 0 <= number < length:
            raise IndexError(f"index {row} is out of bounds for dataset with size {length}")
    return found


def _column_number(name: Any, keys: Sequence[str]) -> int:
    if isinstance(name, str):
        if name not in keys:
            raise KeyError(f"{name} does not exists")
        return keys.index(name)
    number = int(name) + len(keys) * (int(name) < 0)
    if not 0 <= number < len(keys):
        raise IndexError(f"index {name} is out of bounds for keys with size {len(keys)}")
    return number


class _Concat(_View):
    def __init__(self, *datasets: TabularDataset) -> None:
        if any(dataset.keys != datasets[0].keys for dataset in datasets):
            raise ValueError("All datasets must have the same keys")
        super().__init__(datasets[0])
        self._datasets = datasets

    def __len__(self) -> int:
        return sum(map(len, self._datasets))

    def get_examples(self, indices: Rows, key_indices: Columns) -> tuple[Any, ...]:
        count = len(self.keys if key_indices is None else key_indices)
        if indices is None:
            parts = [dataset.get_examples(None, key_indices) for dataset in self._datasets]
            return tuple([x for part in parts for x in part[i]] for i in range(count))
        sliced = isinstance(indices, slice)
        numbers = range(*indices.indices(len(self))) if sliced else indices
        offset, wanted = 0, []
        for dataset in self._datasets:
            places = [p for p, n in enumerate(numbers) if offset <= n < offset + len(dataset)]
            if places:
                own = [numbers[p] - offset for p in places]
                wanted.append((places, dataset, _part(numbers, own, offset, len(dataset)) if sliced else own))
            offset += len(dataset)
        read = [(places, dataset.get_examples(own, key_indices)) for places, dataset, own in wanted]
        if len(read) == 1:
            return read[0][1]
        columns: list[Any] = [[None] * len(numbers) for _ in range(count)]
        for places, part in read:
            for column, values in zip(columns, part, strict=True):
                for place, value in zip(places, values, strict=True):
                    column[place] = value
        return tuple(columns)


def _part(numbers: range, own: list[int], offset: int, length: int) -> slice:
    """Return the slice of a data set of `length` rows at `offset` that reads its `own` rows of `numbers`."""
    stop = min(numbers.stop - offset, length)
    return slice(own[0], None if stop < 0 else stop, numbers.step)


class _Join(_View):
    def __init__(self, *datasets: TabularDataset) -> None:
        if any(len(dataset) != len(datasets[0]) for dataset in datasets):
            raise ValueError("All datasets must have the same length")
        super().__init__(datasets[0])
        self._datasets = datasets
        if len(set(self.keys)) < len(self.keys):
            raise ValueError("All keys must be unique among all datasets")

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(key for dataset in self._datasets for key in dataset.keys)

    @property
    def mode(self) -> type | None:
        return next((dataset.mode for dataset in self._datasets if dataset.mode), tuple)

    def get_examples(self, indices: Rows, key_indices: Columns) -> tuple[Any, ...]:
        if key_indices is None:
            return tuple(column for each in self._datasets for column in each.get_examples(indices, None))
        found: dict[int, Any] = {}
        offset = 0
        for dataset in self._datasets:
            count = len(dataset.keys)
            own = tuple(dict.fromkeys(i - offset for i in key_indices if offset <= i < offset + count))
            if own:
                columns = dataset.get_examples(indices, own)
                found |= {i + offset: column for i, column in zip(own, columns, strict=True)}
            offset += count
        return tuple(found[i] for i in key_indices)


class _Transformed(_View):
    """A data set of the results of a function; its mode is known from the first result."""

    title = "transform"

    def __init__(self, dataset: TabularDataset, keys: Any, function: Callable[..., Any]) -> None:
        super().__init__(dataset)
        self._keys = keys if isinstance(keys, tuple) else (keys,)
        self._function = function
        self._known: list[Any] = []

    @property
    def keys(self) -> tuple[str, ...]:
        return self._keys

    @property
    def mode(self) -> type | None:
        if not self._known:
            self.get_examples([0], None)
        found: type | None = self._known[0]
        return found

    def _called(self, values: Sequence[Any]) -> Any:
        if self.dataset.mode is dict:
            return self._function(**dict(zip(self.dataset.keys, values, strict=True)))
        return self._function(*values)

    def _columns(self, output: Any, key_indices: Columns) -> list[Any]:
        """Return the values of an output for columns, after a check of its type."""
        mode = next((kind for kind in (tuple, dict) if isinstance(output, kind)), None)
        if self._known and self._known[0] is not mode:
            raise ValueError(f"{self.title} must not change its return type")
        self._known = [mode]
        if mode is dict:
            return [output[self._keys[i]] for i in key_indices]
        values = output if mode is tuple else (output,)
        return [values[i] for i in key_indices]

    def _chosen(self, key_indices: Columns) -> Sequence[int]:
        return range(len(self._keys)) if key_indices is None else key_indices


class _Transform(_Transformed):
    def get_examples(self, indices: Rows, key_indices: Columns) -> tuple[Any, ...]:
        chosen = self._chosen(key_indices)
        rows = zip(*self.dataset.get_examples(indices, None), strict=True)
        outputs = [self._columns(self._called(row), chosen) for row in rows]
        return tuple([output[i] for output in outputs] for i in range(len(chosen)))


class _TransformBatch(_Transformed):
    title = "transform_batch"

    def get_examples(self, indices: Rows, key_indices: Columns) -> tuple[Any, ...]:
        if isinstance(indices, slice):
            length = len(range(*indices.indices(len(self))))
        else:
            length = len(self) if indices is None else len(indices)
        output = self._called(self.dataset.get_examples(indices, None))
        every = output.values() if isinstance(output, dict) else output if isinstance(output, tuple) else (output,)
        columns = self._columns(output, self._chosen(key_indices))
        if any(len(column) != length for column in every):
            raise ValueError("transform_batch must not change the length of data")
        return tuple(columns)


class _Column(TabularDataset):
    """One column: an array, or a list of values."""

    def __init__(self, key: str, data: Any) -> None:
        self._key, self._data = key, data

    def __len__(self) -> int:
        return len(self._data)

    @property
    def keys(self) -> tuple[str, ...]:
        return (self._key,)

    @property
    def mode(self) -> type | None:
        return None

    def get_examples(self, indices: Rows, key_indices: Columns) -> tuple[Any, ...]:
        data = self._data
        if isinstance(indices, slice) or (indices is not None and isinstance(data, get_array_types())):
            data = data[indices]
        elif indices is not None:
            data = [data[i] for i in indices]
        return (data,) * (1 if key_indices is None else len(key_indices))


def from_data(data: Any, *, size: int | None = None) -> TabularDataset:
    """Return a data set of columns.

    Parameters
    ----------
    data : array, list, a pair of a name and one of these, or a tuple or dictionary of them
        A function of the number of a row, with its name or the names of its results, is also accepted.
    size : int, optional
        The number of rows, if only functions are passed.
    """
    if isinstance(data, dict):
        columns = [*data.items()]
    elif not isinstance(data, tuple):
        return _column(None, data, size)
    elif len(data) == 2 and _is_name(data[0]):
        return _column(data[0], data[1], size)
    else:
        columns = [each if isinstance(each, tuple) else (None, each) for each in data]
    for _, values in columns:
        if size is None and not callable(values):
            size = len(values)
    first, *others = (_column(name, values, size) for name, values in columns)
    joined = first.join(*others)
    return joined.asdict() if isinstance(data, dict) else joined.astuple()


def _is_name(name: Any) -> bool:
    return isinstance(name, str) or (isinstance(name, tuple) and all(isinstance(each, str) for each in name))


def _column(name: Any, data: Any, size: int | None) -> TabularDataset:
    if isinstance(data, (list, *get_array_types())):
        return _Column(f"_{id(data)}" if name is None else name, data)
    if name is None:
        raise ValueError("key(s) must be specified for callable")
    if size is None:
        raise ValueError("size must be specified for callable")
    return _Column("index", list(range(size))).transform(name, data)
