"""Device specifiers: conversion of strings, numbers and a library's own device objects to `Device`."""

from numbers import Integral
from typing import Any

from xpgrad.backend.device import Device
from xpgrad.backend.discovery import APART, to_install
from xpgrad.backend.naming import class_name
from xpgrad.backend.plugins import plugins
from xpgrad.errors import BackendUnavailable, SpecifierError

CLAIMED_BY = {"intel64": "xpgrad-dpnp"}
"""Distributions of plugins, not included in xpgrad, for prefixes that Chainer's programs use."""
GPUS = "cuda", "gpu"
"""Prefixes of GPUs, which libraries other than those that claim them have, too."""
WITH_NAME = "a device of another library begins with its name: '@torch:cuda:0'"


def parse(specifier: Any) -> Device:
    """Return the device of `specifier`, as `get_device` takes it, but not None."""
    if isinstance(specifier, Device):
        return specifier
    if isinstance(specifier, Integral) and not isinstance(specifier, bool):
        return _numbered(int(specifier))
    if not isinstance(specifier, str):
        if isinstance(specifier, bool) or (device := plugins.parse_foreign_device(specifier)) is None:
            got = class_name(type(specifier))
            raise TypeError(f"get_device: expected a specifier such as '@name:0', a number or a Device, got {got}")
        return device
    if specifier.removeprefix("-").isdecimal():
        return _numbered(int(specifier))
    if not specifier.startswith("@"):
        try:
            device = plugins.parse_device(specifier)
        except BackendUnavailable as error:
            if specifier.partition(":")[0] in GPUS:
                raise BackendUnavailable(f"{error}; {WITH_NAME}") from error
            raise
        if device is None:
            raise refusal(specifier)
        return device
    name, *index = specifier[1:].split(":")
    if not plugins.knows(name):
        device = plugins.parse_device(specifier)  # a plugin that claims the prefix may take it like a backend's name
        if device is None:
            raise refusal(specifier)
        return device
    if "" in index:
        raise SpecifierError(f"get_device: {specifier!r} has an empty part; expected '@{name}' or '@{name}:index'")
    return plugins.backend(name).device(":".join(index) or None)


def _numbered(number: int) -> Device:
    if number < -1:
        raise SpecifierError(f"get_device: expected a GPU's number, or -1 for the host, got {number}")
    if number == -1:
        return plugins.host.device(None)
    return plugins.backend_of_prefix("gpu").device(str(number))


def refusal(specifier: str) -> SpecifierError | BackendUnavailable:
    """Return the error for a specifier that no installed plugin recognizes."""
    prefix = specifier.removeprefix("@").partition(":")[0]
    if prefix not in CLAIMED_BY or prefix in plugins.installed.prefixes:
        return SpecifierError(_unknown(specifier))
    plugin = CLAIMED_BY[prefix]
    off = plugins.installed.disabled.get(plugin.removeprefix("xpgrad-"))
    return BackendUnavailable(
        f"{prefix}: the plugin that serves {specifier!r}, {plugin}, is {off or f'not installed; pip install {plugin}'}"
    )


def _unknown(specifier: str) -> str:
    import difflib  # only for a message

    prefix, colon, index = specifier.removeprefix("@").partition(":")
    meant = {name: f"@{name}{colon}{index}" for name in (*plugins.names(), *APART)}
    meant |= {claimed: f"{claimed}{colon}{index}" for claimed in plugins.installed.prefixes if claimed not in meant}
    meant["cpu"] = str(plugins.host.default_device)
    close = [prefix] if prefix in meant else difflib.get_close_matches(prefix, meant, n=1)
    advice = f"did you mean {meant[close[0]]!r}? " if close and meant[close[0]] != specifier else ""
    if close and close[0] in APART and not plugins.knows(close[0]):
        advice += f"{to_install(close[0])}; "
    if prefix in GPUS:
        advice = f"{WITH_NAME}; "
    known = ", ".join(f"@{name}" for name in sorted(plugins.names()))
    return f"get_device: unknown device {specifier!r}; {advice}installed backends: {known}"
