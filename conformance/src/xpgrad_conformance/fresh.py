"""Facts about an installed backend from a new process: whether it loads, recognises its arrays and computes."""

import functools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xpgrad.backend.contract import PluginRecord
from xpgrad.backend.discovery import Entry
from xpgrad.backend.loading import OWN, root_of
from xpgrad.backend.plugins import plugins
from xpgrad.plugin import Backend

HEAVY = "cupy dask dpnp jax mlx mxnet ndonnx paddle sparse tensorflow torch"
"""Libraries that take a second or hundreds of megabytes to import; only their plugins may import them."""
TIMEOUT = 120.0
PROGRAM = """
import importlib, json, sys, traceback

name, module, library, heavy, file = sys.argv[1:]
facts = {}

def tell(**more):
    facts.update(more)
    with open(file, "w", encoding="utf-8") as out:
        json.dump(facts, out)

def new():
    found = {name.partition(".")[0] for name in sys.modules.keys() - before}
    return sorted(found & set(heavy.split()))

try:
    import xpgrad
    from xpgrad.backend.plugins import plugins

    plugins.host
    before = set(sys.modules)
    importlib.import_module(module)
    tell(at_import=new())
    if library:
        array = importlib.import_module(library).asarray([0.5, 1.5, -2.5])
        before |= set(sys.modules)  # what the library itself imports is its own affair
        try:
            tell(found=xpgrad.Variable(array).device.backend.name)
        except Exception as error:
            tell(found=f"{type(error).__name__}: {error}")
    backend = plugins.backend(name)
    tell(at_load=new(), version=str(backend.version), devices=[str(device) for device in backend.devices()])
    x = xpgrad.Variable(backend.asarray([0.5, 1.5, -2.5]))
    xpgrad.array_api.sum(x * x).backward()
    tell(gradient=[float(g) for g in xpgrad.Variable(x.grad).to_cpu().array])
except BaseException as error:
    tell(error=f"{type(error).__name__}: {error}", trace=traceback.format_exc()[-2000:])
"""


def entry_of(backend: Backend) -> Entry | None:
    """Return the entry point of a backend that a distribution announces; None if this program registered it."""
    entries = plugins.installed.backends.get(backend.name, ())
    entry = next((each for each in entries if each.distribution == OWN), next(iter(entries), None))
    if entry is None or entry.distribution == "this program":
        return None
    return entry


def record_of(backend: Backend) -> PluginRecord | None:
    """Return the record of the plugin that provides a backend."""
    return next((record for record in plugins.records.values() if record.backend is backend), None)


@functools.cache
def facts_of(backend: Backend) -> Mapping[str, Any] | None:
    """Return facts about a backend, found in a new process; None if this program has registered it.

    Returns
    -------
    mapping or None
        `printed` is the standard output. `error` and `trace` are present if the process failed; otherwise the facts
        that `PROGRAM` collects.
    """
    entry, folder = entry_of(backend), getattr(backend, "folder", None)
    if folder is not None:
        entry = Entry(backend.name, f"{backend.name}_plugin", backend.name, "1.0")
    if entry is None:
        return None
    paths = [*([] if folder is None else [folder]), *(path or os.getcwd() for path in sys.path)]
    library = str(getattr(backend.namespace, "__name__", ""))
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "facts.json"
        command = [sys.executable, "-c", PROGRAM, backend.name, entry.module, library, _foreign(backend, entry)]
        try:
            done = subprocess.run(
                [*command, str(file)],
                env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return {"error": f"no answer within {TIMEOUT:g} s", "printed": ""}
        facts: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    if "gradient" not in facts and "error" not in facts:
        said = done.stderr.decode(errors="replace").strip()[-500:]
        facts["error"] = f"the process ended with exit code {done.returncode} and printed: {said}"
    return facts | {"printed": done.stdout.decode(errors="replace").strip()[:300]}


def _foreign(backend: Backend, entry: Entry) -> str:
    """Return the heavy libraries that a plugin does not serve."""
    served = {backend.name, *map(root_of, backend.array_types)}
    served |= {root for root, entries in plugins.installed.modules.items() if entry in entries}
    served |= set(str(getattr(backend.namespace, "__name__", "")).split("."))
    return " ".join(name for name in HEAVY.split() if name not in served)
