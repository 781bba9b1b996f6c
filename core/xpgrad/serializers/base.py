"""The protocol of serializers: one method `serialize` of an object both saves and loads it."""

from typing import Any, Self


class AbstractSerializer:
    """A function of a name and a value, called by ``obj.serialize(serializer)``."""

    def __getitem__(self, key: str) -> Self:
        """Return the serializer for a child object called `key`."""
        raise NotImplementedError(f"{type(self).__name__}: define __getitem__")

    def __call__(self, key: str, value: Any) -> Any:
        """Save or load the value called `key`; return the new value of the attribute."""
        raise NotImplementedError(f"{type(self).__name__}: define __call__")


class Serializer(AbstractSerializer):
    """Base class of serializers that save."""

    def save(self, obj: Any) -> None:
        """Save an object."""
        _check(obj, "save")
        obj.serialize(self)


class Deserializer(AbstractSerializer):
    """Base class of serializers that load."""

    def load(self, obj: Any) -> None:
        """Load into an object."""
        _check(obj, "load")
        obj.serialize(self)


def _check(obj: Any, operation: str) -> None:
    if not hasattr(obj, "serialize"):
        raise TypeError(
            f"{operation}: expected an object with a method serialize, a link or an optimizer, got "
            f"{type(obj).__name__}; the file is the first argument, the object the second"
        )
