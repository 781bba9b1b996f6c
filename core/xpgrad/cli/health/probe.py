"""The child process of `xpgrad doctor`: loads one plugin, computes with it, and reports its facts line by line.

``python -m xpgrad.cli.health.probe NAME`` prints JSON objects, one per line, each as soon as known, so that facts
found before a hang or crash are not lost.
"""

import faulthandler
import importlib
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.contract import PluginWarning
from xpgrad.backend.loading import OWN, root_of
from xpgrad.backend.naming import text_of
from xpgrad.backend.plugins import plugins
from xpgrad.cli.health.comparison import foreign_kernels
from xpgrad.cli.health.computations import array_faults, compute_on, creation_faults, missing_names
from xpgrad.cli.health.machine import thread_pools
from xpgrad.cli.health.observed import channel, memory, place_of
from xpgrad.errors import BackendUnavailable, XpgradError

ARRAY_LIBRARIES = frozenset(
    ["cupy", "dask", "dpnp", "jax", "mlx", "mxnet", "ndonnx", "paddle", "sparse", "tensorflow", "torch"]
)
"""Libraries that only their own plugins may import, because that takes a second or hundreds of megabytes."""


class Probe:
    """One plugin under examination."""

    def __init__(self, name: str, report: Callable[..., None]) -> None:
        self.name, self.report = name, report
        entries = plugins.installed.backends[name]
        self.entry = next((entry for entry in entries if entry.distribution == OWN), entries[0])
        self.before = set(sys.modules)
        self.warned: list[str] = []

    def run(self) -> None:
        """Import, load, describe and compute; stop where a step fails."""
        if not self.imported():
            return
        self.report(stage="loading the host's backend")
        plugins.backend_of_prefix("cpu")  # as in any program, the host's backend is loaded
        backend = self.loaded()
        if backend is not None:
            self.describe(backend)
            self.compute(backend)

    def imported(self) -> bool:
        """Import the plugin's module; return whether that worked, and report time, memory and imported libraries."""
        self.report(stage="importing its module")
        error: BaseException | None = None
        with self.measured("import") as facts, self.watched():
            try:
                module = importlib.import_module(self.entry.module)
                facts["contract"] = getattr(module, "xpgrad_api", None)
            except BaseException as caught:  # SystemExit, too
                error = caught
        self.report(heavy_at_import=self.foreign())
        if error is not None:
            missing = error.name if isinstance(error, ModuleNotFoundError) else None
            self.report(state="failed", kind="import", missing=missing, **self.reasons(error))
        return error is None

    def loaded(self) -> Backend | None:
        """Make the plugin's backend, as a program would, and report the result."""
        self.report(stage="making its backend")
        backend = None
        reasons: dict[str, Any] = {"state": "loaded"}
        with self.measured("load"), self.watched():
            try:
                backend = plugins.backend(self.name)
            except BackendUnavailable as error:
                record = plugins.records.get(self.entry.module)
                cause = error if record is None or record.error is None else record.error
                reasons = self.reasons(cause) | {"reason": str(error), "state": "failed"}
                reasons["kind"] = "contract" if isinstance(cause, XpgradError) else "load"
                if record is not None and record.state == "unavailable":
                    reasons["state"] = "unavailable"
            except BaseException as error:  # the loader passes on KeyboardInterrupt
                reasons = self.reasons(error) | {"state": "failed", "kind": "load"}
        self.report(**reasons)
        return backend

    def describe(self, backend: Backend) -> None:
        """Report the declarations of the backend, and the names that its library lacks."""
        self.report(stage="describing its backend")
        capabilities = backend.capabilities
        self.report(
            library=backend.version,
            array_types=[f"{kind.__module__}.{kind.__qualname__}" for kind in backend.array_types],
            unfound=sorted({root_of(kind) for kind in backend.array_types if not self.finds(kind)}),
            kernels=sorted(backend.overrides()),
            capabilities={
                "missing": dict(capabilities.missing),
                "missing_on": {index: dict(facts) for index, facts in capabilities.missing_on.items()},
            },
            heavy_at_load=self.foreign(backend),
            missing_names=missing_names(backend),
        )

    def compute(self, backend: Backend) -> None:
        """Compute on each device of the backend, and report the results."""
        self.report(stage="listing its devices")
        try:
            devices = list(backend.devices())
        except Exception as error:  # a library can raise anything
            self.report(devices_error=text_of(error), place=place_of(error))
            return
        for device in devices:
            self.report(stage=f"computing on {device}")
            row = compute_on(device)
            for title, check in (("arrays", array_faults), ("creation", creation_faults), ("foreign", foreign_kernels)):
                try:
                    row[title] = check(device)
                except Exception as error:  # reported in the row of the device
                    row[title] = None
                    row["arrays_error"] = text_of(error)
            self.report(device=row)
        self.report(pools=thread_pools())

    def finds(self, kind: type) -> bool:
        """Return whether arrays of a type find this plugin in a process that has not named it."""
        entries = (entry for base in kind.__mro__ for entry in plugins.installed.modules.get(root_of(base), ()))
        return any(entry.module == self.entry.module for entry in entries)

    @contextmanager
    def measured(self, title: str) -> Iterator[dict[str, Any]]:
        """Report time and memory of the block, and the facts that the block stores in the dictionary."""
        facts: dict[str, Any] = {}
        started, before = time.perf_counter(), memory()
        try:
            yield facts
        finally:
            after, seconds = memory(), time.perf_counter() - started
            held = None if before is None or after is None else max(0, after - before)
            self.report(**facts, **{f"{title}_seconds": round(seconds, 4), f"{title}_bytes": held})

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Keep the warnings that a program would show, except the loader's of this plugin, which are its reason."""
        with warnings.catch_warnings(record=True) as caught:
            yield
        own = f"plugin {self.entry.module}: "
        for warning in caught:
            text = f"{warning.category.__name__}: {warning.message}"
            if not (issubclass(warning.category, PluginWarning) and str(warning.message).startswith(own)):
                self.warned.append(text)
        self.report(warnings=sorted(set(self.warned), key=self.warned.index))

    def foreign(self, backend: Backend | None = None) -> list[str]:
        """Return the array libraries imported since the start that this plugin does not serve."""
        served = {self.name}
        served |= {root for root, entries in plugins.installed.modules.items() if self.entry in entries}
        if backend is not None:
            served |= {root_of(kind) for kind in backend.array_types}
            served |= set(str(getattr(backend.namespace, "__name__", "")).split("."))
        new = {name.partition(".")[0] for name in sys.modules.keys() - self.before}
        return sorted((new & ARRAY_LIBRARIES) - served)

    @staticmethod
    def reasons(error: BaseException) -> dict[str, Any]:
        """Return the text of an error, and its place unless xpgrad raised it."""
        place = None if isinstance(error, XpgradError) else place_of(error)
        return {"reason": text_of(error), "place": place}


def main(name: str) -> None:
    """Examine the plugin `name`, and print the facts."""
    faulthandler.enable()  # the parent reads the place of a crash from its stack
    _no_core_dumps()
    warnings.simplefilter("default")
    for category in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
        warnings.simplefilter("ignore", category)
    with channel() as (out, chatter):

        def report(**facts: Any) -> None:
            print(json.dumps(facts, default=str), file=out, flush=True)

        try:
            Probe(name, report).run()
        finally:
            report(printed=chatter.read())
        report(stage="ending", finished=True)


def _no_core_dumps() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


if __name__ == "__main__":
    main(sys.argv[1])
