"""The examination of plugins and executors, and a verdict, as `xpgrad doctor --json` prints them."""

from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

import xpgrad
from xpgrad.backend.contract import API_VERSION
from xpgrad.backend.discovery import Installed
from xpgrad.backend.executors import executor_name
from xpgrad.backend.plugins import plugins
from xpgrad.cli.health.child import examine
from xpgrad.cli.health.findings import Finding, clashes, disabled, findings, machine_findings
from xpgrad.cli.health.machine import machine


def executors() -> tuple[dict[str, dict[str, Any]], list[Finding]]:
    """Return the facts of each executor by the name of its plugin, with its line of text, and all findings.

    A plugin that cannot be loaded is a finding, and so is a report that is not as the hook describes it.
    """
    facts: dict[str, dict[str, Any]] = {}
    found: list[Finding] = []
    for record in plugins.load_executors():
        if record.state != "loaded":
            remedy = f"upgrade or uninstall {record.origin}; until then other executors run programs"
            found.append(Finding("wrong", "executor", f"executor {record.module}: {record.reason()}", remedy))
    for plugin, report in plugins.answers("xpgrad_report"):
        if report is None:
            continue
        try:
            facts[executor_name(plugin)] = {"line": str(report["line"]), **report["facts"]}
            found += [Finding(*finding) for finding in report["findings"]]
        except (KeyError, TypeError) as error:
            text = f"the hook xpgrad_report of {plugin} returned no report: {type(error).__name__}: {error}"
            found.append(Finding("wrong", "executor", text, "return a dictionary with line, facts and findings"))
    return facts, found


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
