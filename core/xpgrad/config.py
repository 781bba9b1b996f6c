"""Configuration: global defaults, an overlay for each thread, and the switches that the call path reads.

The overlay lives in a context variable, so a new thread starts from the global values and asyncio tasks do not disturb
each other. `Switches` are replaced as a whole, never changed by their owner, and carry one small integer, `mode`, that
tells the call path in a single look-up whether anything at all is out of the ordinary.
"""

import os
import sys
import weakref
from contextvars import ContextVar
from typing import Any, TextIO

PLAIN_OFF = 1  # mode bit: enable_backprop is False
CAREFUL = 2  # mode bit: debug mode, or function hooks are active


class GlobalConfig:
    """The values that hold in every thread that has not set its own."""

    def __init__(self) -> None:
        values: dict[str, Any] = {
            "debug": os.environ.get("XPGRAD_DEBUG", "0") not in ("", "0"),
            "enable_backprop": True,
            "train": True,
            "type_check": os.environ.get("XPGRAD_TYPE_CHECK", "1") not in ("", "0"),
            "dtype": os.environ.get("XPGRAD_DTYPE", "float32"),
            "keep_graph_on_report": False,
        }
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__[name] = value
        for switches in tuple(_every_switches):
            switches.refresh()

    def show(self, file: TextIO | None = None) -> None:
        """Print all entries and their values, sorted, one a line."""
        _print_entries(self.__dict__, file)


class Switches:
    """What one thread has set: its overlay of the configuration, its function hooks, and the mode they add up to."""

    __slots__ = ("__weakref__", "hooks", "mode", "overlay")

    def __init__(self, overlay: dict[str, Any], hooks: dict[str, Any]) -> None:
        self.overlay = overlay
        self.hooks = hooks
        self.refresh()
        _every_switches.add(self)

    def refresh(self) -> None:
        """Compute `mode` again, after a global entry changed."""
        read = global_config.__dict__ | self.overlay
        recording = 0 if read["enable_backprop"] else PLAIN_OFF
        self.mode = recording | (CAREFUL if read["debug"] or self.hooks else 0)


_every_switches: "weakref.WeakSet[Switches]" = weakref.WeakSet()
global_config = GlobalConfig()
_current: "ContextVar[Switches]" = ContextVar("xpgrad_switches", default=Switches({}, {}))  # noqa: B039 - replaced, never written to
switches = _current.get
"""Return the switches of this thread; bound once, because the call path calls it for each operation."""


def set_hooks(hooks: dict[str, Any]) -> None:
    """Replace this thread's function hooks, by name."""
    _current.set(Switches(_current.get().overlay, hooks))


class LocalConfig:
    """The configuration as this thread sees it: its own value where it has set one, else the global one."""

    def __getattr__(self, name: str) -> Any:
        overlay = _current.get().overlay
        if name in overlay:
            return overlay[name]
        try:
            return global_config.__dict__[name]
        except KeyError:
            raise AttributeError(f"config has no entry {name!r}; entries: {', '.join(sorted(self._entries()))}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        now = _current.get()
        _current.set(Switches(now.overlay | {name: value}, now.hooks))

    def __delattr__(self, name: str) -> None:
        now = _current.get()
        if name not in now.overlay:
            raise AttributeError(f"config entry {name!r} is not set in this thread, so it cannot be deleted")
        _current.set(Switches({k: v for k, v in now.overlay.items() if k != name}, now.hooks))

    def _entries(self) -> dict[str, Any]:
        return global_config.__dict__ | _current.get().overlay

    def show(self, file: TextIO | None = None) -> None:
        """Print all entries and their values in this thread, sorted, one a line."""
        _print_entries(self._entries(), file)


config = LocalConfig()


def _print_entries(entries: dict[str, Any], file: TextIO | None) -> None:
    width = max(map(len, entries))
    for name in sorted(entries):
        print(f"{name:<{width}} {entries[name]}", file=file or sys.stdout)


class using_config:  # noqa: N801 - a context manager that reads as a verb, under Chainer's name
    """Context manager that sets one entry, and restores what this thread had when it leaves.

    Parameters
    ----------
    name : str
    value : object
    config : LocalConfig or GlobalConfig
        Where to set it: by default in this thread only.
    """

    def __init__(self, name: str, value: Any, config: LocalConfig | GlobalConfig = config) -> None:
        self._name, self._value, self._config = name, value, config

    def __enter__(self) -> None:
        name, target = self._name, self._config
        held = target.__dict__ if isinstance(target, GlobalConfig) else _current.get().overlay
        self._had, self._old = name in held, held.get(name)
        setattr(target, name, self._value)

    def __exit__(self, *_: object) -> None:
        if self._had:
            setattr(self._config, self._name, self._old)
        elif isinstance(self._config, GlobalConfig):
            del self._config.__dict__[self._name]
        else:
            delattr(self._config, self._name)


def no_backprop_mode() -> using_config:
    """Context manager in which no graph is made: results have no creator and require no gradient."""
    return using_config("enable_backprop", False)


def force_backprop_mode() -> using_config:
    """Context manager in which the graph is made, also inside `no_backprop_mode`."""
    return using_config("enable_backprop", True)


def is_debug() -> bool:
    """Tell whether this thread is in debug mode."""
    return bool(config.debug)


def set_debug(debug: bool) -> None:
    """Switch debug mode on or off in this thread: forward stacks, NaN detection, detection of changed kept arrays."""
    config.debug = debug
