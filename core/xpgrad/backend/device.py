"""Devices: a small value object, and how a specifier becomes one."""

from typing import TYPE_CHECKING, Any

from xpgrad.errors import BackendUnavailable, SpecifierError, UnknownArray

if TYPE_CHECKING:
    from xpgrad.backend.backend import Backend
    from xpgrad.backend.current import using_device
    from xpgrad.types import Array, DeviceHandle, Namespace


CLAIMED_BY = {"intel64": "xpgrad-dpnp"}
"""The distributions of plugins for words that Chainer's programs use, where they do not come with xpgrad."""


class Device:
    """A place where a backend keeps arrays.

    Two devices are equal when their names are; a device is pickled by its name.

    Parameters
    ----------
    backend : Backend
    handle : object
        What the array library itself takes for `device=`.
    name : str
        The specifier, as `get_device` takes it: ``@npu:0``.
    """

    __slots__ = ("backend", "handle", "name")

    def __init__(self, backend: "Backend", handle: "DeviceHandle", name: str) -> None:
        self.backend, self.handle, self.name = backend, handle, name

    @property
    def xp(self) -> "Namespace":
        """The array module of the device's library."""
        return self.backend.namespace if self.backend.module is None else self.backend.module

    @property
    def supported_array_types(self) -> tuple[type, ...]:
        """The array types that live here."""
        return self.backend.array_types

    def is_array_supported(self, array: "Array") -> bool:
        """Tell whether `array` lies on this device."""
        return type(array) in self.backend.array_types and self.backend.device_of(array) == self

    def send(self, arrays: Any) -> Any:
        """Return `arrays` (an array, or nested lists and tuples of them) on this device.

        An array that is already here is returned as it is, one that occurs twice is moved once, None stays None.
        """
        from xpgrad.backend.transfer import send  # transfer imports devices; a device only needs it when it is asked

        return send(arrays, self)

    def send_array(self, array: "Array") -> "Array":
        """Return `array` on this device; the array itself if it is here already."""
        return self.send(array)

    @staticmethod
    def from_array(array: "Array") -> "Device | None":
        """Return the device of `array`, or None if it is no backend's."""
        from xpgrad.backend.plugins import plugins

        try:
            return plugins.backend_of(array).device_of(array)
        except (UnknownArray, BackendUnavailable):
            return None

    def create_context(self) -> "using_device":
        """Return a context manager that makes this the current device of its thread."""
        from xpgrad.backend.current import using_device

        return using_device(self)

    def use(self) -> None:
        """Make this the current device of this thread."""
        from xpgrad.backend.current import set_current_device

        set_current_device(self)

    def synchronize(self) -> None:
        """Wait until all work that was started on this device is done."""
        self.backend.synchronize(self)

    def memory_used(self) -> int | None:
        """Return how many bytes the library's arrays hold here; None where it does not say."""
        return self.backend.memory_used(self)

    def free_memory(self) -> None:
        """Give back to the device what the library holds here for arrays to come."""
        self.backend.free_memory(self)

    def __enter__(self) -> None:
        raise RuntimeError(f"a device is no context manager: use `with xpgrad.using_device({self.name!r}):`")

    def __exit__(self, *_: object) -> None: ...

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return get_device, (self.name,)


def get_device(specifier: Any = None) -> Device:
    """Return the device that `specifier` names.

    Parameters
    ----------
    specifier : Device, str, int or None
        ``@name`` or ``@name:index`` for a backend's device, a number for a GPU, -1 for the host, a word that a plugin
        has claimed (``native:0``), an array library's own device object where a plugin knows it, or None for the
        current device.

    Raises
    ------
    SpecifierError
        No backend understands it.
    BackendUnavailable
        Its backend is known but cannot be used here.
    TypeError
        It is no specifier at all.
    """
    from xpgrad.backend.current import current_device
    from xpgrad.backend.plugins import plugins

    if specifier is None:
        return current_device()
    if isinstance(specifier, Device):
        return specifier
    if isinstance(specifier, int) and not isinstance(specifier, bool):
        return _numbered(specifier)
    if not isinstance(specifier, str):
        device = None if isinstance(specifier, bool) else plugins.parse_foreign_device(specifier)
        if device is None:
            kind = type(specifier)
            title = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
            raise TypeError(f"get_device: expected a specifier such as '@name:0', a number or a Device, got {title}")
        return device
    if specifier.removeprefix("-").isdecimal():
        return _numbered(int(specifier))
    if not specifier.startswith("@"):
        device = plugins.parse_device(specifier)
        if device is None:
            raise refusal(specifier)
        return device
    name, *index = specifier[1:].split(":")
    if not plugins.knows(name):
        device = plugins.parse_device(specifier)  # a plugin that claims the word may take it like a backend's name
        if device is None:
            raise refusal(specifier)
        return device
    if "" in index:
        raise SpecifierError(f"get_device: {specifier!r} has an empty part; expected '@{name}' or '@{name}:index'")
    return plugins.backend(name).device(":".join(index) or None)


def _numbered(number: int) -> Device:
    from xpgrad.backend.plugins import plugins

    if number < -1:
        raise SpecifierError(f"get_device: expected a GPU's number, or -1 for the host, got {number}")
    if number == -1:
        return plugins.role("cpu").device(None)
    return plugins.role("gpu").device(str(number))


def refusal(specifier: str) -> SpecifierError | BackendUnavailable:
    """Return the error for a specifier that no plugin here understands."""
    word = specifier.removeprefix("@").partition(":")[0]
    from xpgrad.backend.plugins import plugins

    if word not in CLAIMED_BY or word in plugins.installed.words:
        return SpecifierError(_unknown(specifier))
    plugin = CLAIMED_BY[word]
    off = plugins.installed.disabled.get(plugin.removeprefix("xpgrad-"))
    return BackendUnavailable(
        f"{word}: the plugin that serves {specifier!r}, {plugin}, is {off or f'not installed; pip install {plugin}'}"
    )


def _unknown(specifier: str) -> str:
    import difflib  # only for a message

    from xpgrad.backend.plugins import plugins

    word, colon, index = specifier.removeprefix("@").partition(":")
    meant = {name: f"@{name}{colon}{index}" for name in plugins.names()}
    meant |= {claimed: f"{claimed}{colon}{index}" for claimed in plugins.installed.words if claimed not in meant}
    meant["cpu"] = str(plugins.role("cpu").default_device)
    close = [word] if word in meant else difflib.get_close_matches(word, meant, n=1)
    advice = f"did you mean {meant[close[0]]!r}? " if close and meant[close[0]] != specifier else ""
    here = ", ".join(f"@{name}" for name in sorted(plugins.names()))
    return f"get_device: unknown device {specifier!r}; {advice}backends here: {here}"


def get_device_from_array(*arrays: "Array") -> Device:
    """Return the device of the first array that is not the host's, else the host.

    Objects that no backend here serves, Variables among them, are passed over; nothing is raised for them.
    """
    from xpgrad.backend.plugins import plugins

    host = plugins.role("cpu")
    found = (device for array in arrays if (device := Device.from_array(array)) and device.backend is not host)
    return next(found, host.default_device)
