"""Arrays in files: NumPy's .npz archives, and the raw bytes of safetensors."""

import errno
import math
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from xpgrad.errors import DtypeError, SerializationError
from xpgrad.types import Array
from xpgrad_numpy.pickled_none import MAX_BYTES, is_none

MAX_HEADER = 2**16
"""Bytes before the elements of an array in NumPy's format."""
MAX_RATIO = 1100
"""More than deflate compresses any bytes, about 1,032 times."""
CHUNK = 2**20
READERS: Any = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
    (3, 0): np.lib.format.read_array_header_2_0,
}
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
    """Write arrays in the format of `numpy.savez`."""
    method = zipfile.ZIP_DEFLATED if compression else zipfile.ZIP_STORED
    with zipfile.ZipFile(file, "w", method, allowZip64=True) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=True)


class Archive(Mapping[str, Any]):
    """The arrays of an .npz file, each read when it is requested. Nothing is unpickled.

    Parameters
    ----------
    file : binary file

    Raises
    ------
    SerializationError
        The file is no .npz file, or damaged.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        with self._errors("an .npz file"):
            self._zip = zipfile.ZipFile(file)
            self._size = file.seek(0, os.SEEK_END)
        names = self._zip.namelist()
        self._members = {name.removesuffix(".npy"): name for name in names}
        if len(self._members) < len(names):
            raise self._error("an .npz file with an entry for each name", "several of one name")

    def described(self, name: str) -> tuple[tuple[int, ...], int]:
        """Return shape and size in bytes of an array that is not read yet; () and 0 for None."""
        with self._errors("an array", name), self._opened(name) as (_, shape, _, dtype):
            return shape, 0 if dtype.hasobject else math.prod(shape) * dtype.itemsize

    def __getitem__(self, name: str) -> Array | None:
        """Return an array, or None where None was saved."""
        if name not in self._members:
            raise KeyError(name)
        with self._errors("an array", name), self._opened(name) as (member, shape, is_fortran, dtype):
            if dtype.hasobject:
                if shape == () and is_none(member.read(MAX_BYTES + 1)):
                    return None
                got = "a pickled object, which is not loaded, as it may run code"
                raise self._error("numbers, text or None", got, name)
            array = np.empty(math.prod(shape), dtype)
            data, place = array.view(np.uint8), 0
            while part := member.read(CHUNK):
                data[place : place + len(part)] = np.frombuffer(part, np.uint8)
                place += len(part)
            if place != array.nbytes:
                raise self._error(f"{array.nbytes} bytes for shape {shape}", f"{place}", name)
        array = array.reshape(shape, order="F" if is_fortran else "C")
        return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))

    @contextmanager
    def _opened(self, name: str) -> Iterator[tuple[IO[bytes], tuple[int, ...], bool, Any]]:
        """Yield the file of an entry after its header, and the shape, order and dtype of its array.

        Sizes in the file are trusted only if they agree: no more data is unpacked, and no more memory is reserved, than
        the bytes of the file can supply.
        """
        info = self._zip.getinfo(self._members[name])
        if info.compress_size > self._size or info.file_size > MAX_RATIO * (info.compress_size + 1):
            raise self._error("sizes that can be", f"{info.file_size} bytes, {info.compress_size} compressed", name)
        with self._zip.open(info) as member:
            shape, is_fortran, dtype = READERS[np.lib.format.read_magic(member)](member)
            if dtype.hasobject:
                dtype = np.dtype(object)
            elif dtype.kind not in "biufcSU":
                raise self._error("numbers, text or None", f"dtype {dtype}", name)
            elif not 0 <= info.file_size - math.prod(shape) * dtype.itemsize <= MAX_HEADER or min(shape, default=0) < 0:
                size = math.prod(shape) * dtype.itemsize
                raise self._error(f"{size} bytes for shape {shape}", f"an entry of {info.file_size}", name)
            yield member, shape, is_fortran, dtype

    @contextmanager
    def _errors(self, expected: str, name: str | None = None) -> Iterator[None]:
        try:
            yield
        except SerializationError:
            raise
        except OSError as error:
            if error.errno not in (None, errno.EINVAL):  # neither a decompression error nor a negative offset
                raise
            raise self._error(expected, str(error), name) from error
        except Exception as error:
            raise self._error(expected, f"{type(error).__name__}: {error}", name) from error

    def _error(self, expected: str, got: str, name: str | None = None) -> SerializationError:
        place = str(getattr(self._file, "name", "the file")) + ("" if name is None else f", {name}")
        return SerializationError(f"load_npz: {place}: expected {expected}, got {got}")

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)


def to_raw(array: Array, code: str) -> bytes:
    """Return the bytes of an array in the format of safetensors; for BF16 the array is in float32."""
    if code == "BF16":
        array = (np.ascontiguousarray(array).view(np.uint32) >> 16).astype(np.uint16).reshape(array.shape)
    return np.ascontiguousarray(array, dtype=CODES[code]).tobytes()


def from_raw(data: bytes, code: str, shape: tuple[int, ...]) -> Array:
    """Return the array of these bytes; BF16 in float32."""
    array = np.frombuffer(data, CODES[code])
    if code == "BF16":
        array = (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(array.dtype.newbyteorder("=")).reshape(shape)
