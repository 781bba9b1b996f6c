"""Installed plugins: their entry points, read once at the first use, without importing them."""

import os
from collections.abc import Mapping
from typing import NamedTuple

from xpgrad.errors import PluginError

GROUPS = "xpgrad.backends", "xpgrad.array_modules", "xpgrad.devices", "xpgrad.executors"
HOST = "cpu"
"""The prefix that the host backend claims."""
APART = "dask", "dpnp", "jax", "mlx", "sparse", "strict", "torch"
"""Backends whose plugins are distributions of their own, ``xpgrad-NAME``, by the authors of xpgrad."""

Entries = dict[str, "tuple[Entry, ...]"]


class Entry(NamedTuple):
    """One entry point: a distribution registers the plugin module `module` for `name`."""

    name: str
    module: str
    distribution: str
    version: str

    @property
    def origin(self) -> str:
        """The distribution with its version, for messages."""
        return f"{self.distribution} {self.version}".strip()


class Installed(NamedTuple):
    """All entries of the four groups by name; those disabled by environment variables are listed with a reason."""

    backends: Mapping[str, tuple[Entry, ...]]
    modules: Mapping[str, tuple[Entry, ...]]
    prefixes: Mapping[str, tuple[Entry, ...]]
    executors: Mapping[str, tuple[Entry, ...]]
    disabled: Mapping[str, str]


def to_install(name: str) -> str:
    """Return advice for a backend that is not installed."""
    return f"pip install xpgrad-{name}" if name in APART else "pip install its plugin"


def scan() -> Installed:
    """Read the entry points and ``XPGRAD_BACKENDS``, ``XPGRAD_DISABLE_BACKENDS``.

    The host backend is always enabled, because arrays are moved and printed through it.

    Raises
    ------
    PluginError
        One of the two variables names a backend that is not installed, or the second one disables the host backend.
    """
    backends, modules, prefixes, executors = _groups()
    hosts = {entry.module for entry in prefixes.get(HOST, ())}
    host_names = {name for name, entries in backends.items() if any(entry.module in hosts for entry in entries)}
    allowed, blocked = (_listed(variable, backends) for variable in ("XPGRAD_BACKENDS", "XPGRAD_DISABLE_BACKENDS"))
    if blocked and (hostless := sorted(blocked & host_names)):
        raise PluginError(
            f"XPGRAD_DISABLE_BACKENDS names {hostless[0]}, the host backend, which all other backends need; remove it"
        )
    disabled = dict.fromkeys(blocked or (), "disabled by XPGRAD_DISABLE_BACKENDS")
    if allowed is not None:
        disabled |= dict.fromkeys(backends.keys() - allowed - host_names, "not listed in XPGRAD_BACKENDS")
    on = {entry.module for name, entries in backends.items() if name not in disabled for entry in entries}
    off = {entry.module for name in disabled for entry in backends[name]} - on
    return Installed(backends, _without(off, modules), _without(off, prefixes), _without(off, executors), disabled)


def _without(off: set[str], group: Entries) -> Entries:
    kept = {name: tuple(entry for entry in entries if entry.module not in off) for name, entries in group.items()}
    return {name: entries for name, entries in kept.items() if entries}


def _listed(variable: str, backends: Entries) -> set[str] | None:
    wanted = {name.strip().removeprefix("@") for name in os.environ.get(variable, "").split(",") if name.strip()}
    if unknown := sorted(wanted - backends.keys()):
        raise PluginError(
            f"{variable} names {', '.join(unknown)}, but no such backend is installed; "
            f"installed: {', '.join(sorted(backends))}"
        )
    return wanted or None


def _groups() -> list[Entries]:
    """Return the entries of the four groups by name, without the duplicates of editable installs."""
    from xpgrad.backend.distributions import points  # not needed before the first plugin is looked up

    found: dict[str, dict[str, dict[tuple[str, str], Entry]]] = {group: {} for group in GROUPS}
    for point in points(GROUPS):
        entry = Entry(point.name, point.value, point.distribution, point.version)
        found[point.group].setdefault(point.name, {})[entry.distribution, entry.module] = entry
    return [{name: tuple(entries.values()) for name, entries in found[group].items()} for group in GROUPS]
