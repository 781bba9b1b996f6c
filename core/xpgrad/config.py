"""Configuration: global defaults, an overlay for each thread, and the switches that the call path reads.

The overlay is stored in a context variable, so a new thread starts from the global values and asyncio tasks do not
affect each other. `Switches` are replaced as a whole, not changed by their thread, and have one small integer, `mode`,
by which the call path detects in a single look-up whether any setting requires special treatment.
"""

import os
import sys
import warnings
import weakref
from collections.abc import Callable, Iterable, Mapping
from contextlib import ContextDecorator
from contextvars import ContextVar, copy_context
from typing import Any, TextIO

from xpgrad.locks import shared_lock

NO_GRAD = 1  # mode bit: enable_backprop is False
WATCHED = 2  # mode bit: debug mode, or function hooks are active
GUARDED = 4  # mode bit: detect_mutation is True
LIFTED = 8  # mode bit: a transformation is active, to which functions lift their operands
ONLY_LIFTED = LIFTED, LIFTED | NO_GRAD  # modes without other special treatment


DTYPES = ("float16", "float32", "float64", "mixed16")


def _dtype_of_environment() -> str:
    name = os.environ.get("XPGRAD_DTYPE") or "float32"
    if name not in DTYPES:
        raise ValueError(f"XPGRAD_DTYPE: expected one of {', '.join(DTYPES)}, got {name!r}")
    return name


class GlobalConfig:
    """The values for all threads that have not set the entry.

    Attributes
    ----------
    debug : bool
        Forward stacks in errors, NaN detection, detection of changed kept arrays (``XPGRAD_DEBUG``).
    detect_mutation : bool
        Detection of changed kept arrays by checksums, without the rest of debug mode (``XPGRAD_DETECT_MUTATION``).
    enable_backprop : bool
        Whether operations are recorded in a graph.
    train : bool
        Whether functions such as dropout are in training mode.
    type_check : bool
        Whether `FunctionNode.check_type_forward` is called (``XPGRAD_TYPE_CHECK``).
    dtype : str or dtype
        The dtype of parameters and initial values: float32, another real dtype, or mixed16 (``XPGRAD_DTYPE``).
    in_recomputing : bool
        Whether a checkpoint is recomputing values; set by `checkpoint`.
    anomaly : str or None
        In debug mode, "nan" raises at the first NaN, "inf" also at the first Inf; set by `anomaly_detection`.
    keep_graph_on_report : bool
        Whether programs that collect losses keep them with their graph.
    warn_graph_end : bool
        Whether converting a Variable that requires a gradient to a number, and `backward` of a Variable that requires
        none, issue a `GraphEndWarning`, once per line.
    cast_operands : bool
        Whether operators cast arrays to the dtype of the Variable that they meet, as in Chainer, instead of promoting
        both. Set it before the first operation: call paths that accept any array are planned without the cast.
    zero_missing_grads : bool
        Whether optimizers update parameters that have no gradient as if it was 0, as in Chainer: hooks and momentum
        then change them.
    """

    def __init__(self) -> None:
        values: dict[str, Any] = {
            "debug": os.environ.get("XPGRAD_DEBUG", "0") not in ("", "0"),
            "detect_mutation": os.environ.get("XPGRAD_DETECT_MUTATION", "0") not in ("", "0"),
            "enable_backprop": True,
            "train": True,
            "type_check": os.environ.get("XPGRAD_TYPE_CHECK", "1") not in ("", "0"),
            "dtype": _dtype_of_environment(),
            "in_recomputing": False,
            "anomaly": None,
            "keep_graph_on_report": False,
            "warn_graph_end": True,
            "cast_operands": False,
            "zero_missing_grads": False,
        }
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: Any) -> None:
        _look_for_typo(name, self.__dict__, stacklevel=3)
        self.__dict__[name] = value
        _refresh()

    def __delattr__(self, name: str) -> None:
        if name not in self.__dict__:
            raise AttributeError(f"global_config has no entry {name!r}, so it cannot be deleted")
        del self.__dict__[name]
        _refresh()

    def show(self, file: TextIO | None = None) -> None:
        """Print all entries and their values, sorted, one a line."""
        _print_entries(self.__dict__, file)


class Switches:
    """The settings of one thread, and the resulting mode.

    Attributes
    ----------
    overlay : dict
        Its overlay of the configuration.
    hooks : dict
        Function hooks of the thread, by name.
    level : Level or None
        The innermost active transformation, whose arrays functions compute with.
    lifts : bool
        Whether functions first lift their operands to it; False within a function with lifted operands.
    internal : bool
        Whether the library itself disabled recording, for a part of a computation with a known derivative.
    constant : bool
        Whether results are constants because the user records no graph: forward mode computes no tangents then.
    mode : int
    """

    __slots__ = (
        "__weakref__", "_entered", "_modes", "_plain", "_unguarded", "_unrecorded", "constant", "hooks", "internal",
        "level", "lifts", "mode", "overlay",
    )  # fmt: skip

    def __init__(
        self, overlay: dict[str, Any], hooks: dict[str, Any], level: Any = None, lifts: bool = True,
        internal: bool = False,
    ) -> None:  # fmt: skip
        self.internal = internal
        self._unrecorded: Switches | None = None
        self.overlay = overlay
        self.hooks = hooks
        self.level = level
        self.lifts = lifts
        self._modes: dict[bool, Switches] = {}
        self._unguarded: Switches | None = None
        self._entered: Switches | None = None
        self._plain: Switches | None = None
        self.refresh()
        with _lock:
            _every_switches.add(weakref.ref(self, _every_switches.discard))

    def refresh(self) -> None:
        """Recompute `mode` after a global entry has changed."""
        own, entries = self.overlay, global_config.__dict__
        recording = 0 if own.get("enable_backprop", entries.get("enable_backprop", True)) else NO_GRAD
        watched = WATCHED if self.hooks or own.get("debug", entries.get("debug", False)) else 0
        lifted = LIFTED if self.level is not None and self.lifts else 0
        guarded = GUARDED if own.get("detect_mutation", entries.get("detect_mutation", False)) else 0
        self.constant = bool(recording) and not self.internal
        self.mode = recording | watched | lifted | guarded

    def unguarded(self) -> "Switches":
        """Return these switches without the detection of mutations."""
        if self._unguarded is None:
            self._unguarded = self._like(self.overlay | {"detect_mutation": False})
        return self._unguarded

    def entered(self) -> "Switches":
        """Return these switches for a function whose operands were lifted to the transformation."""
        if self._entered is None:
            self._entered = Switches(self.overlay, self.hooks, self.level, False, self.internal)
        return self._entered

    def unrecorded(self) -> "Switches":
        """Return these switches without recording, where the library decides that."""
        if self._unrecorded is None:
            overlay = self.overlay | {"enable_backprop": False}
            self._unrecorded = Switches(overlay, self.hooks, self.level, self.lifts, not self.constant)
        return self._unrecorded

    def plain(self) -> "Switches":
        """Return the switches for derived functions: recorded, without hooks, on lifted operands."""
        if self._plain is None:
            overlay = self.overlay | {"enable_backprop": True, "debug": False, "detect_mutation": False}
            self._plain = Switches(overlay, {}, self.level, lifts=False)
        return self._plain

    def _like(self, overlay: dict[str, Any]) -> "Switches":
        internal = self.internal and not overlay.get("enable_backprop", True)
        return Switches(overlay, self.hooks, self.level, self.lifts, internal)

    def with_entry(self, name: str, value: Any) -> "Switches":
        """Return these switches with one entry set; switches with `enable_backprop` are cached for sweeps."""
        if name != "enable_backprop" or type(value) is not bool:
            return self._like(self.overlay | {name: value})
        if not value and (listener := on_unrecorded.get()) is not None:
            listener()
        found = self._modes.get(value)
        if found is None:
            overlay = self.overlay | {name: value}  # the user's choice, also within a part of the library
            found = self._modes[value] = Switches(overlay, self.hooks, self.level, self.lifts)
        return found


def _refresh() -> None:
    with _lock:
        current = tuple(_every_switches)
    for reference in current:
        switches = reference()
        if switches is not None:
            switches.refresh()


on_unrecorded: ContextVar[Callable[[], None] | None] = ContextVar("xpgrad_on_unrecorded", default=None)
"""What is called when the user switches recording off."""
_lock = shared_lock()
_every_switches: "set[weakref.ref[Switches]]" = set()
"""No `WeakSet`, which adds and removes by Python functions: each call of a transform makes switches."""
global_config = GlobalConfig()
_current: "ContextVar[Switches]" = ContextVar("xpgrad_switches", default=Switches({}, {}))  # noqa: B039 - replaced, never written to
switches = _current.get
"""Return the switches of this thread; bound once, because the call path calls it for each operation."""


def set_hooks(hooks: dict[str, Any]) -> None:
    """Replace this thread's function hooks, by name."""
    now = _current.get()
    _current.set(Switches(now.overlay, hooks, now.level, now.lifts, now.internal))


def called_with(values: Mapping[ContextVar[Any], Any], function: Callable[..., Any], /, *args: Any, **kw: Any) -> Any:
    """Return ``function(*args, **kw)``, called with these values of context variables, which are always restored.

    The call has a separate context, which the interpreter enters and leaves in one step. In a context manager, a
    KeyboardInterrupt between two lines could leave the thread in another mode. Other context variables that the
    function sets keep their values, unless it raises.
    """
    context = copy_context()
    for variable, value in values.items():
        context.run(variable.set, value)
    result = context.run(function, *args, **kw)
    for variable, value in context.items():
        if variable not in values:
            if variable.get(values) is not value:
                variable.set(value)
        elif variable is _current and value is not values[_current]:
            before, entered = _current.get(), values[_current].overlay
            names = {name for name in entered if before.overlay.get(name, values) is not entered[name]}
            _current.set(_without(value, names | {"enable_backprop"}, before))
    return result


def configured(**entries: Any) -> dict[ContextVar[Any], Any]:
    """Return, for `called_with`, the switches of this thread with some entries of the configuration set."""
    made = _current.get()
    for name, value in entries.items():
        made = made.with_entry(name, value)
    return {_current: made}


def backprop_mode(recording: bool) -> dict[ContextVar[Any], Any]:
    """Return, for `called_with`, the mode in which operations are recorded in the graph, or not."""
    now = _current.get()
    if not recording:
        return {_current: now.unrecorded()}
    found = now._modes.get(True)
    return {_current: now.with_entry("enable_backprop", True) if found is None else found}


def unguarded_mode() -> dict[ContextVar[Any], Any]:
    """Return, for `called_with`, the mode without detection of mutations."""
    return {_current: _current.get().unguarded()}


def at_level(level: Any) -> dict[ContextVar[Any], Any]:
    """Return, for `called_with`, the switches of this thread with `level` as the innermost active transformation.

    Mutations are not detected in it: the retained arrays of a transformation are private.
    """
    now = _current.get()
    return {_current: Switches(now.overlay | {"detect_mutation": False}, now.hooks, level, internal=now.internal)}


def call_entered(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Return ``function(*args, **kwargs)``, called in the mode for operands lifted to the transformation.

    For the library's own functions only, which change no settings: this takes a quarter of the time of `called_with`.
    """
    now = _current.get()
    _current.set(now.entered())
    try:
        return function(*args, **kwargs)
    finally:
        _current.set(now)


def call_plain(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Return ``function(*args, **kwargs)``, called in the mode for functions that the library derives.

    A graph is recorded, no hooks are called, debug checks are off, and operands belong to the level below the innermost
    transformation or were lifted to it.
    """
    now = _current.get()
    _current.set(now.plain())
    try:
        return function(*args, **kwargs)
    finally:
        _current.set(now)


def plain_at(level: Any) -> dict[ContextVar[Any], Any]:
    """Return, for `called_with`, the mode of `call_plain` with `level` as the innermost transformation.

    Operands are lifted to it: a user's function may have arrays of lower levels.
    """
    return {_current: Switches(_current.get().plain().overlay, {}, level)}


def _without(changed: Switches, names: Iterable[str], before: Switches) -> Switches:
    """Return the `changed` switches with the entries `names` restored from `before`."""
    overlay = {name: value for name, value in changed.overlay.items() if name not in names}
    overlay |= {name: value for name, value in before.overlay.items() if name in names}
    return Switches(overlay, changed.hooks, before.level, before.lifts, before.internal)


class LocalConfig:
    """The configuration of the current thread: values set in the thread, else the global values."""

    def __getattr__(self, name: str) -> Any:
        overlay = _current.get().overlay
        if name in overlay:
            return overlay[name]
        try:
            return global_config.__dict__[name]
        except KeyError:
            entries = self._entries()
            meant = _meant(name, entries)
            advice = f"did you mean {meant!r}? " if meant else ""
            raise AttributeError(
                f"config has no entry {name!r}; {advice}entries: {', '.join(sorted(entries))}"
            ) from None

    def __setattr__(self, name: str, value: Any) -> None:
        _look_for_typo(name, self._entries(), stacklevel=3)
        _current.set(_current.get().with_entry(name, value))

    def __delattr__(self, name: str) -> None:
        now = _current.get()
        if name not in now.overlay:
            raise AttributeError(f"config entry {name!r} is not set in this thread, so it cannot be deleted")
        overlay = {k: v for k, v in now.overlay.items() if k != name}
        _current.set(now._like(overlay))

    def _entries(self) -> dict[str, Any]:
        return global_config.__dict__ | _current.get().overlay

    def show(self, file: TextIO | None = None) -> None:
        """Print all entries and their values in this thread, sorted, one a line."""
        _print_entries(self._entries(), file)


config = LocalConfig()


def _look_for_typo(name: str, entries: dict[str, Any], stacklevel: int) -> None:
    """Warn if the name of a new entry resembles an existing name; programs may add entries."""
    if name not in entries and (meant := _meant(name, entries)):
        warnings.warn(
            f"config: {name!r} is a new entry, which nothing in xpgrad reads; did you mean {meant!r}?",
            RuntimeWarning,
            stacklevel=stacklevel + 1,
        )


def _meant(name: str, entries: dict[str, Any]) -> str | None:
    import difflib  # only for a message

    return next(iter(difflib.get_close_matches(name, entries, n=1, cutoff=0.75)), None)


def _print_entries(entries: dict[str, Any], file: TextIO | None) -> None:
    width = max(map(len, entries))
    for name in sorted(entries):
        print(f"{name:<{width}} {entries[name]}", file=file or sys.stdout)


class using_config(ContextDecorator):  # noqa: N801 - a context manager that reads as a verb, under Chainer's name
    """Context manager and decorator that sets one entry, and restores the previous value on exit.

    Parameters
    ----------
    name : str
    value : object
    config : LocalConfig or GlobalConfig
        Where to set it: by default in this thread only.
    """

    def __init__(self, name: str, value: Any, config: LocalConfig | GlobalConfig = config) -> None:
        self._entries, self._config = {name: value}, config
        self._saved: list[tuple[Any, Any]] = []  # a stack: contexts of one object may be nested

    def _recreate_cm(self) -> "using_config":
        (entry,) = self._entries.items()
        return using_config(*entry, self._config)  # calls of a decorated function share no state

    # A KeyboardInterrupt may occur in either method, and `__exit__` is not called if `__enter__` raises. An interrupt
    # before the first line of `__exit__` cannot be handled; `called_with` does not have that gap.

    def __enter__(self) -> None:
        for name in self._entries:
            if name not in global_config.__dict__:
                _look_for_typo(name, config._entries(), stacklevel=2)
        depth = len(self._saved)
        try:
            if self._config is config:
                self._saved.append((_current.get(), configured(**self._entries)[_current]))
                _current.set(self._saved[-1][1])
            else:
                self._saved.append((dict(self._config.__dict__), None))
                for name, value in self._entries.items():
                    setattr(self._config, name, value)
        except BaseException:
            if len(self._saved) > depth:
                self._restore()
                self._saved.pop()
            raise

    def __exit__(self, *_: object) -> None:
        try:
            self._restore()
        except BaseException:
            self._restore()
            raise
        finally:
            self._saved.pop()

    def _restore(self) -> None:
        before, after = self._saved[-1]
        if after is None:
            for name in self._entries:
                if name in before:
                    setattr(self._config, name, before[name])
                elif name in self._config.__dict__:
                    delattr(self._config, name)
            return
        now = _current.get()
        _current.set(before if now is after else _without(now, self._entries, before))


def no_backprop_mode() -> using_config:
    """Context manager in which no graph is recorded: results have no creator and require no gradient."""
    return using_config("enable_backprop", False)


def force_backprop_mode() -> using_config:
    """Context manager in which the graph is recorded, also inside `no_backprop_mode`."""
    return using_config("enable_backprop", True)


def is_debug() -> bool:
    """Return whether this thread is in debug mode."""
    return bool(config.debug)


def set_debug(debug: bool) -> None:
    """Switch debug mode on or off in this thread: forward stacks, NaN detection, detection of changed kept arrays."""
    config.debug = debug


class DebugMode(using_config):
    """Context manager that switches debug mode on or off. Deprecated: use ``using_config("debug", True)``."""

    def __init__(self, debug: bool) -> None:
        warnings.warn('DebugMode is deprecated; use using_config("debug", ...)', DeprecationWarning, stacklevel=2)
        super().__init__("debug", debug)
