"""Serializers that save into and load from a dictionary of arrays on the host."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from xpgrad.backend.modules import device_of
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import converted_like, transfer
from xpgrad.errors import DtypeError, SerializationError, ShapeError
from xpgrad.graph.undo import UndoJournal, undone_by_errors
from xpgrad.graph.variable import Variable
from xpgrad.models.link import Link
from xpgrad.serializers.base import Deserializer, Serializer
from xpgrad.types import Array, as_list

MAX_VALUE = 2**26
"""Bytes of a number, a text or a list in a file."""
MAX_NAMES = 20
"""In one message."""
Ignored = str | Callable[[str], bool]


class DictionarySerializer(Serializer):
    """Saves into a dictionary: names are paths, such as ``predictor/l1/W``, and values are arrays on the host.

    Parameters
    ----------
    target : dict, optional
        Where to save; by default a new dictionary.
    path : str
        Prefix of all names.

    Attributes
    ----------
    target : dict
    path : str
    """

    def __init__(self, target: dict[str, Any] | None = None, path: str = "") -> None:
        self.target: dict[str, Any] = {} if target is None else target
        self.path = path

    def __getitem__(self, key: str) -> "DictionarySerializer":
        """Return the serializer for a child object."""
        return type(self)(self.target, f"{self.path}{key.strip('/')}/")

    def __call__(self, key: str, value: Any) -> Any:
        """Save a value, and return it."""
        self.target[self.path + key.lstrip("/")] = self._saved(value)
        return value

    def _saved(self, value: Any) -> Any:
        host: Any = plugins.host
        return host.archives().as_saved(on_host(value))


class NpzDeserializer(Deserializer):
    """Loads from a mapping of names to arrays, such as the result of `numpy.load`.

    Values that are arrays are written to where their library allows it.

    Parameters
    ----------
    npz : mapping
    path : str
        Prefix of all names.
    strict : bool
        Whether a missing name is an error; otherwise the value is unchanged.
    ignore_names : str, callable, or list of these, optional
        Names, and predicates of names, of values to leave unchanged.
    """

    def __init__(
        self,
        npz: Mapping[str, Any],
        path: str = "",
        strict: bool = True,
        ignore_names: Ignored | Iterable[Ignored] | None = None,
    ) -> None:
        self.npz, self.path, self.strict = npz, path, strict
        names = () if ignore_names is None else ignore_names
        self.ignore_names = [names] if isinstance(names, str) or callable(names) else as_list(names, "names")
        self.asked: set[str] = set()
        self._journal: UndoJournal | None = None

    def __getitem__(self, key: str) -> "NpzDeserializer":
        """Return the deserializer for a child object."""
        child = type(self)(self.npz, f"{self.path}{key.strip('/')}/", self.strict, self.ignore_names)
        child.asked, child._journal = self.asked, self._journal
        return child

    def ignores(self, name: str) -> bool:
        """Return whether a name is to be ignored."""
        return any(each(name) if callable(each) else each == name for each in self.ignore_names)

    def __call__(self, key: str, value: Any) -> Any:
        """Return the stored value for `value`: an array of the same library, shape and dtype, or a Python value.

        Raises
        ------
        KeyError
            The file does not have this name.
        ShapeError, DtypeError
            The file has an array of another shape, or of a dtype that does not fit.
        """
        name = self.path + key.lstrip("/")
        self.asked.add(name)
        if self.ignores(name) or (not self.strict and name not in self.npz):
            return value
        if name not in self.npz:
            raise KeyError(f"the file has no {name!r}")
        self._check_size(name, value)
        loaded = self.npz[name]
        if loaded is None or (not loaded.shape and loaded[()] is None):
            return None
        if value is None:
            return loaded
        if isinstance(value, Variable) or device_of(value) is not None:
            return self._into(name, value, loaded)
        return _python_value(name, value, loaded)

    def _check_size(self, name: str, value: Any) -> None:
        """Raise an error if the file has an array of another shape, or a value of unusual size, before it is read."""
        described = getattr(self.npz, "described", None)
        if described is None or value is None:
            return
        shape, size = described(name)
        is_array = isinstance(value, Variable) or device_of(value) is not None
        if is_array and size and shape != tuple(value.shape):
            raise ShapeError(f"{name}: expected shape {tuple(value.shape)}, the file has {shape}")
        if not is_array and size > MAX_VALUE:
            text = f"expected a {type(value).__name__} of at most {MAX_VALUE} bytes, the file has {size}"
            raise SerializationError(f"{name}: {text}")

    def _into(self, name: str, value: Any, loaded: Array) -> Any:
        """Return `value` with these contents, or a new array."""
        if isinstance(value, Variable):
            value.array = self._into(name, value.array, loaded)
            return value
        if tuple(loaded.shape) != tuple(value.shape):
            raise ShapeError(f"{name}: expected shape {tuple(value.shape)}, the file has {tuple(loaded.shape)}")
        backend = plugins.backend_of(value)
        if not plugins.host.is_kind(loaded.dtype, ("bool", "numeric")):  # strings, objects
            raise DtypeError(f"{name}: expected numbers for {backend.spec(value)!r}, the file has {loaded.dtype}")
        host = plugins.host.namespace
        dtype = getattr(host, backend.dtype_name(value.dtype), None)
        if dtype is not None:  # cast here: the library of `value` may not have the dtype in the file
            loaded = converted_like(name, host.empty(loaded.shape, dtype=dtype), loaded)
        values = converted_like(name, value, loaded)
        if not backend.immutable:
            try:
                if self._journal is None:
                    value[...] = values
                else:
                    self._journal.write(value, values)
                return value
            except ValueError:  # the array is read-only
                pass
        return backend.copy(values)


def load(
    arrays: Mapping[str, Any], obj: Any, path: str, strict: bool, ignore_names: Ignored | Iterable[Ignored] | None,
) -> None:  # fmt: skip
    """Load `obj` from a mapping; on an error, `obj` is unchanged.

    Raises
    ------
    KeyError
        With `strict`: names are missing.
    ShapeError, DtypeError
        An array does not fit.
    SerializationError
        The file is damaged.
    """
    path = f"{path.strip('/')}/" if path.strip("/") else ""
    deserializer = NpzDeserializer(arrays, path, strict, ignore_names)
    with undone_by_errors(obj) as deserializer._journal:
        try:
            deserializer.load(obj)
        except KeyError:
            if isinstance(obj, Link):
                saved: dict[str, Any] = {}
                _Names(saved, path).save(obj)
                _check_names(obj, deserializer, saved)
            raise
        if strict and isinstance(obj, Link):
            _check_names(obj, deserializer, deserializer.asked)


def _check_names(obj: Link, deserializer: NpzDeserializer, wanted: Iterable[str]) -> None:
    """Raise if the file does not have these names; warn if it has other names below the path, which Chainer ignores."""
    wanted = {name for name in wanted if not deserializer.ignores(name)}
    found = {n for n in deserializer.npz if n.startswith(deserializer.path) and not deserializer.ignores(n)}
    missing, more = sorted(wanted - found), sorted(found - wanted)
    parts = [f"the file has no {_text(missing)}"] if missing else []
    parts += [f"the model has no {_text(more)}"] if more else []
    advice = "pass strict=False or ignore_names to leave them, or path to load a part of the file"
    text = f"the file is not of this {type(obj).__name__}: {'; '.join(parts)}; {advice}"
    if missing:
        raise KeyError(text)
    if more:
        warnings.warn(text, stacklevel=5)


def _text(names: list[str]) -> str:
    more = f", and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(names[:MAX_NAMES]) + more


class _Names(DictionarySerializer):
    def _saved(self, value: Any) -> Any:
        return None


def on_host(value: Any) -> Any:
    """Return an array, or the array of a Variable, on the host; other values are unchanged."""
    array = value.array if isinstance(value, Variable) else value
    return array if device_of(array) is None else transfer(array, plugins.host.default_device)


def _python_value(name: str, value: Any, loaded: Array) -> Any:
    """Return a 0-d array as a value of the type of `value`, if the conversion is exact."""
    kind = type(value)
    if kind in (list, tuple):
        return kind(loaded.tolist())
    if tuple(loaded.shape):
        raise ShapeError(f"{name}: expected one {kind.__name__}, the file has an array of shape {tuple(loaded.shape)}")
    found = loaded[()] if not hasattr(loaded[()], "item") else loaded[()].item()
    fits = {bool: (bool,), int: (bool, int), float: (bool, int, float), complex: (bool, int, float, complex)}
    if kind in fits and not isinstance(found, fits[kind]):
        raise DtypeError(f"{name}: expected a value that is a {kind.__name__}, the file has {found!r}")
    return kind(found)
