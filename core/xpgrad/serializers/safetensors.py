"""Models in files of the format safetensors (https://huggingface.co/docs/safetensors), which has no pickle.

A file is the length of a header in 8 bytes, the header in JSON, which has dtype, shape and place of each array, and
the bytes of the arrays.
"""

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any

from xpgrad.backend.modules import device_of
from xpgrad.backend.plugins import plugins
from xpgrad.errors import DtypeError, SerializationError
from xpgrad.graph.variable import Variable
from xpgrad.serializers.dictionary import DictionarySerializer, Ignored, load, on_host
from xpgrad.serializers.files import File, read, written

CODES = {
    "float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "int64": "I64", "int32": "I32",
    "int16": "I16", "int8": "I8", "uint64": "U64", "uint32": "U32", "uint16": "U16", "uint8": "U8", "bool": "BOOL",
    "complex64": "C64",
}  # fmt: skip
"""The format's names of dtypes."""
SIZES = {code: max(1, int("".join(filter(str.isdigit, code)) or 8) // 8) for code in CODES.values()}
VALUES = "xpgrad.values"
"""Where in the metadata numbers, strings and None are."""
MAX_HEADER = 100_000_000
"""The format's limit."""


def save_safetensors(file: File, obj: Any) -> None:
    """Save an object to a file of the format safetensors.

    Names are the same as for `save_npz`. Numbers, strings and None are in the metadata of the file.

    Parameters
    ----------
    file : str, path or binary file
        A path gets the file when it is complete.
    obj : object with a method `serialize`

    Raises
    ------
    DtypeError
        The format has no such dtype, as complex128.
    """
    serializer = _Serializer()
    serializer.save(obj)
    entries: dict[str, Any] = {}
    values: dict[str, Any] = {}
    parts: list[tuple[Any, str]] = []
    end = 0
    for name, (code, value) in serializer.target.items():
        if code is None:
            values[name] = value
            continue
        start, end = end, end + math.prod(value.shape) * SIZES[code]
        entries[name] = {"dtype": code, "shape": list(value.shape), "data_offsets": [start, end]}
        parts.append((value, code))
    header = json.dumps({"__metadata__": {"format": "xpgrad", VALUES: json.dumps(values)}, **entries}).encode()
    header += b" " * (-len(header) % 8)
    host: Any = plugins.host
    with written(file) as opened:
        opened.write(len(header).to_bytes(8, "little") + header)
        for array, code in parts:
            opened.write(host.archives().to_raw(array, code))


def load_safetensors(
    file: File, obj: Any, path: str = "", strict: bool = True, ignore_names: Ignored | Iterable[Ignored] | None = None
) -> None:
    """Load an object from a file of the format safetensors.

    Parameters, errors and notes are the same as for `load_npz`. As the format requires, the arrays must cover every
    byte of the file after its header exactly once.
    """
    with read(file) as opened:
        load(_Tensors(opened), obj, path, strict, ignore_names)


class _Serializer(DictionarySerializer):
    """Saves pairs: the dtype's name in the format and an array on the host, or None and any other value."""

    def _saved(self, value: Any) -> Any:
        array = value.array if isinstance(value, Variable) else value
        if device_of(array) is None:
            array = getattr(array, "item", lambda: array)()  # a scalar of a library
            if not isinstance(array, (bool, int, float, str, type(None))):
                raise TypeError(f"save_safetensors: expected arrays, numbers and strings, got {type(array).__name__}")
            return None, array
        backend = plugins.backend_of(array)
        name = backend.dtype_name(array.dtype)
        if name not in CODES:
            raise DtypeError(f"save_safetensors: the format has no dtype {name}; cast it, or use save_npz")
        if name == "bfloat16":  # the host need not have it
            array = backend.follow(backend.namespace.astype)(array, backend.namespace.float32)
        return CODES[name], on_host(array)


class _Tensors(Mapping[str, Any]):
    """The arrays of a file, read on access, and all other values."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        length = file.seek(0, os.SEEK_END)
        file.seek(0)
        size = int.from_bytes(file.read(8), "little")
        if not 2 <= size <= min(MAX_HEADER, length - 8):
            raise self._error(f"a header of 2 to {min(MAX_HEADER, max(2, length - 8))} bytes", f"{size}")
        try:
            self._entries: dict[str, Any] = _object(file.read(size))
            self._values = _object(self._entries.pop("__metadata__", {}).get(VALUES, "{}"))
            places = {name: _place(entry) for name, entry in self._entries.items()}
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise self._error(
                "a header of names, dtypes, shapes and places", f"{type(error).__name__}: {error}"
            ) from error
        if twice := self._entries.keys() & self._values.keys():
            raise self._error("a value for each name", f"two for {min(twice)}")
        self._start = end = 8 + size
        for name, (first, last) in sorted(places.items(), key=lambda item: item[1]):
            if self._start + first != end:
                raise self._error(f"{name} at byte {end - self._start}", f"{first}: bytes are unused or used twice")
            end = self._start + last
        if end != length:
            raise self._error(f"{end} bytes", f"{length}")

    def __getitem__(self, name: str) -> Any:
        host: Any = plugins.host
        if name in self._values:
            value = self._values[name]
            return None if value is None else host.archives().as_saved(value)
        entry = self._entries[name]
        if entry["dtype"] not in SIZES:
            raise self._error(f"one of the dtypes {', '.join(sorted(SIZES))} of {name}", f"{entry['dtype']}")
        shape, (start, end) = tuple(entry["shape"]), _place(entry)
        if end - start != math.prod(shape) * SIZES[entry["dtype"]]:
            raise self._error(f"{math.prod(shape) * SIZES[entry['dtype']]} bytes of {name}", f"{end - start}")
        self._file.seek(self._start + start)
        return host.archives().from_raw(self._file.read(end - start), entry["dtype"], shape)

    def described(self, name: str) -> tuple[tuple[int, ...], int]:
        """Return shape and size in bytes of an array that is not read yet; () and 0 for other values."""
        if name in self._values:
            return (), 0
        start, end = _place(self._entries[name])
        return tuple(self._entries[name]["shape"]), end - start

    def __contains__(self, name: object) -> bool:
        return name in self._entries or name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter([*self._entries, *self._values])

    def __len__(self) -> int:
        return len(self._entries) + len(self._values)

    def _error(self, expected: str, got: str) -> SerializationError:
        name = getattr(self._file, "name", "the file")
        return SerializationError(f"load_safetensors: {name} is no whole file: expected {expected}, got {got}")


def _object(text: bytes | str) -> dict[str, Any]:
    """Return a JSON object as a dictionary; raise ValueError for other text, and for a name that occurs twice."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a name occurs twice")
        return dict(pairs)

    found = json.loads(text, object_pairs_hook=unique)
    if not isinstance(found, dict):
        raise ValueError(f"expected an object of JSON, got {type(found).__name__}")
    return found


def _place(entry: Mapping[str, Any]) -> tuple[int, int]:
    """Return the range of bytes of an array, start and stop; raise ValueError for a malformed entry."""
    start, end = entry["data_offsets"]
    numbers = [start, end, *entry["shape"]]
    is_whole = all(type(number) is int and number >= 0 for number in numbers)
    if not is_whole or end < start or not isinstance(entry["dtype"], str):
        raise ValueError(f"expected dtype, and shape and data_offsets of whole numbers from 0, got {entry}")
    return start, end
