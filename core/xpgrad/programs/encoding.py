"""`Encoder` and `Decoder`: arguments of calls, and trees of arguments and results, as JSON."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, fields
from typing import Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.geometry import Geometry
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.errors import SerializationError
from xpgrad.programs.names import dtypes
from xpgrad.transforms.trace.program import Value
from xpgrad.types import Array

PLAIN = (bool, int, str, type(None))


class Encoder:
    """Makes JSON of arguments.

    Attributes
    ----------
    numbers : dict from Value to int
        The values of the program.
    arrays : list of array
        The constant arrays.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.numbers: dict[Value, int] = {}
        self.arrays: list[Array] = []
        self._dtypes = {dtype: name for name, dtype in dtypes(backend).items()}

    def encode(self, x: Any, where: str) -> Any:
        """Return the JSON value of an argument; `where` is for errors."""
        if type(x) in PLAIN or (type(x) is float and math.isfinite(x)):
            return x
        if isinstance(x, Value):
            return {"value": self.numbers[x]}
        if isinstance(x, Spec):
            return {"spec": self.spec(x)}
        if type(x) in plugins.by_type:
            self.arrays.append(x)
            return {"array": len(self.arrays) - 1}
        if isinstance(x, (tuple, list)) and type(x) in (tuple, list):
            return {type(x).__name__: [self.encode(item, where) for item in x]}
        if type(x) is dict and all(type(key) is str for key in x):
            return {"dict": [[key, self.encode(item, where)] for key, item in x.items()]}
        if type(x) is float:
            return {"float": repr(x)}
        if type(x) is slice:
            return {"slice": [self.encode(part, where) for part in (x.start, x.stop, x.step)]}
        if type(x) is Geometry:
            return {"geometry": [list(part) for part in astuple(x)]}
        if x is ...:
            return {"ellipsis": True}
        if x == self.backend.default_device.handle:
            return {"device": True}
        try:
            return {"dtype": self._dtypes[x]}
        except (KeyError, TypeError):
            raise SerializationError(
                f"program.save: {where} has {type(x).__name__}, which a file cannot hold without running code when it "
                "is read; use dictionaries, lists and tuples, or leave this part outside of the compiled function"
            ) from None

    def spec(self, spec: Spec) -> list[Any]:
        """Return the JSON value of a spec."""
        if spec.backend is not self.backend or spec.device != self.backend.default_device.handle:
            raise SerializationError(
                f"program.save: expected arrays of one library on its first device, got {spec!r}; move them with "
                "to_device, and compile the function again"
            )
        return [list(spec.shape), self._dtypes[spec.dtype]]


class Decoder:
    """Converts JSON values to arguments; raises SerializationError for values that no `Encoder` writes."""

    def __init__(self, backend: Backend, values: Sequence[Value | None], arrays: Mapping[int, Array]) -> None:
        self.backend, self.values, self.arrays = backend, values, arrays
        self._dtypes = dtypes(backend)

    def decode(self, x: Any) -> Any:
        """Return the argument for a JSON value."""
        if type(x) in (*PLAIN, float):
            return x
        if type(x) is not dict or len(x) != 1:
            raise damaged(f"an argument, got {x!r:.60}")
        ((kind, content),) = x.items()
        read = getattr(self, f"_read_{kind}", None)
        if read is None:
            raise damaged(f"a known kind of argument, got {kind!r:.60}")
        try:
            return read(content)
        except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
            raise damaged(f"{kind}, got {content!r:.60}: {error}") from error

    def spec(self, x: Any) -> Spec:
        """Return a spec."""
        try:
            shape, dtype = x
            if not all(type(n) is int and n >= 0 for n in shape):
                raise ValueError("a length that is no natural number")
            return self.backend.spec_for(tuple(shape), self._dtypes[dtype], self.backend.default_device.handle)
        except (TypeError, ValueError, KeyError) as error:
            raise damaged(f"shape and dtype, got {x!r:.60}: {error}") from error

    def _read_value(self, x: Any) -> Value:
        found = self.values[x] if type(x) is int and x >= 0 else None
        if found is None:
            raise ValueError("no value that exists before")
        return found

    def _read_array(self, x: Any) -> Array:
        return self.arrays[x]

    def _read_spec(self, x: Any) -> Spec:
        return self.spec(x)

    def _read_tuple(self, x: Any) -> Any:
        return tuple(self._read_list(x))

    def _read_list(self, x: Any) -> Any:
        if type(x) is not list:
            raise TypeError("no list")
        return [self.decode(item) for item in x]

    def _read_dict(self, x: Any) -> Any:
        made = {key: self.decode(item) for key, item in x}
        if not all(type(key) is str for key in made):
            raise TypeError("a key that is no text")
        return made

    def _read_float(self, x: Any) -> float:
        return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[x]

    def _read_slice(self, x: Any) -> slice:
        return slice(*(self.decode(part) for part in x))

    def _read_geometry(self, x: Any) -> Geometry:
        if len(x) != len(fields(Geometry)) or not all(type(n) is int for part in x for n in part):
            raise ValueError("no windows")
        return Geometry(*(tuple(part) for part in x))

    def _read_ellipsis(self, x: Any) -> Any:
        return ...

    def _read_device(self, x: Any) -> Any:
        return self.backend.default_device.handle

    def _read_dtype(self, x: Any) -> Any:
        return self._dtypes[x]


def damaged(expected: str) -> SerializationError:
    """Return an error for a file that `program.save` has not written."""
    return SerializationError(f"load_program: the file is damaged: expected {expected}")
