"""Arrays in files: NumPy's .npz archives, and the raw bytes of safetensors."""

import pickle
import zipfile
from collections.abc import Iterator, Mapping
from typing import IO, Any

import numpy as np

from xpgrad.errors import DtypeError
from xpgrad.types import Array

RECONSTRUCT: Any = np.empty(0).__reduce__()[0]
SAFE = {
    ("numpy.core.multiarray", "_reconstruct"): RECONSTRUCT,
    ("numpy._core.multiarray", "_reconstruct"): RECONSTRUCT,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
}
"""What an array of objects may be made by: an array, which holds None, numbers and strings, and no other objects."""
CODES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1", "C64": "<c8",
}  # fmt: skip
"""Dtypes of safetensors, and as what their bytes are read."""


def as_saved(value: Any) -> Array:
    """Return an array, a number, a string or None as an array that a file can hold."""
    array = np.asarray(value)
    if array.dtype.kind == "V":
        raise DtypeError(f".npz has no dtype {array.dtype.name}; use save_safetensors, or cast to float32")
    return array


def write_npz(file: IO[bytes], arrays: Mapping[str, Array], compression: bool) -> None:
    """Write arrays as `numpy.savez` does."""
    method = zipfile.ZIP_DEFLATED if compression else zipfile.ZIP_STORED
    with zipfile.ZipFile(file, "w", method, allowZip64=True) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=True)


class Archive(Mapping[str, Any]):
    """The arrays of an .npz file, each read when it is asked for.

    Arrays of objects are not unpickled, except such as hold None or plain values, which Chainer has written.

    Parameters
    ----------
    file : binary file
    """

    def __init__(self, file: IO[bytes]) -> None:
        try:
            self._zip = zipfile.ZipFile(file)
        except zipfile.BadZipFile as error:
            raise ValueError(f"expected an .npz file, got {getattr(file, 'name', file)}: {error}") from error
        self._members = {name.removesuffix(".npy"): name for name in self._zip.namelist()}

    def __getitem__(self, name: str) -> Array:
        with self._zip.open(self._members[name]) as member:
            version = np.lib.format.read_magic(member)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            if read(member)[2].hasobject:
                return _plain_objects(member, name)
        with self._zip.open(self._members[name]) as member:
            array = np.lib.format.read_array(member, allow_pickle=False)
        return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in SAFE:
            return SAFE[module, name]
        if (module, name) == ("_codecs", "encode"):
            return lambda text, encoding: text.encode(encoding)
        raise pickle.UnpicklingError(f"{module}.{name}")


def _plain_objects(member: IO[bytes], name: str) -> Array:
    try:
        return _Unpickler(member).load()
    except pickle.UnpicklingError as error:
        why = f"{name}: the file has a pickled object, {error}, which is not loaded, as it may run code"
        raise ValueError(why) from None


def to_raw(array: Array, code: str) -> bytes:
    """Return the bytes of an array as safetensors have them; of BF16 the array is in float32."""
    if code == "BF16":
        array = (np.ascontiguousarray(array).view(np.uint32) >> 16).astype(np.uint16).reshape(array.shape)
    return np.ascontiguousarray(array, dtype=CODES[code]).tobytes()


def from_raw(data: bytes, code: str, shape: tuple[int, ...]) -> Array:
    """Return the array of these bytes; BF16 in float32."""
    array = np.frombuffer(data, CODES[code])
    if code == "BF16":
        array = (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(array.dtype.newbyteorder("=")).reshape(shape)
