"""The examination of plugins: facts, findings, and a verdict, as `xpgrad doctor --json` prints them."""

from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

import xpgrad
from xpgrad.backend.contract import API_VERSION
from xpgrad.backend.discovery import Installed
from xpgrad.cli.health.child import examine
from xpgrad.cli.health.executors import executors
from xpgrad.cli.health.findings import Finding, clashes, disabled, findings, machine_findings
from xpgrad.cli.health.machine import machine


def examination(
    installed: Installed, names: Iterable[str], timeout: float, begin: Callable[[str], None] = lambda name: None
) -> dict[str, Any]:
    """Return the report on the backends `names`.

    Parameters
    ----------
    installed : Installed
        The entry points.
    names : iterable of str
        Installed backends.
    timeout : float
        Seconds for each backend.
    begin : callable
        Called with each name before its process starts.

    Returns
    -------
    dict
        JSON values: versions, the machine, and for each backend its facts, its findings and a `verdict`, which is
        "fine", "off" or "wrong".
    """
    reports: dict[str, dict[str, Any]] = {}
    found: dict[str, list[Finding]] = {}
    for name in names:
        begin(name)
        reports[name], found[name] = _one(installed, name, timeout)
    for name, more in clashes(reports).items():
        known = {finding.kind for finding in found[name]}
        found[name] += more if "clash" not in known else []
    own = machine()
    own["pools"] = _distinct(pool for facts in reports.values() for pool in facts.get("pools", ()))
    compiled, more = executors()
    advice = [*machine_findings(own, own["pools"]), *more]
    return {
        "xpgrad": xpgrad.__version__,
        "contract": API_VERSION,
        "machine": own | {"executors": compiled, "findings": list(map(asdict, advice))},
        "backends": [
            facts | {"verdict": _verdict(found[name]), "findings": list(map(asdict, found[name]))}
            for name, facts in reports.items()
        ],
    }


def _one(installed: Installed, name: str, timeout: float) -> tuple[dict[str, Any], list[Finding]]:
    entries = installed.backends[name]
    origin = " and ".join(sorted({entry.origin for entry in entries}))
    facts: dict[str, Any] = {"backend": name, "plugin": origin, "module": entries[0].module}
    if name in installed.disabled:
        return facts | {"devices": []}, [disabled(name, installed.disabled[name])]
    facts |= examine(name, timeout)
    return facts, findings(facts, origin, timeout)


def _verdict(found: list[Finding]) -> str:
    levels = {finding.level for finding in found}
    return next((level for level in ("wrong", "off") if level in levels), "fine")


def _distinct(pools: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return each library once, although every process that loads NumPy reports it."""
    found: dict[Any, dict[str, Any]] = {}
    for pool in pools:
        found.setdefault((pool["name"], pool["version"], pool["file"]), pool)
    return list(found.values())
