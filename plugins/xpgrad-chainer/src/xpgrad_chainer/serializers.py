"""HDF5 files, which h5py reads and writes, and dictionaries of arrays (`chainer.serializers`)."""

import importlib
from typing import Any

import numpy as np

from xpgrad import serializers
from xpgrad.serializers import Deserializer, DictionarySerializer, NpzDeserializer, Serializer

h5py: Any
try:
    h5py = importlib.import_module("h5py")
except ImportError:
    h5py = None
_available = h5py is not None  # Chainer's tests, and programs, import it

__all__ = [
    "HDF5Deserializer", "HDF5Serializer", "load_hdf5", "save_hdf5", "save_npz", "serialize",
]  # fmt: skip


def serialize(target: Any) -> dict[str, Any]:
    """Return the arrays of an object by their paths, and a dictionary itself."""
    if isinstance(target, dict):
        return target
    serializer = DictionarySerializer()
    serializer.save(target)
    return serializer.target


def save_npz(file: Any, obj: Any, compression: bool = True) -> None:
    """Save an object, or a dictionary of its arrays, as an npz file.

    Parameters
    ----------
    file : str or binary file
    obj : object with ``serialize``, or dict
    compression : bool
    """
    if not isinstance(obj, dict):
        serializers.save_npz(file, obj, compression)
        return
    save: Any = np.savez_compressed if compression else np.savez
    if isinstance(file, str):
        with open(file, "wb") as opened:
            save(opened, **obj)
    else:
        save(file, **obj)


def _check_available() -> None:
    if h5py is None:
        raise RuntimeError("h5py is not installed; pip install h5py")


class HDF5Serializer(Serializer):
    """Saves into a group of an HDF5 file.

    Parameters
    ----------
    group : h5py.Group
    compression : int
        Level of gzip.
    """

    def __init__(self, group: Any, compression: Any = 4) -> None:
        _check_available()
        self.group, self.compression = group, compression

    def __getitem__(self, key: str) -> "HDF5Serializer":
        """Return the serializer for a child object."""
        return HDF5Serializer(self.group.require_group(f"{self.group.name}/{key.strip('/')}"), self.compression)

    def __call__(self, key: str, value: Any) -> Any:
        """Save a value, and return it."""
        if value is None:
            self.group.create_dataset(key.lstrip("/"), data=h5py.Empty("f"))
            return value
        saved: dict[str, Any] = {}
        DictionarySerializer(saved)("value", value)
        array = saved["value"]
        data = h5py.special_dtype(vlen=str) if array.dtype.kind == "U" else None
        compression = None if array.size <= 1 else self.compression
        self.group.create_dataset(
            key.lstrip("/"), data=array if data is None else str(array), dtype=data, compression=compression
        )
        return value


class HDF5Deserializer(Deserializer):
    """Loads from a group of an HDF5 file.

    Parameters
    ----------
    group : h5py.Group
    strict : bool
        Whether a missing name is an error; otherwise the value is unchanged.
    """

    def __init__(self, group: Any, strict: bool = True) -> None:
        _check_available()
        self.group, self.strict = group, strict

    def __getitem__(self, key: str) -> "HDF5Deserializer":
        """Return the deserializer for a child object."""
        group = None if self.group is None else self.group.get(key.strip("/"))
        if group is None and self.strict:
            raise ValueError(f"the file has no group {key!r} in {getattr(self.group, 'name', None)}")
        return HDF5Deserializer(group, self.strict)

    def __call__(self, key: str, value: Any) -> Any:
        """Return the stored value for `value`."""
        key = key.lstrip("/")
        if self.group is None or (not self.strict and key not in self.group):
            if self.strict:
                raise ValueError("the group is None")
            return value
        dataset = self.group[key]
        if dataset.shape is None:
            return None
        data = dataset[()]
        loaded = np.asarray(data.decode() if isinstance(data, bytes) else data)
        return NpzDeserializer({"value": loaded})("value", value)


def save_hdf5(filename: Any, obj: Any, compression: int = 4) -> None:
    """Save an object as an HDF5 file."""
    _check_available()
    with h5py.File(filename, "w") as file:
        HDF5Serializer(file, compression).save(obj)


def load_hdf5(filename: Any, obj: Any) -> None:
    """Load an object from an HDF5 file."""
    _check_available()
    with h5py.File(filename, "r") as file:
        HDF5Deserializer(file).load(obj)
