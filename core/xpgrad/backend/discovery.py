"""Which plugins are installed: entry points, read once, when first needed, and nothing imported."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xpgrad.errors import PluginError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

BACKENDS, MODULES, WORDS = "xpgrad.backends", "xpgrad.array_modules", "xpgrad.devices"


@dataclass(frozen=True)
class Entry:
    """One entry point: which distribution says that `name` is served by the plugin module `module`."""

    name: str
    module: str
    distribution: str
    version: str

    @property
    def origin(self) -> str:
        """The distribution with its version, for messages."""
        return f"{self.distribution} {self.version}"


@dataclass(frozen=True)
class Installed:
    """All entries of the three groups by name, after the environment's allow-list and block-list."""

    backends: Mapping[str, tuple[Entry, ...]]
    modules: Mapping[str, tuple[Entry, ...]]
    words: Mapping[str, tuple[Entry, ...]]
    disabled: Mapping[str, str]


def scan() -> Installed:
    """Read the entry points and ``XPGRAD_BACKENDS``, ``XPGRAD_DISABLE_BACKENDS``.

    Raises
    ------
    PluginError
        One of the two variables names a backend that is not installed.
    """
    groups = {group: _entries(group) for group in (BACKENDS, MODULES, WORDS)}
    names = groups[BACKENDS].keys()
    allowed, blocked = (_listed(variable, names) for variable in ("XPGRAD_BACKENDS", "XPGRAD_DISABLE_BACKENDS"))
    disabled = {name: "disabled by XPGRAD_DISABLE_BACKENDS" for name in blocked or ()}
    if allowed is not None:
        disabled |= {name: "not listed in XPGRAD_BACKENDS" for name in names if name not in allowed}
    off = {entry.module for name in disabled for entry in groups[BACKENDS][name]}
    off -= {entry.module for name in names if name not in disabled for entry in groups[BACKENDS][name]}
    modules, words = (
        {name: kept for name, entries in groups[g].items() if (kept := tuple(e for e in entries if e.module not in off))}
        for g in (MODULES, WORDS)
    )
    return Installed(groups[BACKENDS], modules, words, disabled)


def _listed(variable: str, names: "Mapping[str, object] | object") -> set[str] | None:
    text = os.environ.get(variable)
    if text is None or not text.strip():
        return None
    wanted = {name.strip().removeprefix("@") for name in text.split(",") if name.strip()}
    if unknown := sorted(wanted - set(names)):  # type: ignore[call-overload]  # any iterable of names
        known = ", ".join(sorted(names))  # type: ignore[call-overload]  # as above
        raise PluginError(f"{variable} names {', '.join(unknown)}, but no such backend is installed; installed: {known}")
    return wanted


def _entries(group: str) -> dict[str, tuple[Entry, ...]]:
    from importlib.metadata import entry_points  # 20 ms that `import xpgrad` does not pay

    found: dict[str, dict[tuple[str, str], Entry]] = {}
    for point in entry_points(group=group):
        entry = _entry(point)
        found.setdefault(point.name, {})[entry.distribution, entry.module] = entry  # editable installs may list twice
    return {name: tuple(entries.values()) for name, entries in found.items()}


def _entry(point: "EntryPoint") -> Entry:
    dist = point.dist
    return Entry(point.name, point.module, dist.name if dist else "unknown", dist.version if dist else "unknown")
